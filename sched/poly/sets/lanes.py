"""How the lanes of a vector move through memory, as code generation and listings decide it.

`stride` and `near` decide whether lanes take a few vector loads or one load each. `in_full_vectors`
simplifies expressions for the case that all lanes are active and none is at a border. Then a
comparison of two functions of the lane whose difference only rises, or only falls, holds in all of
them, or in none if it is about the borders of an axis; a minimum equals the operand that changes
with the lane, and an index that goes round is itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, Var, dtype_of, integer, leaves_below, postorder
from .borders import at_borders
from .lane_offsets import LaneOffsets, lane_offsets
from .linear import coefficient, direction, expanded, is_small
from .simplify import FALSE, TRUE, reads_memory, simpler

MOST_STRIDE = 4
"""Beyond this stride, loading full vectors reads too many elements that no lane uses."""
MOST_INTERLEAVED = 32
"""So many vectors at most are stored together: all are in registers, or on the stack, at once."""

FAILS_LESS = {"lt": -1, "le": -1, "gt": 1, "ge": 1}
"""By comparison, the direction of its first operand in which it comes to hold: -1 is downwards."""

CHOSEN = {"min": "le", "max": "ge"}


def stride(index: Node, var: Var, step: int) -> int | None:
    """By how much an index moves from lane to lane, if that is known."""
    found = coefficient(index, var)
    times = None if found is None else ix.constant(found)
    return None if times is None else times * step


def near(index: Node, var: Var, lanes: LaneOffsets) -> LaneOffsets | None:
    """The offsets of lanes that are near each other, if these are known.

    Args:
        lanes: the values of `var`.
    """
    found = lane_offsets(index, var, lanes)
    return found if found is not None and span(found) <= MOST_STRIDE * len(lanes.offsets) else None


def span(found: LaneOffsets) -> int:
    """The number of elements from the first one that a lane needs to the last one."""
    return max(found.offsets) + 1 - min(found.offsets)


def rises(a: Node, b: Node, var: Var) -> int | None:
    """1 if a - b never falls from lane to lane, -1 if it never rises; else 0 or None."""
    if not dtype_of(a).is_int or reads_memory(a, b):
        return None
    if not all(is_small(x) for x in (a, b) if var in leaves_below(x)):
        return None  # it may wrap around
    constant = [ix.constant(x) for x in (coefficient(a, var), coefficient(b, var)) if x is not None]
    if len(constant) == 2:
        first, second = constant
        if first is not None and second is not None:
            return (first > second) - (first < second)
    return direction(Op("sub", (a, b), dtype_of(a)), var)


def moving(op: str, a: Node, b: Node, var: Var) -> Node | None:
    """The operand that a minimum or maximum equals in full vectors, where that is known."""
    if op not in CHOSEN or not rises(a, b, var):
        return None
    found = [x for x in (a, b) if direction(x, var) != 0]
    return found[0] if len(found) == 1 else None


def is_own_remainder(op: str, a: Node, b: Node, var: Var) -> bool:
    """Whether a % b is a, and a // b is 0, in full vectors, away from where an index goes round.
    What a constant divides is in the first period only at the beginning of an axis."""
    if var in leaves_below(b) or (op == "floordiv" and ix.constant(b) is not None):
        return False
    return all(rises(a, x, var) for x in (ix.ZERO, b))


def ends(index: Node, var: Var, lanes: LaneOffsets) -> tuple[Node, Node] | None:
    """The least and the largest value of an index that differs between lanes by what is known.

    Args:
        lanes: the values of `var`.
    """
    found = lane_offsets(index, var, lanes) if var in leaves_below(index) else None
    if found is None:
        return None
    least, most = (integer(x) for x in (min(found.offsets), max(found.offsets)))
    return ix.add(found.base, least), ix.add(found.base, most)


def bounded(op: str, a: Node, b: Node, var: Var, lanes: LaneOffsets) -> Node | None:
    """The operand that a minimum or a maximum equals where all lanes are on one side of a bound,
    though they go up and down. Where it may wrap around between two lanes, as beside a Param of
    64 bits, its ends say nothing of those."""
    if op not in CHOSEN or (var in leaves_below(a)) == (var in leaves_below(b)):
        return None
    found = a if var in leaves_below(a) else b
    return found if is_small(found) and ends(found, var, lanes) is not None else None


def is_bounded(a: Node, b: Node, var: Var, lanes: LaneOffsets) -> bool:
    """Whether an index is compared with a bound that is the same for all lanes, which go up and
    down by what is known. Where the bound is known too, so is the comparison in each lane."""
    found = ends(a, var, lanes)
    if found is None or var in leaves_below(b) or not (is_small(a) and is_small(b)):
        return False
    return bool(expanded(ix.sub(found[0], b))[0])


def goes_round(node: Op, var: Var, lanes: LaneOffsets) -> bool:
    """Whether a quotient or a remainder is known where all lanes are in the first period. Else it
    may be that of a constant, which is known in each lane as it is."""
    a, b = node.operands
    if ix.constant(b) is not None:
        return lane_offsets(node, var, lanes) is None and is_own_remainder(node.op, a, b, var)
    if is_own_remainder(node.op, a, b, var):
        return True
    return var not in leaves_below(b) and is_small(a) and ends(a, var, lanes) is not None


def in_full_vectors(
    roots: tuple[Node, ...], var: Var, places: Collection[Node], lanes: LaneOffsets
) -> Mapping[Node, Node]:
    """Each node of some expressions, as it is in full vectors.

    Args:
        places: the nodes of indices: only there a minimum is replaced by one of its operands.
        lanes: the values of `var`.
    """
    done: dict[Node, Node] = {}
    fails = at_borders(roots, var, places)
    for node in postorder(*roots):
        made = simpler(node.with_args(tuple(done[a] for a in node.args)))
        match made:
            case Op(op=op, operands=(a, b)) if op in FAILS_LESS and (
                rises(a, b, var) or is_bounded(a, b, var, lanes)
            ):
                made = FALSE if node in fails else TRUE
            case Op(op="mod" | "floordiv" as op, operands=(a, _)) if node in places and goes_round(
                made, var, lanes
            ):
                made = a if op == "mod" else ix.ZERO
            case Op(op=op, operands=(a, b)) if node in places:
                made = moving(op, a, b, var) or bounded(op, a, b, var, lanes) or made
        done[node] = made
    return done
