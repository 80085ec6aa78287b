"""Names that are not there: what may have been meant, and what to write instead."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.errors.absent import ABSENT, DIRECTIVES
from polysched.lang.program.program import OF_KERNELS

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n, m))


def plane() -> ps.Func:
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] + 1
    return f


def said(owner: Any, name: str) -> str:
    """What is said of an attribute that is not there."""
    assert not hasattr(owner, name)
    with pytest.raises(AttributeError) as info:
        getattr(owner, name)
    return str(info.value)


@pytest.mark.parametrize("name", ABSENT)
def test_what_others_have_says_what_is_written_here(name: str) -> None:
    assert said(ps, name).endswith(f"is no part of the language\n  hint: {ABSENT[name]}")


@pytest.mark.parametrize("name", DIRECTIVES)
def test_directives_of_others_say_what_is_written_here(name: str) -> None:
    s = ps.Schedule(plane())
    for owner, at in ((s["f"], 's["f"]'), (s, "s[f]")):
        assert said(owner, name).endswith(f"\n  hint: {DIRECTIVES[name].format(at=at)}")


def test_nothing_that_is_there_is_said_to_be_absent() -> None:
    assert not ABSENT.keys() & set(ps.__all__)
    s = ps.Schedule(plane())
    assert not DIRECTIVES.keys() & {*dir(s), *dir(s["f"])}


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Schedul", "Schedule"), ("shedule", "Schedule"), ("func", "Func"), ("slect", "select"),
     ("rvar", "RVar"), ("maximun", "maximum"), ("float23", "float32"), ("iterpret", "interpret")],
)  # fmt: skip
def test_the_module_suggests(name: str, meant: str) -> None:
    assert said(ps, name) == (
        f"module 'polysched' has no attribute {name!r}\n  hint: did you mean {meant}?"
    )


def test_what_resembles_nothing_gets_no_suggestion() -> None:
    assert said(ps, "quux") == "module 'polysched' has no attribute 'quux'"
    assert said(ps, "__wrapped__") == "module 'polysched' has no attribute '__wrapped__'"


@pytest.mark.parametrize(("name", "meant"), [("vectorize", "vectorize"), ("paralell", "parallel")])
def test_1_directives_are_of_a_stage(name: str, meant: str) -> None:
    hint = f"directives are of a stage: s = ps.Schedule(f); s[f].{meant}(...)"
    assert said(ps, name) == f"module 'polysched' has no attribute {name!r}\n  hint: {hint}"


@pytest.mark.parametrize(
    ("name", "meant"),
    [("paralell", "parallel"), ("vectorise", "vectorize"), ("Split", "split"),
     ("compute_rot", "compute_root"), ("accumulate", "accumulate_at")],
)  # fmt: skip
def test_a_stage_suggests_directives(name: str, meant: str) -> None:
    s = ps.Schedule(plane())
    assert said(s["f"], name).endswith(f"\n  hint: did you mean {meant}?")
    assert said(s, name).endswith(f"directives are of a stage: s[f].{meant}(...)")
    assert said(s["f"]["j"], name).endswith(f's["f"].{meant}("j", ...)')
    assert said(plane(), name).endswith(f"s = ps.Schedule(f); s[f].{meant}(...)")


def test_a_schedule_names_the_way_to_a_stage() -> None:
    s = ps.Schedule(plane())
    hint = 'a stage is found by its name: s["f"]'
    assert said(s, "f") == f"a Schedule has no attribute 'f'\n  hint: {hint}"
    assert "hint" not in said(s, "quux")


def test_each_owner_suggests_its_own() -> None:
    f = plane()
    s = ps.Schedule(f)
    kernel = s.compile()
    assert said(s["f"], "j").endswith('s["f"]["j"] is its loop of that name')
    assert said(s["f"], "compile").endswith("that is of the Schedule: s.compile")
    assert said(s, "copmile").endswith("did you mean compile?")
    assert said(s["f"]["j"], "knd").endswith("did you mean kind?")
    assert said(f, "shap") == "Func f has no attribute 'shap'\n  hint: did you mean shape?"
    assert said(f, "compile").endswith("that is of a Schedule: s = ps.Schedule(f); s.compile")
    assert said(f, "realize").endswith("call it with arrays: f(A=a)")
    assert said(x, "dtyp").endswith("did you mean dtype?")
    assert said(x[i, j], "as_type").endswith("did you mean astype?")
    assert said(kernel, "loop").endswith("did you mean loops?")
    for name in OF_KERNELS:
        assert hasattr(kernel, name)
        of_kernel = f"that is of a kernel: s = ps.Schedule(f); s.compile().{name}(...)"
        assert said(f, name).endswith(of_kernel)
        assert said(s, name).endswith(f"that is of a kernel: s.compile().{name}(...)")


def test_numpy_functions_that_are_no_part_of_the_language_say_so() -> None:
    with pytest.raises(ps.LanguageTypeError, match=r"ps\.matmul is no part of the language"):
        np.matmul(x[i, j], x[i, j])


def test_protocols_are_asked_of_all_without_a_suggestion() -> None:
    """Python, NumPy and Jupyter look for attributes that begin with an underscore."""
    f = plane()
    s = ps.Schedule(f)
    for owner in (f, x, x[i, j], n, s, s["f"], s["f"]["j"], s.compile()):
        assert "hint" not in said(owner, "_ipython_canary_method_should_not_exist_")
        assert not hasattr(owner, "__array_interface__")
    assert copy.copy(s["f"]).name == "f"
    assert copy.copy(n) is not None
    assert pickle.loads(pickle.dumps(s["f"])).name == "f"


def test_tuples_of_loops_say_where_directives_go_on() -> None:
    s = ps.Schedule(plane())
    loops = s["f"].tile("i", "j", 4, 8)
    assert said(loops, "vectorize").endswith(
        "these are the loops that were made, io, jo, ii, ji; directives go on at the stage: "
        's["f"].vectorize(...)'
    )
    assert said(s["f"].split("ii", 2), "unrol").endswith('s["f"].unroll(...)')
    assert "hint" not in said(loops, "_ipython_display_")
    assert loops == (*loops,)
    assert repr(loops) == "(loop io of f, loop jo of f, loop ii of f, loop ji of f)"
    assert [x.name for x in copy.copy(loops)] == ["io", "jo", "ii", "ji"]
    assert not [x for x in dir(loops) if x[0] != "_" and x not in dir(())]


@pytest.mark.parametrize("make", [ps.Schedule, ps.Schedule.default, ps.interpret, ps.Program])
@pytest.mark.parametrize(
    ("given", "what", "hint"),
    [
        (x, "the Input x", "f = ps.Func('f', x.shape); f[i, j] = x[i, j]"),
        ([x], "the Input x", "nothing of it is computed"),
        (ps.Const("c", [1, 2]), "the Const c", "f[i] = c[i]"),
        (x[i, j], "x[i, j], an expression", "assign it to a Func"),
        (n, "n, an expression", "assign it to a Func"),
        (None, "None", "has to return it"),
        ("f", "'f'", "not its name"),
        (["f"], "'f'", "not its name"),
        (3, "3", "a Func, or a tuple or list of Funcs"),
        (plane, "the function plane", "call it"),
        (np.zeros(3), "a ndarray", "when it is called"),
        ({}, "a dict", "a Func, or a tuple or list of Funcs"),
        ([], None, "ps.Schedule(f)"),
    ],
)  # fmt: skip
def test_what_is_computed_are_funcs(make: Any, given: Any, what: str | None, hint: str) -> None:
    wanted = "a program computes " + ("at least one Func" if what is None else f"Funcs, not {what}")
    with pytest.raises(ps.LanguageError) as info:
        make(given)
    assert info.value.what == wanted
    assert info.value.hint is not None
    assert hint in info.value.hint


def test_an_inout_without_updates_is_no_program() -> None:
    a = ps.InOut("a", ps.float32, (n,))
    for make in (ps.Schedule, ps.interpret):
        with pytest.raises(ps.LanguageError, match="not updated by anything"):
            make(a)
