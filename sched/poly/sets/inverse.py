"""Which instance runs in an iteration: the statement's dimensions as functions of the loops.

Where loops were fused, isl solves f = 18 x + 2 z + c by case distinctions and unusual roundings. So
the solution in mixed radix is guessed first, x = f // 18 and so on, digit by digit, and isl is used
to prove that it is one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...records import dataclass
from .isl import Aff, Map, PwAff, isl, val

_IN, _OUT, _DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.div


def values_of(inverse: Map, values: isl.PwMultiAff) -> list[PwAff]:
    """The dimensions that a single-valued { loops -> instance } gives, one after the other.

    Args:
        values: the same, as isl makes a function of it.
    """
    found = [values.get_pw_aff(k) for k in range(int(values.dim(_OUT)))]
    if all(map(_is_plain, found)):
        return found
    return _by_digits(inverse) or found


def _is_plain(value: PwAff) -> bool:
    """Whether there is one case, without rounding."""
    cases: list[int] = []
    value.foreach_piece(lambda _, aff: cases.append(int(aff.dim(_DIV))))
    return cases == [0]


@dataclass(frozen=True)
class _Equation:
    """sum(factors[k] * dimension k) = rest"""

    factors: dict[int, int]
    rest: Aff

    def without(self, known: dict[int, Aff]) -> _Equation:
        """The equation with known dimensions moved to the right side."""
        rest = self.rest
        for k in self.factors.keys() & known.keys():
            rest = rest.sub(known[k].scale_val(val(self.factors[k])))
        left = {k: a for k, a in self.factors.items() if k not in known}
        return _Equation(left, rest)


def _by_digits(inverse: Map) -> list[PwAff] | None:
    """Each dimension as a digit of a sum: None where it is not."""
    count = int(inverse.dim(_OUT))
    equations = _equations(inverse)
    lowest = _lowest(inverse, count)
    known: dict[int, Aff] = {}
    while len(known) < count:
        found = [_first_digit(e.without(known), lowest) for e in equations]
        digit = next((x for x in found if x is not None), None)
        if digit is None:
            return None
        known[digit[0]] = digit[1]
    values = [known[k] for k in range(count)]
    return [PwAff.from_aff(v) for v in values] if _gives(inverse, values) else None


def _equations(inverse: Map) -> list[_Equation]:
    """What the dimensions are in terms of loops, in all iterations."""
    found = []
    space = isl.LocalSpace.from_space(inverse.get_space().domain())
    for c in inverse.affine_hull().get_constraints():
        divs = range(int(c.dim(_DIV)))
        if not c.is_equality() or any(_coefficient(c, _DIV, k) for k in divs):
            continue
        rest = Aff.zero_on_domain(space).set_constant_val(c.get_constant_val().neg())
        for kind in (isl.dim_type.param, _IN):
            for k in range(int(c.dim(kind))):
                rest = rest.set_coefficient_val(kind, k, c.get_coefficient_val(kind, k).neg())
        factors = {k: _coefficient(c, _OUT, k) for k in range(int(c.dim(_OUT)))}
        factors = {k: a for k, a in factors.items() if a}
        if factors and max(factors.values(), key=abs) < 0:
            factors, rest = {k: -a for k, a in factors.items()}, rest.neg()
        found.append(_Equation(factors, rest))
    return found


def _coefficient(c: isl.Constraint, kind: isl.dim_type, k: int) -> int:
    return int(c.get_coefficient_val(kind, k).to_python())


def _lowest(inverse: Map, count: int) -> list[int]:
    """The least value of each dimension; 0 where it has none that is known."""
    instances = inverse.range()
    least = [instances.dim_min_val(k) for k in range(count)]
    return [int(x.to_python()) if x.is_int() else 0 for x in least]


def _first_digit(e: _Equation, lowest: Sequence[int]) -> tuple[int, Aff] | None:
    """The dimension with the largest factor, if all others together are less than that."""
    if not e.factors:
        return None
    first, *others = sorted(e.factors, key=lambda k: -abs(e.factors[k]))
    if any(e.factors[k] < 0 for k in e.factors):
        return None
    below = sum(e.factors[k] * lowest[k] for k in others)
    scaled = e.rest.add_constant_val(val(-below)).scale_down_val(val(e.factors[first]))
    return first, scaled.floor()


def _gives(inverse: Map, values: list[Aff]) -> bool:
    """Whether these are the dimensions in every iteration."""
    parts = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(values))
    for value in values:
        parts = parts.add(value)
    made = isl.MultiAff.from_aff_list(inverse.get_space(), parts)
    return bool(inverse.is_subset(Map.from_multi_aff(made)))
