"""Random programs under random directives: what is accepted is right, what is refused is wrong.

More of them: `python -m polysched fuzz --minutes 15 --seed 7`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import polysched as ps
from polysched.checking.report import CheckError
from polysched.poly.proof import proof
from polysched.poly.schedule.stages import StageHandle
from polysched.poly.tree import times
from polysched.testing import check, confirm
from polysched.testing.cases import Case
from polysched.testing.choices import Choices
from polysched.testing.directives import WEIGHTS, random_directive
from polysched.testing.hunt import Hunt
from polysched.testing.process import Process
from polysched.testing.shrink import shrink
from polysched.testing.trials import random_case, run

QUICK = range(3000, 3030)
MORE = range(3030, 3150)
n, m = ps.sizes("n m")
i, j = ps.vars("i j")


@pytest.fixture(scope="module")
def hunt() -> Iterator[Hunt]:
    """In a process of its own, so that a crash is a finding."""
    with Process("polysched.testing.worker") as process:
        yield Hunt(process)


def _check(hunt: Hunt, seed: int) -> None:
    outcome = hunt.ask({"seed": seed})
    said = "\n".join(f"{f.kind}: {f.text}" for f in outcome.findings)
    assert not outcome.findings, f"{outcome.case.listing()}\n{said}"


@pytest.mark.parametrize("seed", QUICK)
def test_random_directives(hunt: Hunt, seed: int) -> None:
    _check(hunt, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE)
def test_more_random_directives(hunt: Hunt, seed: int) -> None:
    _check(hunt, seed)


def test_storage_is_drawn_together_with_where_a_func_is_computed() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i * 2
    g[i] = f[i] + f[i + 1]
    s = ps.Schedule(g)
    s[f].compute_root()
    drawn = {random_directive(Choices.from_seed(seed), s) for seed in range(300)}
    at = 's["g"], "i"'
    assert f's["f"].compute_at({at})' in drawn
    assert f'with s.batch(): s["f"].compute_at({at}); s["f"].store_at({at})' in drawn


def test_directives_that_are_tried_exist() -> None:
    assert {name for _, name in WEIGHTS} <= set(dir(StageHandle))


@pytest.mark.slow
def test_a_case_survives_json() -> None:
    case, choices = random_case(11)
    assert Case.from_dict(run(case, choices).case.to_dict()).source == case.source


# the trials can fail -----------------------------------------------------------------------------
WAVES = Case(
    'n, m = ps.sizes("n m")\ni, j = ps.vars("i j")\nf = ps.Func("f", (n, m), ps.int32)\n'
    'f[i, j] = 1\nr = ps.RVar("r", 1, n)\nt = ps.RVar("t", 0, m - 1)\nf[r, t] += f[r - 1, t + 1]',
    ("f",),
    ('s["f.update(0)"].reorder("t", "r")',),
)


def _findings(case: Case) -> set[str]:
    return {f.kind.partition(" (")[0] for f in run(case).findings}


@pytest.mark.slow
def test_a_right_refusal_is_confirmed() -> None:
    outcome = run(WAVES)
    assert not outcome.findings
    assert (outcome.counts["confirmed"], outcome.counts["minimal"]) == (1, 1)


def test_a_wrong_acceptance_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof.Prover, "violations", lambda *a, **k: iter(()))
    assert _findings(WAVES) == {"wrong acceptance"}


@pytest.mark.slow
def test_an_over_refusal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checker for which a loop that runs backwards is one that runs forwards."""
    right = times._related

    def wrong(a: Any, b: Any, equal: Any, later: Any = None) -> Any:
        return right(a, b, equal) if later is None else right(b, a, equal, later).reverse()

    case = Case(WAVES.source, WAVES.outputs, ('s["f.update(0)"].reorder("r", "t")',))
    assert _findings(case) == set()
    monkeypatch.setattr(times, "_related", wrong)
    assert _findings(case) == {"over-refusal"}


@pytest.mark.slow
def test_a_case_shrinks() -> None:
    case = Case(
        f'{WAVES.source}\ng = ps.Func("g", (n,), ps.int32)\ng[i] = f[i, 0] + 2 * i', ("f", "g"),
        ('s["g"].split("i", 3)', *WAVES.directives),
    )  # fmt: skip
    small = shrink(case, lambda c: run(c).counts["confirmed"] == 1)
    assert small.outputs == ("f",)
    assert small.directives == WAVES.directives
    assert 'ps.Func("g"' not in small.source


# check, as users call it -------------------------------------------------------------------------
def _scan() -> ps.Func:
    a = ps.Input("a", ps.float32, (n,))
    f = ps.Func("f", (n,))
    r = ps.RVar("r", 1, n)
    f[i] = a[i]
    f[r] += f[r - 1]
    return f


@pytest.mark.slow
def test_check_takes_funcs_schedules_and_arguments() -> None:
    f = _scan()
    check(f)
    check(ps.Schedule(f), sizes={"n": 9})
    s = ps.Schedule(f)
    s["f"].vectorize(i, 4).parallel(i)
    check(s)


def test_check_finds_what_was_trusted() -> None:
    s = ps.Schedule(_scan())
    with s.trust("to see it fail"):
        s["f"].update(0).transform(["r"], lambda r: -r)
    with pytest.raises(CheckError, match="reads f"):
        check(s, sizes={"n": 4})


@pytest.mark.slow
def test_shuffled_loops_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parallel loop whose order matters gives other bits when it runs backwards."""
    from polysched.testing import compare

    s = ps.Schedule(_scan())
    with s.trust("to see it fail"):
        s["f"].update(0).parallel("r")
    monkeypatch.setattr(compare, "execute", lambda *a, **k: None)
    with pytest.raises(compare.Mismatch, match="shuffled"):
        check(s, sizes={"n": 4})


@pytest.mark.slow
def test_counts_add_up(hunt: Hunt) -> None:
    outcome = hunt.ask({"seed": 5})
    counts: Counter[str] = outcome.counts
    refused = sum(v for k, v in counts.items() if k.startswith("refused: "))
    assert counts["accepted"] + refused == counts["directives"]


def test_what_cannot_even_be_tried_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is wrong, and where that is ignored, something else is."""

    def refused(*given: object) -> None:
        raise ps.ScheduleError("lanes would share what they compute")

    monkeypatch.setattr(confirm, "apply", refused)
    outcome = run(WAVES)
    assert not outcome.findings
    assert outcome.counts["refused, cannot be tried"] == 1
