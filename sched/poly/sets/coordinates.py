"""Loop coordinates as expressions over a statement's frame: their maps, and which of them are
determined by others.

A Func that is computed at a loop of a Func that is itself computed at a loop has many loops around
it, most of which run once in each iteration of those further out: a loop over `i + 1`, say, inside
of one over `i`. Such a coordinate is determined by others, so no question about order or storage
needs it as a dimension, which saves most of isl's work in deep nests.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.errors.errors import ScheduleError
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, RVar, Var, postorder
from ...lang.program.intervals import reach
from ...records import dataclass
from .affine import affine_values
from .isl import Constraint, Frame, Map, PwAff, Set, Val, involved, isl, relation, some_dims

_SET, _PARAM, _DIV = isl.dim_type.set, isl.dim_type.param, isl.dim_type.div
Terms = tuple[tuple[str | int, int], ...]
"""A sum: coefficients by size, by loop, and the constant's by an empty name."""


@dataclass(frozen=True, slots=True)
class Determined:
    """A coordinate that is an affine function of others: `factor` times it is the sum. Equal for
    equal functions."""

    factor: int
    terms: Terms

    @property
    def others(self) -> frozenset[int]:
        return frozenset(k for k, _ in self.terms if isinstance(k, int))


def coordinate_values(frame: Frame, coordinates: Sequence[Node]) -> list[PwAff]:
    """Coordinates of loops over a frame."""
    values = affine_values(frame, coordinates)
    if values is None:
        raise ScheduleError(
            "a loop would count so far that its index may not fit in 64 bits", status="unproved"
        )
    return values


#: No loop counts farther from 0: the distance of any two iterations fits in 64 bits then.
FARTHEST = 1 << 61


def is_too_far(coordinate: Node) -> bool:
    """Whether the values of a coordinate, or one of the quotients that it is made of times its
    divisor, may come near to 64 bits at some sizes."""
    span = reach(coordinate)
    return span is None or max(map(abs, span)) > FARTHEST or _divisor(coordinate) > FARTHEST


def _divisor(coordinate: Node) -> int:
    """How much all quotients on the way to a coordinate are divided by: a block of blocks."""
    found: dict[Node, int] = {}
    for node in postorder(coordinate):
        found[node] = max((found[x] for x in node.args), default=1)
        if isinstance(node, Op) and node.op == "floordiv":
            found[node] *= abs(ix.constant(node.operands[1]) or 1)
    return found[coordinate]


def coordinate_map(frame: Frame, coordinates: Sequence[Node]) -> Map:
    """{ point of a frame -> coordinates of loops }"""
    plain = plain_dims(frame, coordinates)
    return joined(frame, plain, coordinate_values(frame, coordinates[len(plain) :]))


def plain_dims(frame: Frame, coordinates: Sequence[Node]) -> list[int]:
    """The longest prefix of the coordinates that are dimensions of the frame, in its order: their
    numbers."""
    found: list[int] = []
    for x in coordinates:
        k = frame.dims.index(x.name) if isinstance(x, (Var, RVar)) else -1
        if k <= (found[-1] if found else -1):
            break
        found.append(k)
    return found


def joined(frame: Frame, plain: list[int], values: list[PwAff]) -> Map:
    """{ point of a frame -> some of its dimensions, and values }"""
    found = some_dims(frame, plain)
    return found.flat_range_product(relation(values, frame)) if values else found


# coordinates that others determine --------------------------------------------------------------
def beside(coordinates: Sequence[Node]) -> dict[int, tuple[int, int]]:
    """The coordinates that are written as an earlier one plus a constant: by number, the number of
    the other one and the constant."""
    first: dict[Node, tuple[int, int]] = {}
    found = {}
    for k, x in enumerate(coordinates):
        base, constant = ix.parted(x)
        if base in first:
            other, before = first[base]
            found[k] = other, constant - before
        else:
            first[base] = k, constant
    return found


def determined(
    visited: Set, numbers: Sequence[int], same: dict[int, tuple[int, int]]
) -> dict[int, Determined]:
    """The coordinates that are affine functions of those before them, at all sizes.

    Args:
        visited: what some of them take.
        numbers: which of the coordinates these are.
        same: the other ones, by what they are beside.
    """
    found = {}
    for c in visited.affine_hull().get_constraints():
        if c.involves_dims(_DIV, 0, int(c.dim(_DIV))):
            continue
        # isl solves equalities for their last dimension.
        *_, own = involved(c, _SET) or [-1]
        if own >= 0:
            factor = int(c.get_coefficient_val(_SET, own).to_python())
            sign = -1 if factor > 0 else 1
            found[numbers[own]] = Determined(abs(factor), _terms(c, own, sign, numbers))
    for k, (other, constant) in same.items():
        if other in found:
            found[k] = _moved(found[other], constant)
        else:
            found[k] = _moved(Determined(1, (("", 0), (other, 1))), constant)
    return found


def _moved(function: Determined, by: int) -> Determined:
    (name, constant), *terms = function.terms
    return Determined(function.factor, ((name, constant + by * function.factor), *terms))


def _terms(c: Constraint, own: int, sign: int, numbers: Sequence[int]) -> Terms:
    """An equality but for one dimension."""
    found: list[tuple[str | int, Val]] = [("", c.get_constant_val())]
    for k in involved(c, _PARAM):
        found.append((str(c.get_dim_name(_PARAM, k)), c.get_coefficient_val(_PARAM, k)))
    others = (k for k in involved(c, _SET) if k != own)
    found += [(numbers[k], c.get_coefficient_val(_SET, k)) for k in others]
    return tuple((x, sign * int(v.to_python())) for x, v in found)
