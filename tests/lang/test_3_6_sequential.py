"""3.6: ordered blocks, each against a loop in Python, the interpreter and the contract."""
# ruff: noqa: PT012, SIM117 - blocks stand as users write them

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps

from .support import refused, run

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
X = ps.Input("X", ps.int64, (n,))


def vector(name: str = "A", extent: object = n, dtype: object = ps.int64) -> ps.InOut:
    return ps.InOut(name, dtype, (extent,))


def matrix(name: str = "D") -> ps.InOut:
    return ps.InOut(name, ps.int64, (n, m))


def result(outputs, **arrays):
    """The outputs; the interpreter and native code get arrays of their own."""
    program = ps.Schedule(outputs)
    wanted = ps.interpret(outputs, **{k: np.copy(a) for k, a in arrays.items()})
    found = program.compile()(**{k: np.copy(a) for k, a in arrays.items()})
    for a, b in zip(_tuple(found), _tuple(wanted), strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    return found


def _tuple(found):
    return found if isinstance(found, tuple) else (found,)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(6).integers(-9, 10, shape).astype(np.int64)


# loops ------------------------------------------------------------------------------------------
def test_3_6_every_statement_runs_once_in_each_iteration_in_the_order_written() -> None:
    A, B = vector("A"), vector("B")
    with ps.sequential("t", 0, 3) as t:
        B[i] = 2 * A[i] + t
        A[i] += B[i]
    a, b = numbers(4), numbers(4)
    wanted_a, wanted_b = a.copy(), b.copy()
    for t in range(3):
        wanted_b = 2 * wanted_a + t
        wanted_a = wanted_a + wanted_b
    found = result((A, B), A=a, B=b)
    np.testing.assert_array_equal(found, (wanted_a, wanted_b))


@pytest.mark.parametrize("step", [1, 2, 3, 5, -1, -2, -3, -7])
@pytest.mark.parametrize("bounds", [(0, 7), (-4, 3), (7, 0), (3, -4), (2, 2), (0, 1), (-1, -6)])
def test_3_6_steps_as_pythons_range(step: int, bounds: tuple[int, int]) -> None:
    """The digits of the hash tell the order."""
    A = vector(extent=1)
    with ps.sequential("t", *bounds, step) as t:
        A[0] = A[0] * 31 + t + 7
    wanted = 1
    for t in range(*bounds, step):
        wanted = wanted * 31 + t + 7
    assert result(A, A=np.array([1])) == np.array(wanted).astype(np.int64)


@pytest.mark.parametrize("step", [1, 2, -1, -3])
@pytest.mark.parametrize("size", [0, 1, 2, 6])
def test_3_6_steps_over_symbolic_bounds(step: int, size: int) -> None:
    A, p = vector(extent=1), ps.Param("p", ps.int32, min=-3, max=3)
    ends = (p, n) if step > 0 else (n, p)
    with ps.sequential("t", *ends, step) as t:
        A[0] = A[0] * 31 + t + 7
    for start in (-3, 0, 2):
        wanted = 1
        for t in range(*((start, size) if step > 0 else (size, start)), step):
            wanted = wanted * 31 + t + 7
        assert result_with(A, {"A": np.array([1])}, p=start, n=size) == wanted


def result_with(outputs, arrays, **kwargs):
    wanted = ps.interpret(outputs, **{k: a.copy() for k, a in arrays.items()}, **kwargs)
    found = outputs(**{k: a.copy() for k, a in arrays.items()}, **kwargs)
    np.testing.assert_array_equal(found, wanted)
    return found


def test_3_6_bounds_over_the_loops_around() -> None:
    A = vector(extent=1)
    with ps.sequential("t", 0, n) as t:
        with ps.sequential("u", t, n, 2) as u:
            with ps.sequential("v", u, t - 1, -1) as v:
                A[0] = A[0] * 7 + 100 * t + 10 * u + v
        A[0] += 1
    for size in (0, 1, 4):
        wanted = np.array(1)
        with np.errstate(over="ignore"):
            for t in range(size):
                for u in range(t, size, 2):
                    for v in range(u, t - 1, -1):
                        wanted = wanted * 7 + 100 * t + 10 * u + v
                wanted = wanted + 1
        assert result_with(A, {"A": np.array([1])}, n=size) == wanted


def test_3_6_an_ordered_block_without_a_loop_runs_once() -> None:
    """One after the other: each statement sees the values that those above have left."""
    A, B = vector("A"), vector("B")
    with ps.sequential() as block:
        B[i] += A[i]
        A[i] = B[n - 1 - i]
        B[i] -= A[i]
    assert repr(block) == "sequential()"
    a, b = numbers(5), numbers(5)
    b1 = b + a
    a1 = b1[::-1]
    np.testing.assert_array_equal(result((A, B), A=a, B=b), (a1, b1 - a1))


def test_3_6_an_ordered_block_inside_a_loop_and_a_loop_inside_an_ordered_block() -> None:
    A = vector(extent=1)
    with ps.sequential():
        with ps.sequential("t", 0, 2) as t:
            A[0] = A[0] * 10 + t
            with ps.sequential():
                A[0] = A[0] * 10 + 5
        A[0] = A[0] * 10 + 9
    assert result(A, A=np.array([7])) == 705159


def test_3_6_two_blocks_one_after_the_other() -> None:
    A, B = vector("A"), vector("B")
    with ps.sequential("t", 0, 2):
        A[i] = 2 * A[i] + 1
    with ps.sequential("t", 0, 2):
        B[i] += A[i]
    a, b = numbers(3), numbers(3)
    np.testing.assert_array_equal(result(B, A=a, B=b), (b + 2 * (4 * a + 3), 4 * a + 3))


def test_3_6_t_counts_as_the_earliest_rvar() -> None:
    """Around RVars made before it, as around those made inside."""
    A, r = vector(extent=1), ps.RVar("r", 0, 3)
    with ps.sequential("t", 0, 2) as t:
        A[0] = A[0] * 10 + 3 * t + r
    assert result(A, A=np.array([0])) == 12345


def test_3_6_rvars_over_the_loop() -> None:
    """Forward substitution with a loop inside and one around."""
    L, x = ps.Input("L", ps.int64, (n, n)), vector("x")
    with ps.sequential("k", 0, n) as k:
        r = ps.RVar("r", 0, k)
        x[k] -= L[k, r] * x[r]
    low, b = np.tril(numbers(5, 5), -1), numbers(5)
    wanted = b.copy()
    for k in range(5):
        wanted[k] -= low[k, :k] @ wanted[:k]
    np.testing.assert_array_equal(result(x, L=low, x=b), wanted)


def test_3_6_vars_still_run_in_no_order() -> None:
    A = vector()
    with ps.sequential("t", 0, 3):
        A[i] += A[ps.clip(i - 1, 0, n - 1)]  # here
    with refused("depends on the order of its Vars (i)", "t=0", hint="make i an RVar", marked=True):
        ps.Schedule(A)


def test_3_6_gauss_seidel_in_place() -> None:
    """What was updated in this sweep is read on one side, what was not on the other."""
    u = matrix("u")
    r, c = ps.rdom("r c", (1, n - 1), (1, m - 1))
    with ps.sequential("sweep", 0, 2):
        u[r, c] = (u[r - 1, c] + u[r + 1, c] + u[r, c - 1] + u[r, c + 1]) // 4
    given = numbers(5, 6)
    wanted = given.copy()
    for _ in range(2):
        for y in range(1, 4):
            for x in range(1, 5):
                near = wanted[y - 1, x] + wanted[y + 1, x] + wanted[y, x - 1] + wanted[y, x + 1]
                wanted[y, x] = near // 4
    np.testing.assert_array_equal(result(u, u=given), wanted)


def test_3_6_data_dependent_places() -> None:
    """A histogram a step, with the places of the step before."""
    h = vector("h", m)
    k = ps.RVar("k", 0, n)
    with ps.sequential("t", 0, 3):
        h[X[k] % m] += h[0] + k
    x, given = numbers(6), np.zeros(4, np.int64)
    given[0] = 1
    wanted = given.copy()
    for _ in range(3):
        for q, v in enumerate(x):
            wanted[v % 4] += wanted[0] + q
    np.testing.assert_array_equal(result(h, X=x, h=given), wanted)


# Funcs defined inside ---------------------------------------------------------------------------
def test_3_6_funcs_defined_inside_are_fresh_in_each_iteration() -> None:
    """g holds what A was in this iteration, before A changed."""
    A = vector()
    with ps.sequential("t", 0, 3) as t:
        g = ps.Func("g")
        g[i] = A[i] + t
        A[i] = g[n - 1 - i] - g[i]
        A[i] += g[i]
    a = numbers(5)
    wanted = a.copy()
    for t in range(3):
        wanted = (wanted + t)[::-1]
    np.testing.assert_array_equal(result(A, A=a), wanted)


def test_3_6_fresh_funcs_in_triangular_regions() -> None:
    """Right-looking elimination: the pivot's row and column are copied, each shorter each time."""
    D = ps.InOut("D", ps.int64, (n, n))
    with ps.sequential("k", 0, n) as k:
        row, column = ps.Func("row"), ps.Func("column")
        row[j] = D[k, j]
        column[i] = D[i, k] % 5
        r, c = ps.rdom("r c", (k + 1, n), (k, n))
        D[r, c] -= column[r] * row[c]
    given = numbers(5, 5)
    wanted = given.copy()
    for k in range(5):
        row, column = wanted[k].copy(), wanted[:, k] % 5
        wanted[k + 1 :, k:] -= np.outer(column[k + 1 :], row[k:])
    np.testing.assert_array_equal(result(D, D=given), wanted)
    kernel = ps.Schedule(D).compile()
    assert kernel(np.zeros((0, 0), np.int64)).shape == (0, 0)


@pytest.mark.slow
def test_3_6_fresh_funcs_below_zero_and_beyond_what_was_read_before() -> None:
    """Regions that differ from one iteration to the next, and start below zero."""
    A = vector()
    with ps.sequential("t", 0, 4) as t:
        g = ps.Func("g")
        g[i] = i * 10 + A[ps.clip(i, 0, n - 1)]
        A[i] += g[i - 2 * t] + g[t]
    a = numbers(3)
    wanted = a.copy()
    for t in range(4):
        g = {p: p * 10 + wanted[min(max(p, 0), 2)] for p in range(-9, 9)}
        wanted = np.array([wanted[p] + g[p - 2 * t] + g[t] for p in range(3)])
    np.testing.assert_array_equal(result(A, A=a), wanted)


def test_3_6_a_fresh_func_with_pieces_and_updates_in_the_same_block() -> None:
    A = vector()
    r = ps.RVar("r", 1, n)
    with ps.sequential("t", 0, 3) as t:
        g = ps.Func("g", (n,))
        g[0] = A[0] + t
        g[i] = A[i]
        g[r] += g[r - 1]
        A[i] = g[i]
        g[i] = g[i] * 2
        A[i] -= g[n - 1 - i]
    a = numbers(4)
    wanted = a.copy()
    for t in range(3):
        g = wanted.copy()
        g[0] = wanted[0] + t
        for q in range(1, 4):
            g[q] += g[q - 1]
        wanted = g.copy()
        g = g * 2
        wanted = wanted - g[::-1]
    np.testing.assert_array_equal(result(A, A=a), wanted)


def test_3_6_a_piece_sees_what_was_current_where_it_stands() -> None:
    A = vector()
    with ps.sequential():
        g = ps.Func("g", (n,))
        g[0] = A[n - 1]
        A[n - 1] = 100
        g[i] = A[n - 1 - i]
        A[i] = g[i]
    np.testing.assert_array_equal(result(A, A=np.array([1, 2, 3])), [3, 2, 1])
    np.testing.assert_array_equal(result(A, A=np.array([1, 2])), [2, 1])


def test_3_6_a_fresh_func_updated_by_a_block_inside() -> None:
    """It outlives that block, so it has a shape; and is fresh in each iteration around."""
    A = vector()
    with ps.sequential("t", 0, 3):
        g = ps.Func("g", (n,))
        g[i] = A[i]
        with ps.sequential("u", 1, n) as u:
            A[u] += g[u - 1]
            g[u] += g[u - 1]
        A[i] -= g[i]
    a = numbers(5)
    wanted = a.copy()
    for _ in range(3):
        g = wanted.copy()
        for u in range(1, 5):
            wanted[u] += g[u - 1]
            g[u] += g[u - 1]
        wanted = wanted - g
    np.testing.assert_array_equal(result(A, A=a), wanted)


def test_3_6_a_fresh_func_nested_deeper_reads_those_around() -> None:
    A = vector()
    with ps.sequential("t", 0, 2) as t:
        g = ps.Func("g")
        g[i] = A[i] * 3
        with ps.sequential("u", 0, t + 1) as u:
            h = ps.Func("h")
            h[i] = g[i] + A[n - 1 - i] + u
            A[i] = h[i]
    a = numbers(4)
    wanted = a.copy()
    for t in range(2):
        g = wanted * 3
        for u in range(t + 1):
            wanted = g + wanted[::-1] + u
    np.testing.assert_array_equal(result(A, A=a), wanted)


def test_3_6_a_fresh_func_is_not_inlined_over_a_change_of_what_it_reads() -> None:
    """One equation, read at one point: it would be inlined if A had not changed in between."""
    A, B = vector("A"), vector("B")
    with ps.sequential("t", 0, 2):
        g = ps.Func("g")
        g[i] = A[i] + 1
        A[i] = 0
        B[i] += g[i]
    np.testing.assert_array_equal(result(B, A=np.array([5, 7]), B=np.array([0, 0]))[0], [7, 9])


def test_3_6_a_tuple_inside() -> None:
    z = ps.Func("z", (n,), dtype=(ps.int64, ps.int64))
    a, b = z[i]
    z[i] = (X[i], i)
    with ps.sequential("t", 0, 5):
        z[i] = (a + b, a - b)
    x = numbers(4)
    first, second = x, np.arange(4)
    for _ in range(5):
        first, second = first + second, first - second
    found = run(z, X=x)
    np.testing.assert_array_equal(found, (first, second))


def test_3_6_a_func_without_axes() -> None:
    s = ps.Func("s", (), ps.int64)
    s[()] = 1
    with ps.sequential("t", 0, n) as t:
        s[()] = s[()] * 3 + X[t]
    x = numbers(6)
    wanted = np.int64(1)
    for v in x:
        wanted = wanted * 3 + v
    assert run(s, X=x) == wanted


# inline reductions ------------------------------------------------------------------------------
REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "argmax": np.argmax,
    "argmin": np.argmin, "any": lambda v: np.any(v > 2), "all": lambda v: np.all(v > 2),
}  # fmt: skip


@pytest.mark.parametrize("op", REDUCTIONS)
def test_3_6_reductions_over_current_values(op: str) -> None:
    A = vector()
    k = ps.RVar("k", 0, n)
    with ps.sequential("t", 0, 4) as t:
        value = A[k] > 2 if op in ("any", "all") else A[k]
        found = getattr(ps, op)(value, k)
        A[t % n] = ps.select(found, 9, -9) if op in ("any", "all") else found + t
    a = np.array([3, -2, 5])
    wanted = a.copy()
    for t in range(4):
        found = REDUCTIONS[op](wanted)
        wanted[t % 3] = (9 if found else -9) if op in ("any", "all") else found + t
    np.testing.assert_array_equal(result(A, A=a), wanted)


def test_3_6_reductions_see_what_was_there_before_the_statement() -> None:
    """All elements of A are divided by one sum."""
    A, k = vector(), ps.RVar("k", 0, n)
    with ps.sequential("t", 0, 2):
        A[i] = 100 * A[i] // ps.sum(A[k], k)
    a = np.array([1, 2, 5])
    wanted = 100 * (100 * a // 8) // (100 * a // 8).sum()
    np.testing.assert_array_equal(result(A, A=a), wanted)


def test_3_6_reductions_with_the_loop_in_their_bounds() -> None:
    """Forward substitution, the sum as a reduction."""
    L, x = ps.Input("L", ps.int64, (n, n)), vector("x")
    with ps.sequential("k", 0, n) as k:
        r = ps.RVar("r", 0, k)
        x[k] -= ps.sum(L[k, r] * x[r], r)
    low, b = np.tril(numbers(5, 5), -1), numbers(5)
    wanted = b.copy()
    for k in range(5):
        wanted[k] -= low[k, :k] @ wanted[:k]
    np.testing.assert_array_equal(result(x, L=low, x=b), wanted)


def test_3_6_reductions_with_rvars_of_the_update_around() -> None:
    """Over what the update does not change."""
    D, A = matrix(), vector()
    r, k = ps.RVar("r", 0, n), ps.RVar("k", 0, m)
    with ps.sequential("t", 0, 3):
        A[r] += ps.sum(D[r, k], k) * A[ps.maximum(r - 1, 0)]
        D[i, j] += A[i]
    d, a = numbers(3, 4), numbers(3)
    wanted_d, wanted = d.copy(), a.copy()
    for _ in range(3):
        for q in range(3):
            wanted[q] += wanted_d[q].sum() * wanted[max(q - 1, 0)]
        wanted_d = wanted_d + wanted[:, None]
    found = result((A, D), D=d, A=a)
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1], wanted_d)


def test_3_6_a_reduction_inside_of_a_reduction() -> None:
    D, A = matrix(), vector()
    k, l = ps.RVar("k", 0, n), ps.RVar("l", 0, m)
    with ps.sequential("t", 0, 2) as t:
        A[i] += ps.max(ps.sum(D[k, l], l) * A[k], k) - i * t
    d, a = numbers(3, 4), numbers(3)
    wanted = a.copy()
    for t in range(2):
        wanted = wanted + (d.sum(1) * wanted).max() - np.arange(3) * t
    np.testing.assert_array_equal(result(A, D=d, A=a), wanted)


def test_3_6_a_reduction_that_would_not_see_what_the_update_changes() -> None:
    A, k = vector(), ps.RVar("k", 1, n)
    with refused(
        "sum(A[r], r) in an update of A over the RVar k reads A itself",
        hint="with ps.sequential('k', lo, hi) as k:",
    ):
        with ps.sequential():
            A[k] += ps.sum(A[ps.RVar("r", 0, k)], ps.RVar("r", 0, k))


def test_3_6_a_maximum_over_nothing_in_the_first_iteration() -> None:
    A = vector()
    with ps.sequential("t", 0, n) as t:
        A[t] = ps.max(A[ps.RVar("k", 0, t)], ps.RVar("k", 0, t))  # here
    with refused("A.max0 has no value where its domain is empty", hint="initial=", marked=True):
        ps.Schedule(A)


def test_3_6_a_maximum_over_nothing_at_some_sizes() -> None:
    A, k = vector(), ps.RVar("k", 0, m)
    D = ps.Input("D", ps.int64, (n, m))
    with ps.sequential("t", 0, n) as t:
        A[t] = ps.max(D[t, k], k)
    kernel = ps.Schedule(A).compile()
    with pytest.raises(ps.CallValueError, match="no value over an empty domain"):
        kernel(A=numbers(2), D=numbers(2, 0))
    assert kernel(A=numbers(0), D=numbers(0, 0)).shape == (0,)


# which value a read sees ------------------------------------------------------------------------
def test_3_6_a_func_is_what_it_was_defined_as_and_then_updated() -> None:
    """Outside, before and after blocks, in the order written."""
    f = ps.Func("f", (n,))
    f[i] = X[i]
    f[i] *= 2
    with ps.sequential("t", 0, 2) as t:
        f[i] += t + 1
    f[i] *= 3
    with ps.sequential():
        f[i] -= 1
    g = ps.Func("g", (n,))
    g[i] = f[i] + 1000
    x = numbers(4)
    np.testing.assert_array_equal(run((g, f), X=x)[0], (2 * x + 3) * 3 - 1 + 1000)


def test_3_6_initial_current_and_final_differ() -> None:
    """Everything that can be read of A, at once."""
    A, log = vector(), ps.Func("log", (3, n), ps.int64)
    before = ps.Func("before", (n,))
    before[i] = A.initial[i] * 10
    log[i, j] = 0
    with ps.sequential("t", 0, 3) as t:
        A[i] += 1
        log[t, j] = 10000 * A[j] + 100 * A.initial[j] + before[j]
        A[i] *= 2
    after = ps.Func("after", (n,))
    after[i] = A.final[i] * 1000 + A.initial[i]
    a = np.array([1, 2])
    current, rows = a.copy(), []
    for _ in range(3):
        current = current + 1
        rows.append(10000 * current + 100 * a + 10 * a)
        current = current * 2
    found = result((after, log, before), A=a)
    np.testing.assert_array_equal(found[0], current * 1000 + a)
    np.testing.assert_array_equal(found[1], rows)
    np.testing.assert_array_equal(found[2], a * 10)
    np.testing.assert_array_equal(found[3], current)


def test_3_6_another_funcs_update_sees_the_final_value() -> None:
    A, B = vector("A"), vector("B")
    A[i] += 1
    A[i] *= 2
    B[i] += A[i]
    a, b = numbers(3), numbers(3)
    np.testing.assert_array_equal(result((A, B), A=a, B=b), (2 * (a + 1), b + 2 * (a + 1)))


def test_3_6_a_block_sees_the_final_value_of_what_it_does_not_update() -> None:
    f, A = ps.Func("f", (n,)), vector()
    f[i] = X[i]
    f[i] += 5
    with ps.sequential("t", 0, 2):
        A[i] += f[n - 1 - i]
    x, a = numbers(3), numbers(3)
    np.testing.assert_array_equal(result(A, X=x, A=a), a + 2 * (x[::-1] + 5))
    with refused("f is complete", hint="before the first use"):
        f[i] += 1


def test_3_6_a_read_may_stand_before_the_update_in_the_text() -> None:
    """B is updated inside, so its current value is read, also above its update."""
    A, B = vector("A"), vector("B")
    with ps.sequential("t", 0, 2):
        A[i] += B[i]
        B[i] += A[i]
    a, b = numbers(3), numbers(3)
    wanted_a, wanted_b = a, b
    for _ in range(2):
        wanted_a = wanted_a + wanted_b
        wanted_b = wanted_b + wanted_a
    np.testing.assert_array_equal(result((A, B), A=a, B=b), (wanted_a, wanted_b))


def test_3_6_a_cycle_through_final_values() -> None:
    f, g = ps.Func("f", (n,), ps.int64), ps.Func("g", (n,), ps.int64)
    f[i] = X[i]
    with ps.sequential():
        f[i] += g[i]  # here
    g[i] = f[i]
    with refused("f.update(0) reads the final value of g, which needs f itself",
                 hint="a read sees the current value", marked=True):  # fmt: skip
        ps.Schedule(g)


def test_3_6_the_final_value_inside() -> None:
    A = vector()
    with refused("A.final is read inside the sequential that updates A", hint="A[i]", marked=True):
        with ps.sequential("t", 0, 2):
            A[i] += A.final[i]  # here


@pytest.mark.parametrize("size", [0, 1, 5])
def test_3_6_interpreter_and_native_code_at_small_sizes(size: int) -> None:
    A = vector()
    with ps.sequential("t", 0, n) as t:
        g = ps.Func("g")
        g[i] = A[i] + A[t]
        A[i] = g[n - 1 - i] + t
    a = numbers(size)
    wanted = a.copy()
    for t in range(size):
        wanted = (wanted + wanted[t])[::-1] + t
    np.testing.assert_array_equal(result(A, A=a), wanted)


# undoing ----------------------------------------------------------------------------------------
def test_3_6_a_raise_inside_undoes_the_block() -> None:
    f, A = ps.Func("f", (n,), ps.int64), vector()
    f[i] = X[i]
    with pytest.raises(ZeroDivisionError):
        with ps.sequential("t", 0, 3):
            A[i] += 1
            f[i] += 1
            g = ps.Func("g", (n,))
            g[i] = A[i]
            raise ZeroDivisionError
    assert "+=" not in str(A)
    assert len(str(f).splitlines()) == 2
    A[i] += 5
    f[i] += 7
    g[i] = X[i]
    a = numbers(3)
    np.testing.assert_array_equal(result((A, f, g), A=a, X=a), (a + 5, a + 7, a))


def test_3_6_a_refusal_inside_undoes_the_block_too() -> None:
    A = vector()
    with refused("computes float64"):
        with ps.sequential():
            A[i] += 1
            A[i] += 0.5
    A[i] += 2
    assert result(A, A=np.array([1])) == 3


def test_3_6_a_raise_undoes_dtypes() -> None:
    """Of what was written, and of what was read and might have been typed by it."""
    f, g, A = ps.Func("f", (n,)), ps.Func("g", (n,)), ps.InOut("A", ps.float64, (n,))
    f[i] = ps.cast(ps.int8, 1)
    g[i] = ps.cast(ps.int8, i)
    with pytest.raises(ZeroDivisionError):
        with ps.sequential():
            f[i] += ps.cast(ps.int64, i)
            A[i] += g[i]
            raise ZeroDivisionError
    assert (f.dtype, g.dtype) == (ps.int8, ps.int8)
    g[i] += ps.cast(ps.int64, i)
    assert g.dtype == ps.int64


def test_3_6_a_raise_undoes_completeness() -> None:
    """The block completed g when it ended, and was refused for something else."""
    A, g = vector(), ps.Func("g", (n,))
    g[i] = X[i]
    with refused("A.final is read inside", marked=True):
        with ps.sequential():
            A[i] += g[i]
            A[i] += A.final[i]  # here
    g[i] += 1
    assert g.history.completed_by is None


def test_3_6_what_was_used_inside_stays_complete() -> None:
    A, g = vector(), ps.Func("g", (n,))
    g[i] = X[i]
    with pytest.raises(ZeroDivisionError):
        with ps.sequential():
            A[i] += g[i]
            g(numbers(2))
            raise ZeroDivisionError
    with refused("g is complete"):
        g[i] += 1


def test_3_6_a_raise_in_a_block_inside_undoes_that_one() -> None:
    A = vector()
    with ps.sequential("t", 0, 2):
        A[i] += 1
        with pytest.raises(ZeroDivisionError):
            with ps.sequential("u", 0, 2):
                A[i] *= 100
                raise ZeroDivisionError
        A[i] *= 3
    a = numbers(3)
    np.testing.assert_array_equal(result(A, A=a), ((a + 1) * 3 + 1) * 3)


def test_3_6_a_raise_around_undoes_the_blocks_inside() -> None:
    A = vector()
    with pytest.raises(ZeroDivisionError):
        with ps.sequential("t", 0, 2):
            with ps.sequential("u", 0, 2):
                A[i] *= 100
            raise ZeroDivisionError
    A[i] += 1
    assert result(A, A=np.array([1])) == 2


# completeness -----------------------------------------------------------------------------------
def test_3_6_what_is_updated_inside_may_be_updated_again() -> None:
    A = vector()
    with ps.sequential("t", 0, 2):
        A[i] += 1
    A[i] *= 2
    assert result(A, A=np.array([1])) == 6


def test_3_6_using_what_is_still_being_updated() -> None:
    A = vector()
    with refused("A is used here", "has not ended", hint="behind the with"):
        with ps.sequential("t", 0, 2):
            A[i] += 1
            ps.Schedule(A)


def test_3_6_using_what_only_is_read_inside() -> None:
    """That has nothing to wait for."""
    f, A = ps.Func("f", (n,)), vector()
    f[i] = X[i] + 1
    with ps.sequential("t", 0, 2):
        A[i] += f[i]
        assert f(np.array([1]))[0] == 2
    assert result(A, X=np.array([1]), A=np.array([1])) == 5


# text -------------------------------------------------------------------------------------------
def test_3_6_printed_as_it_runs() -> None:
    A = vector()
    with ps.sequential("t", n, 0, -2) as t:
        with ps.sequential("u", 0, t):
            A[t - 1] += 1
    assert "for t in [n, 0) by -2, u in [0, t)" in str(A)
    assert str(ps.Schedule(A)).splitlines()[0] == "Schedule of A(A: int64[n] in place) -> int64[n]"


def test_3_6_repr() -> None:
    assert repr(ps.sequential("t", 0, n, step=2)) == "sequential('t', 0, n, step=2)"
    assert repr(ps.sequential("t", 0, n)) == "sequential('t', 0, n)"


# refusals ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "said", "hint"),
    [
        (lambda: ps.sequential("t", 0, n, 0), "cannot be 0", "-1 downwards"),
        (lambda: ps.sequential("t", 0, n, n), "a Python integer, not n", "steps of 1"),
        (lambda: ps.sequential("t", 0, n, 1.0), "a Python integer, not 1.0", None),
        (lambda: ps.sequential("t", 0, n, True), "a Python integer, not True", None),
        (lambda: ps.sequential(lo=0, hi=n), "needs a name", 'with ps.sequential("t", 0, n)'),
        (lambda: ps.sequential("t"), "'t' needs two bounds", "half-open"),
        (lambda: ps.sequential("t", n), "'t' needs two bounds", "ps.sequential('t', 0, n)"),
        (lambda: ps.sequential("for", 0, n), "not a Python identifier", None),
        (lambda: ps.sequential(3, 0, n), "is a string, not 3", None),
        (lambda: ps.sequential("t", 0, X[0]), "cannot contain X[0]", "read from data"),
        (lambda: ps.sequential("t", 0, i), "cannot contain i", "largest bound"),
        (lambda: ps.sequential("t", 0, ps.RVar("k", 0, n)), "cannot contain k", None),
        (lambda: ps.sequential("t", 0, 2.5), "must be an integer, not 2.5", None),
        (lambda: list(ps.sequential("t", 0, n)), "not iterated over", "with ps.sequential('t', 0"),
        (lambda: X[ps.sequential("t", 0, n)], "is not a value of the language", None),
    ],
)
def test_3_6_what_is_no_block(make, said, hint) -> None:
    with pytest.raises(ps.LanguageError) as caught:
        make()
    assert said in caught.value.what
    assert hint is None or hint in caught.value.hint


def test_3_6_bounds_that_are_not_affine() -> None:
    with refused("the bound n * m of sequential('t', 0, n * m) is not affine", hint="ps.size"):
        ps.sequential("t", 0, n * m)


def test_3_6_entered_twice() -> None:
    block = ps.sequential("t", 0, n)
    with block:
        pass
    with refused("the sequential t", "was entered before", hint="make a new one"):
        with block:
            pass


def test_3_6_two_loops_of_one_name() -> None:
    with ps.sequential("t", 0, n):
        with refused("inside of another one is called t too", hint="another name"):
            with ps.sequential("t", 0, m):
                pass


def test_3_6_a_var_of_the_loops_name() -> None:
    A, t = vector(), ps.vars("t")
    with refused("a Var and an RVar are both called t", hint="another name"):
        with ps.sequential("t", 0, n):
            A[t] += 1


def test_3_6_an_rvar_of_the_loops_name() -> None:
    A, t = vector(), ps.RVar("t", 0, m)
    with refused("two different RVars are both called t", hint="another name"):
        with ps.sequential("t", 0, n) as q:
            A[q] += t
    with refused("an RVar of this definition of A", "both called t", hint="another name"):
        with ps.sequential("t", 0, n):
            A[i] += t


def test_3_6_the_loop_outside() -> None:
    A = vector()
    with ps.sequential("t", 0, n) as t:
        A[t] += 1
    with refused("t is the loop of the sequential t", "outside", hint="ps.RVar('t', lo, hi)"):
        A[t] += 1


def test_3_6_the_loop_in_the_bounds_of_something_outside() -> None:
    A = vector()
    with ps.sequential("t", 0, n) as t:
        A[t] += 1
    with refused("t is the loop of the sequential t"):
        with ps.sequential("u", 0, t):
            pass
    with refused("t is the loop of the sequential t"):
        A[ps.RVar("k", 0, t)] += 1


def test_3_6_a_fresh_func_outside() -> None:
    A, f = vector(), ps.Func("f", (n,))
    with ps.sequential("t", 0, n):
        g = ps.Func("g", (n,))
        g[i] = A[i]
        A[i] = g[i]
    said = "g is defined inside the sequential t", "fresh in each iteration"
    with refused(*said, hint="define g before the sequential"):
        f[i] = g[i]
    with refused(*said, hint="define g before the sequential"):
        g[i] += 1
    with refused(*said, "cannot be an output", hint="define g before the sequential"):
        ps.Schedule(g)
    assert "g[n]" in repr(g)


def test_3_6_a_fresh_func_in_a_block_beside() -> None:
    A = vector()
    with refused("g is defined inside the sequential t", hint="define g before the sequential"):
        with ps.sequential():
            with ps.sequential("t", 0, n):
                g = ps.Func("g")
                g[i] = A[i]
            with ps.sequential("u", 0, n):
                A[i] = g[i]


def test_3_6_a_fresh_func_before_it_is_defined() -> None:
    A = vector()
    with refused("g is read before it is defined in this iteration", hint="move the definition up",
                 marked=True):  # fmt: skip
        with ps.sequential("t", 0, n):
            g = ps.Func("g", dtype=ps.int64)
            A[i] += g[i]  # here
            g[i] = A[i]


def test_3_6_pieces_in_different_blocks() -> None:
    g = ps.Func("g", dtype=ps.int64)
    g[0] = 1
    with refused("the pieces of g stand in different blocks", hint="in one place"):
        with ps.sequential("t", 0, n):
            g[i] = X[i]


def test_3_6_two_pure_definitions_inside() -> None:
    with refused("g has a pure definition already", hint="an update changes values"):
        with ps.sequential("t", 0, n):
            g = ps.Func("g")
            g[i] = X[i]
            g[i] = X[i] + 1


def test_3_6_no_region_for_what_a_block_updates() -> None:
    f, g = ps.Func("f", (n,)), ps.Func("g")
    g[i] = X[i]  # here
    with ps.sequential("t", 0, 3):
        g[i] += 1
    f[i] = g[i]
    with refused("g is updated inside a sequential", hint="declare a shape", marked=True):
        ps.Schedule(f)


def test_3_6_out_of_bounds_in_some_iteration() -> None:
    A = vector()
    with ps.sequential("t", 0, 3) as t:
        A[t] += 1
    s = ps.Schedule(A)
    assert [c.split(":")[0] for c in s.conditions] == ["n >= 3"]
    with pytest.raises(ps.CallValueError, match="the sizes must satisfy n >= 3"):
        s.compile()(np.zeros(2, np.int64))


def test_3_6_out_of_bounds_in_every_program() -> None:
    A = vector()
    with ps.sequential("t", 0, n + 1) as t:
        A[t] += 1  # here
    with refused("out of bounds for all sizes", "[t=0] touches A[0], at n=0", marked=True):
        ps.Schedule(A)


def test_3_6_a_block_with_nothing_inside() -> None:
    A = vector()
    with ps.sequential("t", 0, n):
        pass
    with refused("A is not updated by anything", hint="A[i] = ... updates it"):
        ps.Schedule(A)
