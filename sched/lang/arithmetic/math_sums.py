"""Sums and products of two numbers without loss: the rounded value, and what it rounds off."""

from __future__ import annotations

from .math_terms import Term, fma


def two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """a + b and what that rounds off (Knuth)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def fast_two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """a + b and what that rounds off, for |a| >= |b| or a = 0 (Dekker)."""
    total = a + b
    return total, (a - total) + b


def two_product(a: Term, b: Term) -> tuple[Term, Term]:
    """a * b and what that rounds off."""
    product = a * b
    return product, fma(a, b, -1.0 * product)
