"""The coefficients of functions are those that the script of the benchmarks makes."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from polysched.lang.arithmetic import (
    math_doubles,
    math_erf,
    math_fast,
    math_inverse_tables as tables,
    math_pow,
    math_single,
    math_single_powers,
    math_trig,
    math_wide,
)
from polysched.lang.nodes.dtypes import float32

FOLDER = Path(__file__).parents[2] / "benchmarks" / "functions"
KNOWN = {
    "sin, float32": math_trig._CONSTANTS[float32].sin,
    "cos, float32": math_trig._CONSTANTS[float32].cos,
    "tan, float32": math_trig._CONSTANTS[float32].tan,
    "arcsin, float32": tables.ARCSIN[float32],
    "arctan, float32": tables.ARCTAN[float32],
    "arctanh, float32": tables.ARCTANH[float32],
    "arcsinh, float32": tables.ARCSINH,
    "log2, float32": math_single._SERIES_2,
    "log10, float32": math_single._SERIES_10,
    "log1p, float32": math_single._SERIES_1P,
    "log1p, float64": tuple(-c for c in math_wide._SERIES_1P),
    "exp2, float64": math_wide._EXP2,
    "expm1, float32": (0.5, *math_single_powers._EXPM1),
    "sinh, float32": math_single_powers._SINH,
    "cosh, float32": math_single_powers._COSH,
    "cbrt": tables.CUBE_ROOT,
    "fast_exp, float32": math_fast._EXP[float32],
    "fast_exp2, float32": math_fast._EXP2[float32],
    "fast_tanh, float32": sum(math_fast._TANH[float32][1:], ()),
    "log in two parts": math_doubles._ARTANH,
    "erfc, float32": math_erf._TAILS[float32].above + math_erf._TAILS[float32].below,
    "power in erfc, float32": math_erf._TAILS[float32].power,
    "exp2 of pow, float32": math_pow._CONSTANTS[float32].exp2,
    "log2 of pow, float32": math_pow._CONSTANTS[float32].log,
}
#: The largest errors of those that are not below 2**-27.
LARGER = {
    "cbrt": 2.0**-14,
    "fast_exp, float32": 2.0**-23,
    "fast_exp2, float32": 2.0**-23,
    "fast_tanh, float32": 2.0**-24,
}


def part(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("mpmath", reason="the script needs mpmath")
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module(name)


@pytest.mark.parametrize("name", KNOWN)
def test_coefficients_are_made_by_the_script(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, error = part("coefficients", monkeypatch).FITS[name].rounded()
    assert found == KNOWN[name]
    assert error < LARGER.get(name, 2.0**-27)


def test_a_weight_that_fits_no_polynomial_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    remez = part("remez", monkeypatch)
    points = remez.chebyshev_points(0, 1, 40)
    values = [x**3 for x in points]
    with pytest.raises((ValueError, ZeroDivisionError)):
        remez.best_sum([[1] * 40, points], values, [0 * x for x in points])
