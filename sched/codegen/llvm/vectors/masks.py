"""Masks, of which LLVM is not told what it would make wrong code of.

AVX-512 narrows integers and stores some of them in one instruction. Where the mask is a constant
with one lane, LLVM 22 makes a scalar store of that, but of the value before it was narrowed, and
so overwrites what lies behind (https://github.com/llvm/llvm-project/issues/179489). Any mask may
turn out to be one, in a loop of one iteration say. So masks of narrow stores are combined with
one in which all lanes are set, and of which LLVM is not told that they are.

AVX2 has no registers for masks. Where their number is no power of two, lanes that are computed in
another block arrive one by one; where a register of them is known to be off, LLVM 22 loads all of
its lanes instead of none. So such masks are combined with one in which no lane is set, and of
which LLVM is not told that.
"""

from __future__ import annotations

from ....lang.nodes.dtypes import DType, bool_, int32, int64
from ..text.function_builder import FunctionBuilder
from ..text.hidden import ALL_LANES, NO_LANES, hidden
from ..text.shuffles import shuffled
from ..text.values import Value, constant


def of_load(b: FunctionBuilder, mask: Value, loaded: DType) -> Value:
    """The mask of a load of elements."""
    return _never_known_off(b, mask, loaded)


def of_store(b: FunctionBuilder, mask: Value, stored: Value) -> Value:
    """The mask of a store, which is never a constant where the value may have been narrowed."""
    if stored.dtype.is_float or stored.dtype.itemsize == int64.itemsize:
        return _never_known_off(b, mask, stored.dtype)
    word = hidden(b, ALL_LANES, int64)
    whole = b.assign(f"bitcast {word.typed} to <{word.dtype.bits} x i1>", bool_, word.dtype.bits)
    kept = b.binary("and", mask, shuffled(b, whole, whole, range(mask.lanes)))
    return _never_known_off(b, kept, stored.dtype)


def _never_known_off(b: FunctionBuilder, mask: Value, dtype: DType) -> Value:
    """A mask without lanes that LLVM knows to be off, where that would do harm."""
    is_odd = mask.lanes & (mask.lanes - 1) != 0
    if not is_odd or b.target is None or not b.target.has("avx") or b.target.has("avx512f"):
        return mask
    words = int64 if dtype.itemsize == int64.itemsize else int32
    none = hidden(b, NO_LANES, words, mask.lanes)
    return b.binary("or", mask, b.compare("ne", none, constant(0, words, mask.lanes)))
