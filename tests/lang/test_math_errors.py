"""The table of errors: that the page has what was found, and that this is true.

What the table's command measures with is compared with mpmath here.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched as ps

FOLDER = Path(__file__).parents[2] / "benchmarks" / "functions"
BOUNDS = {"float32": 1.0, "float64": 1.5}


def part(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("mpmath", reason="the command needs mpmath")
    pytest.importorskip("scipy", reason="the command needs SciPy")
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module(name)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Any:
    return part("table", monkeypatch)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return list(part("references", monkeypatch).EXACT)


needs_long_doubles = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant != 63, reason="long doubles are not of 80 bits here"
)


def interpreted(name: str, dtype: str, at: tuple[float, ...]) -> float:
    n, i = ps.sizes("n"), ps.vars("i")
    given = [ps.Input(f"x{k}", getattr(ps, dtype), (n,)) for k in range(len(at))]
    f = ps.Func("f", (n,))
    f[i] = getattr(ps, name)(*(x[i] for x in given))
    return float(ps.interpret(f, *(np.array([x], dtype) for x in at))[0])


def test_the_page_has_what_was_found(table: Any, names: list[str]) -> None:
    page = table.PAGE.read_text()
    assert page == table.with_table(page, table.lines(names, table.read()))


def test_all_errors_are_within_the_bounds_of_their_types(table: Any) -> None:
    bounds = BOUNDS | {(name, t): bound for name, t, bound in stated(table.PAGE.read_text())}
    found = {k: (r.error, bounds.get(k, bounds[k[1]])) for k, (r, _) in table.read().items()}
    assert {k: both for k, both in found.items() if both[0] >= both[1]} == {}


def stated(page: str) -> Iterator[tuple[str, str, float]]:
    """What the page states of fast functions."""
    for line in page.splitlines():
        if line.startswith("| `fast_"):
            name, *bounds = (cell.strip(" `") for cell in line.split("|")[1:4])
            yield from zip([name] * 2, ("float32", "float64"), map(float, bounds), strict=True)


@pytest.mark.parametrize("dtype", [pytest.param("float64", marks=pytest.mark.slow), "float32"])
def test_the_worst_arguments_have_the_errors_that_were_found(
    dtype: str, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = part("by_mpmath", monkeypatch)
    for (name, kind), (row, formula) in table.read().items():
        if kind != dtype or formula != table.formula(name, kind):
            continue
        found = interpreted(name, kind, row.at)
        error = errors.error_of(name, np.dtype(kind).type, row.at, found)
        assert error == pytest.approx(row.error, abs=1e-9), name


def test_a_row_of_another_formula_has_a_star(table: Any, tmp_path: Path) -> None:
    kept = tmp_path / "errors.json"
    table.keep("exp", "float32", table.Row(0.75, (1.0,), 2**32), kept)
    assert table.lines(["exp"], table.read(kept))[-1] == "| `exp` | 0.75 | - |"
    text = kept.read_text().replace(table.formula("exp", "float32"), "of before")
    kept.write_text(text)
    assert table.lines(["exp"], table.read(kept))[-1] == "| `exp` | 0.75* | - |"
    table.keep("exp", "float32", table.Row(0.25, (2.0,), 2**32), kept)
    assert table.lines(["exp"], table.read(kept))[-1] == "| `exp` | 0.25 | - |"


def test_a_row_of_some_arguments_has_a_star_and_loses_nothing(table: Any, tmp_path: Path) -> None:
    kept = tmp_path / "errors.json"
    table.keep("log", "float64", table.Row(0.601, (3.0,), 10**6), kept)
    assert not table.is_done("log", "float64", table.read(kept))
    assert table.lines(["log"], table.read(kept))[-1] == "| `log` | - | 0.61* |"
    table.keep("log", "float64", table.Row(0.5, (2.0,), 10**8), kept)
    row, _ = table.read(kept)["log", "float64"]
    assert row == table.Row(0.601, (3.0,), 10**8)
    assert table.is_done("log", "float64", table.read(kept))


def test_formulas_of_functions_differ_by_type_and_constants(table: Any) -> None:
    assert table.formula("sqrt", "float32") == "an operator"
    digests = {table.formula(n, t) for n in ("sin", "cos", "exp") for t in BOUNDS}
    assert len(digests) == 6


@needs_long_doubles
def test_errors_of_float64_are_those_by_mpmath(monkeypatch: pytest.MonkeyPatch) -> None:
    errors, longer = part("by_mpmath", monkeypatch), part("longer", monkeypatch)
    given = np.array([-2.45702, -170.5, -0.7, 3e-307, 0.3, 2.5, 100.25, 171.5])
    for name, scale in (("gamma", 1.0), ("lgamma", 1.0), ("sigmoid", 0.1)):
        x, found = given * scale, np.abs(given) * 3
        measured = longer.errors(name, [x], found)
        for at, y, error in zip(x, found, measured, strict=True):
            exact = errors.error_of(name, np.float64, (at,), y)
            assert error == pytest.approx(exact, rel=1e-3), (name, at)


@needs_long_doubles
def test_wrong_special_values_of_float64_have_infinite_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    longer, inf = part("longer", monkeypatch), np.inf
    x = np.array([np.nan, inf, -inf, -1.0, 0.0, 709.79, 4.0])
    found = np.array([np.nan, inf, 0.0, np.nan, inf, np.finfo(np.float64).max, 2.0])
    assert [*longer.errors("sqrt", [x], found)] == [0, 0, inf, 0, inf, inf, 0]
    assert longer.errors("exp", [x[5:6]], found[5:6]) == [0.5]
    assert [*longer.errors("sqrt", [x[4:5]], np.array([-0.0]))] == [inf]


def test_distances_of_float32_are_those_by_mpmath(monkeypatch: pytest.MonkeyPatch) -> None:
    distances, errors = part("distances", monkeypatch), part("by_mpmath", monkeypatch)
    x = np.array([-87.5, -100.25, -1e-30, 0.75, 3.5, 88.5], np.float32)
    true = np.exp(x.astype(np.float64))
    found = distances.kernel("exp", np.float32)(x)
    measured = distances.each("exp")(distances.rows(x), distances.rows(true)).ravel()
    for k, error in enumerate(measured[: len(x)]):
        exact = errors.error_of("exp", np.float32, (float(x[k]),), float(found[k]))
        assert error == pytest.approx(exact, abs=1e-6)


def test_errors_of_fast_functions_count_where_numbers_are_normal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    distances, inf = part("distances", monkeypatch), np.inf
    x = np.array([-88.0, -86.0, 1e-40, 1.0, 1.0, 88.0, 88.5, np.nan], np.float32)
    true = np.exp(x.astype(np.float64))
    true[4] = 4.0
    measured = distances.each("fast_exp")(distances.rows(x), distances.rows(true)).ravel()[:8]
    assert [*(measured == 0)] == [True, False, True, False, False, False, True, True]
    assert measured[4] > 1e6
    assert inf > distances.largest("fast_exp")(distances.rows(x), distances.rows(true)).max() > 1e6


def test_wrong_special_values_of_float32_have_infinite_distances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    distances, inf = part("distances", monkeypatch), np.inf
    x = np.array([np.nan, 0.0, 200.0, 88.9, -inf, -inf, 1.0], np.float32)
    true = np.array([np.nan, np.nan, inf, float(np.finfo(np.float32).max), 0.0, -0.0, inf])
    given = distances.rows(x), distances.rows(true)
    assert [*distances.each("exp")(*given).ravel()[:7]] == [0, inf, 0, 0.5, 0, inf, inf]
    assert distances.largest("exp")(*given).max() == inf
    right = distances.rows(x[[0, 2, 4]]), distances.rows(true[[0, 2, 4]])
    assert distances.largest("exp")(*right).max() == 0.5
