"""The fuzzer notices what it is there for, makes it small, and writes it down."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.testing import placements
from polysched.testing.choices import Choices
from polysched.testing.directives import random_directive

from . import directives, limits, trial
from .compare import Report, compare
from .experiments import EXPERIMENTS
from .expressions import Expressions
from .limits import TooMuch
from .meaning.reductions import REDUCTIONS
from .outcomes import Finding
from .programs import Case, make_case
from .run import Hunt
from .scheduled import Scheduled
from .scratch import WalledPool
from .vocabulary import InputSpec, Scope, Value
from .world import World

LINES = (
    "n = ps.sizes('n')",
    "i = ps.vars('i')",
    "x = ps.Input('x', ps.float32, (n,))",
    "g = ps.Func('g', (n,))",
    "g[i] = x[i] * 2",
    "f = ps.Func('f', (n,))",
    "f[i] = x[i] + 1",
)


def _case(lines: Sequence[str] = LINES, size: int = 5) -> Case:
    inputs = (InputSpec("x", "float32", ("n",)),)
    return Case("\n".join(lines), ("f",), inputs, (), {}, ({"n": size},) * 2, 1)


def _tried(*steps: str, lines: Sequence[str] = LINES) -> Report:
    case = Scheduled(_case(lines), steps=steps)
    return trial.run(case, None, lambda case, phase: None)[1]


def _kinds(report: Report) -> list[str]:
    return [f.kind for f in report.findings]


# what is noticed --------------------------------------------------------------------------------
def test_counts_what_is_right() -> None:
    report = _tried('s["f"].split("i", 4)', 's["f"].vectorize("ii")', 's["f"].fuse("i", "j")')
    assert not report.findings
    counts = report.counts
    assert counts["accepted: split"] == counts["accepted: vectorize"] == 1
    assert counts["refused (malformed): fuse"] == 1
    assert counts["calls: values / values"] >= 2


def test_nothing_stays_of_a_chain_that_is_refused() -> None:
    """What is accepted later says all that there is."""
    tried = trial.Trial(Scheduled(_case()), lambda case, phase: None)
    tried._program()
    assert tried._step("v0 = s.specialize(n > 3)")
    for name in ("s", "v0"):
        chain = f'{name}["f"].split("i", 4); {name}["f"].fuse("i", "j")'
        assert not tried._step(chain)
        assert [len(s.directives) for s in tried.schedules.values()] == [0, 1]  # what v0 assumes
    assert tried.counts["begun again"] == 2
    assert tried._step('v0["f"].split("i", 4)')
    assert tried.accepted == ["v0 = s.specialize(n > 3)", 'v0["f"].split("i", 4)']
    assert not tried._step('s["f"].fuse("i", "j")')
    assert tried.counts["begun again"] == 2
    assert [len(s.directives) for s in tried.schedules.values()] == [0, 2]


def _changed(monkeypatch: pytest.MonkeyPatch) -> None:
    interpret = ps.interpret
    monkeypatch.setattr(ps, "interpret", lambda *a, **k: np.negative(interpret(*a, **k)))


def _broken(name: str, act: Callable[..., Any]) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(ps.Schedule, name, act)


def _fails(*args: Any, **kwargs: Any) -> Any:
    raise AssertionError("planted")


def _internal(*args: Any, **kwargs: Any) -> Any:
    raise ps.InternalError("planted")


def _refuses(*args: Any, **kwargs: Any) -> Any:
    raise ps.ScheduleError("planted")


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (_changed, "different values (plain)"),
        (_broken("explain", _fails), "wrong exception (explain)"),
        (_broken("explain", _internal), "internal error (explain)"),
        (_broken("compile", _refuses), "refused (program)"),
        (_broken("explain", _refuses), "refused (explain)"),
        (_broken("__eq__", lambda self, other: self is other), "another schedule (json)"),
    ],
)
def test_notices(
    plant: Callable[[pytest.MonkeyPatch], None], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert _kinds(_tried('s["f"].split("i", 4)')) == [kind]


@pytest.mark.parametrize(("most", "kinds"), [(500, ["too much (examine)"]), (20, [])])
def test_notices_iterations(most: int, kinds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the program as written takes many, too."""
    monkeypatch.setattr(limits, "ITERATIONS", most)
    assert _kinds(_tried('s["f"].split("i", 1000, tail="guard")')) == kinds


def test_gives_up_the_interpreter_where_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*args: Any, **kwargs: Any) -> Any:
        while True:
            pass

    monkeypatch.setattr(ps, "interpret", endless)
    monkeypatch.setattr(limits, "INTERPRETED", 0.01)
    report = _tried('s["f"].split("i", 4)')
    assert _kinds(report) == []
    assert report.counts["too long to interpret"] > 1


def test_notices_memory() -> None:
    with pytest.raises(TooMuch, match="scratch"):
        WalledPool().take(limits.SCRATCH + 1)


def test_notices_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", -1.0)
    assert _kinds(_tried()) == ["slow (program)"]


def test_notices_time_without_directives(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not compare(_case(), ["written"]).findings
    monkeypatch.setattr(limits, "SECONDS", -1.0)
    assert {*_kinds(compare(_case(), ["written"]))} == {"slow (compile)", "slow (call)"}


# directives -------------------------------------------------------------------------------------
def test_extreme_numbers_leave_names_alone() -> None:
    text = 's["f1.update(0)"].split("i2", 4, tail="guard")'
    found = {directives._with_extreme(Choices.from_seed(k), text, False) for k in range(30)}
    head, tail = text.split("4")
    assert len(found) > 4
    for changed in found:
        number = changed.removeprefix(head).removesuffix(tail)
        assert int(number) in directives.EXTREMES


def test_variants_are_told_as_schedules_are() -> None:
    text = 'with s.batch(): s["f"].compute_with(s["g"], "i")'
    told = 'with v0.batch(): v0["f"].compute_with(v0["g"], "i")'
    assert directives._said_to(text, "v0") == told


def _blurred() -> ps.Schedule:
    """Two Funcs that are read side by side, and a third one of both."""
    i, j, n = ps.vars("i"), ps.vars("j"), ps.sizes("n")
    f, g, h, out = ps.Func("f"), ps.Func("g"), ps.Func("h"), ps.Func("out", (n, n))
    f[i, j] = i * j
    g[i, j] = i - j
    h[i, j] = f[i, j] + f[i + 1, j] + g[i, j]
    out[i, j] = h[i, j] * h[i + 1, j] + g[i, j]
    s = ps.Schedule(out)
    for func in (f, g, h):
        s[func].compute_root()
    return s


def _count_of(seeds: range) -> Counter[tuple[str, bool]]:
    """How often each placement is accepted, and how often it is refused."""
    counts: Counter[tuple[str, bool]] = Counter()
    for seed in seeds:
        s = _blurred()
        text = placements.random_placement(Choices.from_seed(seed), s)
        assert text is not None
        assert placements.is_placement(text)
        try:
            exec(text, {"s": s})
            accepted = True
        except ps.ScheduleError:
            accepted = False
        counts[trial.step_name(text), accepted] += 1
    return counts


@pytest.mark.slow
def test_most_placements_are_accepted() -> None:
    counts = _count_of(range(60))
    assert {name for name, _ in counts} >= {name for _, name in placements.WEIGHTS} - {"store_at"}
    assert sum(v for (_, accepted), v in counts.items() if accepted) > 40


def test_an_output_alone_has_no_placement() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    f = ps.Func("f", (n,))
    f[i] = i
    seeds = map(Choices.from_seed, range(20))
    assert {placements.random_placement(c, ps.Schedule(f)) for c in seeds} == {None}


def test_some_places_are_drawn_among_all() -> None:
    """A few are for what has no place, so that their refusals are tried too."""
    n, i = ps.sizes("n"), ps.vars("i")
    f = ps.Func("f", (n,))
    f[i] = i
    s = ps.Schedule(f)
    texts = [directives._directive(Choices.from_seed(seed), s) for seed in range(300)]
    assert 0 < sum(map(placements.is_placement, texts)) < 60


# programs ---------------------------------------------------------------------------------------
@pytest.mark.slow
def test_programs_have_all_that_is_made_of_loops() -> None:
    """Reductions of every kind, also in indices and over the Func itself, and recurrences."""
    text = "\n".join(make_case(Choices.from_seed(seed)).source for seed in range(120))
    for name in (*REDUCTIONS, "trace", "einsum", "compute", "extern"):
        assert f"ps.{name}(" in text, name
    assert ".final[" in text
    assert re.search(r"[\w\])]\[(.*, )?ps\.arg(min|max)\(", text)
    assert re.search(r"^(f\d+)\[i.*\] = .*\b\1\[i - 1", text, re.MULTILINE)
    assert re.search(r"^(f\d+)\[i.*\] = .*ps\.\w+\(.*\b\1\[r", text, re.MULTILINE)


# findings ---------------------------------------------------------------------------------------
class _Worker:
    """Finds fault with every program in which f is defined as it is here."""

    name = "schedules"
    experiment = EXPERIMENTS["schedules"]

    def seed(self, seed: int) -> tuple[Scheduled, Report]:
        case = Scheduled(_case(), steps=('s["f"].split("i", 4)', 's["f"].vectorize("ii")'))
        return case, self.run(case)

    def run(self, case: Scheduled, only: str = "") -> Report:
        wrong = "f[i] = x[i]" in case.program.source
        call = ", ".join(f"{k}={v}" for k, v in case.program.sizes[0].items())
        findings = [Finding("different values (plain)", "plain", call, "text")] if wrong else []
        return Report(findings, [], Counter(programs=1))


@pytest.mark.slow
def test_findings_become_small_scripts(tmp_path: Path) -> None:
    hunt = Hunt(tmp_path, attempts=100, patience=60)
    worker: Any = _Worker()
    hunt.seed(worker, 7)
    hunt.seed(worker, 8)
    assert hunt.found == {"different values (plain)": 2}
    (written,) = tmp_path.glob("*.py")
    text = written.read_text()
    assert "f[i] = x[i]" in text
    assert "g[i]" not in text
    assert "vectorize" not in text
    assert "1 different values" not in hunt.summary(1.0)
    assert "2 different values (plain)  (first: seed 7)" in hunt.summary(1.0)


@pytest.mark.parametrize(("times", "found"), [([7.0, 1.0], 0), ([7.0, 7.0], 1)])
def test_what_is_slow_is_so_twice(times: list[float], found: int) -> None:
    class Timed(_Worker):
        def seed(self, seed: int) -> tuple[Scheduled, Report]:
            slow = [Finding("slow (print)", "print", "", f"{x} s") for x in times[:1] if x > 5]
            del times[0]
            return Scheduled(_case()), Report(slow, [], Counter(programs=1))

    hunt = Hunt(None, attempts=0, patience=0)
    worker: Any = Timed()
    hunt.seed(worker, 7)
    assert len(hunt.found) == found
    assert not times


@pytest.mark.slow
@pytest.mark.parametrize(("size", "said"), [(5, "PASS"), (0, "FAIL")])
def test_scripts_say_whether_it_is_so(size: int, said: str, tmp_path: Path) -> None:
    """`f` reads an element that is not there where n = 0."""
    from . import script

    case = _case((*LINES[:-1], "f[i] = x[i]", "f[0] = x[0]"), size)
    path = tmp_path / "finding.py"
    path.write_text(script.plain(case, Finding("different values", "default", f"n={size}", "")))
    command = [sys.executable, "-P", str(path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout.split()[-1] == said
    assert found.returncode == (said == "FAIL")


def test_scripts_give_numbers_without_digits() -> None:
    from . import script

    assert script._number(float("nan")) == "np.nan"
    assert script._number([-float("inf"), 1.0]) == "[-np.inf, 1.0]"


def test_directives_for_funcs_that_share_a_name() -> None:
    """Those that nobody can name have none."""
    i, n = ps.vars("i"), ps.sizes("n")
    first, second, f = ps.Func("g"), ps.Func("g"), ps.Func("f", (n,))
    first[i] = i
    second[i] = first[i] + first[i + 1]
    f[i] = second[i] + second[i + 1]
    s = ps.Schedule(f)
    texts = [random_directive(Choices.from_seed(seed), s) for seed in range(50)]
    assert any('s["g_2"]' in text for text in texts)
    assert not any('s["g"]' in text for text in texts)


@pytest.mark.parametrize(("by", "kinds"), [(1 << 20, []), (3, ["too much (examine)"])])
def test_iterations_that_a_skew_asks_for(
    by: int, kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ITERATIONS", 500)
    skew = f's["f"].skew("i", "j", {by})'
    assert _kinds(_tried(skew, 's["f"].split("i", 1000, tail="guard")')) == kinds


def test_skews() -> None:
    assert limits.widest_skew(('s["f"].skew("i", "j", 8)', 's["f"].split("k", 9)')) == 8
    assert limits.widest_skew(()) == 0


@pytest.mark.parametrize(
    ("step", "slow"),
    [("compile", False), ("call plain", False), ("part", False), ("compile as written", True)],
)
def test_more_copies_may_take_longer_to_compile(
    step: str, slow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the call that needs other code, too."""
    monkeypatch.setattr(limits, "COPIES", 1)
    made = trial.Trial(Scheduled(_case(LINES)), lambda *_: None)
    f = ps.Func("f", (8,))
    f[ps.vars("i")] = 1
    made.schedules["s"] = ps.Schedule(f)
    made.schedule[f].unroll("i")
    with pytest.raises(trial.Failed) if slow else nullcontext():
        made._check_time(step, limits.Span(7 * limits.SECONDS), "")
    assert bool(made.report.findings) is slow


def test_copies_of_a_statement() -> None:
    """Of loops with a factor and with the extent that they have, one in the other."""
    i, j = ps.vars("i j")
    f, g = ps.Func("f", (ps.sizes("n"), 9)), ps.Func("g", (5,))
    f[i, j] = 1
    g[i] = f[0, i]
    s = ps.Schedule(g)
    s[f].compute_root()
    assert limits.copies(s.loop_program.nests) == 1
    s[g].unroll(i)
    assert limits.copies(s.loop_program.nests) == 5
    s[f].unroll(i, 4).unroll(j)
    assert limits.copies(s.loop_program.nests) == 36


def test_what_has_no_name_is_not_shared_deeply() -> None:
    """Its text would double with each floor of a tower."""
    traced = Value('ps.trace(1.5, "a")', ps.float64)
    for seed in range(8):
        choices = Choices.from_seed(seed)
        writer = Expressions(choices, World(choices), Scope())
        assert writer._deeply_shared(traced) is traced
