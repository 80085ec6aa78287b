"""Rule 1.6: a Func is complete at its first use."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from lang.support import refused, run

import polysched as ps

n = ps.sizes("n")
i, j = ps.vars("i j")


def func(name="f"):
    f = ps.Func(name, (n,))
    f[i] = i
    return f


@pytest.mark.parametrize(
    "use",
    [
        ps.Schedule,
        ps.Schedule.default,
        lambda f: f(n=2),
        lambda f: ps.interpret(f, n=2),
        lambda f: ps.Program((f,)),
    ],
)
def test_1_6_a_use_completes_and_both_places_are_named(use):
    f = func()
    use(f)
    with refused("f is complete since it was used at ", "test_1_completion.py:", hint="new Func"):
        f[i] += 1


def test_1_6_a_definition_of_another_func_completes():
    f, g = func(), ps.Func("g", (n,))
    g[i] = f[i]
    line = sys._getframe().f_lineno - 1
    with refused(f"f is complete since it was used at {__file__}:{line}", "change what was"):
        f[i] += 1
    assert np.array_equal(run(g, n=3), [0, 1, 2])


@pytest.mark.parametrize("where", ["index", "left", "bound", "where", "select", "boundary"])
def test_1_6_any_read_completes(where):
    f = ps.Func("f", (4,), dtype=ps.int32)
    f[i] = 0
    g = ps.Func("g", (4,))
    table = ps.Const("table", np.arange(8))
    g[i] = 0
    if where == "index":
        g[i] += table[ps.clip(f[i], 0, 3)]
    elif where == "left":
        g[ps.clip(f[ps.RVar("k", 0, 4)], 0, 3)] += 1
    elif where == "bound":
        g[i] += ps.RVar("k", 0, f[0])
    elif where == "where":
        g[i] += ps.RVar("k", 0, 4, where=lambda k: f[k] > 0)
    elif where == "select":
        g[i] += ps.select(i > 2, f[i], 0)
    else:
        ps.boundary.repeat_edge(f)
    with refused("f is complete since it was used at"):
        f[i] += 1


def test_1_6_its_own_updates_do_not_complete_it():
    f = func()
    f[i] += f[i]
    f[i] *= 2
    assert np.array_equal(run(f, n=3), [0, 4, 8])


def test_1_6_what_raises_does_not_complete_or_define():
    f, g = func(), ps.Func("g", (n,))
    with refused("the Var j is not on the left side"):
        g[i] = f[i] + j
    f[i] += 1
    with refused("f is complete"):
        g[i] = f[i]
        f[i] += 1


def test_1_6_completion_reaches_all_producers():
    f, g = func("f"), ps.Func("g", (n,))
    g[i] = f[i] * 2
    ps.Schedule(g)
    for x in (f, g):
        with refused(f"{x.name} is complete since it was used"):
            x[i] += 1


def test_1_6_a_second_pure_definition_is_refused():
    f = func()
    with refused("f has a pure definition already, at ", "a second one is refused", hint="Func"):
        f[i] = 2 * i
    with refused("f has a pure definition already"):
        f[j] = 1


def test_1_6_a_definition_again_in_a_new_func_is_fine():
    for k in range(2):
        f = ps.Func("f", (n,))
        f[i] = i + k
        assert f(n=1) == k


def test_1_6_reading_before_defining_needs_a_dtype():
    f, g = ps.Func("f"), ps.Func("g", (n,))
    with refused("the dtype of Func f is not known: it has no definition yet", hint="dtype="):
        g[i] = f[i]


def test_1_6_reading_before_defining():
    f, g = ps.Func("f", dtype=ps.float32), ps.Func("g", (n,))
    g[i] = f[i] * 2
    f[i] = i + 0.5
    assert np.array_equal(run(g, n=2), [1, 3])


def test_1_6_reading_before_defining_with_another_rank_is_refused():
    f, g = ps.Func("f", dtype=ps.float32), ps.Func("g", (n,))
    g[i] = f[i]  # here
    f[i, j] = 0
    with refused("f has 2 axes but is indexed with 1: f[i]", marked=True):
        ps.Schedule(g)


def test_1_6_pieces_after_a_read_may_not_change_the_dtype():
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[0] = np.int64(1)
    g[i] = f[i]
    with refused("f was read as int64 at ", "makes it float64", hint="ps.Func('f', dtype=...)"):
        f[i] = 0.5
    f[i] = 2
    assert np.array_equal(run(g, n=3), [1, 2, 2])


def test_1_6_a_dtype_that_only_literals_suggest_is_not_read():
    """It would be float64 by accident, whatever the Func turns out to be."""
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[0] = 1.0
    with refused("f is read before its definition is finished", hint="dtype=ps.float32"):
        g[i] = f[i]


# notebooks ------------------------------------------------------------------------------------
class Notebook:
    """Runs source as IPython's kernels run cells: a cell is a file, named by its text."""

    def __init__(self):
        self.numbers = {}
        self.count = 0
        self.message = {}
        self.compile = types.SimpleNamespace(_filename_map=self.numbers)
        self.namespace = {"__name__": "__main__", "ps": ps, "n": n, "i": i}

    def get_parent(self):
        return self.message

    def __call__(self, source, id=None):
        self.count += 1
        self.message = {"header": {"msg_id": str(self.count)}, "metadata": {"cellId": id}}
        file = f"/tmp/ipykernel_1/{hash(source)}.py"
        self.numbers[file] = self.count
        exec(compile(source, file, "exec"), self.namespace)


@pytest.fixture
def notebook(monkeypatch):
    module, shell = types.ModuleType("IPython"), Notebook()
    module.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", module)
    return shell


def test_1_6_cells_are_named_by_their_number(notebook):
    notebook("f = ps.Func('f', (n,))\nf[i] = i")
    notebook("\n\nf(n=3)")
    with pytest.raises(ps.LanguageError) as caught:
        notebook("f[i] += 1")
    assert "f is complete since it was used at cell 2, line 3" in str(caught.value)
    assert "  at cell 3, line 1" in str(caught.value)


def test_1_6_running_a_cell_again_that_makes_its_funcs_anew_is_fine(notebook):
    for _ in range(3):
        notebook("f = ps.Func('f', (n,))\nf[i] = i\nf[i] += 1\nassert f(n=1) == 1")


def test_1_6_running_a_cell_again_that_only_adds_is_refused(notebook):
    notebook("f = ps.Func('f', (n,))\nf[i] = i")
    notebook("f[i] += 1\nf(n=3)")
    with pytest.raises(ps.LanguageError, match="used at cell 2, line 2"):
        notebook("f[i] += 1\nf(n=3)")


def test_1_6_requirements_of_a_cell_stay_with_its_program(notebook):
    notebook("f = ps.Func('f', (n,))\nf[i] = i\nps.require(n >= 3, 'three')")
    notebook("f(n=3)")
    notebook("g = ps.Func('g', (n,))\ng[i] = i\nassert g(n=1) == 0")


def again(source: str) -> str:
    """What is said of a cell that is run a second time."""
    return f"this cell was run before, and what it wrote of f then, at {source}, is there still"


@pytest.mark.parametrize("is_used", [False, True])
def test_1_6_a_cell_that_changes_what_another_one_made_runs_once(notebook, is_used):
    notebook("f = ps.Func('f', (n,))\nf[i] = i")
    notebook("\nf[i] += 1")
    if is_used:
        notebook("f(n=3)")
    with pytest.raises(ps.LanguageError) as caught:
        notebook("\nf[i] += 1")
    assert again("cell 2, line 2") in caught.value.what
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("run the cell again that makes f (cell 1, line 1)")
    notebook("assert list(f(n=3)) == [1, 2, 3]")


def test_1_6_the_way_out_of_running_a_cell_again(notebook):
    made, changed = "f = ps.Func('f', (n,))\nf[i] = i", "f[i] += 1"
    for _ in range(3):
        notebook(made)
        notebook(changed)
        notebook("assert list(f(n=3)) == [1, 2, 3]")


def test_1_6_a_pure_definition_is_not_written_again_either(notebook):
    notebook("f = ps.Func('f', (n,))")
    notebook("f[i] = i")
    with pytest.raises(ps.LanguageError) as caught:
        notebook("f[i] = i")
    assert again("cell 2, line 1") in caught.value.what


def test_1_6_one_execution_changes_a_func_as_often_as_it_likes(notebook):
    """By loops, and by functions of this cell, of other cells, and of libraries."""
    library = types.ModuleType("library")
    exec("def twice(f, i):\n    f[i] += 1\n    f[i] += 1", library.__dict__)
    notebook("def once(f):\n    f[i] += 1\nf = ps.Func('f', (n,))\nf[i] = 0")
    notebook.namespace["library"] = library
    notebook("for _ in range(3):\n    f[i] += 1\nonce(f)\nonce(f)\nlibrary.twice(f, i)")
    notebook("once(f), library.twice(f, i)")
    notebook("assert list(f(n=2)) == [10, 10]")


def test_1_6_a_function_that_a_cell_calls_again_belongs_to_that_cell(notebook):
    notebook("def once(f):\n    f[i] += 1\nf = ps.Func('f', (n,))\nf[i] = 0")
    notebook("once(f)")
    with pytest.raises(ps.LanguageError) as caught:
        notebook("once(f)")
    assert again("cell 1, line 2") in caught.value.what


def test_1_6_a_cell_that_was_undone_may_be_run_again(notebook):
    notebook("f = ps.Func('f', (n,))\nf[i] = 0")
    block = "with ps.sequential('t', 0, 2):\n    f[i] += 1\n    if fails:\n        raise OSError"
    notebook.namespace["fails"] = True
    with pytest.raises(OSError):  # noqa: PT011
        notebook(block)
    notebook.namespace["fails"] = False
    notebook(block)
    notebook("assert list(f(n=1)) == [2]")


@pytest.mark.parametrize("edited", [False, True])
def test_1_6_front_ends_say_which_cell_is_which(notebook, edited):
    """Then an edited cell is the same one, and a cell of the same text is another one."""
    notebook("f = ps.Func('f', (n,))\nf[i] = 0", id="a")
    notebook("f[i] += 1", id="b")
    notebook("f[i] += 1", id="c")
    with pytest.raises(ps.LanguageError) as caught:
        notebook("f[i] += 2" if edited else "f[i] += 1", id="b")
    assert again("cell 2, line 1") in caught.value.what


def test_1_6_scripts_write_the_same_line_as_often_as_they_like():
    names = {"__name__": "__main__", "ps": ps, "n": n, "i": i}
    exec("f = ps.Func('f', (n,))\nf[i] = 0", names)
    for _ in range(3):
        exec(compile("f[i] += 1", "script.py", "exec"), names)
    exec("assert list(f(n=1)) == [3]", names)
