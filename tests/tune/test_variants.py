"""Variants of schedules that are found, for sizes of another kind than they are found for."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gallery.case import normal
from gallery.execute import assert_same

import polysched as ps
from polysched.codegen.runtime.kernel import Kernel
from polysched.tune.search import variants
from polysched.tune.search.decided import Partial
from polysched.tune.search.variants import MOST, SMALL, THIN, cases

from .programs import i, j, m, n, product, q

V3 = "x86-64-v3"


def conditions(s: ps.Schedule) -> list[str]:
    lines = s.source().splitlines()
    return [x.partition(".specialize(")[2][:-1] for x in lines if ".specialize(" in x]


def test_a_product_of_few_rows_copies_no_panels() -> None:
    s = ps.Schedule.auto(product(), threads=1, target=V3)
    assert f"n <= {THIN}" in conditions(s)
    (thin,) = (
        v for (c, v), x in zip(s.variants, conditions(s), strict=True) if x == f"n <= {THIN}"
    )
    assert "stage" in {d.name for d in s.directives}
    assert "stage" not in {d.name for d in thin.directives}
    assert s.bit_exact


def test_sizes_that_are_given_have_no_variants() -> None:
    s = ps.Schedule.auto(product(), sizes={"n": 1000, "m": 1000, "q": 1000}, target=V3)
    assert not s.variants
    s = ps.Schedule.auto(product(), sizes={"m": 1000, "q": 1000}, threads=1, target=V3)
    assert conditions(s) == [f"n <= {THIN}"]


@pytest.mark.slow
def test_the_variants_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nearly all that gain anything are taken."""
    monkeypatch.setattr(variants, "GAIN", 1.01)
    monkeypatch.setattr(variants, "SAVED", 0.0)
    f = product()
    s = ps.Schedule.auto(f, threads=2)
    assert 1 < len(s.variants) <= MOST
    kernel, rng = s.compile(), np.random.default_rng(1)
    for rows, columns, depth in [
        (1, 9, 70),
        (4, 70, 9),
        (70, 1, 9),
        (70, 70, 2),
        (9, 9, 9),
        (65, 66, 67),
    ]:
        a, b = normal(rng, rows, depth), normal(rng, depth, columns)
        assert_same(kernel(a, b), ps.interpret(f, a, b))


def test_a_variant_is_compiled_when_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Kernel] = []
    compiled = Kernel._variant

    def counted(self: Kernel, strided: bool) -> object:
        if strided not in self._variants:
            made.append(self)
        return compiled(self, strided)

    monkeypatch.setattr(Kernel, "_variant", counted)
    f = product()
    s = ps.Schedule(f)
    s.specialize(n <= 4)
    kernel = s.compile()
    assert made == [kernel]
    ones = np.ones((5, 5), np.float32)
    kernel(ones, ones)
    assert made == [kernel]
    kernel(ones[:4], ones)
    assert len(made) == 2


@pytest.mark.slow
def test_the_source_makes_the_variants() -> None:
    f = product()
    s = ps.Schedule.auto(f, threads=1, target=V3)
    known = {"ps": ps, "n": n, "m": m, "q": q, f.name: f}
    exec(s.source(), known)
    assert known["s"] == s
    assert ps.Schedule.from_json(f, s.to_json()) == s


def test_kinds_of_sizes() -> None:
    assert not cases([])
    assert [dict(c.most) for c in cases(["n", "m"])] == [
        {"n": THIN},
        {"m": THIN},
        {"n": SMALL, "m": SMALL},
    ]
    assert [dict(c.most) for c in cases(["a", "b", "c", "d"])] == [dict.fromkeys("abcd", SMALL)]


def test_a_program_that_is_never_small_has_no_variant_for_that() -> None:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = ps.exp(x[i, j])
    ps.require((n > 100) & (m > 100), "large", f)
    assert not ps.Schedule.auto(f, target=V3).variants


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([(9.0, 1.0), (4.0, 2.0)], 2.0),
        ([(4.0, 2.0), (9.0, 1.0)], 2.0),
        ([(9e-7, 1e-7), (4e-7, 2e-7)], 0.0),
        ([(9.0, 1.0), (None, 1.0)], 0.0),
        ([(9.0, 1.0), (1.0, None)], 0.0),
    ],
)
def test_a_variant_gains_at_all_of_its_sizes(
    seconds: list[tuple[float | None, float | None]], expected: float
) -> None:
    """Given what the plan for other sizes takes at each of them, and what that of the variant."""

    @dataclass
    class Answers:
        times: list[float | None]

        def decided(self, _: object) -> object:
            found = self.times.pop(0)
            return None if found is None else SimpleNamespace(seconds=found)

    searches: Any = [Answers(list(pair)) for pair in seconds]
    assert variants._gain([], Partial(), searches) == expected
