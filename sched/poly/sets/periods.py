"""Quotients and remainders by a size: affine by pieces where the dividend is near.

`e % n` is not affine where n is a size. But where q * n <= e < (q + 1) * n, for a constant q, it is
e - q * n, `e // n` is q, and `n * (e // n)` is q * n. So within a few periods around zero all are
known exactly; beyond, only what their operators say of them.
"""

from __future__ import annotations

from ...lang.nodes.quotients import Quotient
from .isl import Frame, PwAff, Set, coalesced, union_sets, val

FIRST, LAST = -1, 1
"""The periods in which they are affine: the one of the size itself, and its neighbours. Two more
would nearly triple what an element of a mirror over two axes is made of."""


def near(dividend: PwAff, divisor: PwAff) -> Set:
    """Where a dividend lies within the periods; the divisor is positive there."""
    low, end = _times(divisor, FIRST), _times(divisor, LAST + 1)
    return dividend.ge_set(low).intersect(dividend.lt_set(end))


def bounds(
    found: Quotient,
    frame: Frame,
    x: PwAff,
    dividend: PwAff,
    divisor: PwAff,
    usual: Set,
    by_negative: bool,
) -> Set:
    """What is known of `x`, the quotient, the remainder or whole periods.

    Args:
        usual: where the divisor is one that occurs. A dividend of -2**63 is near to no size: of
            such pieces only constants beyond 64 bits would be left, in all sets made from this one.
        by_negative: whether the divisor may be negative.
    """
    exact = _met(frame, values(found, frame, x, dividend, divisor), usual)
    within = _met(frame, near(dividend, divisor), usual)
    return exact.union(possible(found, frame, x, dividend, divisor, by_negative).subtract(within))


def _met(frame: Frame, pieces: Set, usual: Set) -> Set:
    """The pieces that have a point there."""
    each = [Set.from_basic_set(b) for b in pieces.get_basic_sets()]
    met = [b for b in each if not b.is_disjoint(usual)]
    return pieces if len(met) == len(each) else union_sets(met, frame.empty)


def values(found: Quotient, frame: Frame, x: PwAff, dividend: PwAff, divisor: PwAff) -> Set:
    """Where `x` is the quotient, the remainder or whole periods, while these are near."""
    result = frame.empty
    for q in range(FIRST, LAST + 1):
        begin = _times(divisor, q)
        inside = dividend.ge_set(begin).intersect(dividend.lt_set(begin.add(divisor)))
        match found.op:
            case "floordiv":
                value = frame.constant(q)
            case "mod":
                value = dividend.sub(begin)
            case _:
                value = _times(begin, found.times)
        result = result.union(inside.intersect(x.eq_set(value)))
    return coalesced(result)


def possible(
    found: Quotient, frame: Frame, x: PwAff, dividend: PwAff, divisor: PwAff, by_negative: bool
) -> Set:
    """Where `x` may be the quotient, the remainder or whole periods, wherever the dividend is."""
    match found.op:
        case "floordiv":
            return quotient(frame, x, dividend, by_negative)
        case "mod":
            return remainder(frame, x, divisor)
        case _:
            left = _times(dividend, found.times).sub(x)  # as many remainders
            size = abs(found.times)
            left = left if found.times > 0 else left.neg()
            by_zero = divisor.eq_set(frame.constant(0)).intersect(x.eq_set(frame.constant(0)))
            return _remainders(frame, left, divisor, size).union(by_zero)


def remainder(frame: Frame, x: PwAff, divisor: PwAff) -> Set:
    """Where `x` may be a remainder by a divisor, whatever the dividend is."""
    zero = frame.constant(0)
    by_zero = x.eq_set(zero).intersect(divisor.eq_set(zero))
    return _remainders(frame, x, divisor, 1).union(by_zero)


def _remainders(frame: Frame, x: PwAff, divisor: PwAff, count: int) -> Set:
    """Where `x` may be some times a remainder by a divisor that is not 0."""
    zero = frame.constant(0)
    most, least = (_times(divisor.add_constant_val(val(one)), count) for one in (-1, 1))
    positive = x.ge_set(zero).intersect(x.le_set(most))
    negative = x.le_set(zero).intersect(x.ge_set(least))
    return positive.union(negative)


def quotient(frame: Frame, x: PwAff, dividend: PwAff, by_negative: bool) -> Set:
    """Where `x` may be the quotient of a dividend, whatever the divisor is: no farther from zero
    than the dividend, zero by a divisor of zero, and on the same side by one that is positive."""
    zero = frame.constant(0)
    other = dividend.neg() if by_negative else zero
    above = dividend.ge_set(zero).intersect(x.le_set(dividend)).intersect(x.ge_set(other))
    below = dividend.lt_set(zero).intersect(x.ge_set(dividend)).intersect(x.le_set(other))
    return above.union(below)


def _times(x: PwAff, factor: int) -> PwAff:
    return x.scale_val(val(factor))
