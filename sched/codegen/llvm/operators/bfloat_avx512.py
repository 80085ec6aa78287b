"""float32 to bfloat16 in whole registers of AVX-512: the same bits, in fewer instructions.

What is added to a number is chosen by its last bit that stays. One instruction replaces results of
some kinds, here those of NaN.
"""

from __future__ import annotations

from ....lang.nodes.dtypes import float32, uint16, uint32
from ....targets.target import Target
from ..text.function_builder import FunctionBuilder
from ..text.hidden import ONES, SIXTEENS, hidden
from ..text.shuffles import joined, shuffled
from ..text.values import Value, type_name

_LANES = 16
#: By the kind of a number, from the lowest four bits: of quiet NaN and of others, the number
#: itself, made quiet; of all others what has been computed.
_NAN_STAYS = 0x22
_UPPER = 0xFFFF0000


def fills_registers(target: Target | None, lanes: int) -> bool:
    """Whether so many words are whole registers of AVX-512."""
    if target is None or target.arch != "x86_64" or not target.has("avx512bw"):
        return False
    return lanes >= _LANES and lanes % _LANES == 0 and not (lanes & (lanes - 1))


def nearest(b: FunctionBuilder, x: Value, is_short: bool) -> Value:
    """The words whose upper halves are the rounded numbers.

    Args:
        is_short: whether NaNs are those of a bfloat16.
    """
    return joined(b, [_nearest(b, part, is_short) for part in _registers(b, x)])


def rounded_beside(b: FunctionBuilder, first: Value, second: Value) -> Value:
    """Upper halves of numbers whose NaNs are those of a bfloat16, rounded two registers at a time:
    each of the first vector beside one of the second one."""
    pairs = zip(_registers(b, first), _registers(b, second), strict=True)
    return joined(b, [_beside(b, *pair) for pair in pairs])


def lowered(b: FunctionBuilder, word: Value) -> Value:
    """The upper halves of words, moved into the lower ones. By how many bits is hidden: of a shift
    and a choice of halves LLVM would make one shuffle, which takes longer than both."""
    parts = [b.binary("lshr", part, _sixteen(b)) for part in _registers(b, word)]
    return joined(b, parts)


def _registers(b: FunctionBuilder, x: Value) -> list[Value]:
    firsts = range(0, x.lanes, _LANES)
    return [shuffled(b, x, x, range(first, first + _LANES)) for first in firsts]


def _beside(b: FunctionBuilder, *pair: Value) -> Value:
    """The upper half grows by one where the lower one is more than a half of it, or that and the
    last bit above is 1. Shifts are hidden, or LLVM would choose halves by shuffles."""
    first, second = (b.convert("bitcast", x, uint32) for x in pair)
    high, low = b.like(first, _UPPER), b.like(first, _UPPER ^ 0xFFFFFFFF)
    up, down = b.binary("lshr", first, _sixteen(b)), b.binary("shl", second, _sixteen(b))
    upper = _halves(b, b.binary("or", up, b.binary("and", second, high)))
    lower = _halves(b, b.binary("or", down, b.binary("and", first, low)))
    odd = b.binary("and", upper, b.like(upper, 1))
    least = b.binary("xor", odd, b.like(upper, 0x8001))
    # Were the number known, LLVM would make one of the mask, and add that.
    grown = b.binary("add", upper, hidden(b, ONES, uint16, upper.lanes))
    return b.select(b.compare("uge", lower, least), grown, upper)


def _halves(b: FunctionBuilder, words: Value) -> Value:
    count = 2 * words.lanes
    return b.assign(f"bitcast {words.typed} to {type_name(uint16, count)}", uint16, count)


def _nearest(b: FunctionBuilder, x: Value, is_short: bool) -> Value:
    word = b.convert("bitcast", x, uint32)
    # Were the bit known, LLVM would move it down and add it, for an instruction more.
    bit = b.binary("shl", b.like(word, 1), _sixteen(b))
    is_odd = b.compare("ne", b.binary("and", word, bit), b.like(word, 0))
    more = b.select(is_odd, b.like(word, 0x8000), b.like(word, 0x7FFF))
    grown = b.binary("add", word, more)
    if is_short:
        return grown
    found = b.convert("bitcast", grown, float32)
    kinds = b.like(word, _NAN_STAYS)
    given = f"{found.typed}, {x.typed}, {kinds.typed}, i32 0, i16 -1, i32 4"
    code = f"call {x.type} @llvm.x86.avx512.mask.fixupimm.ps.512({given})"
    return b.convert("bitcast", b.assign(code, float32, _LANES), uint32)


def _sixteen(b: FunctionBuilder) -> Value:
    return hidden(b, SIXTEENS, uint32, _LANES)
