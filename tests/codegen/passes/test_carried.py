"""Values that stay in registers from one iteration to the next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.build.build import build
from polysched.codegen.ir.text import stmt_text
from polysched.codegen.lower import ON_LOOPS
from polysched.codegen.passes.carry_values import carry_values
from polysched.codegen.passes.fold_constants import fold_constants
from polysched.testing import check

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
a = ps.Input("a", ps.int32, (n, m))
Program = Callable[[], ps.Func]


def listing(s: ps.Schedule) -> str:
    """The loops after the pass."""
    module = carry_values(fold_constants(build(s.loop_program)))
    return "\n".join(stmt_text(f.body) for f in module.functions)


def running() -> ps.Func:
    f = ps.Func("f", (n, m), ps.int32)
    f[i, j] = a[i, j] + ps.select(j > 0, f[i, j - 1], 7)
    return f


def backwards() -> ps.Func:
    f = ps.Func("f", (n, m), ps.int32)
    f[i, j] = a[i, j] + ps.select(j < m - 1, 3 * f[i, j + 1], 7)
    return f


def fibonacci() -> ps.Func:
    f = ps.Func("f", (n, m), ps.int32)
    f[i, j] = a[i, j] + ps.select(j > 1, f[i, j - 1] + f[i, j - 2], j)
    return f


def far() -> ps.Func:
    """Beyond what is carried."""
    f = ps.Func("f", (n, m), ps.int32)
    f[i, j] = a[i, j] + ps.select(j > 4, f[i, j - 5], 1)
    return f


def sometimes() -> ps.Func:
    """A condition on data: where it does not hold, nothing is read."""
    f = ps.Func("f", (n, m), ps.int32)
    f[i, j] = a[i, j] + ps.select((j > 0) & (a[i, j] > 0), f[i, j - 1], 0)
    return f


def below() -> ps.Func:
    """The row before, as well."""
    f = ps.Func("f", (n, m), ps.int32)
    f[i, j] = a[i, j] + ps.select((i > 0) & (j > 0), f[i - 1, j] + f[i, j - 1] + f[i - 1, j - 1], 1)
    return f


def sum_of_many() -> ps.Func:
    f = ps.Func("f", (n, m), ps.int32)
    f[i, j] = 0
    r = ps.RVar("r", 1, m)
    f[i, r] += f[i, r - 1] + a[i, r]
    return f


PROGRAMS = (running, backwards, fibonacci, far, sometimes, below, sum_of_many)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("program", PROGRAMS)
def test_same_bits(program: Program, rows: int) -> None:
    s = ps.Schedule(program())
    stage = s["f"].update(0) if program is sum_of_many else s["f"]
    if rows > 1 and program is not below:
        inner = stage.loops[1].name
        stage.split("i", rows, names=("io", "i"))
        stage.reorder("io", inner, "i").unroll("i")
    for sizes in ((0, 0), (1, 1), (1, 2), (2, 3), (3, 2), (4, 9), (5, 17)):
        check(s, sizes=dict(zip("nm", sizes, strict=True)))


def test_the_first_iteration_reads_and_the_others_do_not() -> None:
    text = listing(ps.Schedule(running()))
    first, _, rest = text.partition("for j in")
    assert "f[i, j.1c - 1 if j.1c > 0]" in first
    assert "a[i, j] + f.carried0[0]" in rest
    assert "select" not in rest


def test_two_iterations_back() -> None:
    text = listing(ps.Schedule(fibonacci()))
    assert "f.carried0[0] + f.carried0[1]" in text


@pytest.mark.parametrize("program", [far])
def test_what_is_far_back_is_read(program: Program) -> None:
    assert "carried" not in listing(ps.Schedule(program()))


@pytest.mark.slow
@pytest.mark.parametrize("program", [running, fibonacci, far])
def test_several_elements_in_each_iteration(program: Program) -> None:
    s = ps.Schedule(program())
    s["f"].unroll("j", 4)
    for count in (0, 1, 2, 5, 8, 13):
        check(s, sizes={"n": 2, "m": count})


def test_the_last_of_several_elements_is_carried() -> None:
    s = ps.Schedule(running())
    s["f"].unroll("j", 4)
    module = build(s.loop_program)
    for run in (*ON_LOOPS, carry_values):
        module = run(module)
    text = stmt_text(module.functions[-1].body)
    rest = text[text.index("for j in") : text.index("for j.2'")]
    assert "f[i, j * 4] = a[i, j * 4] + f.carried1[0]" in rest
    assert "f[i, j * 4 + 1] = a[i, j * 4 + 1] + f[i, j * 4]" in rest
    assert "select" not in rest


def test_beside_what_is_fetched_early() -> None:
    s = ps.Schedule(running())
    s["f"].prefetch("a", "j", 16)
    text = listing(s)
    assert "prefetch" in text
    assert "a[i, j] + f.carried0[0]" in text
    check(s, sizes={"n": 2, "m": 37})


def test_not_where_steps_meet() -> None:
    """What is stored two elements further is that of the next iteration."""
    x = ps.InOut("x", ps.int32, (2 * n + 4,))
    with ps.sequential("t", 1, n) as t:
        x[2 * t] += 1
        x[2 * t + 2] += x[2 * t - 2]
    s = ps.Schedule(x)
    assert "x.carried" not in listing(s)
    found = np.arange(22, dtype=np.int32)
    s.compile()(x=found, n=9)
    wanted = np.arange(22, dtype=np.int32)
    for t_ in range(1, 9):
        wanted[2 * t_] += 1
        wanted[2 * t_ + 2] += wanted[2 * t_ - 2]
    assert found.tolist() == wanted.tolist()


def test_not_where_another_store_may_be_in_between() -> None:
    """Rows that an index does not tell apart."""
    x = ps.InOut("x", ps.int32, (n,))
    with ps.sequential("t", 2, n) as t:
        x[t] += x[t - 1]
        x[t // 2] += x[t - 2]
    s = ps.Schedule(x)
    assert "x.carried" not in listing(s)
    found = np.arange(9, dtype=np.int32)
    s.compile()(x=found)
    wanted = np.arange(9, dtype=np.int32)
    for t_ in range(2, 9):
        wanted[t_] += wanted[t_ - 1]
        wanted[t_ // 2] += wanted[t_ - 2]
    assert found.tolist() == wanted.tolist()


def test_elements_that_what_the_loop_changes_says() -> None:
    """The row before has the same index in the source, but another one in memory."""
    x, c = ps.InOut("x", ps.int64, (n, 4)), ps.InOut("c", ps.int64, (1,))
    with ps.sequential("t", 1, n) as t:
        x[t, ps.clip(c[0], 0, 3)] = x[t - 1, ps.clip(c[0], 0, 3)] + 1
        c[0] = t % 4
    check(ps.Schedule(x), sizes={"n": 9})
    x, c = ps.InOut("x", ps.int64, (n, 4)), ps.InOut("c", ps.int64, (1,))
    with ps.sequential("t", 1, n) as t:
        x[t, ps.clip(c[0], 0, 2) + 1] = 7
        x[t, ps.clip(c[0], 0, 2)] = x[t - 1, ps.clip(c[0], 0, 2)] + 100
        c[0] += 1
    check(ps.Schedule(x), sizes={"n": 9})


def test_bounds_that_were_read_from_what_is_changed() -> None:
    """They are read once, where the loop begins."""
    x = ps.InOut("x", ps.int32, (n,))
    r = ps.RVar("r", 1, ps.clip(x.initial[1], 1, n))
    x[r] = x[r - 1] + 1
    given = np.array([2, *[9] * 9], np.int32)
    for s in (ps.Schedule(x), ps.Schedule.default(x)):
        assert s.compile()(x=given.copy()).tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10, 9]
