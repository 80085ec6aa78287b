"""A refusal is ten lines: the traceback has the user's frames, and none of the package's."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from notebook_runs import executed

import polysched as ps
from polysched import testing
from polysched.lang.errors.frames import FULL

PACKAGE = str(Path(ps.__file__).parent)
MOST = 10

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, m)
x = ps.Input("x", ps.float32, (n, m))


def total() -> ps.Func:
    f = ps.Func("total", (n,))
    f[i] = 0.0
    f[i] += x[i, k]
    return f


f = total()
s = ps.Schedule(f)
kernel = s.compile()
short = np.zeros(3, np.float32)
plane = np.zeros((3, 3), np.float32)


def ordered() -> Any:
    bad = ps.Func("bad", (n,))
    bad[i] = 0
    bad[i] += bad[i - 1]
    return ps.Schedule(bad)


def in_batch() -> None:
    with s.batch():
        s[f].update(0).parallel(k)


def in_sequential() -> None:
    with ps.sequential("t", 0, n), ps.sequential("t", 0, n):
        pass


#: Something that is refused at each place that users call.
REFUSED: dict[str, Callable[[], Any]] = {
    "operator": lambda: x[i, j] + "a",
    "whole arrays": lambda: x + x,
    "index": lambda: x[1.5, 2],
    "definition": lambda: f.__setitem__(i, x[i]),
    "truth": lambda: bool(x[i, j] > 0),
    "NumPy": lambda: np.frexp(x[i, j]),
    "function": lambda: ps.select(1, 2),
    "einsum": lambda: ps.einsum("ij,jk", x),
    "boundary": lambda: ps.boundary.repeat_edge(3),
    "Func": lambda: ps.Func("1"),
    "sizes": lambda: ps.sizes("1 2"),
    "property": lambda: ps.Func("u").shape,
    "sequential": in_sequential,
    "Schedule": ordered,
    "Schedule.default": lambda: ps.Schedule.default(x),
    "stage": lambda: s["g"],
    "loop": lambda: s[f]["q"],
    "directive": lambda: s[f].split("q", 8),
    "composite": lambda: s[f].update(0).tile(i, k, 8, 0),
    "proof": lambda: s[f].update(0).parallel(k, 8),
    "batch": in_batch,
    "trust": lambda: s.trust(""),
    "assume": lambda: s.assume(n < 0),
    "specialize": lambda: s.specialize(i > 0),
    "compile": lambda: s.compile(q=3),
    "from_json": lambda: ps.Schedule.from_json(f, "{"),
    "call": lambda: f(short),
    "kernel": lambda: kernel(short),
    "region": lambda: f(plane, region=((0, 9),)),
    "interpret": lambda: ps.interpret(f, short),
    "check": lambda: testing.check(s, x=short),
    "attribute": lambda: s.paralell,
    "module": lambda: ps.shedule,
}


def shown(refused: Callable[[], Any]) -> tuple[Exception, str]:
    """The error, and what Python prints of it."""
    with pytest.raises((ps.PolyschedError, AttributeError)) as info:
        refused()
    return info.value, "".join(traceback.format_exception(info.value))


@pytest.mark.parametrize("name", REFUSED)
def test_no_frame_of_the_package_is_shown(name: str) -> None:
    error, text = shown(REFUSED[name])
    assert PACKAGE not in text, text
    # The frames of this file: two, and those that a case has of its own, three lines each.
    files = [x.filename for x in traceback.extract_tb(error.__traceback__)]
    assert set(files) <= {__file__}
    assert text.count("\n") <= MOST + 3 * (len(files) - 2), text


def test_callbacks_of_the_user_are_shown() -> None:
    error, text = shown(lambda: s[f].transform((i,), lambda i: i + "a"))
    assert PACKAGE not in text
    assert len(traceback.extract_tb(error.__traceback__)) == 3


def test_what_the_package_handled_itself_is_not_shown() -> None:
    """`raise ... from error` and errors in handlers keep their frames alive otherwise."""
    error, _ = shown(lambda: ps.Schedule.from_json(f, "{"))
    while error is not None:
        assert all(x.filename == __file__ for x in traceback.extract_tb(error.__traceback__))
        error = error.__cause__ or error.__context__  # type: ignore[assignment]


def test_what_the_user_was_handling_is_shown() -> None:
    def handling() -> None:
        try:
            s[f].split("q", 8)
        except ps.ScheduleError as first:
            raise OSError("mine") from first

    with pytest.raises(OSError, match="mine") as info:
        handling()
    text = "".join(traceback.format_exception(info.value))
    assert PACKAGE not in text
    assert "total has no loop q" in text


def test_a_variable_of_the_environment_keeps_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FULL, "1")
    _, text = shown(REFUSED["proof"])
    assert text.count(PACKAGE) > 5
    monkeypatch.setenv(FULL, "0")
    assert PACKAGE not in shown(REFUSED["proof"])[1]


def test_a_fault_of_the_package_keeps_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*args: object) -> None:
        raise ps.InternalError("planted")

    monkeypatch.setattr("polysched.poly.schedule.schedule_builder.ScheduleBuilder.editing", fault)
    _, text = shown(lambda: s[f].split(i, 8))
    assert text.count(PACKAGE) >= 3


def test_signatures_and_names_are_those_of_the_functions() -> None:
    import inspect

    assert list(inspect.signature(ps.Schedule).parameters) == ["outputs", "args", "target"]
    assert list(inspect.signature(s[f].split).parameters) == ["loop", "factor", "tail", "names"]
    assert (ps.select.__name__, s[f].split.__name__) == ("select", "split")
    assert (s[f].split.__doc__ or "").startswith("Splits a loop in two")


@pytest.mark.slow
def test_a_terminal_shows_ten_lines(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import polysched as ps
            n = ps.sizes("n")
            i, k = ps.vars("i"), ps.RVar("k", 0, n)
            f = ps.Func("f", ())
            f[()] = 0
            f[()] += k
            ps.Schedule(f)["f.update(0)"].parallel(k)
            """
        )
    )
    command = [sys.executable, "-P", str(script)]
    text = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert text.count("\n") <= MOST, text
    assert "two iterations would run concurrently" in text


# notebooks --------------------------------------------------------------------------------------
CELLS = (
    "import polysched as ps\nn = ps.sizes('n'); i, k = ps.vars('i'), ps.RVar('k', 0, n)",
    "f = ps.Func('f', (n,))\nf[i] = 0",
    "f[i] += k",
    "f[i] += k",
    "s = ps.Schedule(f)",
    "s[f].update(0).parallel(k)",
    "s[f].update(0).split(i, 8)",
    "s[f].paralell(i)",
    "f[i] += k",
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq", "ignore::ResourceWarning")
def test_a_notebook_shows_ten_lines_and_runs_cells_once() -> None:
    notebook = executed(CELLS)
    found = {}
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.outputs:
            if output.output_type == "error":
                found[number] = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.traceback))
    assert sorted(found) == [4, 6, 8, 9]
    for text in found.values():
        assert text.count("\n") < MOST, text
        assert PACKAGE not in text
    assert "what it wrote of f then, at cell 3, line 1, is there still: run again" in found[4]
    assert "run the cell again that makes f (cell 2, line 1), then this one" in found[4]
    assert "s[\"f.update(0)\"].parallel('k') is refused" in found[6]
    assert "did you mean parallel?" in found[8]
    assert "is there still, and was used at cell 5, line 1" in found[9]
