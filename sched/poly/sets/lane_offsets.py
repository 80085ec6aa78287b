"""Lane offsets: how far apart the lanes of a vector are in an index, and what they choose by that.

i // 2                              of 8 lanes from 8 * x on: 4 * x and 0, 0, 1, 1, 2, 2, 3, 3
select(i % 2 == 0, i + 1, i - 1)    8 * x and 1, 0, 3, 2, 5, 4, 7, 6
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Const, Node, Op, Var, dtype_of, integer, postorder
from ...records import dataclass
from .linear import expanded, is_small, magnitude

Truths = tuple[bool, ...]
"""Whether a condition holds, lane by lane."""

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
_LOGIC: dict[str, Callable[..., bool]] = {
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "not": operator.not_,
}  # fmt: skip


@dataclass(frozen=True)
class LaneOffsets:
    """The lane offsets of an index: what is the same in all iterations of a loop, and the distance
    from it in each."""

    base: Node
    offsets: tuple[int, ...]


def lane_offsets(node: Node, var: Var, values: LaneOffsets) -> LaneOffsets | None:
    """An index in each iteration of a loop of constant extent, in which `var` has some values:
    (16 * x + v) // 2 is 8 * x and 0, 0, 1, 1, ...; None where it is not known."""
    none = tuple(0 for _ in values.offsets)
    found: dict[Node, LaneOffsets | None] = {}
    truths: dict[Node, Truths | None] = {}
    for n in postorder(node):
        if isinstance(n, Op) and dtype_of(n).is_bool:
            truths[n] = _truths(n, truths, found)
        parts = [found[a] for a in n.args]
        if n is var:
            found[n] = values
        elif (
            isinstance(n, Op)
            and n.op == "select"
            and dtype_of(n) is int64
            and (holds := truths.get(n.args[0])) is not None
        ):
            found[n] = _chosen(holds, parts[1:])
        elif all(
            p is not None and not any(p.offsets) and p.base is a
            for p, a in zip(parts, n.args, strict=True)
        ):
            found[n] = LaneOffsets(n, none)
        else:
            found[n] = _of_operator(n, parts)
    return found[node]


def _of_operator(node: Node, parts: list[LaneOffsets | None]) -> LaneOffsets | None:
    if not isinstance(node, Op) or dtype_of(node) is not int64 or None in parts:
        return None
    known = [p for p in parts if p is not None]
    bases, offsets = [p.base for p in known], [p.offsets for p in known]
    match node.op, node.operands:
        case ("add" | "sub" | "neg") as op, _:
            signs = {"add": (1, 1), "sub": (1, -1), "neg": (-1,)}[op]
            total = tuple(
                sum(s * k for s, k in zip(signs, each, strict=True))
                for each in zip(*offsets, strict=True)
            )
            return LaneOffsets(node.with_args(tuple(bases)), total)
        case "mul", (_, Const(value=c)):
            return LaneOffsets(
                ix.mul(bases[0], integer(int(c))), tuple(k * int(c) for k in offsets[0])
            )
        case "mul", (Const(value=c), _):
            return LaneOffsets(
                ix.mul(bases[1], integer(int(c))), tuple(k * int(c) for k in offsets[1])
            )
        case ("floordiv" | "mod") as op, (whole, Const(value=d)) if d > 0:
            terms, constant = expanded(bases[0])
            most = magnitude(whole)
            if most is None or most >= 2**62 or any(times % d for times in terms.values()):
                return None
            rest = tuple(constant % int(d) + k for k in offsets[0])
            if op == "mod":
                return LaneOffsets(ix.ZERO, tuple(k % int(d) for k in rest))
            base: Node = integer(constant // int(d))
            for x, times in terms.items():
                base = ix.add(base, ix.mul(x, integer(times // int(d))))
            return LaneOffsets(base, tuple(k // int(d) for k in rest))
    return None


def _distance(a: Node, b: Node) -> int | None:
    """a - b, if that is a constant."""
    terms, constant = expanded(ix.sub(a, b))
    return None if terms else constant


def _truths(
    node: Node, truths: Mapping[Node, Truths | None], found: Mapping[Node, LaneOffsets | None]
) -> Truths | None:
    """In which lanes a condition holds; None where it is not known, as where sizes say."""
    match node:
        case Op(op=op, operands=(a, b)) if op in _COMPARE:
            first, second = found.get(a), found.get(b)
            if first is None or second is None or not (is_small(a) and is_small(b)):
                return None
            distance = _distance(first.base, second.base)
            if distance is None:
                return None
            pairs = zip(first.offsets, second.offsets, strict=True)
            return tuple(_COMPARE[op](distance + x, y) for x, y in pairs)
        case Op(op=op, operands=operands) if op in _LOGIC:
            known = [truths.get(a) for a in operands]
            every = [k for k in known if k is not None]
            if len(every) < len(known):
                return None
            return tuple(_LOGIC[op](*each) for each in zip(*every, strict=True))
        case _:
            return None


def _chosen(holds: Truths, arms: Sequence[LaneOffsets | None]) -> LaneOffsets | None:
    """What each lane chooses of two indices that are a constant apart, or of one alone."""
    first, second = arms
    if all(holds):
        return first
    if not any(holds):
        return second
    if first is None or second is None:
        return None
    distance = _distance(second.base, first.base)
    if distance is None:
        return None
    lanes = zip(holds, first.offsets, second.offsets, strict=True)
    return LaneOffsets(first.base, tuple(x if h else y + distance for h, x, y in lanes))
