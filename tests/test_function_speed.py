"""The table of how quick functions are: what has a row, and which peers count."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from polysched.lang.nodes.ops import FUNCTIONS


@pytest.fixture
def elementwise() -> Any:
    pytest.importorskip("scipy", reason="SciPy is a peer")
    return importlib.import_module("functions.elementwise")


def row(elementwise: Any, name: str, dtype: str = "float32") -> Any:
    function = next(x for x in elementwise.FUNCTIONS if x.name == name)
    return elementwise.Row(function, dtype)


def test_each_function_has_a_row(elementwise: Any) -> None:
    """Whatever is a formula of operators."""
    assert set(FUNCTIONS) <= {x.name for x in elementwise.FUNCTIONS}


@pytest.mark.parametrize("name", ["isnan", "ldexp", "fast_exp2"])
def test_ours_is_called_as_numpys(elementwise: Any, name: str) -> None:
    given = row(elementwise, name)
    libraries = importlib.import_module("functions.libraries")
    ours, peers = (make(given.function, given.arguments).result()
                   for make in (libraries.ours, libraries._numpy))  # fmt: skip
    assert ours.dtype == peers.dtype
    np.testing.assert_allclose(ours, peers, rtol=1e-6)


def test_a_test_that_is_wrong_anywhere_does_not_count(elementwise: Any) -> None:
    wanted = np.array([True, False, True])
    assert elementwise._error(wanted.copy(), wanted) == 0
    assert elementwise._error(~wanted, wanted) == float("inf")


@pytest.mark.parametrize(
    ("name", "own", "ratio"), [("exp", 0.9, 2.0), ("fast_exp", 2.5, 0.5), ("sqrt", 0.5, None)]
)
def test_peers_that_are_less_exact_do_not_count(
    elementwise: Any, name: str, own: float, ratio: float | None
) -> None:
    """The bound is that of the type; of what is `fast_` our own; of what rounds once a half."""
    measured = {"polysched": (2.0, own), "exact": (1.0, 0.8), "loose": (4.0, 2.4)}
    found = {k: elementwise.Measured(*x) for k, x in measured.items()}
    assert row(elementwise, name).ratio(found) == ratio
