"""Quotients and remainders by a size: affine by pieces where the dividend is near.

`e % n` is not affine where n is a size. But where q * n <= e < (q + 1) * n, for a constant q, it is
e - q * n, and `e // n` is q. So within a few periods around zero both are known exactly; beyond,
only what their operators say of them.
"""

from __future__ import annotations

from .isl import Frame, PwAff, Set, val

FIRST, LAST = -1, 1
"""The periods in which they are affine: the one of the size itself, and its neighbours. Two more
would nearly triple what an element of a mirror over two axes is made of."""


def near(dividend: PwAff, divisor: PwAff) -> Set:
    """Where a dividend lies within the periods; the divisor is positive there."""
    low, end = _times(divisor, FIRST), _times(divisor, LAST + 1)
    return dividend.ge_set(low).intersect(dividend.lt_set(end))


def values(op: str, frame: Frame, x: PwAff, dividend: PwAff, divisor: PwAff) -> Set:
    """Where `x` is the quotient (`floordiv`) or the remainder (`mod`), within the periods."""
    found = frame.empty
    for q in range(FIRST, LAST + 1):
        begin = _times(divisor, q)
        inside = dividend.ge_set(begin).intersect(dividend.lt_set(begin.add(divisor)))
        value = frame.constant(q) if op == "floordiv" else dividend.sub(begin)
        found = found.union(inside.intersect(x.eq_set(value)))
    return found.coalesce()


def remainder(frame: Frame, x: PwAff, divisor: PwAff) -> Set:
    """Where `x` may be a remainder by a divisor, whatever the dividend is."""
    zero = frame.constant(0)
    positive = x.ge_set(zero).intersect(x.lt_set(divisor))
    negative = x.le_set(zero).intersect(x.gt_set(divisor))
    by_zero = x.eq_set(zero).intersect(divisor.eq_set(zero))
    return positive.union(negative).union(by_zero)


def quotient(frame: Frame, x: PwAff, dividend: PwAff) -> Set:
    """Where `x` may be the quotient of a dividend, whatever the divisor is: no farther from zero
    than the dividend, and zero by a divisor of zero."""
    zero, other = frame.constant(0), dividend.neg()
    above = dividend.ge_set(zero).intersect(x.le_set(dividend)).intersect(x.ge_set(other))
    below = dividend.lt_set(zero).intersect(x.ge_set(dividend)).intersect(x.le_set(other))
    return above.union(below)


def _times(x: PwAff, factor: int) -> PwAff:
    return x.scale_val(val(factor))
