"""Indices that intervals say too little of: what is read in them is tried value by value, as native
code proves them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.interp import separate, unknowns
from polysched.interp.unknowns import Unknowns
from polysched.lang.nodes.nodes import Node
from polysched.lang.program.program import Program
from polysched.testing.choices import Choices

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.int64, (m,))
at = ps.Input("at", ps.int32, (n,), range=(0, m))
row = ps.Input("row", ps.int32, (n + 1,), range=(0, m + 1))
r = ps.RVar("r", row[i], row[i + 1])
XS, AT, ROW = np.arange(5) * 10, np.int32([0, 3, 4]), np.int32([0, 2, 2, 5])
twice = ps.Func("twice")
twice[j] = x[j] * 2


def total(value: ps.Expr) -> ps.Func:
    """A sum over a row whose ends are read."""
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += value
    return f


def gathered(value: ps.Expr) -> ps.Func:
    f = ps.Func("f", (n,))
    f[i] = value
    return f


def of_rows(value: Callable[[int], int]) -> list[int]:
    return [sum(map(value, range(*ends))) for ends in pairwise(ROW)]


ROWS = {
    "a guard": (lambda: ps.select(r >= 1, x[r - 1], 7), lambda k: XS[k - 1] if k else 7),
    "two guards": (
        lambda: ps.select(r >= 1, x[r - 1], 0) + ps.select(r < m - 1, x[r + 1], 0),
        lambda k: (XS[k - 1] if k else 0) + (XS[k + 1] if k < 4 else 0),
    ),
    "a select": (lambda: x[ps.select(r < 1, m - 1, r - 1)], lambda k: XS[k - 1]),
    "twice the same": (lambda: x[r - r // 2], lambda k: XS[k - k // 2]),
    "a Func": (lambda: ps.select(r >= 1, twice[r - 1], 7), lambda k: 2 * XS[k - 1] if k else 7),
}
POINTS = {
    "a select": (lambda: x[ps.select(at[i] < 1, m - 1, at[i] - 1)], lambda k: XS[k - 1]),
    "twice the same": (lambda: x[at[i] - at[i] // 2], lambda k: XS[k - k // 2]),
    "a Func": (lambda: twice[ps.select(at[i] > 0, at[i] - 1, 0)], lambda k: 2 * XS[max(k - 1, 0)]),
}


@pytest.mark.parametrize(("value", "meant"), ROWS.values(), ids=ROWS)
def test_values_of_rvars_that_data_bound(value: Callable[[], ps.Expr], meant: object) -> None:
    assert ps.interpret(total(value()), row=ROW, x=XS).tolist() == of_rows(meant)  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "meant"), POINTS.values(), ids=POINTS)
def test_values_that_are_read(value: Callable[[], ps.Expr], meant: Callable[[int], int]) -> None:
    found = ps.interpret(gathered(value()), at=AT, x=XS)
    assert found.tolist() == [meant(int(k)) for k in AT]


def test_an_update_at_an_index_of_what_is_read() -> None:
    f = ps.Func("f", (m,))
    k = ps.RVar("k", 0, n)
    f[j] = 0
    f[ps.select(at[k] > 0, at[k] - 1, 0)] += 1
    assert ps.interpret(f, at=AT, m=5).tolist() == [1, 0, 1, 1, 0]


def test_native_code_takes_what_the_interpreter_does() -> None:
    f, g = total(ROWS["two guards"][0]()), gathered(POINTS["a select"][0]())
    assert f(row=ROW, x=XS).tolist() == of_rows(ROWS["two guards"][1])
    assert g(at=AT, x=XS).tolist() == [40, 20, 30]


# what varies independently ----------------------------------------------------------------------
NUMBERS = [ps.Input(f"x{k}", ps.int32, (n,), range=(-k, 4)) for k in range(4)]
anywhere = ps.Func("anywhere")
anywhere[i, j] = i + j


def random_index(choices: Choices, known: list[ps.Expr]) -> ps.Expr:
    """An operator of something that may be used elsewhere, too."""
    a, b = choices.pick(known), choices.pick(known)
    made = choices.pick([
        lambda: a + b, lambda: a - 2 * b, lambda: a * b, lambda: a // 3, lambda: a % (b + 1),
        lambda: ps.clip(a, 0, b), lambda: ps.select(a < b, a, b + 1), lambda: ps.abs(a) + i,
    ])()  # fmt: skip
    known.append(made)
    return made


def in_one_go(roots: object, leaves: tuple[Node, ...]) -> separate.Plan:
    """All values of all leaves, which every other plan is measured by."""
    return separate.Plan([], list(leaves))


def found_by(
    monkeypatch: pytest.MonkeyPatch, plan: Callable[..., Any], f: ps.Func
) -> tuple[list[object], int]:
    """All boxes, and how many combinations were tried for them."""
    found, tried, boxes = [], [0], Unknowns._boxes

    def product(*values: Any) -> Iterator[Any]:
        for one in itertools.product(*values):
            tried[0] += 1
            yield one

    def noted(self: Unknowns, around: Any) -> object:
        found.append(boxes(self, around))
        return found[-1]

    with monkeypatch.context() as patch:
        patch.setattr(unknowns, "plan", plan)
        patch.setattr(unknowns, "itertools", SimpleNamespace(product=product))
        patch.setattr(Unknowns, "_boxes", noted)
        ps.interpret(f, **{x.name: np.zeros(2, np.int32) for x in Program((f,)).inputs})
    return found, tried[0]


@pytest.mark.parametrize("seed", range(24))
def test_parts_apart_give_what_all_combinations_do(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    choices = Choices.from_seed(seed)
    known: list[ps.Expr] = [x[i] for x in NUMBERS]
    for _ in range(6):
        random_index(choices, known)
    f = gathered(anywhere[known[-1], choices.pick(known[4:])] + 0 * NUMBERS[0][i])
    (found, _), (wanted, _) = (found_by(monkeypatch, p, f) for p in (separate.plan, in_one_go))
    assert found == wanted


def test_parts_apart_are_tried_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c, d = (x[i] for x in NUMBERS)  # of 4, 5, 6 and 7 values
    f = gathered(anywhere[ps.maximum(a * b, 0) - c, ps.abs(d)])
    found, tried = found_by(monkeypatch, separate.plan, f)
    wanted, all_of_them = found_by(monkeypatch, in_one_go, f)
    assert found == wanted
    assert all_of_them == 4 * 5 * 6 * 7
    assert tried < all_of_them // 5


def test_a_part_is_tried_once_for_all_instances_that_are_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The remainder is 0 or 1, at whichever point it is asked for."""
    f = gathered(anywhere[i, NUMBERS[3][i] % 2])
    assert found_by(monkeypatch, in_one_go, f)[1] == 2 * 7
    assert found_by(monkeypatch, separate.plan, f)[1] == 7 + 2 * 2


# refusals ---------------------------------------------------------------------------------------
def test_one_value_that_is_outside_is_refused_and_all_of_the_range_is_said() -> None:
    with pytest.raises(ps.CallValueError, match=r"lies in -1\.\.4 as far as types"):
        ps.interpret(gathered(x[ps.select(at[i] < 2, at[i] - 1, at[i])]), at=AT, x=XS)
    with pytest.raises(ps.LanguageError, match=r"the index r - 1 lies in -1\.\.3"):
        ps.interpret(total(ps.select(r >= 0, x[r - 1], 7)), row=ROW, x=XS)


def test_a_value_in_the_middle_of_a_range_is_tried() -> None:
    with pytest.raises(ps.CallValueError, match=r"the index .* lies in "):
        ps.interpret(gathered(x[ps.select(at[i] == 2, -1, at[i])]), at=AT, x=XS)


def test_many_values_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unknowns, "MOST", 4)
    with pytest.raises(ps.CallValueError, match=r"lies in -1\.\.4"):
        ps.interpret(gathered(POINTS["a select"][0]()), at=AT, x=XS)


def test_a_bound_that_is_read_for_nothing_is_read_all_the_same() -> None:
    """The bound is 2, whatever is read, and native code does not read it."""
    few = ps.Input("few", ps.uint8, (n,), range=(0, 4))
    k = ps.RVar("k", 1, ps.cast(ps.int32, ps.widening_mul(0, few[n - 1])) + 2)
    f = ps.Func("f", (n + 1,))
    f[i] = 0
    f[i] += k
    assert f(few=np.zeros(1, np.uint8)).tolist() == [1, 1]
    for call in (f, lambda **given: ps.interpret(f, **given)):
        with pytest.raises(ps.CallValueError, match="out of bounds"):
            call(few=np.zeros(0, np.uint8))
