"""float32 to bfloat16: the upper half of each number, rounded to nearest, ties to even.

Not by the instructions for it, which flush denormal numbers. What is between two bfloat16s is the
lower half of the bits, so the upper half grows by the carry of `lower + 0x7FFF + last bit of the
upper half`. A NaN would become an infinity or a zero by that: it is quieted instead.

Vectors are shuffled as bits rather than truncated: LLVM truncates vectors of AVX-512 one register
at a time, and puts the results together.
"""

from __future__ import annotations

from ....lang.nodes.dtypes import bfloat16, float32, uint16, uint32
from ....targets.target import Target
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import joined, shuffled
from ..text.values import Value, type_name
from . import bfloat_avx512
from .bfloat_avx512 import fills_registers

_QUIET = 0x40  # in the upper half
_UPPER = 0xFFFF0000


def upper_half(b: FunctionBuilder, x: Value) -> Value:
    """The float32 as a bfloat16, not rounded: one that bfloat16 holds."""
    if b.in_pairs and x.lanes > 1:
        halves = (b.convert("bitcast", half, uint32) for half in _split(b, x))
        return _as_bfloat(_of_pairs(b, *halves))
    return _upper(b, b.convert("bitcast", x, uint32))


def rounded(b: FunctionBuilder, x: Value, is_short: bool = False) -> Value:
    """The float32 as a bfloat16.

    Args:
        is_short: whether its NaNs are those of a bfloat16 (`short_payloads.py`).
    """
    pair = _pair(b.target)
    if b.in_pairs and x.lanes > 1:
        return _as_bfloat(_rounded_pairs(b, *_split(b, x), is_short))
    if not pair or x.lanes < pair or x.lanes & (x.lanes - 1):
        return _upper(b, _nearest(b, x, is_short))
    parts = [
        _rounded_pair(b, shuffled(b, x, x, range(first, first + pair)), is_short)
        for first in range(0, x.lanes, pair)
    ]
    return joined(b, parts)


def widened_pairs(b: FunctionBuilder, x: Value) -> Value:
    """bfloat16s as float32s in pairs (`vectors/pair_lanes.py`)."""
    count = x.lanes // 2
    word = b.assign(f"bitcast {x.typed} to {type_name(uint32, count)}", uint32, count)
    even = b.binary("shl", word, b.like(word, 16))
    odd = b.binary("and", word, b.like(word, _UPPER))
    return joined(b, [b.convert("bitcast", half, float32) for half in (even, odd)])


def _rounded_pairs(b: FunctionBuilder, even: Value, odd: Value, is_short: bool) -> Value:
    """Numbers in pairs, rounded, in the order of memory."""
    if _pair(b.target):
        return _rounded_beside(b, even, odd, is_short)
    if is_short and fills_registers(b.target, even.lanes):
        return bfloat_avx512.rounded_beside(b, even, odd)
    return _of_pairs(b, _nearest(b, even, is_short), _nearest(b, odd, is_short))


def _of_pairs(b: FunctionBuilder, even: Value, odd: Value) -> Value:
    """The upper halves of words in pairs, in the order of memory."""
    if fills_registers(b.target, even.lanes):
        lower = bfloat_avx512.lowered(b, even)
    else:
        lower = b.binary("lshr", even, b.like(even, 16))
    word = b.binary("or", lower, b.binary("and", odd, b.like(odd, _UPPER)))
    return _halves(b, word)


def _split(b: FunctionBuilder, x: Value) -> tuple[Value, Value]:
    """The first half of lanes, and the second one."""
    count = x.lanes // 2
    return (
        shuffled(b, x, x, range(count)),
        shuffled(b, x, x, range(count, x.lanes)),
    )


def _pair(target: Target | None) -> int:
    """How many numbers two registers hold, where lanes of 16 bits are chosen from two of them by
    one instruction without a mask, as AVX2 does; else 0."""
    if target is None or target.arch != "x86_64" or target.has("avx512bw"):
        return 0
    return 2 * target.lanes(uint32)


def _nearest(b: FunctionBuilder, x: Value, is_short: bool) -> Value:
    """The words whose upper halves are the rounded numbers."""
    if fills_registers(b.target, x.lanes):
        return bfloat_avx512.nearest(b, x, is_short)
    word = b.convert("bitcast", x, uint32)
    last = b.binary("and", b.binary("lshr", word, b.like(word, 16)), b.like(word, 1))
    nearest = b.binary("add", b.binary("add", word, b.like(word, 0x7FFF)), last)
    if is_short:
        return nearest
    quiet = b.binary("or", word, b.like(word, _QUIET << 16))
    return b.select(b.compare("uno", x, x), quiet, nearest)


def _upper(b: FunctionBuilder, word: Value) -> Value:
    if word.lanes == 1:
        half = b.convert("trunc", b.binary("lshr", word, b.like(word, 16)), uint16)
        return _as_bfloat(half)
    halves = _halves(b, word)
    return _as_bfloat(shuffled(b, halves, halves, range(1, 2 * word.lanes, 2)))


def _rounded_pair(b: FunctionBuilder, x: Value, is_short: bool) -> Value:
    """Two registers of numbers, which are rounded beside each other and sorted in the end."""
    found = _rounded_beside(b, *_split(b, x), is_short)
    order = [*range(0, x.lanes, 2), *range(1, x.lanes, 2)]
    return _as_bfloat(shuffled(b, found, found, order))


def _rounded_beside(b: FunctionBuilder, x: Value, y: Value, is_short: bool) -> Value:
    """The upper halves of the numbers of two registers, rounded together: each of the first one
    beside one of the second one."""
    first, second = (b.convert("bitcast", single, uint32) for single in (x, y))
    upper = _beside(b, b.binary("lshr", first, b.like(first, 16)), second)
    lower = _beside(b, first, b.binary("shl", second, b.like(second, 16)))
    # The carry is the first bit of the lower half, less 1 where the last bit above is 0.
    even = b.binary("and", _inverted(b, upper), b.like(upper, 1))
    carries = b.intrinsic("usub.sat", lower, even)
    if is_short:
        return b.binary("add", upper, b.binary("lshr", carries, b.like(carries, 15)))
    nans = [b.convert("sext", b.compare("uno", single, single), uint32) for single in (x, y)]
    is_nan = _beside(b, *nans)
    carries = b.binary("and", carries, _inverted(b, is_nan))
    found = b.binary("add", upper, b.binary("lshr", carries, b.like(carries, 15)))
    return b.binary("or", found, b.binary("and", is_nan, b.like(is_nan, _QUIET)))


def _beside(b: FunctionBuilder, first: Value, second: Value) -> Value:
    """The lower halves of the first vector's words, and the upper ones of the second's."""
    count = 2 * first.lanes
    order = [k if k % 2 == 0 else count + k for k in range(count)]
    return shuffled(b, _halves(b, first), _halves(b, second), order)


def _halves(b: FunctionBuilder, words: Value) -> Value:
    """Words as twice as many halves, the lower one of each first."""
    count = 2 * words.lanes
    return b.assign(f"bitcast {words.typed} to {type_name(uint16, count)}", uint16, count)


def _inverted(b: FunctionBuilder, x: Value) -> Value:
    return b.binary("xor", x, b.like(x, -1))


def _as_bfloat(x: Value) -> Value:
    return Value(x.text, bfloat16, x.lanes)
