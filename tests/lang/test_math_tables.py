"""The coefficients of functions are those that the script of the benchmarks makes."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from polysched.lang.arithmetic import math_inverse_tables as tables, math_trig
from polysched.lang.nodes.dtypes import float32

FOLDER = Path(__file__).parents[2] / "benchmarks" / "functions"
KNOWN = {
    "sin, float32": math_trig._CONSTANTS[float32].sin,
    "cos, float32": math_trig._CONSTANTS[float32].cos,
    "arcsin, float32": tables.ARCSIN[float32],
    "arctan, float32": tables.ARCTAN[float32],
    "arctanh, float32": tables.ARCTANH[float32],
    "arcsinh, float32": tables.ARCSINH[float32],
    "cbrt": tables.CUBE_ROOT,
}


def part(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("mpmath", reason="the script needs mpmath")
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module(name)


@pytest.mark.parametrize("name", KNOWN)
def test_coefficients_are_made_by_the_script(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, error = part("trig_fits", monkeypatch).FITS[name].rounded()
    assert found == KNOWN[name]
    assert error < (2.0**-14 if name == "cbrt" else 2.0**-27)


def test_a_weight_that_fits_no_polynomial_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    remez = part("remez", monkeypatch)
    points = remez.chebyshev_points(0, 1, 40)
    values = [x**3 for x in points]
    with pytest.raises((ValueError, ZeroDivisionError)):
        remez.minimax(points, values, [0 * x for x in points], range(2))
