"""Each message has a code, and codes stay what they are."""

from __future__ import annotations

import copy
import pickle
import re
import traceback

import pytest

import polysched as ps
from polysched.lang.errors import codes, kinds
from polysched.lang.errors.kind import INTERNAL

from . import codegen, drawn, lang, lists, pieces, places, poly, tune
from .case import CASES, Case
from .test_places import found

pytestmark = pytest.mark.xdist_group("places")

ROOMS = (codegen, drawn, lang, pieces, poly, tune)


def test_each_message_has_a_code() -> None:
    """Enter the module or the function in a table of `sched/lang/errors/*_kinds.py`, at the kind of
    mistake that its message is about; or say `code=` where the error is made."""
    without = [p for p in found() if p.code is None and p.name not in lists.REWORDED]
    assert not without, "\n".join(f"{p.file}:{p.line}: {p.function}: {p.name}" for p in without)


def test_what_is_entered_is_there() -> None:
    modules = {_module(p.file) for p in found()}
    functions = {f"{_module(p.file)}:{p.function.partition('.<locals>')[0]}" for p in found()}
    known = modules | functions | _own_constructors()
    assert not [p for _, kind in kinds.CODES.items() for p in kind.places.split() if p not in known]


def _module(file: str) -> str:
    return file.removeprefix("sched/").removesuffix(".py").replace("/", ".")


def _own_constructors() -> set[str]:
    """The constructors of errors that say what is wrong by themselves."""
    return {"checking.report", "checking.report:FaultError.__init__"}


def test_a_place_has_one_code() -> None:
    entered = [p for kind in kinds.CODES.values() for p in kind.places.split()]
    assert len(set(entered)) == len(entered)


def test_codes_have_a_form_and_a_family_and_are_in_order() -> None:
    assert all(
        re.fullmatch(r"PS\d{4}", code) and code[:4] in kinds.FAMILIES for code in kinds.CODES
    )
    assert list(kinds.CODES) == sorted(kinds.CODES)


def test_retired_codes_do_not_come_back() -> None:
    assert not kinds.RETIRED.keys() & kinds.CODES.keys()


def test_codes_that_sources_name_are_there() -> None:
    named = {
        code
        for file in (places.ROOT / "sched").rglob("*.py")
        for code in re.findall(r"\bPS\d{4}\b", file.read_text(encoding="utf-8"))
    }
    assert named <= kinds.CODES.keys() | kinds.RETIRED.keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_error_has_the_code_of_its_place(case: Case) -> None:
    """The stack of calls leads to the place where the message is written."""
    with pytest.raises(case.error) as info:
        case.provoke()
    if getattr(info.value, "kind", None) in kinds.OF_KIND:
        assert info.value.code == kinds.OF_KIND[info.value.kind]  # type: ignore[attr-defined]
        return
    own = [p for p in found() if not p.is_bare and (not case.file or p.file == case.file)]
    known = {p.code for p in places.covered(own, [case.text])}
    assert info.value.code in (known or kinds.CODES)


def refused() -> ps.PolyschedError:
    with pytest.raises(ps.LanguageError) as info:
        ps.Input("no name", ps.float32, ())
    return info.value


def test_a_traceback_ends_with_how_to_read_more_and_the_message_does_not() -> None:
    error = refused()
    assert error.code == "PS0105"
    last = traceback.format_exception(error)[-1]
    assert last.rstrip() == "  more: python -m polysched explain PS0105"
    assert "PS0105" not in str(error)


@pytest.mark.parametrize(
    "again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy]
)
def test_a_copy_has_the_code_once(again) -> None:  # type: ignore[no-untyped-def]
    error = again(refused())
    assert error.code == "PS0105"
    assert error.__notes__ == ["  more: python -m polysched explain PS0105"]


def test_an_error_that_is_reworded_keeps_its_code() -> None:
    n, i = ps.size("n"), ps.Var("i")
    f = ps.Func("f", (n,))
    f[i] = 1.0
    with pytest.raises(ps.ScheduleError) as info:
        ps.Schedule(f)[f].split("j", 4)
    assert info.value.code == "PS0402"
    assert info.value.reworded("other", None, None).code == "PS0402"


def test_kinds_of_dependences_have_codes() -> None:
    n, i = ps.size("n"), ps.Var("i")
    x = ps.InOut("x", ps.float32, (n + 1,))
    k = ps.RVar("k", 0, n)
    x[k + 1] = x[k]
    del i
    with pytest.raises(ps.ScheduleError) as info:
        ps.Schedule(x)[x].parallel(k)
    assert (info.value.kind, info.value.code) == ("race", "PS0302")


def test_other_exceptions_have_codes_too() -> None:
    with pytest.raises(AttributeError) as missing:
        ps.Func("f").spilt
    with pytest.raises(ValueError, match="n must be from 1") as threads:
        ps.set_num_threads(0)
    assert [getattr(e.value, "code", None) for e in (missing, threads)] == ["PS0128", "PS0603"]


def test_an_internal_error_has_a_code() -> None:
    from polysched.lang.errors.errors import InternalError

    assert InternalError("broken").code == INTERNAL


def test_what_users_make_themselves_has_none() -> None:
    """Also where a function of ours calls theirs: its code is of another mistake."""
    error = ps.PolyschedError("mine")
    assert error.code is None
    assert not hasattr(error, "__notes__")


@pytest.mark.parametrize(
    ("module", "function", "code"),
    [
        ("lang.expr.symbols", "check_name", "PS0105"),
        ("lang.expr.symbols", "check_name.<locals>.inner", "PS0105"),
        ("lang.expr.expr", "Expr.__pow__", "PS0101"),
        ("lang.expr.expr", "anything", "PS0102"),
        ("poly.state.editing", "Editing.malformed", None),
        ("nowhere", "f", None),
    ],
)
def test_codes_are_found_by_function_and_module(module: str, function: str, code: str) -> None:
    assert codes.code_at(module, function) == code
