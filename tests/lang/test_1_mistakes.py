"""Mistakes of somebody who writes the first programs, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, l)
A = ps.Input("A", ps.float32, (n, l))
B = ps.Input("B", ps.float32, (l, m))
a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)


def product() -> ps.Func:
    C = ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += A[i, k] * B[k, j]
    return C


C = product()
kernel = ps.Schedule(C).compile()


def update() -> Any:
    return ps.Schedule(C)[C].update(0)


#: What is written, what is said of it, and what is to be written instead.
MISTAKES: list[tuple[Callable[[], Any], str, str]] = [
    # arguments that a function does not take
    (lambda: ps.sizes("n", "m"), "sizes() takes 1", 'as n, m = ps.sizes("n m")'),
    (lambda: ps.Input("A", (n,)), "Input() missing 1", "Input(name, dtype, shape, range=None)"),
    (lambda: ps.RVar("k", l), "RVar() missing 1", "RVar(name, lo, hi, where=None)"),
    (lambda: ps.Func("C", shap=(n,)), "unexpected keyword argument 'shap'", "did you mean shape=?"),
    (lambda: ps.sum(A[i, k], axis=0), "sum() got an unexpected", "sum(value, rvars, initial=None"),
    (lambda: update().split(i), "split() missing 1", "split(loop, factor, tail='auto'"),
    (lambda: update().split(i, 8, tails="guard"), "argument 'tails'", "did you mean tail=?"),
    # one in the place of another
    (lambda: ps.Input("A", (n, m), ps.float32), "comes before its shape", "ps.float32, (n, m))"),
    (lambda: ps.Func("C", ps.float32, (n, m)), "comes before its dtype", "dtype=ps.float32 alone"),
    (lambda: ps.sequential(0, n), "a sequential comes first", 'ps.sequential("t", 0, n)'),
    (lambda: update().tile((i, j), (8, 8)), "as many factors, one by one", "tile(i, j, 8, 32)"),
    (lambda: update().tile(i, j, "io", "jo", 8, 8), "one by one", "it names the loops io, jo"),
    (lambda: update().tile(i, j, 8), "one by one", "tile(i, j, 8, 32)"),
    (lambda: update().split(i, 8, names=("io",)), "are a pair", 'names=("io", "ii")'),
    (lambda: update().split(i, 8, names="ab"), "are a pair", 'names=("io", "ii")'),
    (
        lambda: update().rename(i, 3),
        "the name of rename is the name of a loop, not 3",
        "a Python identifier",
    ),
    (lambda: update().rename(i, "a b"), "'a b' cannot name a loop", "a Python identifier"),
    (lambda: update().transform((i,), 3), "is a function, not 3", "lambda t, i"),
    (
        lambda: update().transform((i, j), lambda x: x),
        "called with 2 coordinates",
        "a value for each",
    ),
    (lambda: update().pipe(3), "a function of a stage", "lambda stage"),
    (lambda: ps.Schedule(C)[C].reduction(0), "no number 0", "s[C].update(0)"),
    (lambda: ps.Schedule(C).loop("t"), "there is no loop t", "loops are i, j, k"),
    (lambda: ps.Schedule(C).compile(check=True), "check is no size", "checks=True"),
    (lambda: ps.cast(A, ps.float32), "Input A[n, l] float32 is not an element", "types are bool"),
    (lambda: ps.mux(i, {1, 2}), "takes its values as a list", "ps.mux(i, [a, b, c])"),
    (lambda: ps.Schedule(C, args=A), "is no list", "args=(A, B)"),
    (lambda: ps.Schedule(C)[C].reduction("sum0"), "'sum0' is no number", "reduction(0)"),
    (lambda: ps.Schedule(C).loop(np.arange(2)), "there is no loop [0 1]", "loops are i, j, k"),
    (lambda: ps.Schedule(C).legal("split"), "not about 'split'", "s.why_not(...)"),
    # calls
    (lambda: C(np.float32, b), "A is a type, not an array", "np.asarray(A"),
    (lambda: C(A=a, b=b), "there is no argument 'b'", "did you mean B?"),
    (lambda: C(A=a, right=b), "there is no argument 'right'", "not passed: B"),
    (lambda: kernel(a, Bb=b), "there is no argument 'Bb'", "did you mean B?"),
    (lambda: C(A, b), "A is the Input A, which stands for an array", "passes arrays of NumPy's"),
    (lambda: C(None, b), "A is None, not an array", "np.asarray(A"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m[1])
def test_mistakes_are_told_with_the_right_spelling(mistake: Any) -> None:
    write, what, hint = mistake
    with pytest.raises(ps.PolyschedError) as info:
        write()
    assert what in info.value.what
    assert info.value.hint is not None, str(info.value)
    assert hint in info.value.hint


@pytest.mark.parametrize(
    ("name", "hint"),
    [("T", "f[j, i] = A[i, j]"), ("sum", "ps.sum(A[i, j], k)"), ("mean", "/ n"),
     ("dot", "ps.einsum"), ("reshape", "an index says it"), ("astype", "A[i, j].astype")],
)  # fmt: skip
def test_what_arrays_have_is_told_of_tensors(name: str, hint: str) -> None:
    for tensor in (A, ps.Func("A", (n, m))):
        with pytest.raises(AttributeError) as info:
            getattr(tensor, name)
        assert hint in str(info.value)


def test_reorder_needs_loops() -> None:
    with pytest.raises(ps.LanguageTypeError, match=r"reorder\(i, k, j\)"):
        update().reorder()


def test_one_loop_need_not_be_a_tuple() -> None:
    u = update()
    (up,) = u.transform(i, lambda x: -x, names=("up",))
    assert up.name == "up"


def test_errors_of_the_user_in_callbacks_stay_theirs() -> None:
    """Only a call that does not fit the function itself is told as a mistake of the call."""

    def fails(i: Any) -> Any:
        return len(3)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match=r"object of type 'int' has no len\(\)") as info:
        ps.compute("c", (n,), fails)
    assert not isinstance(info.value, ps.PolyschedError)
