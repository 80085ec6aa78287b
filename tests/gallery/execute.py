"""Running a case by the interpreter and natively, and comparing what comes out."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

import numpy as np

import polysched as ps
from polysched.codegen.runtime.kernel import Kernel
from polysched.interp import interpret

from .case import Arguments, Array, Case, Results


@cache
def outputs(case: Case) -> tuple[ps.Func, ...]:
    """The outputs of a case, built once in each process: its kernel is compiled once, too."""
    built = case.build()
    return built if isinstance(built, tuple) else (built,)


@cache
def schedule(case: Case) -> ps.Schedule:
    """The default schedule of a case. It is shared: what changes it takes a copy."""
    return ps.Schedule.default(outputs(case))


_interpreted: dict[tuple[Case, bytes], tuple[Array, ...]] = {}


def interpreted(case: Case, arguments: Arguments) -> tuple[Array, ...]:
    """What the interpreter computes, once for the same arguments: read-only arrays."""
    key = case, digest(arguments)
    if key not in _interpreted:
        funcs = outputs(case)
        given = fresh(case, arguments)
        _interpreted[key] = as_tuple(interpret(funcs if len(funcs) > 1 else funcs[0], **given))
        for result in _interpreted[key]:
            result.setflags(write=False)
    return _interpreted[key]


def digest(arguments: Arguments) -> bytes:
    """Of names, types, shapes and values; whatever the layout of the arrays is."""
    found = sha256()
    for name, value in sorted(arguments.items()):
        found.update(f"{name}: {type(value)} ".encode())
        if isinstance(value, np.ndarray):
            found.update(f"{value.dtype}{value.shape} ".encode())
            found.update(value.tobytes())
        else:
            found.update(repr(value).encode())
    return found.digest()


def native(case: Case, arguments: Arguments) -> tuple[Array, ...]:
    """What the compiled program computes: by a bare call, or a kernel of several outputs."""
    return in_place(case, fresh(case, arguments))


def in_place(case: Case, arguments: Arguments) -> tuple[Array, ...]:
    """The same, on the very arrays given."""
    funcs = outputs(case)
    program = funcs[0] if len(funcs) == 1 else kernel(case)
    return as_tuple(program(**arguments))


def fresh(case: Case, arguments: Arguments) -> Arguments:
    """The arguments with copies of those that are updated in place."""
    updated = {f.name for f in outputs(case) if isinstance(f, ps.InOut)}
    return {k: np.copy(v) if k in updated else v for k, v in arguments.items()}


@cache
def kernel(case: Case) -> Kernel:
    """The outputs of a case compiled together with their default schedule."""
    return schedule(case).compile()


def as_tuple(results: Results) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)


def assert_same(found: tuple[Array, ...], wanted: tuple[Array, ...]) -> None:
    """Equal bit for bit, except that all NaNs are equal; -0.0 is not 0.0."""
    assert len(found) == len(wanted)
    for k, (f, w) in enumerate(zip(found, wanted, strict=True)):
        assert (f.dtype, f.shape) == (w.dtype, w.shape), f"result {k}"
        different = bits(f) != bits(w)
        if f.dtype.kind == "f":
            different &= ~(np.isnan(f) & np.isnan(w))
        assert not different.any(), f"result {k}: {first_difference(f, w, different)}"


def assert_close(found: tuple[Array, ...], wanted: Results, tolerance: float) -> None:
    """Equal where the tolerance is 0, else with errors that are small beside the largest value."""
    references = as_tuple(wanted)
    assert len(found) == len(references)
    for k, (f, w) in enumerate(zip(found, references, strict=True)):
        assert f.shape == w.shape, f"result {k}"
        if tolerance == 0.0:
            assert f.dtype == w.dtype, f"result {k}"
            different = f != w
        else:
            different = ~(np.abs(f - w) <= tolerance * np.abs(w).max(initial=0.0))
        assert not different.any(), f"result {k}: {first_difference(f, w, different)}"


def bits(array: Array) -> Array:
    """The representation of each element as an unsigned integer."""
    return np.ascontiguousarray(array).view(f"u{array.itemsize}").reshape(array.shape)


def first_difference(found: Array, wanted: Array, different: Array) -> str:
    """Where two arrays differ, for a message."""
    at = tuple(int(i) for i in np.argwhere(different)[0])
    return (
        f"{np.count_nonzero(different)} of {different.size} differ, first [{str(at)[1:-1]}]: "
        f"{found[at]!r}, but should be {wanted[at]!r}"
    )
