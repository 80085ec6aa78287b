"""What the tests of other libraries' arrays share: programs, ways to pass an array, and the
property that a call reads and writes the memory of an array itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.arguments.admission import admit_array

WAYS = ("input", "interpreted", "in place", "in place interpreted", "out", "out by name")
ARGUMENTS = dict(zip(WAYS, ("x", "x", "a", "a", "out", "out"), strict=True))


@cache
def programs(dtype: ps.DType, rank: int) -> tuple[ps.Func, ps.InOut]:
    """A Func f of an Input x, and an InOut a, of a type and a rank: both give ~x."""
    shape = ps.sizes("n m")[:rank] if rank > 1 else (ps.sizes("n"),)
    at = tuple(ps.vars("i j"))[:rank]
    x, a = ps.Input("x", dtype, shape), ps.InOut("a", dtype, shape)
    f = ps.Func("f", shape)
    f[at] = changed(x[at], dtype)
    a[at] = changed(a[at], dtype)
    return f, a


def changed(x: Any, dtype: ps.DType) -> Any:
    """What the programs make of an element, in one operation."""
    return -x if dtype.is_float else ~x


def passed(way: str, given: Any, dtype: ps.DType, plain: Any) -> Any:
    """The result of a call with what is given in one of the ways; `plain` is an Input beside it."""
    f, a = programs(dtype, plain.ndim)
    match way:
        case "input":
            return f(given)
        case "interpreted":
            return ps.interpret(f, given)
        case "in place":
            return a(given)
        case "in place interpreted":
            return ps.interpret(a, given)
        case "out":
            return f(plain, out=given)
    return f(plain, out={"f": given})


def layouts(dtype: ps.DType) -> Iterator[np.ndarray[Any, Any]]:
    """Arrays of a type: contiguous, with gaps, backwards, transposed, empty."""
    for make in (
        lambda a: a[:35],
        lambda a: a[:35:2],
        lambda a: a[34::-1],
        lambda a: a[:35].reshape(5, 7).T,
        lambda a: a[:35].reshape(7, 5)[::2, 1:4],
        lambda a: a[:0],
    ):
        bits = np.random.default_rng(3).integers(0, 2 if dtype.is_bool else 100, 40)
        yield make(bits.astype(dtype.numpy))


def shares(dtype: ps.DType, wrap: Callable[[Any], Any], is_writable: bool = True) -> int:
    """Asserts that a call of an array of another kind has the bits of a call of the plain array,
    that it is of the same memory, and that what is written comes back as the object itself.

    Args:
        wrap: the object of another kind with the memory of an array; None where there is none.

    Returns:
        How many layouts there were.
    """
    count = 0
    for plain in layouts(dtype):
        f, _ = programs(dtype, plain.ndim)
        wanted = f(plain)
        original = plain.copy()
        given = wrap(plain)
        if given is None:
            continue
        count += 1
        taken = admit_array("x", ps.Program(f).inputs[0], given, False)
        assert taken.dtype == plain.dtype
        assert taken.shape == plain.shape
        assert not plain.size or taken.ctypes.data == plain.ctypes.data
        assert not plain.size or taken.strides == plain.strides
        for way in WAYS[:2]:
            assert same_bits(passed(way, given, dtype, plain), wanted)
            assert same_bits(plain, original)
        for way in WAYS[2:]:
            if not is_writable:
                with pytest.raises(ps.CallError, match="read-only"):
                    passed(way, given, dtype, original)
                assert same_bits(plain, original)
                continue
            plain[...] = original
            found = passed(way, given, dtype, original)
            assert found is given
            assert same_bits(plain, wanted)
        plain[...] = original
    return count


def same_bits(a: Any, b: Any) -> bool:
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def refused(way: str, given: Any, what: str, hint: str | None, dtype: ps.DType) -> None:
    """Asserts that a call refuses an array, and what it says. In the texts, X is the argument, and
    a hint of None is the one for what has no memory to share."""
    plain = np.ones(3, dtype.numpy)
    argument = ARGUMENTS[way]
    with pytest.raises(ps.CallError) as error:
        passed(way, given, dtype, plain)
    name = "out= of f" if argument == "out" else argument
    assert error.value.what == what.replace("X.data", f"{argument}.data").replace("X", name)
    assert error.value.argument == argument
    new = f"np.empty(shape, np.{dtype})"
    if hint is None or (argument == "out" and "detach" not in hint and "device=" not in hint):
        copied = f"np.asarray({argument}, dtype=np.{dtype})"
        assert error.value.hint == (new if argument == "out" else copied)
    else:
        assert error.value.hint == hint.replace("X", argument)
