"""Loops that begin or end far out: what is computed of them could wrap, and is refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import polysched as ps

n, i = ps.size("n"), ps.vars("i")


def sums(r: ps.RVar) -> ps.Func:
    f = ps.Func("f", (n,), ps.int64)
    f[i] = 0
    f[i] += ps.where(r * 4 < 100, r, 1)
    return f


@pytest.mark.parametrize("lo", [2**61 - 1, -(2**61) - 2, 2**44 + 1])
def test_refuses_constant_bounds(lo: int) -> None:
    with pytest.raises(ps.LanguageError, match="may begin or end beyond"):
        ps.Schedule(sums(ps.RVar("r", lo, lo + 5)))


def test_refuses_ends_that_are_read_from_data() -> None:
    ends = ps.Input("ends", ps.int64, (n,), range=(-(2**62), 2**62))
    with pytest.raises(ps.LanguageError, match="declare which values") as refused:
        ps.Schedule(sums(ps.RVar("r", ends[i], ends[i] + 5)))
    assert refused.value.where is not None
    assert refused.value.where.file == __file__


def test_refuses_a_block_s_loop() -> None:
    a = ps.InOut("a", ps.int64, (n,))
    with ps.sequential("t", -(2**50), 0) as t:
        a[i] += t
    with pytest.raises(ps.LanguageError, match="the loop over t"):
        ps.Schedule(a)


@pytest.mark.parametrize("far", [2**43 + 1, -(2**61), 2**63 - 6])
@pytest.mark.parametrize("run", ["kernel", "interpret"])
def test_refuses_a_param_by_which_a_loop_begins(far: int, run: str) -> None:
    """It was read out of bounds: a crash."""
    p = ps.Param("p", ps.int64, min=-(2**63), max=2**63 - 6)
    x, r = ps.Input("x", ps.int64, (4,)), ps.RVar("r", p, p + 5)
    f = ps.Func("f", (1,), ps.int64)
    f[i] = 0
    f[i] += ps.where((r >= 0) & (r * 4 < 16), x[r], 0)
    call = ps.Schedule(f).compile() if run == "kernel" else lambda *a, **k: ps.interpret(f, *a, **k)
    given = np.arange(4)
    assert call(given, p=2) == [5]
    with pytest.raises(ps.CallError, match="a loop begins or ends by it"):
        call(given, p=far)


def test_a_param_beside_loops_is_any_number() -> None:
    p = ps.Param("p", ps.int64)
    f = ps.Func("f", (n,), ps.int64)
    f[i] = p + i
    assert list(f(n=2, p=2**62)) == [2**62, 2**62 + 1]


def test_bounds_by_multiples_of_sizes() -> None:
    f = sums(ps.RVar("r", -1000 * n, 1000 * n + 3))
    assert list(f(n=2)) == list(ps.interpret(f, n=2))


CONDITIONS = {
    "above": lambda x, p: x > p,
    "up to": lambda x, p: x <= p,
    "from": lambda x, p: x - 5 >= p,
}


@pytest.mark.parametrize("dtype", [ps.int64, ps.uint64])
@pytest.mark.parametrize("far", [2**43 + 1, 2**63 - 1, -(2**63), 2**64 - 1])
@pytest.mark.parametrize("where", CONDITIONS)
def test_refuses_a_param_by_which_an_rvar_is_restricted(
    where: str, far: int, dtype: ps.DType
) -> None:
    """Beyond p began at p + 1, which wrapped: wrong sums, and reads out of bounds."""
    p, x = ps.Param("p", dtype), ps.Input("x", ps.int64, (n,))
    r = ps.RVar("r", 0, n, where=lambda r: CONDITIONS[where](r, p))
    f = ps.Func("f", (), ps.int64)
    f[()] = 0
    f[()] += x[r]
    given = np.arange(9)
    assert f(given, p=6) == ps.interpret(f, given, p=6)
    for call in (f, partial(ps.interpret, f)):
        with pytest.raises(ps.CallError, match=r"begins or ends by it|does not fit in"):
            call(given, p=far)


@pytest.mark.parametrize("far", [2**43 + 1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("where", CONDITIONS)
def test_refuses_a_param_by_which_a_stage_is_divided(where: str, far: int) -> None:
    p, a = ps.Param("p", ps.int64), ps.InOut("a", ps.int64, (n,))
    a[i] += p // 2**40
    s = ps.Schedule(a)
    s["a"].partition(CONDITIONS[where](i, p))
    kernel, given = s.compile(), np.zeros(9, np.int64)
    kernel(given, p=-1)
    assert given.tolist() == [-1] * 9
    with pytest.raises(ps.CallError, match="begins or ends by it"):
        kernel(given, p=far)


@pytest.mark.parametrize("far", [2**43 + 1, 2**63 - 1, -(2**63)])
def test_refuses_a_param_by_which_an_intermediate_ends(far: int) -> None:
    p, g = ps.Param("p", ps.int64), ps.Func("g", dtype=ps.int64)
    f = ps.Func("f", (n,))
    g[i] = i * i
    f[i] = ps.select(i <= p, g[i] + g[i + 1], 0)
    kernel = ps.Schedule(f).compile()
    assert kernel(n=4, p=2).tolist() == ps.interpret(f, n=4, p=2).tolist()
    with pytest.raises(ps.CallError, match="begins or ends by it"):
        kernel(n=4, p=far)


@pytest.mark.parametrize("factor", [1000, 2**20, -(2**20)])
def test_refuses_sizes_of_which_multiples_are_far(factor: int) -> None:
    """A product of the loop's index, taken not to wrap, did: too few iterations ran."""
    r = ps.RVar("r", factor * n, factor * n + 5, where=lambda r: r * 2**18 < 100)
    f = ps.Func("f", (), ps.int64)
    f[()] = 0
    f[()] += r
    for call in (f, partial(ps.interpret, f)):
        assert call(n=0) == 0
        with pytest.raises(ps.CallError, match=r"the loop over r would begin or end at .*2..43"):
            call(n=2**39)


def test_refuses_an_axis_that_is_far() -> None:
    f = ps.Func("f", (1000 * n,), ps.int8)
    f[i] = 0
    for call in (f, partial(ps.interpret, f)):
        assert call(n=2).shape == (2000,)
        with pytest.raises(ps.CallError, match=r"axis 0 of f would have .* at n=549755813888"):
            call(n=2**39)


def test_the_interpreter_says_that_elements_do_not_fit() -> None:
    f = ps.Func("f", (n, n, n, n), ps.int8)
    f[ps.vars("a b c d")] = 0
    with pytest.raises(ps.CallError, match=r"of f, of shape .* do not fit into memory"):
        ps.interpret(f, n=2**39)


@pytest.mark.parametrize("at_loop", [False, True])
def test_refuses_a_part_that_needs_an_intermediate_far_out(at_loop: bool) -> None:
    """Its condition was taken not to wrap, and did: a read out of bounds, a crash."""
    x, f = ps.vars("x"), ps.Func("f", (n,), ps.int64)
    g, h = (ps.Func(name, dtype=ps.int64) for name in "gh")
    h[x] = x
    g[x] = ps.select(x * 2**18 < 100, h[ps.minimum(x, 5)] + h[x], 7)
    f[i] = g[1000 * i] + g[1000 * i + 1]
    s = ps.Schedule(f)
    if at_loop:
        s["g"].compute_at("f", i)
    kernel, at = s.compile(), 2**39
    assert kernel(n=3).tolist() == ps.interpret(f, n=3).tolist()
    assert kernel(n=at, region=((2, 4),)).tolist() == [14, 14]
    with pytest.raises(ps.CallError, match="g would be needed at an index beyond 2"):
        kernel(n=at + 5, region=((at, at + 3),))


@pytest.mark.parametrize("end", [2**63 - 1, -(2**63), 2**63 - 2])
def test_a_part_that_begins_where_64_bits_end(end: int) -> None:
    """What is left began at 2**63, which was taken for the least number of all."""
    f = ps.Func("f")
    f[i] = ps.select(i != 3, i, -1)
    s = ps.Schedule(f)
    s["f"].partition(i <= end)
    assert np.array_equal(s.compile()(shape=(5,)), [0, 1, 2, -1, 4])


@pytest.mark.slow
def test_a_loop_over_blocks_begins_where_remainders_bound_it() -> None:
    """What two parts ask of `i % 2**20` has no first block, and both of them have one."""
    f = ps.Func("f", (n,), ps.int64)
    f[i] = i
    f[i] += 1
    s = ps.Schedule(f)
    _, rest = s["f.update(0)"].partition(i % 2**20 == 0)
    outer, inner = rest.split(i, 5, tail="peel")
    rest.tile(outer, inner, 4, 2)
    starts = [line for line in str(s).splitlines() if line.lstrip().startswith("for ioo in")]
    assert starts
    assert all("[0, " in line for line in starts)
    assert s.compile()(n=41).tolist() == [k + 1 for k in range(41)]
