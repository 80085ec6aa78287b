"""`python -m polysched report script.py`: what a script has made is found and reported."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import polysched as ps
from polysched.__main__ import _size, main
from polysched.lang.program.program import Program
from polysched.show.reporting.scripts import reports

PROGRAM = """\
import sys
import numpy as np
import polysched as ps

n = ps.size("n")
i = ps.Var("i")
x = ps.Input("x", ps.float32, (n,))
f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
f[i] = 2 * x[i]
g[i] = f[i] + ps.exp(x[i])
"""

COMPILES = (
    PROGRAM
    + """\
def inside():
    s = ps.Schedule(g)
    s[g].split(i, 8)
    return s.compile()(np.ones(3, np.float32))

inside()
other = ps.Schedule(f).compile()
print(sys.argv[1:], __name__)
"""
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _pages(folder: Path) -> list[str]:
    return sorted(x.name for x in folder.glob("**/*.html"))


def test_kernels_are_found_wherever_they_were_compiled(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "two.py").write_text(COMPILES)
    assert main(["report", "two.py", "--size", "n=7", "--", "a", "-b"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "['a', '-b'] __main__",
        f"wrote {folder / 'two-g.html'}",
        f"wrote {folder / 'two-other.html'}",
    ]
    assert _pages(folder) == ["two-g.html", "two-other.html"]
    assert "n = 7" in (folder / "two-g.html").read_text()


def test_one_name_gives_one_page(folder: Path) -> None:
    (folder / "two.py").write_text(COMPILES)
    assert main(["report", "two.py:other", "--out", "one.html"]) == 0
    assert _pages(folder) == ["one.html"]
    assert "f(x: float32[n])" in (folder / "one.html").read_text()


def test_several_kernels_go_into_a_folder(folder: Path) -> None:
    (folder / "two.py").write_text(COMPILES)
    assert main(["report", "two.py", "--out", "pages"]) == 0
    assert _pages(folder / "pages") == ["two-g.html", "two-other.html"]


@pytest.mark.parametrize(
    ("more", "pages"),
    [
        ("s = ps.Schedule(g)", ["a-s.html"]),
        ("s = ps.Schedule(f)\nt = ps.Schedule(g)", ["a-s.html", "a-t.html"]),
        ("", ["a-g.html"]),  # nothing reads g, and f is part of it
        ("g(np.ones(4, np.float32))", ["a-g.html"]),
        ("k = ps.Schedule(g).compile(); k2 = k", ["a-k.html"]),
    ],
)
def test_what_is_left_is_reported(more: str, pages: list[str], folder: Path) -> None:
    (folder / "a.py").write_text(PROGRAM + more)
    assert main(["report", "a.py"]) == 0
    assert _pages(folder) == pages


def test_a_script_that_exits_well_is_reported(folder: Path) -> None:
    (folder / "a.py").write_text(PROGRAM + "k = ps.Schedule(g).compile()\nsys.exit(0)")
    assert main(["report", "a.py"]) == 0
    assert _pages(folder) == ["a-g.html"]


def test_nothing_of_a_script_stays_behind(folder: Path) -> None:
    (folder / "a.py").write_text(PROGRAM + "sys.path.insert(0, 'x'); ps.Schedule(g).compile()")
    before = sys.argv[:], sys.path[:], Program._compile, ps.Func._call
    assert main(["report", "a.py"]) == 0
    assert (sys.argv[:], sys.path[:], Program._compile, ps.Func._call) == before


# refusals ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.py"], "there is no script missing.py"),
        (["missing.py:f"], "there is no script missing.py"),
        (["two.py:h"], "the script has no h at its end\n  hint: it has "),
        (["two.py:np"], "np is a module: there is no report on it"),
        (["two.py", "--size", "n=many"], "--size takes NAME=NUMBER, and not n=many"),
        (["two.py", "--size", "q=1"], "q is no size of this program"),
        (["two.py", "--out", "two.py"], "there are 2 kernels (g, other), and two.py is one file"),
        (["empty.py"], "has made no kernel, and no Schedule or Func is left"),
        (["fails.py"], "fails.py has failed, so there is nothing to report"),
        (["exits.py"], "exits.py has exited with 3"),
    ],
)
def test_what_cannot_be_reported_is_said(
    arguments: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "two.py").write_text(COMPILES)
    (folder / "empty.py").write_text("x = 1")
    (folder / "fails.py").write_text("def f():\n    return 1 / 0\nf()")
    (folder / "exits.py").write_text("raise SystemExit(3)")
    assert main(["report", *arguments]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert _pages(folder) == []
    if arguments == ["fails.py"]:
        assert "ZeroDivisionError" in error
        assert "runpy" not in error


def test_only_scripts_have_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["info", "--", "x"])
    assert exited.value.code == 2
    assert "unrecognized arguments: -- x" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("script", "where", "out", "words"),
    [
        ("import polysched", "s.py", None, "has made no kernel, and no Schedule or Func is left"),
        (COMPILES, "none.py", None, "there is no script none.py"),
        ("raise SystemExit(3)", "s.py", None, "has exited with 3"),
        ("1 / 0", "s.py", None, "has failed, so there is nothing to report"),
        (COMPILES, "s.py:nobody", None, "the script has no nobody at its end"),
        (COMPILES, "s.py:n", None, "n is a Size: there is no report on it"),
        (COMPILES, "s.py", "file", "there are 2 kernels (g, other), and file is one file"),
    ],
)
def test_what_cannot_be_reported_is_refused(
    folder: Path, script: str, where: str, out: str | None, words: str
) -> None:
    (folder / "s.py").write_text(script)
    (folder / "file").write_text("kept")
    with pytest.raises(ps.PolyschedError, match=re.escape(words)):
        list(reports(where, None if out is None else Path(out), {}, ()))
    assert (folder / "file").read_text() == "kept"
    assert not _pages(folder)


def test_a_size_is_a_name_and_a_number() -> None:
    with pytest.raises(ps.PolyschedError, match="--size takes NAME=NUMBER, and not n=many"):
        _size("n=many")


def test_sizes_that_no_call_has_are_refused(folder: Path) -> None:
    n, i = ps.size("n"), ps.Var("i")
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] + x[3]
    kernel = ps.Schedule(f).compile()
    with pytest.raises(ps.CallError, match="no call has n=2: "):
        kernel.report(folder / "out.html", n=2)
