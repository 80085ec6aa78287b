"""Sets that are products: none of their constraints relates two coordinates, at given sizes.

Most of what stencils and pyramids read is such a set, and where it ends along an axis can be read
off its constraints then. isl finds the same as a function of sizes, with a case for each pair of
constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from .isl import BasicSet, Constraint, involved, isl

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param

Slope = tuple[tuple[int, int], ...]
"""How a bound moves with parameters: the factor of each that it depends on, and behind these that
of the coordinate, without what all have in common. Bounds of one slope are a constant apart."""

Slopes = Sequence[tuple[set[Slope], set[Slope]]]
"""By axis, those of the lower and of the upper bounds."""


def slopes(piece: BasicSet) -> Slopes | None:
    """Those of the bounds of each axis of a set without divisions; None where it is no product."""
    found: Slopes = [(set(), set()) for _ in range(int(piece.dim(_SET)))]
    for c in piece.get_constraints():
        axes = involved(c, _SET)
        if len(axes) > 1:
            return None
        for axis in axes:
            own = int(c.get_coefficient_val(_SET, axis).to_python())
            slope = _slope(c, own)
            for end, is_one in zip(found[axis], (own > 0, own < 0), strict=True):
                if is_one or c.is_equality():
                    end.add(slope)
    return found


def _slope(c: Constraint, own: int) -> Slope:
    """That of a bound of a coordinate with a factor."""
    factors = [(k, int(c.get_coefficient_val(_PARAM, k).to_python())) for k in involved(c, _PARAM)]
    common = gcd(own, *(x for _, x in factors)) * (1 if own > 0 else -1)
    return (*((k, x // common) for k, x in factors), (-1, own // common))


def end_alike(around: BasicSet, pieces: Sequence[BasicSet]) -> bool:
    """Whether sets without divisions end along each axis within a constant of one around them, at
    all sizes at which they are not empty; False where that does not show.

    They are products, and for each bound of one there is a bound of the set around it that is a
    constant apart. So the strictest bound of that is nowhere beyond theirs by more than a constant.
    """
    outer = slopes(around)
    return outer is not None and all(_are_among(slopes(piece), outer) for piece in pieces)


def _are_among(inner: Slopes | None, outer: Slopes) -> bool:
    """Whether there are bounds along each axis, and all of them are among others."""
    if inner is None:
        return False
    axes = zip(inner, outer, strict=True)
    return all(a and a <= b for x, y in axes for a, b in zip(x, y, strict=True))
