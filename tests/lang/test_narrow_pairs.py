"""A sample of what `narrow_pairs.py` does, and that it notices what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from lang import narrow_pairs

import polysched as ps


def types(slow=None):
    """Both types, of which one may be left to the slow tests."""
    rows = [pytest.param(t, marks=[pytest.mark.slow] * (t is slow)) for t in narrow_pairs.TYPES]
    return pytest.mark.parametrize("dtype", rows, ids=str)


@types(slow=ps.float16)
def test_2_1_operators_of_pairs_round_once(dtype, monkeypatch):
    monkeypatch.setattr(narrow_pairs, "FUNCTIONS_OF_TWO", ("hypot", "heaviside"))
    assert not [*narrow_pairs.differences(dtype, np.random.default_rng(1), 1 << 15, 8)]


@types(slow=ps.bfloat16)
def test_2_6_functions_of_every_number_are_those_of_float32_rounded(dtype, monkeypatch):
    monkeypatch.setattr(narrow_pairs, "FUNCTIONS", ("exp", "log1p", "arctan"))
    assert not [*narrow_pairs.of_one(dtype, 8)]


@types()
def test_pairs_have_denormals_ties_and_specials(dtype):
    x, y = narrow_pairs.pairs(np.random.default_rng(1), dtype, 1 << 12)
    a, b = (narrow_pairs.doubles(dtype, bits) for bits in (x, y))
    form = dtype.format
    with np.errstate(all="ignore"):
        total = a + b
        _, exponents = np.frexp(total)
        beyond = np.ldexp(total, form.precision + 1 - exponents)
        is_tie = np.isfinite(total) & (beyond == np.rint(beyond)) & (beyond % 2 == 1)
    is_denormal = (a != 0) & (np.abs(a) < 2.0 ** (1 - form.bias))
    for wanted in (is_tie, is_denormal, np.isnan(a), np.isinf(b), a == 0):
        assert np.count_nonzero(wanted) > 20


def test_a_second_rounding_is_noticed():
    """Of a product that is next to a tie of bfloat16, by way of a type with fewer digits."""

    def twice(x, y):
        return ps.cast(ps.bfloat16, ps.cast(ps.float16, x * 1)) + y

    rng = np.random.default_rng(1)
    changed = {"add": (twice, np.add)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrow_pairs, "OF_TWO", changed)
        patch.setattr(narrow_pairs, "OF_SINGLES", {})
        patch.setattr(narrow_pairs, "FUNCTIONS_OF_TWO", ())
        (found,) = narrow_pairs.differences(ps.bfloat16, rng, 1 << 10, 8)
    assert found.startswith("bfloat16 add(")
