"""bound, align_bounds, assume and compile(n=): the preconditions of a schedule on sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps

from .cases import i, j, m, n, plane, running
from .support import listed, refused, same


def data(rows: int, columns: int) -> np.ndarray[Any, Any]:
    return np.arange(rows * columns).reshape(rows, columns)


def agrees(s: ps.Schedule, x: np.ndarray[Any, Any]) -> None:
    np.testing.assert_array_equal(s.compile()(x), ps.interpret(s.program.outputs, x)[0])


# what is known then -----------------------------------------------------------------------------
def test_bound_listing() -> None:
    s = ps.Schedule(plane())
    assert s["f"].bound(j, 8).name == "f"
    listed(
        s,
        """
        if m == 8:
          for i in [0, n):
            for j in [0, 8):
              f[i, j] = x[i, j] * 2 + i
        requires (m == 8) | (m == 0) | (n == 0): assumed, j has 8 iterations
    """,
    )


def test_assume_listing() -> None:
    s = ps.Schedule(plane())
    assert s.assume(m == 8) is s
    listed(
        s,
        """
        for i in [0, n):
          for j in [0, 8):
            f[i, j] = x[i, j] * 2 + i
        requires m == 8: assumed
    """,
    )


def test_align_bounds_listing() -> None:
    """The last inner loop is as long as the others."""
    s = ps.Schedule(plane())
    assert s["f"].align_bounds(j, 8).name == "f"
    s["f"].split(j, 4)
    listed(
        s,
        """
        for i in [0, n):
          for jo in [0, (m - 4) // 4 + 1):
            for ji in [0, 4):
              f[i, j] = x[i, j] * 2 + i  # j = jo * 4 + ji
        requires (n == 0) | (m // 8 * 8 == m) & (n >= 1): assumed, j is a multiple of 8
    """,
    )


def test_a_listing_follows_an_assumption() -> None:
    s = ps.Schedule(plane())
    assert "for j in [0, m):" in str(s)
    s.assume(m == 8)
    assert "for j in [0, 8):" in str(s)


@pytest.mark.parametrize("make", [lambda s: s["f"].bound(j, 6), lambda s: s.assume(m == 6)])
def test_a_loop_of_known_extent_has_lanes(make: Callable[[ps.Schedule], object]) -> None:
    s = ps.Schedule(plane())
    with refused(s, "the loop j has no constant extent", status="malformed"):
        s["f"].vectorize(j)
    make(s)
    s["f"].vectorize(j)
    same(s, m=6)


def test_a_proof_uses_what_is_assumed() -> None:
    """Within three elements, none reads what another writes."""
    s = ps.Schedule(running(3))
    with refused(s, "parallel", kind="race", sizes={"n": 7}):
        s["A"].parallel("r")
    s.assume(n <= 6)
    s["A"].parallel("r")
    same(s, over=(3, 4, 5, 6))


# values -----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_bound_values() -> None:
    s = ps.Schedule(plane())
    s["f"].bound(i, 8).unroll(i)
    same(s, n=8)
    same(s, n=0)


@pytest.mark.parametrize("loop", ["i", "j"])
def test_align_bounds_values(loop: str) -> None:
    s = ps.Schedule(plane())
    s["f"].align_bounds(loop, 4).vectorize(j, 4)
    same(s, over=(0, 4, 8, 12))


def test_the_rows_of_a_triangle() -> None:
    f, r = ps.InOut("f", ps.int64, (n, n)), ps.RVar("r", 0, n)
    c = ps.RVar("c", 0, r + 1)
    f[r, c] = r - c
    s = ps.Schedule(f)
    s["f"].bound("r", 5)
    same(s, over=(0, 5))
    with pytest.raises(ps.CallError, match="r has 5 iterations, which fails at n=4"):
        s.compile()(np.zeros((4, 4), np.int64))


# calls ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ask", "fits", "fails", "said"),
    [
        (lambda s: s["f"].bound(j, 8), (3, 8), (3, 9), "j has 8 iterations"),
        (lambda s: s["f"].align_bounds(j, 4), (3, 12), (3, 13), "j is a multiple of 4"),
        (lambda s: s.assume(n < m), (3, 4), (4, 4), "n < m"),
        (lambda s: s.assume(n * m < 100), (9, 11), (10, 10), r"n \* m < 100"),
        (lambda s: s.assume((n == m) | (n > 8)), (9, 1), (8, 1), r"\(n == m\) \| \(n > 8\)"),
    ],
)
def test_a_call_checks(
    ask: Callable[[ps.Schedule], object], fits: tuple[int, int], fails: tuple[int, int], said: str
) -> None:
    s = ps.Schedule(plane())
    ask(s)
    agrees(s, data(*fits))
    found = rf"the schedule assumes that {said}, which fails at n={fails[0]}, m={fails[1]}"
    with pytest.raises(ps.CallError, match=found) as info:
        s.compile()(data(*fails))
    assert isinstance(info.value, ValueError)
    assert "leave the directive out" in str(info.value)


def test_nothing_has_been_written_when_a_call_is_refused() -> None:
    s = ps.Schedule(running(1))
    s.assume(n % 2 == 0)
    A = np.ones(5, np.int64)
    with pytest.raises(ps.CallError):
        s.compile()(A)
    assert A.tolist() == [1] * 5


def test_a_param() -> None:
    p, x, f = ps.Param("p", ps.int64, min=0, max=9), ps.Input("x", ps.int64, (n,)), ps.Func("f")
    f[i] = x[i] * p
    s = ps.Schedule(f)
    s.assume(p < 5)
    kernel = s.compile()
    assert kernel(np.arange(3), p=4, shape=(3,)).tolist() == [0, 4, 8]
    with pytest.raises(ps.CallError, match=r"assumes that p < 5, which fails at .*p=6"):
        kernel(np.arange(3), p=6, shape=(3,))


# conditions -------------------------------------------------------------------------------------
def test_conditions_say_what_is_assumed_behind_what_the_program_needs() -> None:
    x, f = ps.Input("x", ps.int64, (m,)), ps.Func("f", (n,))
    f[i] = x[i + 2]
    ps.require(n % 2 == 0, "an even size", f)
    s = ps.Schedule(f)
    own = s.conditions
    assert [c.partition(":")[2][:9] for c in own] == [" f reads ", " an even "]
    s.assume(n >= 4)
    s["f"].align_bounds(i, 4)
    assert s.conditions[:2] == own
    assert s.conditions[2] == "n >= 4: assumed"
    assert s.conditions[3].endswith(": assumed, i is a multiple of 4")
    assert s.compile().conditions == s.conditions
    assert [x[2:] for x in str(s).splitlines() if "requires" in x] == [
        f"requires {c}" for c in s.conditions
    ]


@pytest.mark.parametrize(
    "ask", [lambda s: s["f"].align_bounds(i, 1), lambda s: s["f"].split(i, 1, tail="round_up")]
)
def test_nothing_is_asked_that_always_holds(ask: Callable[[ps.Schedule], object]) -> None:
    s = ps.Schedule(plane())
    ask(s)
    assert s.conditions == ()


def test_written_down_and_read_back() -> None:
    f = plane()
    s = ps.Schedule(f)
    s.assume(n < m)
    s["f"].bound(i, 4).align_bounds(j, 8)
    names: dict[str, Any] = {"ps": ps, "f": f, "n": n, "m": m}
    exec(s.source(), names)
    for other in (names["s"], ps.Schedule.from_json(f, s.to_json())):
        assert other == s
        assert other.conditions == s.conditions


def test_a_refused_batch_assumes_nothing() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has no loop q"), s.batch():
        s.assume(m == 8)
        assert "[0, 8)" in str(s)
        s["f"].split("q", 4)
    assert s.conditions == ()


# compile(n=) ------------------------------------------------------------------------------------
def test_a_kernel_for_one_size() -> None:
    s = ps.Schedule(plane())
    kernel = s.compile(m=16)
    assert s.conditions == ()
    assert "for j in [0, 16):" in kernel.loops
    assert kernel.conditions == ("m == 16: assumed",)
    x = data(3, 16)
    np.testing.assert_array_equal(kernel(x), ps.interpret(s.program.outputs, x)[0])
    with pytest.raises(ps.CallError, match="assumes that m == 16, which fails at n=3, m=15"):
        kernel(data(3, 15))


@pytest.mark.parametrize("sizes", [{"n": 0}, {"n": 3, "m": 0}, {"n": 5, "m": 7}])
def test_a_kernel_for_given_sizes(sizes: dict[str, int]) -> None:
    s = ps.Schedule(plane())
    s["f"].vectorize(j, 4)
    x = data(sizes["n"], sizes.get("m", 6))
    np.testing.assert_array_equal(s.compile(**sizes)(x), ps.interpret(s.program.outputs, x)[0])


def test_refuses_sizes_that_are_none() -> None:
    s = ps.Schedule(plane())
    with refused(s, "q is no size of this program", hint="its sizes are n, m", status="malformed"):
        s.compile(q=16)
    for wrong in (-1, True, 1.5, n):
        with refused(s, "a size is an integer >= 0", status="malformed"):
            s.compile(m=wrong)


def test_refuses_a_size_that_the_schedule_excludes() -> None:
    s = ps.Schedule(plane())
    s.assume(m > 8)
    with refused(s, "no sizes meet the assumption m == 8", status="malformed"):
        s.compile(m=8)


# refusals ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("earlier", [False, True])
def test_refuses_what_no_sizes_meet(earlier: bool) -> None:
    s = ps.Schedule(plane())
    if earlier:
        s.assume(n > 8)
    with refused(s, "no sizes meet the assumption n < ", status="malformed", kind=None, sizes={}):
        s.assume(n < (8 if earlier else 0))


def test_refuses_two_extents() -> None:
    s = ps.Schedule(plane())
    s["f"].bound(j, 8)
    with refused(s, "no sizes at which the loop j runs", "j has 9 iterations", status="malformed"):
        s["f"].bound(j, 9)
    with refused(s, "no sizes at which the loop j runs", "a multiple of 3", status="malformed"):
        s["f"].align_bounds(j, 3)


def test_refuses_a_loop_that_never_begins_at_a_multiple() -> None:
    s = ps.Schedule(running(3))
    with refused(s, "the loop r runs", "r is a multiple of 4", status="malformed"):
        s["A"].align_bounds("r", 4)


def test_refuses_conditions_on_more_than_sizes() -> None:
    s = ps.Schedule(plane())
    x = ps.Input("x", ps.int64, (n, m))
    for wrong in (i < 3, ps.RVar("k", 0, n) < 3, x[0, 0] > 0):
        with pytest.raises(ps.LanguageError, match="about sizes and Params, and cannot contain"):
            s.assume(wrong)
    with pytest.raises(TypeError, match="is an index, not a condition"):
        s.assume(n)
    assert s.conditions == ()


@pytest.mark.parametrize(("directive", "what"), [("bound", "extent"), ("align_bounds", "factor")])
def test_refuses_what_is_no_number(directive: str, what: str) -> None:
    s = ps.Schedule(plane())
    with refused(s, f"the {what} of {directive} is at least 1, not 0"):
        getattr(s["f"], directive)(j, 0)
    for wrong in (8.0, True, n):
        with pytest.raises(TypeError, match=f"the {what} of {directive} is a Python integer"):
            getattr(s["f"], directive)(j, wrong)


@pytest.mark.parametrize("directive", ["bound", "align_bounds"])
def test_refuses_no_such_loop(directive: str) -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has no loop q", hint="its loops are i, j", status="malformed"):
        getattr(s["f"], directive)("q", 8)


@pytest.mark.parametrize("most", [2**12, 2**20])
def test_storage_takes_what_a_size_needs(most: int) -> None:
    """Not what the largest one would that is allowed: 8 TiB were asked for."""
    k = ps.vars("k")
    f, g, h = ps.Func("f"), ps.Func("g", (n,)), ps.Func("h", (n,))
    f[i, j, k] = i + j * k
    g[i] = f[i, n - 1 - i, i] + f[n - 1 - i, i, i]
    h[i] = g[i] + g[n - 1 - i]
    s = ps.Schedule(h)
    s["g"].compute_root()
    s["f"].compute_root()
    s.assume(n < most)
    s["f"].compute_at("g", i)
    assert "store f[n, n, 1]:" in str(s)
    same(s, over=(0, 1, 5))


@pytest.mark.slow
def test_loops_do_not_begin_at_what_the_largest_size_needs() -> None:
    """One began at -2**63: a call at small sizes did not end."""
    l = ps.size("l")
    e, f, g = ps.Func("e"), ps.Func("f"), ps.Func("g", (3, m))
    e[i, j] = i * 3
    f[i, j] = e[4 * i, j] + 1
    f[0, j] += f[l - 1 - j, j]
    g[i, j] = f[j // 2, i - j // 2] + f[4 * i, 2 * j] + f[2 * j, j % 3 - 1]
    s = ps.Schedule(g)
    s["f"].compute_root()
    s["e"].compute_root()
    s.assume(m < 2**60)
    assert "for i in [-" not in str(s)
    assert str(2**60 * 8)[:8] not in str(s)
    same(s, over=(0, 1, 5))
