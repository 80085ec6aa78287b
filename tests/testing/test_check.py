"""What `check` tries, what it says of what fails, and what it costs."""

from __future__ import annotations

import sys
import types
import warnings
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.testing import CheckError, Mismatch, SlowCheck, calls, check, compare, progress
from polysched.testing.native import Kernels

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def scan() -> ps.Func:
    a, f = ps.Input("a", ps.float32, (n,)), ps.Func("f", (n,))
    r = ps.RVar("r", 1, n)
    f[i] = a[i]
    f[r] += f[r - 1]
    return f


def backwards() -> ps.Schedule:
    s = ps.Schedule(scan())
    with s.trust("to see it fail"):
        s["f"].update(0).transform(["r"], lambda r: -r)
    return s


def chain(rows: object, columns: object) -> ps.Func:
    """Five small stages."""
    x = ps.Input("x", ps.float32, (rows, columns))
    edge = ps.boundary.repeat_edge(x)
    a, b, c, d = (ps.Func(name) for name in "abcd")
    o = ps.Func("o", (rows, columns))
    a[i, j] = (edge[i - 1, j] + edge[i, j] + edge[i + 1, j]) / 3
    b[i, j] = a[i, j - 1] + a[i, j + 1]
    c[i, j] = ps.exp(b[i, j])
    d[i, j] = c[i, j] - c[i - 1, j]
    o[i, j] = ps.select(d[i, j] > 0, d[i, j], c[i, j + 1])
    return o


# what is said of what fails -----------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("sizes", [None, {"n": 9}])
def test_what_fails_is_shown_at_its_smallest(sizes: dict[str, int] | None) -> None:
    s = backwards()
    with pytest.raises(CheckError) as caught:
        check(s, sizes=sizes)
    text = str(caught.value)
    assert "plain: f[2] is 2.0 instead of 3.0 (1 of 3 elements differ)" in text
    assert "at n=3\n" in text
    assert "a = array([1., 1., 1.], dtype=float32)" in text
    assert all(line in text for line in s.source().splitlines())
    assert caught.value.breaches[0].kind == "flow"
    assert "(trusted: to see it fail) is wrong" in text


@pytest.mark.slow
def test_arguments_of_the_users_keep_their_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    s, given = backwards(), np.array([3, 1, 4, 1, 5], np.float32)
    with pytest.raises(CheckError) as caught:
        check(s, a=given)
    # What was trusted may well hold for some arrays only.
    assert "at n=5\na = array([3., 1., 4., 1., 5.], dtype=float32)" in str(caught.value)
    monkeypatch.setattr(ps.Schedule, "trusted", ())
    with pytest.raises(CheckError) as caught:
        check(s, a=given)
    assert "at n=5\na = array([1., 1., 1., 0., 0.], dtype=float32)" in str(caught.value)


@pytest.mark.slow
def test_a_mismatch_has_the_first_element_as_data(monkeypatch: pytest.MonkeyPatch) -> None:
    s = ps.Schedule(scan())
    with s.trust("to see it fail"):
        s["f"].update(0).parallel("r")
    monkeypatch.setattr(compare, "execute", lambda *a, **k: None)
    with pytest.raises(Mismatch) as caught:
        check(s, sizes={"n": 8})
    found = caught.value.difference
    assert found is not None
    assert (caught.value.way, found.result, found.index) == ("shuffled", "f", (2,))
    assert (found.got, found.wanted, found.count) == (2.0, 3.0, (1, 3))
    assert ".parallel(" in str(caught.value)


@pytest.mark.slow
def test_no_smaller_sizes_fail_than_those_shown() -> None:
    """Wrong from n = 5 on, for values of x[4] other than 0."""
    x, f = ps.Input("x", ps.int32, (n,)), ps.Func("f", (n,))
    r = ps.RVar("r", 4, n)
    f[i] = x[i]
    f[r] = f[r - 4] * 2
    s = ps.Schedule(f)
    with s.trust("to see it fail"):
        s[f].update(0).transform(["r"], lambda r: -r)
    with pytest.raises(CheckError, match="at n=9\n"):
        check(s, sizes={"n": 14})


def test_kernels_that_leave_their_arrays_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from polysched.checking.report import Breach

    report = types.SimpleNamespace(breaches=[Breach("bounds", "f[9]")], flow=None)
    monkeypatch.setattr(compare, "execute", lambda *a, **k: report)
    monkeypatch.setattr(Kernels, "compare", lambda *a: pytest.fail("it was run"))
    with pytest.raises(CheckError, match=r"bounds: f\[9\]"):
        check(scan(), sizes={"n": 4})


# what is tried ------------------------------------------------------------------------------------
def tried(
    what: ps.Func | ps.Schedule, monkeypatch: pytest.MonkeyPatch, **given: object
) -> list[calls.Call]:
    """The calls that were run, as far as the schedule takes them."""
    found: list[calls.Call] = []
    run = compare._Checker.run

    def noted(self: compare._Checker, call: calls.Call) -> None:
        run(self, call)
        found.append(call)

    monkeypatch.setattr(compare._Checker, "run", noted)
    check(what, **given)  # type: ignore[arg-type]
    return found


@pytest.mark.slow
def test_five_stages_take_few_instances_and_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    kernel = Kernels._kernel
    monkeypatch.setattr(Kernels, "_kernel", lambda self, way: made.append(way) or kernel(self, way))
    found = tried(chain(n, m), monkeypatch)
    assert sum(call.instances for call in found) <= calls.CHEAP
    assert {tuple(call.found.items()) for call in found} >= {
        (("n", 0), ("m", 0)),
        (("n", 1), ("m", 1)),
        (("n", 5), ("m", 3)),
    }
    assert set(made) == {"plain"}, "nothing is parallel, and no integers are divided"


@pytest.mark.slow
def test_constant_sizes_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(tried(chain(12, 12), monkeypatch)) == 1


def test_many_loops_do_not_make_a_check_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = ps.sizes("a b c d e f")
    loops = ps.vars("i0 i1 i2 i3 i4 i5")
    x, f = ps.Input("x", ps.float32, sizes), ps.Func("f", sizes)
    f[loops] = x[loops] + 1
    found = tried(f, monkeypatch)
    assert 0 < sum(call.instances for call in found) <= calls.CHEAP


@pytest.mark.parametrize("least", [7, 40])
def test_sizes_are_found_that_a_schedule_takes(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    s = ps.Schedule(scan())
    s.assume(n >= least)
    found = tried(s, monkeypatch)
    assert [dict(call.found) for call in found] == [{"n": least}]


def test_no_interpretation_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    from polysched.interp.interpret import Run

    runs: list[object] = []
    results = Run.results
    monkeypatch.setattr(Run, "results", lambda self: runs.append(self) or results(self))
    found = tried(scan(), monkeypatch)
    # One that the schedule does not take may have been begun.
    assert len(runs) == len(found)


def test_ways_that_give_the_same_code_are_left_out() -> None:
    x, f = ps.Input("x", ps.int32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] // ps.maximum(x[i], 1)
    s = ps.Schedule(f)
    assert Kernels(s).ways == ["plain", "checks"]
    s[f].parallel(i)
    assert Kernels(s).ways == ["plain", "shuffled", "checks"]


# what it costs ------------------------------------------------------------------------------------
def test_what_takes_long_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare._Checker, "_failure", lambda *a: None)
    said = r"check looks at [\d,]+ instances at n=200, m=300, one by one: about \d+ s"
    with pytest.warns(SlowCheck, match=said) as caught:
        check(chain(n, m), sizes={"n": 200, "m": 300})
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(chain(n, m))


class _Bar:
    """As much of tqdm as is used."""

    made: list[_Bar]

    def __init__(self, **options: object) -> None:
        self.options, self.done = options, 0
        self.made.append(self)

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, count: int) -> None:
        self.done += count


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[_Bar]:
    monkeypatch.setattr(_Bar, "made", [], raising=False)
    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = _Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    return _Bar.made


def test_a_bar_counts_instances(bars: list[_Bar], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_is_watched", lambda: True)
    check(scan(), sizes={"n": 6})
    (bar,) = bars
    assert bar.options["total"] == bar.done == 6 + 5
    assert bar.options["delay"] == progress.DELAY


def test_nothing_is_drawn_that_nobody_sees(
    bars: list[_Bar], capsys: pytest.CaptureFixture[str]
) -> None:
    check(scan(), sizes={"n": 6})
    assert bars == []
    assert capsys.readouterr() == ("", "")


def test_nothing_is_drawn_without_tqdm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_is_watched", lambda: True)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    check(scan(), sizes={"n": 6})
    assert capsys.readouterr() == ("", "")


# refusals -----------------------------------------------------------------------------------------
def test_sizes_that_a_schedule_does_not_take_are_refused() -> None:
    s = ps.Schedule(scan())
    s.assume(n >= 8)
    with pytest.raises(ps.CallError, match="n"):
        check(s, sizes={"n": 3})


@pytest.mark.parametrize(
    ("asked", "what", "hint"),
    [
        ({"sizes": {}}, "sizes= leaves out n, m", "sizes={'n': 8, 'm': 8}"),
        ({"sizes": {"n": 3}}, "sizes= leaves out m", "sizes={'n': 8, 'm': 8}"),
        ({"sizes": {"n": 3, "k": 1}}, "sizes= leaves out m", "sizes={'n': 8, 'm': 8}"),
        ({"sizes": 8}, "sizes= is a dict of numbers by name, not 8", "sizes={'n': 8, 'm': 8}"),
        ({"seed": -1}, "seed= is an integer that is not negative, and -1 is none", None),
        ({"seed": "x"}, "seed= is an integer that is not negative, and 'x' is none", None),
    ],
)
def test_what_cannot_be_checked_is_refused_in_the_terms_of_check(
    asked: dict[str, Any], what: str, hint: str | None
) -> None:
    with pytest.raises(ps.CallError) as caught:
        check(chain(n, m), **asked)
    assert (caught.value.what, caught.value.hint) == (what, hint)


def test_a_seed_may_be_an_integer_of_numpys() -> None:
    check(scan(), sizes={"n": 3}, seed=np.int64(3))
