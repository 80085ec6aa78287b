"""Refusals drawn: the two instances before and after, in scripts, terminals and notebooks."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from notebook_runs import executed

import polysched as ps
from polysched.lang.errors.drawn import Drawn
from polysched.poly.report.executed import order_of
from polysched.show.refusal.display import html
from polysched.show.spaces.space import Column, Space
from polysched.show.spaces.words import status
from polysched.testing.choices import Choices
from polysched.testing.directives import apply, random_directive
from polysched.testing.programs import random_program

n, m, T = ps.sizes("n m T")
i, j = ps.vars("i j")


def seidel() -> ps.Schedule:
    f = ps.Func("f", (n, m))
    f[i, j] = i * j
    r, q = ps.rdom("r q", (1, n), (0, m - 1))
    f[r, q] = f[r - 1, q + 1] + 1
    return ps.Schedule(f)


def pair() -> ps.Schedule:
    g, h = ps.Func("g", (n,)), ps.Func("h", (n,))
    g[i] = i * 2
    h[i] = ps.maximum(g[i], g[ps.maximum(i - 1, 0)])
    s = ps.Schedule(h)
    s["g"].compute_root()
    return s


def line() -> ps.Schedule:
    f = ps.Func("f", (n,))
    f[i] = 0
    r = ps.RVar("r", 1, n)
    f[r] = f[r - 1] + 1
    return ps.Schedule(f)


def refused(provoke: Callable[[], object]) -> ps.ScheduleError:
    with pytest.raises(ps.ScheduleError) as raised:
        provoke()
    return raised.value


def orders(data: Space) -> list[str]:
    """How the two instances run to each other, before and after."""
    assert data.pair is not None

    def of(column: Column) -> str:
        ends = []
        assert data.pair is not None
        for site in (data.pair.source, data.pair.sink):
            ends.append(next(e for e in column.executions if (e.statement, e.point) == site))
        return order_of(*ends)

    return [of(c) for c in data.columns]


UPDATE = "f.update(0)"
TURNED: dict[str, tuple[Callable[[], object], str]] = {
    "reorder": (lambda: seidel()[UPDATE].reorder("q", "r"), "after"),
    "tile": (lambda: seidel()[UPDATE].tile("r", "q", 2, 2), "after"),
    "reverse": (lambda: seidel()[UPDATE].reverse("r"), "after"),
    "parallel": (lambda: seidel()[UPDATE].parallel("r"), "threads"),
    # The lanes of a vector are innermost, so this is a reorder too.
    "vectorize": (lambda: seidel()[UPDATE].vectorize("r", 4), "after"),
    "lanes": (lambda: line()[UPDATE].vectorize("r", 4), "lanes"),
    "compute_with": (lambda: pair()["h"].compute_with("g", "i", -1), "after"),
}


@pytest.mark.parametrize("name", TURNED)
def test_the_arrow_is_in_order_before_and_turned_after(name: str) -> None:
    provoke, after = TURNED[name]
    error = refused(provoke)
    data = error.picture().data
    assert orders(data) == ["before", after]
    assert [c.title for c in data.columns] == ["before", "after"]
    assert dict(data.sizes) == error.sizes
    assert error.source is not None
    assert error.sink is not None
    assert tuple(error.source.point.values()) == data.pair.source[1]
    assert tuple(error.sink.point.values()) == data.pair.sink[1]
    assert (data.pair.source, data.pair.sink) in [(a.source, a.sink) for a in data.broken]
    assert [status(data, c)[1] for c in data.columns] == [True, False]


def test_of_a_compound_directive_all_of_it_is_between() -> None:
    """Before a tile there are no tiles, although its splits come before what is refused."""
    data = refused(TURNED["tile"][0]).picture().data
    assert data.columns[0].tile_loops == ()
    assert set(data.columns[1].tile_loops) <= {"ro", "qo"}
    assert [set(c.executions[0].loops) for c in data.columns] == [
        {"r", "q"},
        {"ro", "qo", "ri", "qi"},
    ]


def test_a_batch_is_drawn_from_its_beginning() -> None:
    s = seidel()

    def batch() -> None:
        with s.batch():
            s[UPDATE].split("q", 2)
            s[UPDATE].reorder("qo", "r")

    data = refused(batch).picture().data
    assert set(data.columns[0].executions[0].loops) == {"r", "q"}
    assert orders(data) == ["before", "after"]


def test_of_many_instances_those_near_to_the_two_are_drawn() -> None:
    a = ps.InOut("a", ps.float64, (n, n))
    with ps.sequential("t", 0, T):
        p, q = ps.rdom("p q", (1, n - 1), (1, n - 1))
        a[p, q] = a[p - 1, q] + a[p, q] + a[p + 1, q] + a[p, q + 1]
    s = ps.Schedule(a)
    error = refused(lambda: s["a.update(0)"].tile("t", "p", "q", 32, 32, 32))
    made = error.picture()
    assert error.sizes == {"n": 34, "T": 2}
    assert made.data.pair.source == ("a.update(0)", (0, 1, 32))
    assert made.data.pair.sink == ("a.update(0)", (1, 1, 31))
    every = {(t, p, q) for t in range(2) for p in range(1, 5) for q in range(28, 33)}
    assert [{e.point for e in c.executions} for c in made.data.columns] == [every, every]
    assert orders(made.data) == ["before", "after"]
    ends = {site[1] for a in (*made.data.arrows, *made.data.broken) for site in (a.source, a.sink)}
    assert ends <= every
    assert (
        "Only what is near to the two is drawn, and counted in steps: t of a.update(0) from 0 to "
        "1, p of a.update(0) from 1 to 4, q of a.update(0) from 28 to 32."
    ) in made.notes
    assert made.notes[-1].endswith("(steps 8 and 7).")  # as they are drawn, of those with p=1


def test_a_plane_that_is_overwritten_is_said_to_be() -> None:
    s = pair()
    s["g"].compute_at("h", "i")
    s["g"].store_root()
    error = refused(lambda: s["g"].fold_storage(0, 1))
    made = error.picture()
    assert made.data.kind == "clobber"
    assert [status(made.data, c) for c in made.data.columns] == [
        ("right", True),
        ("overwritten", False),
    ]
    assert "what h[i=1] still reads lies where g[i=1] writes" in made.notes[-1]


def test_a_value_of_another_iteration_is_said_not_to_be_there() -> None:
    g, h = ps.Func("g", (n,)), ps.Func("h", (n,))
    g[i] = i * 2
    h[i] = 0
    k = ps.RVar("k", 0, n)
    h[k] += g[k]
    s = ps.Schedule((g, h))
    error = refused(lambda: s["g"].compute_at("h", "i"))
    if error.kind == "uninitialised":
        assert error.picture().data.kind == "uninitialised"
    else:
        with pytest.raises(ps.LanguageError, match="not about the order of two instances"):
            error.picture()


def test_verdicts_have_the_picture_of_their_refusal() -> None:
    v = seidel()[UPDATE].why_not("reorder", "q", "r")
    assert orders(v.picture().data) == ["before", "after"]
    with pytest.raises(ps.LanguageError, match="no two instances are in the wrong order"):
        seidel()[UPDATE].why_not("split", "q", 2).picture()


def test_what_is_not_about_instances_has_no_picture() -> None:
    error = refused(lambda: seidel()[UPDATE].split("q", 0))
    with pytest.raises(ps.LanguageError, match="it is not about the order of two instances"):
        error.picture()
    assert "<svg" not in html(error)


def test_pickles_have_the_instances_and_not_the_schedule() -> None:
    error = refused(TURNED["reorder"][0])
    for read in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(read) == str(error)
        assert (read.source, read.sink, read.sizes) == (error.source, error.sink, error.sizes)
        with pytest.raises(ps.LanguageError, match="it has been read from a pickle"):
            read.picture()
        assert "is refused" in html(read)


def test_the_display_says_the_message_and_draws_it() -> None:
    error = refused(TURNED["reorder"][0])
    shown = html(error)
    root = ElementTree.fromstring(shown)
    words = "".join(root.itertext())
    assert "s[\"f.update(0)\"].reorder('q', 'r') is refused: the first would run after" in words
    assert 'Hint: skew("r", "q", 1) first makes' in words
    assert "after: turned round" in words
    assert 'ps.explain("PS0301") two instances would run in the wrong order' in words
    assert "How to mend it. Choose another order of the loops" in words
    assert "Before: f.update(0)[r=1, q=1] runs before f.update(0)[r=2, q=0]" in words
    bundle = error._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert bundle["text/html"] == shown


@pytest.mark.parametrize("seed", range(20))
def test_every_refusal_is_in_order_before_and_not_after(seed: int) -> None:
    """Of random programs under random directives."""
    choices = Choices.from_seed(seed + 2000)
    s, names = ps.Schedule(random_program(choices).build()), {"ps": ps}
    for _ in range(14):
        trial, text = s.copy(), random_directive(choices, s)
        try:
            apply(trial, text, names | {x: ps.size(x) for x in "nm"})
            s = trial
        except (ps.ScheduleError, ps.LanguageError) as refusal:
            if refusal.__dict__.get("_evidence") is None:
                continue
            data = Drawn.picture(cast("Drawn", refusal)).data
            ElementTree.fromstring(html(cast("Drawn", refusal)))
            words = [status(data, c) for c in data.columns]
            assert [fine for _, fine in words] == [True, False], text
            if not data.kind:
                assert words[0][0] == "in order", text
                assert orders(data)[1] != "before", text


def test_what_users_wrote_is_no_markup() -> None:
    v = seidel()["f"].why_not("split", "<script>", 4)
    shown = v._repr_mimebundle_()["text/html"]
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_picture_that_cannot_be_made_hides_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ps.ScheduleError("too much")

    error = refused(TURNED["reorder"][0])
    monkeypatch.setattr("polysched.show.refusal.pictures.of_evidence", broken)
    assert "<svg" not in html(error)
    assert "is refused" in html(error)


def test_a_schedule_that_went_on_is_drawn_as_it_was() -> None:
    s = seidel()
    error = refused(lambda: s[UPDATE].reorder("q", "r"))
    before = error.picture().svg
    s[UPDATE].split("q", 2)
    assert error.picture().svg == before


# where it is shown --------------------------------------------------------------------------------
SCRIPT = """
import polysched as ps
n = ps.sizes("n")
i, k = ps.vars("i"), ps.RVar("k", 1, n)
f = ps.Func("f", (n,))
f[i] = 0
f[k] = f[k - 1] + 1
s = ps.Schedule(f)
"""


@pytest.mark.slow
def test_a_script_shows_text_and_loads_no_pictures(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT
        + textwrap.dedent("""
        import sys
        try:
            s["f.update(0)"].parallel(k)
        except ps.ScheduleError as error:
            assert not [x for x in sys.modules if x.startswith("polysched.show")]
            error.picture().save(sys.argv[1])
            raise
        """)
    )
    picture = tmp_path / "refused.svg"
    command = [sys.executable, "-P", str(script), str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "is refused: two iterations would run concurrently" in done.stderr
    assert "<" not in done.stderr.replace("<module>", "")
    ElementTree.fromstring(picture.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_ipython_in_a_terminal_shows_text(tmp_path: Path) -> None:
    script = tmp_path / "script.ipy"
    script.write_text(SCRIPT + 's["f.update(0)"].parallel(k)\n')
    command = [
        sys.executable,
        "-P",
        "-m",
        "IPython",
        "--no-banner",
        "--colors=nocolor",
        str(script),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    text = done.stdout + done.stderr
    assert "is refused: two iterations would run concurrently" in text
    assert "<svg" not in text
    assert "<div" not in text


CELLS = (
    SCRIPT,
    's["f.update(0)"].parallel(k)',
    "def mine(s):\n    s['f.update(0)'].reverse(k)",
    "mine(s)",
    's["f.update(0)"].split(k, 0)',
    's["f.update(0)"].why_not("parallel", k)',
    "try:\n    s['f.update(0)'].parallel(k)\nexcept ps.ScheduleError as e:\n    error = e\nerror",
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq", "ignore::ResourceWarning")
def test_a_notebook_shows_the_picture_and_a_short_message() -> None:
    notebook = executed(CELLS)
    outputs: list[list[Any]] = [cell.outputs for cell in notebook.cells]
    (drawn, error) = outputs[1]
    assert drawn.output_type == "display_data"
    assert "after: concurrent" in drawn.data["text/html"]
    assert error.output_type == "error"
    assert error.ename == "ScheduleError"
    assert "".join(error.traceback).startswith("ScheduleError: s[\"f.update(0)\"].parallel('k')")
    assert "\n".join(error.traceback).count("\n") == 1  # the message, the cell
    drawn, error = outputs[3]  # through a function of the user's
    assert "after: turned round" in drawn.data["text/html"]
    assert "mine" in "\n".join(error.traceback)
    (error,) = outputs[4]  # nothing to be drawn
    assert "the factor of split is at least 1" in "\n".join(error.traceback)
    for (result,) in outputs[5:]:
        assert result.output_type == "execute_result"
        assert "after: concurrent" in result.data["text/html"]
        assert "is refused" in result.data["text/plain"]
