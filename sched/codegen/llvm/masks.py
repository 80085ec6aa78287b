"""Masks of stores, hidden from LLVM so that a fault of it does not show.

AVX-512 narrows integers and stores some of them in one instruction. Where the mask is a constant
with one lane, LLVM 22 makes a scalar store of that, but of the value before it was narrowed, and
so overwrites what lies behind (https://github.com/llvm/llvm-project/issues/179489). Any mask may
turn out to be one, in a loop of one iteration say. So masks of narrow stores are combined with
one in which all lanes are set, and of which LLVM is not told that they are.
"""

from __future__ import annotations

from ...lang.nodes.dtypes import bool_, int64
from . import hidden as constants
from .function_builder import FunctionBuilder
from .shuffles import shuffled
from .values import Value


def hidden(b: FunctionBuilder, mask: Value, stored: Value) -> Value:
    """The mask of a store, which is never a constant where the value may have been narrowed."""
    if stored.dtype.is_float or stored.dtype.itemsize == int64.itemsize:
        return mask
    word = constants.hidden(b, constants.ALL_LANES, int64)
    whole = b.assign(f"bitcast {word.typed} to <{word.dtype.bits} x i1>", bool_, word.dtype.bits)
    return b.binary("and", mask, shuffled(b, whole, whole, range(mask.lanes)))
