"""Hints beside a profile: of which stages, with which figures, and that they say what they are.
The figures are made up here: nothing depends on how long anything takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.runtime.kernel import Kernel
from polysched.show.advice.predicted import Figures, Hint, hints

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
VALUES = {"n": 400, "m": 640}


@pytest.fixture
def columns() -> Kernel:
    a, f = ps.Input("a", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = a[i, j] * 2 + 1
    s = ps.Schedule(f)
    s["f"].reorder("j", "i").parallel("j")
    return Kernel(s, later=True)


@pytest.fixture
def strided() -> Kernel:
    a, f = ps.Input("a", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = a[i, j] * 2 + 1
    s = ps.Schedule(f)
    s["f"].reorder("j", "i")
    return Kernel(s, later=True)


def said(
    kernel: Kernel,
    share: float = 0.9,
    loops: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    threads: int = 2,
) -> tuple[Hint, ...]:
    figures = Figures({"f": share}, {"f": 12e9}, loops or {})
    return hints(kernel, kernel, VALUES, threads, figures)


def test_threads_have_the_figures_of_their_loop(columns: Kernel) -> None:
    (hint,) = said(columns, loops={("f", "j"): (0.62, 0.4)})
    assert hint.cause == "false sharing"
    assert hint.evidence.endswith(
        "90% of the call; its threads work 62% of the time, imbalance 40%"
    )
    assert "imbalance" not in said(columns)[0].evidence  # two loops of that name, or none


def test_memory_has_its_bandwidth(strided: Kernel) -> None:
    found = {x.cause: x.evidence for x in said(strided)}
    assert "it loads and stores 12 GB/s, and a core reads" in found["strided inner access"]
    assert "GB/s" not in found["serial outer loop"]


def test_what_takes_little_is_not_worth_a_word(strided: Kernel) -> None:
    assert not said(strided, share=0.05)


def test_changes_that_are_refused_are_no_hints() -> None:
    f = ps.Func("f", (n, m))
    a = ps.Input("a", ps.float32, (n, m))
    f[i, j] = ps.where(i > 0, f[i - 1, j], 0.0) + a[i, j]
    s = ps.Schedule(f)
    s["f"].vectorize("j", 8)
    assert not said(Kernel(s, later=True))  # no threads: a row needs the one above


def test_a_profile_shows_them_as_predicted(strided: Kernel) -> None:
    p = strided.profile(np.ones((8, 8), np.float32))
    hint = Hint("f<b>", "cause", "evidence", 's["f"].directive()')
    shown = replace(p, hints=(hint,))
    for text in (str(shown), shown._repr_html_()):
        assert "Predicted, not measured" in text
        assert "cause: evidence" in text
    assert "f<b>" not in shown._repr_html_()
    assert "Predicted" not in str(replace(p, hints=()))
    assert shown.to_dict()["hints"][0]["cause"] == "cause"
