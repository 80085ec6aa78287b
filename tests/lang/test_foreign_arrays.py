"""Arrays of others' types, as inputs, InOuts and out=: taken whole, or refused in our own words."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps

n, i = ps.size("n"), ps.vars("i")
x = ps.Input("x", ps.float32, (n,))
f = ps.Func("f", (n,))
f[i] = x[i] + 1
a = ps.InOut("a", ps.float32, (n,))
a[i] += 1
plain = np.ones(3, np.float32)


class Sub(np.ndarray):
    """What keeps more than an array does."""


class Broken:
    """What promises an array, and fails."""

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        raise KeyError("nothing")


WAYS: dict[str, Callable[[Any], object]] = {
    "input": lambda given: f(given),
    "interpreted": lambda given: ps.interpret(f, given),
    "in place": lambda given: a(given),
    "out": lambda given: f(plain, out=given),
    "out by name": lambda given: f(plain, out={"f": given}),
}

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "StringDType": (
        lambda: np.array(["a"], np.dtypes.StringDType()),
        r"has the dtype StringDType\(\), not",
    ),
    "objects": (lambda: np.array([1, 2, 3], object), "has the dtype object, not"),
    "void": (lambda: np.zeros(3, "V4"), r"has the dtype \|V4, not"),
    "records": (lambda: np.zeros(3, [("a", "f4")]), "has the dtype .*, not"),
    "times": (lambda: np.zeros(3, "M8[s]"), r"has the dtype datetime64\[s\], not"),
    "foreign times": (lambda: np.zeros(3, ">M8[s]"), r"has the dtype >M8\[s\], not"),
    "bytes": (lambda: np.array([b"abcd"] * 3), r"has the dtype \|S4, not"),
    "text": (lambda: np.array(["a"] * 3), "has the dtype <U1, not"),
    "swapped": (lambda: np.zeros(3, plain.dtype.newbyteorder("S")), "in this machine's order"),
    "swapped integers": (lambda: np.zeros(3, ">i8"), "has the dtype >i8, not"),
    "complex": (lambda: np.zeros(3, np.complex64), "has the dtype complex64, not"),
    "0-d": (lambda: np.array(1, np.float32), "has 0 axes"),
    "matrix": (lambda: np.asmatrix(plain), "has 2 axes"),
    "masked": (lambda: np.ma.array(plain, mask=[0, 1, 0]), "masked array: the mask would be"),
    "unmasked": (lambda: np.ma.array(plain), "masked array: the mask would be"),
    "masked itself": (lambda: np.ma.masked, "masked array: the mask would be"),
    "masked records": (lambda: np.ma.zeros(3, [("a", "f4")]), "masked array: the mask would be"),
    "broken": (Broken, "is a Broken, "),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", REFUSED)
def test_refuses(kind: str, way: str) -> None:
    make, what = REFUSED[kind]
    with pytest.raises(ps.CallError, match=what) as refused:
        WAYS[way](make())
    assert refused.value.argument == {"in place": "a", "out": "out", "out by name": "out"}.get(
        way, "x"
    )
    hint = refused.value.hint or ""
    assert "or declare it as" not in hint, "no such type can be declared"
    assert way[:3] != "out" or ".astype" not in hint, "a copy is of no use as an output"


@pytest.mark.parametrize("view", [Sub, np.recarray, np.memmap])
@pytest.mark.parametrize("way", WAYS)
def test_takes_subclasses(way: str, view: type[Any]) -> None:
    given = plain.copy().view(view) if view is not np.memmap else _mapped()
    found = WAYS[way](given)
    assert np.asarray(found).tolist() == [2, 2, 2]
    if way != "input" and way != "interpreted":
        assert np.asarray(given).tolist() == [2, 2, 2]
        assert np.shares_memory(np.asarray(found), np.asarray(given))


def _mapped() -> Any:
    with tempfile.TemporaryFile() as file:
        file.write(plain.tobytes())
        file.flush()
        return np.memmap(file, np.float32, "r+", shape=(3,))


def test_refuses_a_masked_table() -> None:
    with pytest.raises(ps.LanguageError, match="Const c is a masked array: the mask would be"):
        ps.Const("c", np.ma.array([1, 2]))


def test_suggests_a_type_that_there_is() -> None:
    with pytest.raises(ps.CallError, match="or declare it as float64"):
        f(np.zeros(3))


class Zero:
    """An array of another library that has no axes."""

    shape = ()

    def __init__(self, plain: np.ndarray[Any, Any]) -> None:
        self.plain = plain

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        return self.plain


k = ps.Param("k", ps.float32)
scaled = ps.Func("scaled", (n,))
scaled[i] = x[i] * k


def test_params_are_arrays_without_axes() -> None:
    for given in (np.array(2.5), Zero(np.array(2.5, np.float32)), Zero(np.array(2))):
        assert scaled(plain, k=given).tolist() == [float(np.asarray(given))] * 3


@pytest.mark.parametrize("given", [Zero(np.array(1j)), Zero(np.array("a")), Zero(plain)])
def test_refuses_params_that_hold_no_number(given: Any) -> None:
    with pytest.raises(ps.CallError, match="the Param is float32") as error:
        scaled(plain, k=given)
    assert error.value.hint == "pass a number"
