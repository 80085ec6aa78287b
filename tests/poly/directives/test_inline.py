"""compute_inline, what brings a Func back, and clone_in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polysched as ps

from ..schedule.test_serial import survives
from .cases import T, gauss_seidel, jacobi, product
from .kernels import blur, i, j, m, n, norms
from .support import judged, listed, refused, same, stored


def pair() -> tuple[ps.Schedule, ps.Func]:
    """g, which a reads at two rows and b at two columns."""
    x = ps.Input("x", ps.float32, (n + 2, m + 2))
    g, a, b = ps.Func("g"), ps.Func("a", (n, m)), ps.Func("b", (n, m))
    g[i, j] = x[i, j] * 3
    a[i, j] = g[i, j] + g[i + 1, j]
    b[i, j] = g[i, j] - g[i, j + 1]
    return ps.Schedule((a, b)), g


# compute_inline -----------------------------------------------------------------------------------
@pytest.mark.slow
def test_inlines_into_each_read() -> None:
    s = ps.Schedule(blur())
    s["g"].compute_inline()
    listed(s, """
        for i in [0, n):
          for j in [0, m):
            f[i, j] = x[i, j] * 2.0 + 1.0 + (x[i + 1, j] * 2.0 + 1.0) + (x[i, j + 2] * 2.0 + 1.0)
    """)  # fmt: skip
    assert s["g"].is_inlined
    assert judged(s, n=4, m=3).counts["instances"] == 12
    same(s)


@pytest.mark.slow
def test_takes_out_again_what_is_inlined() -> None:
    """Once inlined by the rule, and once by a directive; both at a loop of their reader."""
    s = ps.Schedule(blur())
    assert s["twice"].is_inlined
    s["twice"].compute_root()
    s["g"].compute_inline()
    s["g"].compute_at("f", i)
    s["twice"].compute_at("f", i)
    assert stored(s, n=9, m=5) == {"twice": (2, 7), "g": (2, 7)}
    counts = judged(s, n=4, m=3).counts
    assert counts["instances"] + counts["beyond"] == 12 + 2 * 4 * 2 * 5  # two rows of each
    same(s)


@pytest.mark.slow
def test_keeps_the_loops_of_all_others() -> None:
    s = ps.Schedule(blur())
    s["f"].tile(i, j, 4, 8)
    s["f"].parallel("io")
    s["g"].compute_inline()
    assert [x.name for x in s["f"].loops] == ["io", "jo", "ii", "ji"]
    assert s["f"]["io"].kind == "parallel"
    same(s)


@pytest.mark.slow
def test_what_is_inlined_stays_so_whatever_the_rule_says() -> None:
    """Taking g in, f reads `twice` three times: no longer what the rule inlines."""
    s = ps.Schedule(blur())
    s["g"].compute_inline()
    assert s["twice"].is_inlined
    s["g"].compute_root()
    assert s["twice"].is_inlined
    same(s)


@pytest.mark.slow
def test_written_down_and_read_back() -> None:
    f = blur()
    s = ps.Schedule(f)
    s["g"].compute_inline()
    s["twice"].compute_root()
    variant = s.specialize(n >= 8)
    variant["g"].compute_at("f", i)
    survives(s)
    assert s.copy() == s
    same(s)


def test_refuses_outputs_updates_and_recurrences() -> None:
    s = ps.Schedule(norms())
    with refused(s, "low cannot be inlined: it is an output", status="malformed"):
        s["low"].compute_inline()
    with refused(s, "a cannot be inlined: it has updates"):
        s["a"].compute_inline()
    out = ps.Func("out_", (n,))
    f = jacobi()
    out[i] = f[T - 1, i]
    ps.require(T >= 1, "a step", out)
    s = ps.Schedule(out)
    with refused(s, "f cannot be inlined: it needs values of itself"):
        s["f"].compute_inline()


def test_refuses_what_another_func_was_made_of() -> None:
    s, g = pair()
    s["b"].stage(g, at=i)
    with refused(s, "g cannot be inlined: g.i was made of it", status="malformed"):
        s[g].compute_inline()
    with refused(s, "g.i cannot be inlined: it is a copy, or a part of a sum"):
        s["g.i"].compute_inline()


def test_refuses_what_others_are_computed_at() -> None:
    s = ps.Schedule(blur())
    s["twice"].compute_at("g", i)
    with refused(s, "twice is computed at a loop of g", hint="compute it elsewhere first"):
        s["g"].compute_inline()


def test_refuses_what_others_are_computed_at_in_pieces() -> None:
    s = ps.Schedule(blur())
    s["twice"].compute_at("g", i)
    first, second = s["g"].partition(i < 3)
    for piece in (first, second):
        with refused(s, "twice is computed at a loop of g", hint="compute it elsewhere first"):
            piece.compute_inline()


# clone_in -----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_one_func_two_placements() -> None:
    s, g = pair()
    clone = s[g].clone_in(s["b"])
    assert clone.name == "g.in.b"
    s[clone].compute_at("b", i)
    s[g].compute_at("a", i)
    s[clone].vectorize(j, 4)
    assert stored(s, n=9, m=5) == {"g": (2, 5), "g.in.b": (1, 6)}
    counts = judged(s, n=4, m=3).counts
    assert counts["instances"] == 2 * 4 * 3 + 4 * 2 * 3 + 4 * 1 * 4
    same(s)


@pytest.mark.slow
def test_a_clone_takes_the_region_of_its_reader() -> None:
    s, g = pair()
    s[g].clone_in("b")
    assert stored(s, n=9, m=5) == {"g": (10, 5), "g.in.b": (9, 6)}
    same(s)


@pytest.mark.slow
def test_clones_for_all_readers() -> None:
    """Nothing is left for the Func itself."""
    s, g = pair()
    s[g].clone_in("a")
    s[g].clone_in("b")
    assert judged(s, n=4, m=3).counts["instances"] == 2 * 12 + 5 * 3 + 4 * 4
    same(s)


@pytest.mark.slow
def test_clones_have_updates_too() -> None:
    s = ps.Schedule(norms())
    clone = s["b"].clone_in("low")
    s[clone].update(0).split("q", 4)
    s["b"].compute_at("top", i)
    judged(s, n=4, m=5)
    same(s)


@pytest.mark.slow
def test_a_clone_is_inlined_for_its_reader_alone() -> None:
    s, g = pair()
    clone = s[g].clone_in("b")
    s[clone].compute_at("b", i)
    s[clone].compute_inline()
    s[clone].compute_inline()
    assert s[clone].is_inlined
    listed(s, """
        if n >= 1:
          for i in [0, n + 1):
            for j in [0, m):
              g[i, j] = x[i, j] * 3.0
        for i in [0, n):
          for j in [0, m):
            a[i, j] = g[i, j] + g[i + 1, j]
        for i in [0, n):
          for j in [0, m):
            b[i, j] = x[i, j] * 3.0 - x[i, j + 1] * 3.0
    """)  # fmt: skip
    assert judged(s, n=4, m=3).counts["instances"] == 5 * 3 + 2 * 4 * 3
    survives(s)
    same(s)


@pytest.mark.slow
def test_a_clone_that_was_inlined_is_computed_again() -> None:
    s, g = pair()
    clone = s[g].clone_in("b")
    s[clone].compute_inline()
    with refused(s, "g.in.b is inlined into its consumers: it has no loops"):
        s[clone].vectorize(j, 4)
    s[clone].compute_at("b", i).vectorize(j, 4)
    assert not s[clone].is_inlined
    assert judged(s, n=4, m=3).counts["instances"] == 5 * 3 + 2 * 4 * 3 + 4 * 4
    survives(s)
    same(s)


def test_a_clone_of_what_is_inlined_then() -> None:
    """What it was made of stays stored, and so does what was made of it."""
    s, g = pair()
    clone = s[g].clone_in("b")
    s["b"].stage(clone, at=i)
    with refused(s, "g.in.b cannot be inlined: g.in.b.i was made of it"):
        s[clone].compute_inline()
    with refused(s, "g cannot be inlined: g.in.b was made of it"):
        s[g].compute_inline()


def test_refuses_to_inline_clones_with_updates_and_of_unproven_conditions() -> None:
    s = ps.Schedule(norms())
    clone = s["b"].clone_in("low")
    with refused(s, "b.in.low cannot be inlined: it has updates"):
        s[clone].compute_inline()
    x, at = ps.Input("x", ps.float32, (n,)), ps.Input("at", ps.int32, (n,))
    g, f = ps.Func("g", (n,)), ps.Func("f", (n,))
    g[i] = ps.select(i > 0, x[i - 1], 0)
    f[i] = g[ps.clip(at[i], 0, n - 1)]
    s = ps.Schedule(f)
    clone = s[g].clone_in(f)
    with refused(s, "g.in.f is read at an index that depends on data"):
        s[clone].compute_inline()


def test_refuses_to_inline_into_an_extern_stage() -> None:
    x, g, f = ps.Input("x", ps.float32, (n,)), ps.Func("g", (n,)), ps.Func("f", (n,))
    g[i] = x[i] * 3
    f[i] = g[i] + g[0]
    e = ps.extern("e", lambda v: v[::-1], [(g, ((0, n),))], (n,), ps.float32)
    s = ps.Schedule((f, e))
    with refused(s, "g cannot be inlined: an extern stage that reads it is given all of it"):
        s[g].compute_inline()
    clone = s[g].clone_in("e")
    with refused(s, "g.in.e is read by an extern stage, which is given all of it"):
        s[clone].compute_inline()


@pytest.mark.slow
def test_clones_are_written_down_and_read_back() -> None:
    s, g = pair()
    s[g].clone_in("b")
    s["g.in.b"].compute_at("b", i)
    v = s.specialize(m >= 4)
    v["g.in.b"].vectorize(j, 4)
    survives(s)
    assert s.copy() == s
    same(s)


@pytest.mark.slow
def test_names_of_what_is_added_are_their_own() -> None:
    """A second copy of the same tensor at a loop of the same name."""
    s, g = pair()
    s["a"].stage(g, at=i)
    second = s["b"].stage(g, at=i)
    assert second.name == "g.i'"
    assert s[second].loops[0].name == "i"
    same(s)


@pytest.mark.parametrize("consumer", ["a", "g"])
def test_refuses_a_clone_for_what_does_not_read(consumer: str) -> None:
    s, g = pair()
    s[g].clone_in("a")
    what = "a does not read g" if consumer == "a" else "g is part of g itself"
    with refused(s, what, hint="a stage of another Func that reads it", status="malformed"):
        s[g].clone_in(consumer)


def test_refuses_clones_of_outputs_and_recurrences() -> None:
    s = ps.Schedule(product())
    with refused(s, "C cannot be computed or stored elsewhere: it is an output"):
        s["C"].clone_in("C.update(0)")
    f, out = jacobi(), ps.Func("out_", (n,))
    out[i] = f[T - 1, i]
    ps.require(T >= 1, "a step", out)
    s = ps.Schedule(out)
    with refused(s, "f needs values of itself: it cannot be cloned"):
        s["f"].clone_in("out_")
    s = ps.Schedule(gauss_seidel())
    with refused(s, "a cannot be computed or stored elsewhere"):
        s["a.update(0)"].clone_in("a.update(0)")


k = ps.vars("k")


def _at_strides(n: Any, m: Any) -> ps.Func:
    """f has n rows; row (m - 2) % 4 is read."""
    A, f, g = ps.Input("A", ps.int8, (n, n)), ps.Func("f", (n, 4, 4)), ps.Func("g", ())
    f[i, j, 3] = A[i >> 1, ps.clip(j, 0, n - 1)]
    f[i, j, k] = 0
    g[()] = f[(m - 2) % 4, 0, ps.clip(m, 0, 3)]
    return g


def _by_data(n: Any, m: Any) -> ps.Func:
    """f has n elements; which one is read an array of bytes says."""
    A, f, g = ps.Input("A", ps.int8, (n, n)), ps.Func("f", (n,)), ps.Func("g", (m,))
    x = ps.Input("x", ps.uint8, (m,))
    f[i] = A[i, 0] + 1
    g[i] = f[x[i]]
    return g


@pytest.mark.parametrize("program", [_at_strides, _by_data])
def test_a_clone_has_no_more_elements_than_what_it_is_a_clone_of(program: Any) -> None:
    """It was computed on all that an index might be, and asked of A what that takes."""
    n, m = ps.sizes("n m")
    g = program(n, m)
    s = ps.Schedule(g)
    written = s.conditions
    s["f.piece(0)" if program is _at_strides else "f"].clone_in(s["g"])
    assert s.conditions == written
    clone = s.compile()
    for a, b in [(1, 2), (1, 4), (2, 3), (3, 6), (4, 4)]:
        arrays: dict[str, Any] = {"A": np.arange(a * a, dtype=np.int8).reshape(a, a)}
        arrays |= {"x": np.arange(b, dtype=np.uint8) % a} if program is _by_data else {"m": b}
        if program is _at_strides and (b - 2) % 4 >= a:
            with pytest.raises(ps.CallError):
                clone(**arrays)
        else:
            np.testing.assert_array_equal(clone(**arrays), ps.interpret(g, **arrays))
