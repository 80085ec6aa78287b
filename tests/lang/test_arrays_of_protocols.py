"""Arrays by the protocols that Python and NumPy have for them: read and written where they lie, or
refused with the reason."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lang.foreign import WAYS, passed, programs, refused, shares

import polysched as ps

from .support import ALL

Plain = np.ndarray[Any, Any]


class Interface:
    """What says where its elements lie."""

    def __init__(self, held: Plain, **more: Any) -> None:
        self.held = held
        self.__array_interface__ = {**held.__array_interface__, **more}


class Method:
    """What has a method that makes arrays of it."""

    def __init__(self, held: Plain) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Plain:
        return self.held


class Old(Method):
    """The same, from before NumPy 2."""

    def __array__(self, dtype: Any = None) -> Plain:  # type: ignore[override]
        return self.held


class Capsule:
    """What hands out a capsule of DLPack, on a device."""

    def __init__(self, held: Plain, device: int = 1) -> None:
        self.held, self.device = held, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


class Torn(Method, Capsule):
    """What copies by one protocol and shares by another one."""

    def __init__(self, held: Plain) -> None:
        Capsule.__init__(self, held)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Plain:
        return self.held.copy()


def view(held: Plain) -> memoryview | None:
    return memoryview(held)


KINDS: dict[str, Callable[[Plain], Any]] = {
    "memoryview": view,
    "interface": Interface,
    "method": Method,
    "old method": Old,
    "DLPack": Capsule,
    "the second protocol": Torn,
    "subclass": lambda held: held.view(np.recarray),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_memory_is_shared(dtype: ps.DType, kind: str) -> None:
    assert shares(dtype, KINDS[kind]) == 6


@pytest.mark.parametrize("dtype", [ps.float32, ps.int64], ids=str)
def test_what_is_read_only_is_only_read(dtype: ps.DType) -> None:
    assert shares(dtype, lambda a: memoryview(a).toreadonly(), is_writable=False) == 6


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (lambda: array.array("f", [1, 2, 3]), ps.float32),
        (lambda: array.array("q", [1, 2, 3]), ps.int64),
        (lambda: (ctypes.c_double * 3)(1, 2, 3), ps.float64),
        (lambda: bytearray(b"\1\2\3"), ps.uint8),
        (lambda: mmap.mmap(-1, 3), ps.uint8),
    ],
)
def test_buffers_of_python_are_updated(make: Callable[[], Any], dtype: ps.DType) -> None:
    for way in WAYS[2:]:
        given = make()
        start = np.array(memoryview(given))
        assert passed(way, given, dtype, start.copy()) is given
        wanted = programs(dtype, 1)[0](start)
        assert np.array_equal(np.asarray(memoryview(given)), wanted)


def test_bytes_are_read_as_uint8() -> None:
    assert programs(ps.uint8, 1)[0](b"abc").tolist() == [255 - x for x in b"abc"]
    with pytest.raises(ps.CallError) as error:
        programs(ps.float32, 1)[0](b"abcd")
    assert str(error.value) == (
        "x has the dtype uint8, not float32\n  hint: np.frombuffer(x, np.float32) takes its bytes "
        "as such numbers, or declare it as uint8"
    )
    assert programs(ps.float32, 1)[0](np.frombuffer(bytes(8), np.float32)).tolist() == [-0.0] * 2


def test_a_buffer_is_not_resized_while_it_is_used() -> None:
    given, seen = array.array("d", [1, 2, 3]), []

    def grow(x: Plain) -> Plain:
        with pytest.raises(BufferError):
            given.append(4)
        seen.append(len(given))
        return x

    n, i = ps.size("n"), ps.vars("i")
    x = ps.Input("x", ps.float64, (n,))
    s = ps.extern("s", grow, [x], (n,), ps.float64)
    f = ps.Func("f", (n,))
    f[i] = s[i] + 1
    assert f(given).tolist() == [2, 3, 4]
    assert seen == [3]


def test_an_output_of_several_values_is_the_callers_own() -> None:
    n, i = ps.size("n"), ps.vars("i")
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = (x[i], ps.cast(ps.int32, x[i]))
    for call in (f, lambda *args, **more: ps.interpret(f, *args, **more)):
        out = array.array("f", [0, 0]), array.array("i", [0, 0])
        found = call(np.array([1.5, 2.5], np.float32), out=out)
        assert found[0] is out[0]
        assert found[1] is out[1]
        assert out == (array.array("f", [1.5, 2.5]), array.array("i", [1, 2]))


def test_several_outputs_and_parts_are_the_callers_own() -> None:
    f, a = programs(ps.float32, 1)
    out = memoryview(np.zeros(2, np.float32))
    assert f(np.arange(4, dtype=np.float32), out=out, region=(1, 3)) is out
    assert out.tolist() == [-1, -2]
    both = ps.Schedule((f, a)).compile()
    x, changed = np.ones(2, np.float32), memoryview(np.ones(2, np.float32))
    found = both(x=x, a=changed, out={"f": out})
    assert found[0] is out
    assert found[1] is changed
    assert out.tolist() == changed.tolist() == [-1, -1]


class Copying:
    """What makes another copy each time, whatever it is asked."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Plain:
        return np.ones(3, np.float32)


class Honest:
    """What refuses to be taken without a copy."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Plain:
        if copy is False:
            raise ValueError("a copy is needed\nand more")
        return np.ones(3, np.float32)


class NoArray:
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return [1, 2, 3]


class Cuda:
    __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (0, False), "version": 3}  # noqa: RUF012


class Sparse:
    nnz = 2

    def todense(self) -> Plain:
        return np.ones(3, np.float32)


ONES = np.ones(3, np.float32)
COPY = "copy it to this machine's memory first"
SWAPPED = ctypes.c_float.__ctype_be__ if np.little_endian else ctypes.c_float.__ctype_le__

REFUSED: dict[str, tuple[Callable[[], Any], str, str | None]] = {
    "copying": (
        Copying,
        "X is a Copying, of which NumPy makes no array without a copy",
        None,
    ),
    "honest": (
        Honest,
        "X is a Honest, of which NumPy makes no array without a copy: ValueError: a copy is needed",
        None,
    ),
    "no array": (NoArray, "X is a NoArray, of which NumPy makes no array", None),
    "nothing": (object, "X is an object, not an array", None),
    "text": (lambda: "abc", "X is a str, not an array", None),
    "scalar": (lambda: np.float32(1), "X is a float32, not an array", None),
    "CUDA": (Cuda, "X lies in the memory of another device (CUDA)", COPY),
    "DLPack on CUDA": (
        lambda: Capsule(ONES, 2),
        "X lies in the memory of another device (CUDA)",
        COPY,
    ),
    "DLPack on Metal": (
        lambda: Capsule(ONES, 8),
        "X lies in the memory of another device (Metal)",
        COPY,
    ),
    "DLPack elsewhere": (
        lambda: Capsule(ONES, 99),
        "X lies in the memory of another device (number 99 of DLPack)",
        COPY,
    ),
    "sparse": (Sparse, "X is sparse: not all elements lie in memory", "pass X.todense()"),
    "mask": (
        lambda: Interface(ONES, mask=Interface(ONES > 1)),
        "X has a mask, which would be ignored",
        None,
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", REFUSED)
def test_refuses(kind: str, way: str) -> None:
    make, what, hint = REFUSED[kind]
    refused(way, make(), what, hint, ps.float32)


@pytest.mark.parametrize("way", WAYS)
def test_refuses_swapped_bytes(way: str) -> None:
    with pytest.raises(ps.CallError, match="its bytes are not in this machine's order") as error:
        passed(way, (SWAPPED * 3)(), ps.float32, ONES)
    if way[:3] != "out":
        assert error.value.hint == f"np.asarray({error.value.argument}).astype(np.float32)"


@pytest.mark.parametrize("way", WAYS[2:])
@pytest.mark.parametrize("given", [b"abc", memoryview(b"abc")])
def test_refuses_to_write_what_never_changes(given: Any, way: str) -> None:
    with pytest.raises(ps.CallError, match="read-only") as error:
        passed(way, given, ps.uint8, np.zeros(3, np.uint8))
    hint = "pass a writable array"
    if way[:3] != "out" and given == b"abc" and isinstance(given, bytes):
        hint = "bytes never change: pass bytearray(a)"
    elif way[:3] != "out":
        hint = "pass a writable array: np.array(a)"
    assert error.value.hint == hint


def test_plain_arrays_are_not_asked_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of NumPy's own arrays does not come by what other libraries need."""
    f, a = programs(ps.float32, 1)
    f(ONES)
    a(ONES.copy())

    def asked(*args: Any) -> None:
        raise AssertionError("a plain array")

    monkeypatch.setattr("polysched.lang.arguments.foreign.as_array", asked)
    monkeypatch.setattr("polysched.lang.arguments.admission.as_array", asked)
    f(np.ones(5, np.float32))
    a(np.ones(6, np.float32))
