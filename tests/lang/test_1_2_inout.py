"""1.2, 1.4, 1.6: arrays that are updated in place, as arguments and as values."""
# ruff: noqa: SIM117 - blocks stand as users write them

from __future__ import annotations

import inspect
from functools import partial

import numpy as np
import pytest

import polysched as ps

from .support import refused

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
X = ps.Input("X", ps.int32, (n,))


def vector(name: str = "A", extent: object = n, dtype: object = ps.int32) -> ps.InOut:
    return ps.InOut(name, dtype, (extent,))


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(12).integers(-9, 10, shape).astype(np.int32)


def both(outputs, /, **kwargs):
    """Native results, which equal the interpreter's; each runs on copies of the same layout."""
    program = outputs if isinstance(outputs, ps.Func) else ps.Schedule(outputs).compile()
    wanted = ps.interpret(outputs, **_again(kwargs))
    found = program(**_again(kwargs))
    for a, b in zip(_tuple(found), _tuple(wanted), strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    return found


def _again(kwargs):
    """Arrays of the same layout and content, in memory of their own."""
    return {k: like(a) if isinstance(a, np.ndarray) else a for k, a in kwargs.items()}


def like(a: np.ndarray) -> np.ndarray:
    base = a if a.base is None else a.base
    assert isinstance(base, np.ndarray)
    offset = a.ctypes.data - base.ctypes.data
    memory = base.copy()
    return np.ndarray(a.shape, a.dtype, memory, offset, a.strides)


def _tuple(found):
    return found if isinstance(found, tuple) else (found,)


# declaration ------------------------------------------------------------------------------------
def test_1_1_what_an_inout_tells() -> None:
    A = ps.InOut("A", np.float32, (n, 2 * m))
    assert (A.name, A.dtype, A.ndim) == ("A", ps.float32, 2)
    assert str(A.shape) == "(n, 2 * m)"
    assert repr(A) == "InOut A[n, 2 * m] float32"
    assert (repr(A.initial), repr(A.final)) == ("A.initial", "A.final")
    assert str(A.initial.shape) == str(A.final.shape) == str(A.shape)
    A[i, j] += 1
    assert str(A) == "InOut A[n, 2 * m] float32\n  A[i, j] = A[i, j] + 1.0"


def test_1_2_library_functions_take_inouts() -> None:
    def scale(array: ps.InOut, by: float) -> None:
        v = ps.vars(" ".join("ij"[: array.ndim]))
        array[v] *= by

    A = ps.InOut("A", ps.float64, (n, m))
    scale(A, 3.0)
    np.testing.assert_array_equal(both(A, A=np.ones((2, 3))), np.full((2, 3), 3.0))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float32, np.float64])
def test_1_2_every_dtype(dtype: type) -> None:
    A = vector(dtype=dtype)
    A[i] = A[i] | True if dtype is np.bool_ else A[i] + 1
    given = np.array([0, 1, 0]).astype(dtype)
    assert both(A, A=given).tolist() == ([True] * 3 if dtype is np.bool_ else [1, 2, 1])


def test_1_2_without_axes() -> None:
    total = ps.InOut("total", ps.int32, ())
    k = ps.RVar("k", 0, n)
    total[()] += X[k]
    array = np.array(100, np.int32)
    assert total(X=np.array([1, 2], np.int32), total=array) == 103
    assert array == 103


@pytest.mark.parametrize(
    ("make", "said", "hint"),
    [
        (lambda: ps.InOut("A", ps.int32, None), "the InOut A needs a shape", "(n, m)"),
        (lambda: ps.InOut("A", None, (n,)), "one dtype, not None", "ps.float32"),
        (lambda: ps.InOut("A", (ps.int32, ps.int32), (n,)), "one dtype, not (int32", "ps.float32"),
        (lambda: ps.InOut("A", (n,), ps.int32), "one dtype, not (n,)", "ps.InOut('A', "),
        (lambda: ps.InOut("A b", ps.int32, (n,)), "not a Python identifier", None),
        (lambda: ps.InOut("out", ps.int32, (n,)), "out", None),
        (lambda: ps.InOut("A", ps.int32, (-1,)), "an extent cannot be -1", None),
        (lambda: vector()[-1], "indices do not count from the end", "n - 1"),
        (lambda: vector()[i, j], "A has 1 axis", None),
        (lambda: vector() + 1, "operators work on elements", "A[i]"),
        (lambda: vector()(i), "A(...) calls the compiled program", "A[i]"),
        (lambda: vector().initial.__setitem__(i, 1), "A.initial is a value of A", "A[i] = ..."),
        (lambda: vector().final.__setitem__(i, 1), "A.final is a value of A", "A[i] = ..."),
        (lambda: vector().__setitem__(i, 1.5), "computes a Python float", "ps.cast(ps.int32"),
        (lambda: ps.Schedule(vector()), "A is not updated by anything", "A[i] = ..."),
    ],
)
def test_1_2_what_is_no_inout(make, said, hint) -> None:
    with pytest.raises(ps.LanguageError) as caught:
        make()
    assert said in caught.value.what
    assert hint is None or hint in caught.value.hint


# calls ------------------------------------------------------------------------------------------
def test_1_4_it_is_changed_and_returned() -> None:
    A = vector()
    A[i] = 2 * A[i] + X[i]
    for call in (A, ps.Schedule(A).compile(), lambda **a: ps.interpret(A, **a)):
        a, x = numbers(4), numbers(4)
        found = call(A=a, X=x)
        assert found is a
        np.testing.assert_array_equal(a, 3 * x)


def test_1_4_inouts_that_are_written_are_outputs() -> None:
    """Behind those asked for, in the order of the program; one that is only read is none."""
    A, B, C = vector("A"), vector("B"), vector("C")
    A[i] += C[i]
    B[i] += A[i]
    f = ps.Func("f", (n,))
    f[i] = B.final[i]
    a, b, c = numbers(3), numbers(3) + 1, numbers(3) + 2
    found = both(f, A=a, B=b, C=c)
    for x, y in zip(found, (a + b + c, a + c, a + b + c), strict=True):
        np.testing.assert_array_equal(x, y)
    signature = ps.Schedule(f).program.signature()
    assert signature.startswith("f, A, B(")
    assert "(A: int32[n] in place, B: int32[n] in place, C: int32[n])" in signature


def test_1_4_signature_and_order_of_arguments() -> None:
    """As they were made, wherever they are read or updated."""
    C, A = vector("C"), vector("A")
    C[i] = 0
    A[i] += 1
    C[i] += A[i]
    s = ps.Schedule((C,))
    assert list(inspect.signature(s.compile()).parameters)[:2] == ["C", "A"]
    assert (
        repr(s)
        == "Schedule of C, A(C: int32[n] in place, A: int32[n] in place) -> int32[n], int32[n]"
    )
    swapped = ps.Schedule((C,), args=(A, C)).compile()
    a, c = numbers(3), np.zeros(3, np.int32)
    swapped(a, c)
    np.testing.assert_array_equal(c, numbers(3) + 1)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (lambda A, C: (C,), "args= leaves out A"),
        (lambda A, C: (A, A, C), "args= lists A twice"),
        (lambda A, C: (A, "C"), "args= lists Inputs and InOuts, not 'C'"),
    ],
)
def test_1_4_args_that_are_no_order(args, message) -> None:
    A, C = vector("A"), vector("C")
    C[i] += A[i]
    with pytest.raises(ps.LanguageError, match=message):
        ps.Schedule(C, args=args(A, C))


def test_1_4_out_and_shape_with_inouts() -> None:
    """They are about the other outputs."""
    A = vector()
    A[i] += 1
    f, g = ps.Func("f", (n,)), ps.Func("g")
    f[i] = A.final[i] * 2
    g[i] = A.final[ps.clip(i, 0, n - 1)] * 3
    o = np.zeros(3, np.int32)
    found = f(numbers(3), out=o)
    assert found[0] is o
    np.testing.assert_array_equal(o, 2 * (numbers(3) + 1))
    kernel = ps.Schedule((f, g)).compile()
    p, a = np.zeros(5, np.int32), numbers(3)
    found = kernel(a, out={"g": p})
    assert found[1] is p
    assert found[2] is a
    found = kernel(numbers(3), out=(o, p))
    assert found[0] is o
    assert found[1] is p
    assert kernel(numbers(3), shape=4)[1].shape == (4,)
    np.testing.assert_array_equal(found[1], 3 * (numbers(3) + 1)[[0, 1, 2, 2, 2]])


def test_1_4_out_for_an_inout() -> None:
    A = vector()
    A[i] += 1
    a = numbers(3)
    hint = "an InOut is updated in place|the arrays passed for them are updated in place"
    for given in (a, (a,), {"A": a}):
        with pytest.raises(ps.CallTypeError, match=hint):
            A(a, out=given)
        with pytest.raises(ps.CallTypeError, match=hint):
            ps.interpret(A, a, out=given)
    np.testing.assert_array_equal(a, numbers(3))


LAYOUTS = {
    "reversed": lambda a: a[::-1],
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "a part": lambda a: np.pad(a, 1)[tuple(slice(1, -1) for _ in a.shape)],
    "reversed and strided": lambda a: np.repeat(a, 3, axis=-1)[..., ::-3],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_1_4_any_layout_and_nothing_beside_it_changes(layout: str) -> None:
    D = ps.InOut("D", ps.int32, (n, m))
    with ps.sequential("t", 0, 3) as t:
        D[i, t % m] += D[i, (t + 1) % m] + i
    d = LAYOUTS[layout](numbers(3, 4))
    base = d.base.copy()
    wanted = d.copy()
    for t in range(3):
        wanted[:, t % 4] += wanted[:, (t + 1) % 4] + np.arange(3)
    np.testing.assert_array_equal(both(D, D=d), wanted)
    mine = like(d)
    assert D(mine) is mine
    np.testing.assert_array_equal(mine, wanted)
    touched = like(d)
    D(touched)
    touched[...] = d
    np.testing.assert_array_equal(touched.base, base)


@pytest.mark.parametrize("layout", ["reversed", "strided"])
def test_1_4_the_copy_of_an_initial_value_in_any_layout(layout: str) -> None:
    A, f = vector(), ps.Func("f", (n,))
    A[i] = 0
    with ps.sequential():
        A[i] += A.initial[n - 1 - i]
    f[i] = A.initial[i] - A.final[i]
    a = LAYOUTS[layout](numbers(5))
    found = both(f, A=a)
    np.testing.assert_array_equal(found[1], a[::-1])
    np.testing.assert_array_equal(found[0], a - a[::-1])


def test_1_4_empty_arrays() -> None:
    A, f = vector(), ps.Func("f", (n,))
    A[i] += 1
    f[i] = A.initial[i] + A.final[n - 1 - i]
    assert both(f, A=numbers(0))[1].shape == (0,)


def refused_call(message: str, call, error: type = ps.CallValueError) -> None:
    with pytest.raises(error, match=message):
        call()


def test_1_4_overlap_is_refused_and_nothing_is_written() -> None:
    A, B, f = vector("A"), vector("B"), ps.Func("f", (n,))
    A[i] += X[i]
    B[i] += A[i]
    f[i] = B.final[i]
    kernel = ps.Schedule(f).compile()
    a, b, x, o = (numbers(4) for _ in range(4))
    refused_call("A, which is written, shares memory with X", lambda: kernel(A=a, B=b, X=a))
    refused_call("shares memory with", lambda: kernel(A=a, B=a, X=x))
    refused_call("shares memory with", lambda: kernel(A=a, B=b, X=x, out=a))
    wide = np.concatenate([a, a])
    refused_call("shares memory with", lambda: kernel(A=wide[:4], B=wide[3:7], X=x, out=o))
    refused_call("pass a copy: X.copy", lambda: kernel(A=wide[:4], B=b, X=wide[:4][::-1]))
    for array in (a, b, x, o):
        np.testing.assert_array_equal(array, numbers(4))
    kernel(A=wide[:4], B=wide[4:], X=x, out=o)
    every_second = np.zeros(8, np.int32)
    kernel(A=every_second[::2], B=every_second[1::2], X=x, out=o)
    np.testing.assert_array_equal(every_second, np.repeat(x, 2))


def test_1_4_one_that_is_only_read_may_overlap_inputs() -> None:
    A, f = vector(), ps.Func("f", (n,))
    f[i] = A[i] + X[i]
    a = numbers(3)
    np.testing.assert_array_equal(f(A=a, X=a), 2 * a)
    a.flags.writeable = False
    np.testing.assert_array_equal(both(f, A=a, X=a.copy()), 2 * a)


@pytest.mark.parametrize("way", ["native", "interpreted"])
def test_1_4_arguments_that_do_not_fit(way: str) -> None:
    A = vector()
    A[i] += X[i]
    a, x = numbers(3), numbers(3)
    fixed = a.copy()
    fixed.flags.writeable = False
    one = np.lib.stride_tricks.as_strided(a, (3,), (0,))
    call = A if way == "native" else partial(ps.interpret, A)
    refused_call("A is updated in place, and this array is read-only",
                 lambda: call(A=fixed, X=x))  # fmt: skip
    refused_call("A has the dtype float64, not int32", lambda: call(A=a + 0.5, X=x),
                 ps.CallTypeError)  # fmt: skip
    refused_call("A is a list, not an array", lambda: call(A=[1, 2, 3], X=x), ps.CallTypeError)
    refused_call("axis 0 of", lambda: call(A=a, X=numbers(4)))
    refused_call("the InOut A is not passed", lambda: call(X=x), ps.CallTypeError)
    refused_call("A", lambda: call(A=numbers(3, 1), X=x), ps.CallError)
    if way == "native":
        refused_call("several elements of A lie at one address", lambda: call(A=one, X=x))
    np.testing.assert_array_equal(a, numbers(3))


def test_1_4_size_conditions_come_before_any_write() -> None:
    A = vector()
    A[i] += 1
    A[3] = 7
    a = numbers(2)
    refused_call("the sizes must satisfy n >= 4", lambda: A(a))
    np.testing.assert_array_equal(a, numbers(2))


def test_1_5_sizes_are_solved_from_inouts() -> None:
    A, f = ps.InOut("A", ps.int32, (2 * n + 1,)), ps.Func("f", (n,))
    A[i] += 1
    f[i] = A.final[2 * i]
    found = both(f, A=numbers(7))
    np.testing.assert_array_equal(found[0], (numbers(7) + 1)[:6:2])
    refused_call("A", lambda: f(A=numbers(6)))


def test_1_4_two_of_one_name() -> None:
    A, B = vector("A"), vector("A")
    B[i] += A[i]
    with refused("InOut A", "InOut A", "the same name", hint="rename one of them"):
        ps.Schedule(B)
    C = vector("X")
    C[i] += X[i]
    with refused("X", "the same name", hint="rename one of them"):
        ps.Schedule(C)


# initial and final ------------------------------------------------------------------------------
def copies(outputs) -> bool:
    """Whether a schedule keeps an initial value apart."""
    made = [ps.Schedule(outputs), ps.Schedule.default(outputs)]
    assert len({len(s.copied) for s in made}) == 1
    assert all(("copies A first" in str(s)) == bool(s.copied) for s in made)
    return bool(made[0].copied)


def test_1_2_initial_read_before_needs_no_copy() -> None:
    """The reader is moved in front of the update, wherever it is written."""
    A, f = vector(), ps.Func("f", (n,))
    A[i] = A[i] * 2
    f[i] = A.initial[n - 1 - i]
    assert not copies((A, f))
    assert ps.Schedule(f).program.inouts == ()
    found = both((f, A), A=numbers(4))
    np.testing.assert_array_equal(found[0], numbers(4)[::-1])
    np.testing.assert_array_equal(found[1], numbers(4) * 2)


def test_1_2_initial_read_by_what_needs_the_final_one_needs_a_copy() -> None:
    A, f = vector(), ps.Func("f", (n,))
    A[i] = A[i] * 2 + 1
    f[i] = A.initial[i] * 100 + A.final[i]
    assert copies(f)
    a = numbers(4)
    found = both(f, A=a)
    np.testing.assert_array_equal(found[0], a * 100 + 2 * a + 1)


def test_1_2_initial_read_by_what_the_update_needs_needs_none() -> None:
    A, f = vector(), ps.Func("f", (n,))
    f[i] = A.initial[n - 1 - i] + 1
    A[i] += f[i]
    assert not copies(A)
    a = numbers(4)
    np.testing.assert_array_equal(both(A, A=a), a + a[::-1] + 1)


def test_1_2_initial_before_and_after() -> None:
    A, f, g = vector(), ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = A.initial[i] * 10
    with ps.sequential("t", 0, 2):
        A[i] += f[n - 1 - i]
    g[i] = A.initial[i] - A.final[i]
    assert copies(g)
    assert not copies(A)
    a = numbers(4)
    found = both((g, f), A=a)
    np.testing.assert_array_equal(found[0], -20 * a[::-1])
    np.testing.assert_array_equal(found[1], 10 * a)


def test_1_2_initial_within_the_block() -> None:
    """At the element that is written next, no copy is needed; at others it is."""
    A, B = vector("A"), vector("B")
    A[i] = A.initial[i] * 3
    assert not copies(A)
    np.testing.assert_array_equal(both(A, A=numbers(4)), 3 * numbers(4))
    with ps.sequential("t", 0, n) as t:
        B[t] += B.initial[n - 1 - t]
    s = ps.Schedule(B)
    assert s.copied == (B,)
    np.testing.assert_array_equal(both(B, B=numbers(5)), numbers(5) + numbers(5)[::-1])


def test_1_2_initial_of_what_lies_ahead_needs_no_copy() -> None:
    A, C = vector("A"), vector("C")
    with ps.sequential("t", 0, n - 1) as t:
        A[t] = A.initial[t + 1]
    with ps.sequential("t", 1, n) as t:
        C[t] = C.initial[t - 1]
    assert not copies(A)
    assert ps.Schedule(C).copied == (C,)
    a = numbers(5)
    np.testing.assert_array_equal(both(A, A=a), [*a[1:], a[-1]])
    np.testing.assert_array_equal(both(C, C=a), [a[0], *a[:-1]])


def test_1_2_initial_at_a_place_that_depends_on_data() -> None:
    A, p = vector(), ps.Input("p", ps.int32, (n,), range=(0, n))
    k = ps.RVar("k", 0, n)
    A[k] = A.initial[p[k]]
    assert copies(A)
    order = np.array([2, 0, 1], np.int32)
    np.testing.assert_array_equal(both(A, A=numbers(3), p=order), numbers(3)[order])


def test_1_2_the_first_block_of_two_needs_no_copy() -> None:
    A, B = vector("A"), vector("B")
    with ps.sequential("t", 0, 2):
        A[i] += 1
    with ps.sequential("t", 0, 2):
        B[i] += A[i] + A.initial[i]
    assert copies(B)
    a, b = numbers(3), numbers(3)
    found = both(B, A=a, B=b)
    np.testing.assert_array_equal(found[0], b + 2 * (2 * a + 2))


def test_1_2_two_arrays_one_of_them_copied() -> None:
    A, B = vector("A"), vector("B")
    A[i] = B.initial[i]
    B[i] = A.initial[n - 1 - i]
    s = ps.Schedule((A, B))
    assert len(s.copied) == 1
    a, b = numbers(4), numbers(4) + 1
    found = both((A, B), A=a, B=b)
    np.testing.assert_array_equal(found[0], b)
    np.testing.assert_array_equal(found[1], a[::-1])


def test_1_2_without_updates_all_values_are_one() -> None:
    A, f = vector(), ps.Func("f", (n,))
    f[i] = A[i] + 10 * A.initial[i] + 100 * A.final[i]
    s = ps.Schedule(f)
    assert s.program.inouts == ()
    assert not s.copied
    np.testing.assert_array_equal(both(f, A=numbers(3)), 111 * numbers(3))


def test_1_2_a_pure_func_does_not_read_plainly_what_is_updated() -> None:
    A, f = vector(), ps.Func("f", (n,))
    A[i] += 1
    with refused("A is updated at", "which value of A", hint="A.initial[...]"):
        f[i] = A[i]
    with refused("A is updated at", hint="A.final[...]"):
        f[0] = ps.sum(A[ps.RVar("k", 0, n)], ps.RVar("k", 0, n))


def test_1_2_nor_inside_a_block_that_does_not_update_it() -> None:
    A, B = vector("A"), vector("B")
    A[i] += 1
    with refused("A is updated at", hint="A.initial[...]", marked=True):
        with ps.sequential():
            g = ps.Func("g")
            g[i] = A[i]  # here
            B[i] += g[i]


def test_1_2_a_region_that_follows_from_use_reaches_an_initial_value() -> None:
    A, g, f = vector(), ps.Func("g"), ps.Func("f", (n - 2,))
    g[i] = A.initial[i] * 2
    A[i] = 0
    f[i] = g[i] + g[i + 2] + A.final[i]
    a = numbers(5)
    found = both(f, A=a)
    np.testing.assert_array_equal(found[0], 2 * (a[:-2] + a[2:]))


# completeness -----------------------------------------------------------------------------------
def test_1_6_complete_at_its_first_use() -> None:
    A = vector()
    A[i] += 1
    A(numbers(2))
    with refused("A is complete since it was used at", hint="A.initial may be read anywhere"):
        A[i] += 1


def test_1_6_complete_when_read_plainly_or_as_final() -> None:
    A, B, f = vector("A"), vector("B"), ps.Func("f", (n,))
    f[i] = A[i] + B.final[i] + B.initial[i]
    for array in (A, B):
        with refused(f"{array.name} is complete", hint="write all updates before the first use"):
            array[i] += 1


def test_1_6_reading_the_initial_value_completes_nothing() -> None:
    A, f = vector(), ps.Func("f", (n,))
    f[i] = A.initial[i]
    A[i] += 1
    A[i] *= 2
    np.testing.assert_array_equal(both(A, A=numbers(3)), 2 * (numbers(3) + 1))


def test_1_6_another_arrays_update_completes_it() -> None:
    A, B = vector("A"), vector("B")
    A[i] += 1
    B[i] += A[i]
    with refused("A is complete"):
        A[i] += B[i]
