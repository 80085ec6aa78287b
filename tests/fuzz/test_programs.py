"""Random programs have what there is in the language, and the calls leave out what may be."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.program.program import Program
from polysched.testing.choices import Choices

from . import meaning
from .calls import Call, make_calls
from .meaning.program import Program as Meaning
from .programs import Case, make_case
from .shorthands import _OPAQUE, _OPAQUE_PAIRS
from .vocabulary import ParamSpec


def _call(defaults: dict[str, str], number: int = 0) -> Call:
    source = """
n = ps.size("n")
m = ps.size("m", default=n + 1)
p = ps.Param("p", ps.int32, default=2)
i = ps.vars("i")
f = ps.Func("f", (n,))
f[i] = m + p
"""
    names: dict[str, Any] = {"ps": ps}
    exec(source, names)
    sizes = ({"n": 2, "m": 3}, {"n": 2, "m": 5})
    params = (ParamSpec("p", "int32", 0, 4),)
    case = Case(source, ("f",), (), params, {}, sizes, 1, (), defaults)
    return make_calls(case, Program((names["f"],)))[number]


def _passed(call: Call) -> set[frozenset[str]]:
    """The names that it passes, in some of the ways that there are."""
    calls = (Call(**{**vars(call), "seed": (k,)}) for k in range(12))
    return {frozenset(c.walled().kwargs) & {"n", "m", "p"} for c in calls}


def test_calls_leave_out_what_is_so_by_default() -> None:
    assert _passed(_call({"m": "n + 1"})) == {frozenset("nmp"), frozenset("np")}


def test_calls_pass_what_is_otherwise_than_by_default() -> None:
    assert _passed(_call({"m": "n + 1"}, 1)) == {frozenset("nmp")}
    assert _passed(_call({})) == {frozenset("nmp")}


def test_params_have_their_defaults_now_and_then() -> None:
    call = _call({"p": "2"}, 1)
    assert call.scalars == {"p": 2}
    assert frozenset("nm") in _passed(call)


@pytest.mark.parametrize("function", [*_OPAQUE, *_OPAQUE_PAIRS])
def test_functions_of_extern_stages_compute_what_they_declare(function: str) -> None:
    """As many elements as the first array has, of its type."""
    dtypes = "(ps.int16, ps.int64)" if function in _OPAQUE_PAIRS else "ps.int16"
    source = f"""
n = ps.sizes("n")
A = ps.Input("A", ps.int16, (n,))
e = ps.extern("e", {function}, [(A, ((1, n),)), A], (n - 1,), {dtypes})
"""
    names: dict[str, Any] = {"ps": ps, "np": np}
    exec(source, names)
    found = names["e"](np.int16([4, 5, 0, 6]))
    assert {a.shape for a in (found if isinstance(found, tuple) else (found,))} == {(3,)}


def _meant(source: str, **arrays: Any) -> list[Any]:
    n = next(iter(arrays.values())).shape[0]
    return Meaning(source, ("f",))({"n": n}, arrays, {})


def test_an_extern_stage_is_given_the_parts_that_it_reads() -> None:
    source = """
n, i = ps.sizes("n"), ps.vars("i")
A = ps.Input("A", ps.int16, (n,))
e = ps.extern("e", lambda a: (a[::-1], a + 1), [(A, ((1, n),))], (n - 1,), (ps.int16, ps.int16))
f = ps.Func("f", (n - 1,))
f[i] = 10 * e[i][0] + e[i][1]
"""
    (found,) = _meant(source, A=np.int16([9, 1, 2, 3]))
    assert found.tolist() == [32, 23, 14]


def test_an_extern_stage_reads_nothing_outside() -> None:
    source = """
n, i = ps.sizes("n"), ps.vars("i")
A = ps.Input("A", ps.int16, (n,))
e = ps.extern("e", lambda a: a, [(A, ((1, n + 1),))], (n,), ps.int16)
f = ps.Func("f", (n,))
f[i] = e[i]
"""
    with pytest.raises(meaning.Outside, match="A"):
        _meant(source, A=np.int16([9, 1]))


def test_leading_axes_stay_unsaid() -> None:
    source = """
n, j = ps.sizes("n"), ps.vars("j")
A = ps.Input("A", ps.int16, (n, 2, 2))
f = ps.Func("f", (n, 2, 2))
f[..., j] = A[..., 1 - j]
"""
    array = np.arange(8, dtype=np.int16).reshape(2, 2, 2)
    (found,) = _meant(source, A=array)
    assert found.tolist() == array[:, :, ::-1].tolist()


@pytest.mark.slow
def test_programs_have_all_that_is_written_in_one_call() -> None:
    text = "\n".join(make_case(Choices.from_seed(seed)).source for seed in range(160))
    for sign in (
        r"\[\.\.\.", r"ps\.size\(.*default=", r"ps\.Param\(.*default=", r"ps\.asin\(",
        r"ps\.extern\(.*\(\(0, .*, ps\.int64\)\)", r"out: np\.copyto\(out\[0\]",
    ):  # fmt: skip
        assert re.search(sign, text), sign
