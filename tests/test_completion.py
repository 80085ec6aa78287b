"""What IPython completes and shows: what is meant for users, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import traceback
from typing import Any

import pytest
from IPython.lib.pretty import pretty

import polysched as ps
from polysched import testing

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, m)
x = ps.Input("x", ps.float32, (n, m))
a = ps.InOut("a", ps.float32, (n,))


def scheduled() -> tuple[ps.Schedule, ps.Func]:
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] + 1
    return ps.Schedule(f), f


def test_objects_list_what_is_meant_for_users() -> None:
    s, f = scheduled()
    assert shown(s) >= {"compile", "explain", "copy", "to_json", "assume", "batch", "trust"}
    assert not shown(s) & {"tree", "model", "nests", "rewritten", "proven", "log", "of", "fixed"}
    assert shown(s[f]) >= {"split", "tile", "vectorize", "update", "loops", "pipe"}
    assert shown(s[f]["i"]) == {
        *("extent", "is_reduction", "kind", "name", "stage", "why_not"),
    }
    assert shown(f) == {"dtype", "name", "ndim", "shape", "vars"}
    assert shown(x) == shown(f) | {"range"}
    assert shown(a) == shown(f) | {"initial", "final"}
    assert shown(x[i, j]) == {"astype"}
    assert shown(n) == {"astype", "name"}
    assert shown(k) == {"astype", "name", "lo", "hi"}
    assert shown(s.compile()) == {
        "advice",
        "asm",
        "cached",
        "conditions",
        "llvm",
        "loops",
        "profile",
        "report",
        "seconds",
        "signature",
    }


def shown(owner: object) -> set[str]:
    """What is listed of an object; of its class the same, which IPython puts together."""
    found = {name for name in dir(owner) if name[0] != "_"}
    assert found >= {name for name in dir(type(owner)) if name[0] != "_"}
    assert all(hasattr(owner, name) for name in found)
    return found


def test_everything_listed_is_there_and_what_is_not_listed_still_works() -> None:
    s, _ = scheduled()
    assert s.tree is s.copy().tree
    assert {"__class__", "__eq__"} <= set(dir(s))


@pytest.mark.parametrize(
    ("module", "asked", "hint"),
    [
        (ps.boundary, "mirrr", "did you mean mirror?"),
        (ps.boundary, "mirror_image", "reflect(tensor), which repeats the edge"),
        (testing, "chek", "did you mean check?"),
        (ps.show, "anmation", "did you mean animation?"),
    ],
)
def test_modules_list_what_is_meant_for_users(module: Any, asked: str, hint: str) -> None:
    assert dir(module) == sorted(module.__all__)
    with pytest.raises(AttributeError) as caught:
        getattr(module, asked)
    said = f"module {module.__name__.replace('lang.tensors.', '')!r} has no attribute {asked!r}"
    assert str(caught.value).splitlines()[:2] == [said, f"  hint: {hint}"]
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 2  # here, and the module
    with pytest.raises(AttributeError, match="_private"):
        module._private


def test_names_of_stages_and_loops_complete_in_brackets() -> None:
    s, f = scheduled()
    s[f].split(j, 8)
    assert s._ipython_key_completions_() == ["f"]
    assert s[f]._ipython_key_completions_() == ["i", "jo", "ji"]


def test_a_cell_shows_a_stage_with_its_loops() -> None:
    s, f = scheduled()
    made = s[f].split(j, 8)
    assert pretty(made) == (
        "(loop jo of f: (m - 1) // 8 + 1 iterations,\n loop ji of f: min(m - jo * 8, 8) iterations)"
    )
    assert pretty(s[f].vectorize(made[1]).parallel(i)) == (
        "stage f\n  i: n iterations, parallel\n  jo: (m - 1) // 8 + 1 iterations\n"
        "  ji: min(m - jo * 8, 8) iterations, vector"
    )
    assert repr(made) == "(loop jo of f, loop ji of f)"
    assert len(pretty(s[f].tile(i, "jo", 4, 8)).splitlines()) == 4


def test_a_loop_that_is_gone_is_still_shown() -> None:
    s, f = scheduled()
    loop = s[f]["j"]
    s[f].split(loop, 8)
    assert pretty(loop) == "loop j of f"


def test_what_has_no_loops_is_shown() -> None:
    g, h = ps.Func("g", (n,)), ps.Func("h", (n,))
    g[i] = x[i, 0] * 2
    h[i] = g[i] + 1
    s = ps.Schedule(h)
    assert pretty(s[g]) == "stage g, inlined"
    scalar = ps.Func("scalar", ())
    scalar[()] = 1
    s = ps.Schedule(scalar)
    assert pretty(s[scalar]) == "stage scalar, loops none"


@pytest.mark.slow
def test_the_completer_of_ipython_shows_no_internals() -> None:
    """With jedi and without."""
    script = """
        from IPython.core.completer import provisionalcompleter
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_cell(
            "import polysched as ps\\nn = ps.sizes('n'); i = ps.vars('i')\\n"
            "f = ps.Func('f', (n,)); f[i] = i; s = ps.Schedule(f)"
        )
        for jedi in (False, True):
            shell.Completer.use_jedi = jedi
            with provisionalcompleter():
                found = [c.text.lstrip(".") for c in shell.Completer.completions("s.", 2)]
            print(*found)
            with provisionalcompleter():
                print("keys", *[c.text for c in shell.Completer.completions('s["', 3)])
    """
    command = [sys.executable, "-P", "-c", textwrap.dedent(script)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lists = [line.split() for line in text.splitlines() if "compile" in line]
    assert len(lists) == 2
    s, _ = scheduled()
    assert all(set(found) == shown(s) for found in lists)
    assert [x.split()[1:] for x in text.splitlines() if x.startswith("keys")] == [["f"]] * 2
