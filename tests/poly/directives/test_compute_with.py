"""compute_with: two stages in one loop."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import blur, i, j, n, plane
from .support import judged, listed, refused, same


def pair(ahead: int = 0) -> ps.Schedule:
    x = ps.Input("x", ps.int64, (n + 4,))
    a, b = ps.Func("a", (n + 4,)), ps.Func("b", (n,))
    a[i] = x[i] * 3
    b[i] = a[i + ahead] - 1
    return ps.Schedule((a, b))


def test_listing() -> None:
    s = pair()
    assert s["b"].compute_with(s["a"], i).name == "b"
    listed(
        s,
        """
        for i in [0, n + 4):
          a[i] = x[i] * 3
          if n >= i + 1:
            b[i] = a[i + 0] - 1
    """,
    )


@pytest.mark.parametrize("ahead", [0, 1, 4])
def test_values(ahead: int) -> None:
    s = pair(ahead)
    s["b"].compute_with("a", i, shift=ahead)
    same(s)


@pytest.mark.slow
def test_down_to_an_inner_loop() -> None:
    s = ps.Schedule(blur())
    s["g"].reorder(j, i)
    s["f"].reorder(j, i).compute_with("g", j)
    listed(
        s,
        """
        for j in [0, m):
          if n >= 1:
            for i in [0, n + 2):
              g[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
          for i in [0, n):
            f[i, j] = g[i, j] + g[i + 1, j] + g[i + 2, j]
    """,
    )
    same(s)


@pytest.mark.slow
def test_stages_in_one_ordered_loop() -> None:
    a, b = ps.InOut("a", ps.int64, (n, n)), ps.InOut("b", ps.int64, (n, n))
    with ps.sequential("t", 0, n) as t, ps.sequential("r", 0, n) as r:
        a[r, j] = a[r, j] + t
        b[r, j] = a[r, j] - b[r, j]
    s = ps.Schedule((a, b))
    s["b"].compute_with("a.update(0)", j)
    assert len(s["b"].loops) == 3
    same(s)


@pytest.mark.parametrize("shift", [0, 1])
def test_refuses_what_is_not_there_yet(shift: int) -> None:
    s = pair(2)
    with refused(
        s, f"compute_with('a', 'i', shift={shift}) is refused: the first would run after",
        kind="flow", tensor="a",
    ):  # fmt: skip
        s["b"].compute_with("a", i, shift=shift)


def test_refuses_itself() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f is inside of the loop i of f already"):
        s["f"].compute_with("f", i)


def test_refuses_too_few_loops() -> None:
    a, b = ps.Func("a", (n, n)), ps.Func("b", (n,))
    a[i, j] = i - j
    b[i] = i
    s = ps.Schedule((a, b))
    with refused(s, "b has 1 loop, and j is loop 2", hint="matched from the outermost"):
        s["b"].compute_with("a", j)


def test_refuses_a_stage_that_shares_its_outer_loop() -> None:
    """With whom is said, though it is alone in the loops inside."""
    n = ps.sizes("n")
    t, i = ps.vars("t i")
    x = ps.InOut("x", ps.int32, (n,))
    y, z = ps.InOut("y", ps.int32, (n,)), ps.Func("z", (n, n))
    with ps.sequential("t", 0, n):
        x[i] += 1
        y[i] += x[i]
    z[t, i] = 0
    s = ps.Schedule((x, y, z))
    with refused(s, "the loops of y.update(0) hold other stages, too: x.update(0)", hint="fission"):
        s["y.update(0)"].compute_with("z", "i")


def test_refuses_lanes_without_a_constant_number() -> None:
    a, b = ps.Func("a", (8,)), ps.Func("b", (n,))
    a[i] = i
    b[i] = i
    s = ps.Schedule((a, b))
    s["a"].vectorize(i)
    with refused(s, "the loop i would have no constant extent"):
        s["b"].compute_with("a", i)


def test_refuses_an_unknown_stage() -> None:
    s = ps.Schedule(plane())
    with refused(s, "there is no stage g", hint="stages are f"):
        s["f"].compute_with("g", i)


def rows() -> tuple[ps.Schedule, ps.Func, ps.Func, ps.Func]:
    """f and g, both of which h reads at two rows."""
    x = ps.Input("x", ps.int64, (n + 1, n))
    f, g, h = ps.Func("f"), ps.Func("g"), ps.Func("h", (n, n))
    f[i, j] = x[i, j] * 2
    g[i, j] = x[i, j] + 1
    h[i, j] = f[i, j] * g[i + 1, j] + f[i + 1, j] * g[i, j]
    return ps.Schedule(h), f, g, h


def test_stages_computed_at_one_loop() -> None:
    s, f, g, h = rows()
    s[f].compute_at(h, i)
    s[g].compute_at(h, i)
    s[g].compute_with(f, j)
    twice = "1.92 times (1152 for 600, at n=24)"
    listed(s, f"""
        for i in [0, n):  # runs f {twice}, g {twice}
          store g[2, n], f[2, n]:
            for i.2 in [i, i + 2):
              for j in [0, n):
                f[i, j] = x[i, j] * 2
                g[i, j] = x[i, j] + 1
            for j in [0, n):
              h[i, j] = f[i, j] * g[i + 1, j] + f[i + 1, j] * g[i, j]
    """)  # fmt: skip
    judged(s, n=4)
    same(s)


def copies() -> ps.Schedule:
    """A copy for tiles of f, and a copy of that for the copy, in the same iteration."""
    x, f = ps.Input("x", ps.int64, (n + 4,)), ps.Func("f", (n,))
    f[i] = x[i] + x[i + 4]
    s = ps.Schedule(f)
    s[f].split(i, 4, names=("io", "ii"))
    s[s[f].stage(x, at="io")].stage(x, at="io")
    return s


def test_copies_for_different_stages() -> None:
    s = copies()
    s["x.io"].compute_with("x.io'", "x0")
    listed(s, """
        for io in [0, (n - 1) // 4 + 1):
          store x.io'[8], x.io[8]:
            for x0 in [io * 4, min(io * 4 + 8, n + 4)):
              x.io'[x0] = x[x0]
              x.io[x0] = x.io'[x0]
            for ii in [0, min(n - io * 4, 4)):
              f[i] = x.io[i] + x.io[i + 4]  # i = io * 4 + ii
    """)  # fmt: skip
    judged(s, n=6)
    same(s)


def test_a_part_of_a_copy_with_the_other_copy() -> None:
    s = copies()
    s["x.io"].peel("x0", first=1)
    s["x.io"].compute_with("x.io'", "x0")
    judged(s, n=6)
    same(s)


def test_refuses_stages_computed_at_different_loops() -> None:
    s, f, g, h = rows()
    s[f].compute_at(h, i)
    with refused(
        s, "g and f are not computed at the same loop", hint="compute_at the same loop first"
    ):
        s[g].compute_with(f, i)
    s[g].compute_at(h, j)
    with refused(s, "g and f are not computed at the same loop"):
        s[g].compute_with(f, i)


@pytest.mark.slow
def test_all_of_a_func_is_computed_together() -> None:
    """g slides, f does not; whichever stage of which one moves, both stages of g run as often."""
    for stage, into, root in (
        ("g.update(0)", "f", True), ("g", "f", True), ("g.update(0)", "f", False),
        ("f", "g.update(0)", True), ("f", "g", False),
    ):  # fmt: skip
        x = ps.Input("x", ps.int64, (n + 1, n))
        f, g, h = ps.Func("f"), ps.Func("g"), ps.Func("h", (n, n))
        f[i, j] = x[i, j] * 2
        g[i, j] = x[i, j] + 1
        g[i, j] += x[i, j] * x[i, j]
        h[i, j] = f[i, j] + f[i, 0] + g[i, j] + g[i + 1, j]
        s = ps.Schedule(h)
        for func in (f, g) if stage == "g" else (g, f):  # in this order
            s[func].compute_at(h, i)
        if root:
            s[g].store_root()
        s[stage].compute_with(into, j)
        judged(s, n=3)


def test_refuses_to_drop_what_is_kept() -> None:
    x, c, d = ps.Input("x", ps.int64, (n, n)), ps.Func("c", (n,)), ps.Func("d", (n, n))
    c[i] = 0
    c[i] += x[ps.RVar("k", 0, n), i]
    d[i, j] = x[j, i] * 2
    s = ps.Schedule((c, d))
    u = s["c"].update(0).accumulate_at(i)
    s[d].compute_with(c, i)
    with refused(
        s, "the private accumulator of c.update(0) is at a loop around k, which would be gone",
        hint="match that loop at most, or accumulate_at afterwards", status="malformed",
    ):  # fmt: skip
        u.compute_with(d, j)
    u.compute_with(d, i)
    judged(s, n=3)
