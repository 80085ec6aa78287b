"""float32 to bfloat16 in whole registers of AVX-512: the same bits, in fewer instructions.

What is added to a number is chosen by its last bit that stays. One instruction replaces results of
some kinds, here those of NaN.
"""

from __future__ import annotations

from ...lang.nodes.dtypes import float32, uint32
from ...targets.target import Target
from .function_builder import FunctionBuilder
from .hidden import SIXTEENS, hidden
from .shuffles import joined, shuffled
from .values import Value

_LANES = 16
#: By the kind of a number, from the lowest four bits: of quiet NaN and of others, the number
#: itself, made quiet; of all others what has been computed.
_NAN_STAYS = 0x22


def fills_registers(target: Target | None, lanes: int) -> bool:
    """Whether so many words are whole registers of AVX-512."""
    if target is None or target.arch != "x86_64" or not target.has("avx512bw"):
        return False
    return lanes >= _LANES and lanes % _LANES == 0 and not (lanes & (lanes - 1))


def nearest(b: FunctionBuilder, x: Value) -> Value:
    """The words whose upper halves are the rounded numbers."""
    return joined(b, [_nearest(b, part) for part in _registers(b, x)])


def lowered(b: FunctionBuilder, word: Value) -> Value:
    """The upper halves of words, moved into the lower ones. By how many bits is hidden: of a shift
    and a choice of halves LLVM would make one shuffle, which takes longer than both."""
    parts = [b.binary("lshr", part, _sixteen(b)) for part in _registers(b, word)]
    return joined(b, parts)


def _registers(b: FunctionBuilder, x: Value) -> list[Value]:
    firsts = range(0, x.lanes, _LANES)
    return [shuffled(b, x, x, range(first, first + _LANES)) for first in firsts]


def _nearest(b: FunctionBuilder, x: Value) -> Value:
    word = b.convert("bitcast", x, uint32)
    # Were the bit known, LLVM would move it down and add it, for an instruction more.
    bit = b.binary("shl", b.like(word, 1), _sixteen(b))
    is_odd = b.compare("ne", b.binary("and", word, bit), b.like(word, 0))
    more = b.select(is_odd, b.like(word, 0x8000), b.like(word, 0x7FFF))
    found = b.convert("bitcast", b.binary("add", word, more), float32)
    kinds = b.like(word, _NAN_STAYS)
    given = f"{found.typed}, {x.typed}, {kinds.typed}, i32 0, i16 -1, i32 4"
    code = f"call {x.type} @llvm.x86.avx512.mask.fixupimm.ps.512({given})"
    return b.convert("bitcast", b.assign(code, float32, _LANES), uint32)


def _sixteen(b: FunctionBuilder) -> Value:
    return hidden(b, SIXTEENS, uint32, _LANES)
