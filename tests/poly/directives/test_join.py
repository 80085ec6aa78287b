"""join: the pieces of a definition in one nest of loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polysched as ps

from .support import listed, refused, same

n, m, T = ps.sizes("n m T")
t, i, j = ps.vars("t i j")


def alignment() -> tuple[ps.Schedule, ps.Func]:
    """Smith-Waterman: a recurrence in three directions, with borders."""
    a, b = ps.Input("a", ps.int32, (n,)), ps.Input("b", ps.int32, (m,))
    h = ps.Func("h", (n + 1, m + 1), dtype=ps.int32)
    h[0, 0] = 0
    h[0, j] = -j
    h[i, 0] = -i
    h[i, j] = ps.maximum(
        h[i - 1, j - 1] + ps.select(a[i - 1] == b[j - 1], 2, -1),
        ps.maximum(ps.maximum(h[i - 1, j], h[i, j - 1]) - 1, 0),
    )
    return ps.Schedule(h), h


def last_column(reading: bool) -> tuple[ps.Schedule, ps.Func]:
    """A piece at the end of each row, which the others read or do not."""
    x, f = ps.Input("x", ps.int64, (n, m + 1)), ps.Func("f", (n, m + 1))
    f[i, m] = x[i, 0]
    f[i, j] = f[i, m] + x[i, j] if reading else x[i, j]
    return ps.Schedule(f), f


def asked(s: ps.Schedule) -> list[str]:
    return [d.name for d in s.directives]


def test_listing() -> None:
    s, h = alignment()
    assert s[h].join().name == "h.piece(3)"
    listed(
        s,
        """
        for i in [0, n + 1):
          for j in [0, m + 1):
            if (i == 0) & (j == 0):
              h[0, 0] = 0
            if (i == 0) & (j >= 1):
              h[0, j] = int32(-j)
            if (i >= 1) & (j == 0):
              h[i, 0] = int32(-i)
            if (i >= 1) & (j >= 1):
              h[i, j] = max(h[i - 1, j - 1] + select(a[i - 1] == b[j - 1], 2, -1), max(max(h[i - 1, j], h[i, j - 1]) - 1, 0))
    """,  # noqa: E501 (a listing)
    )
    assert [x.name for x in s[h].loops] == ["i", "j"]
    same(s)


def _tiled(u: Any) -> None:
    u.tile(i, j, 4, 3)


def _wave(u: Any) -> None:
    u.tile(i, j, 2, 5)
    u.parallel(u.wavefront("io", "jo")[1])


def _padded(u: Any) -> None:
    u.join().split(j, 4, tail="guard")


def _peeled(u: Any) -> None:
    u.join().split(i, 4, tail="peel")


def _skewed(u: Any) -> None:
    u.skew(i, j, 1)


def _fused(u: Any) -> None:
    u.join().split(i, 2)
    u.split(j, 2)
    u.reorder("io", "jo", "ii", "ji").fuse("ii", "ji")


@pytest.mark.parametrize("change", [_tiled, _wave, _padded, _peeled, _skewed, _fused])
@pytest.mark.parametrize("sizes", [(0, 1, 4), pytest.param((2, 3, 9, 10), marks=pytest.mark.slow)])
def test_values(change: Callable[[Any], None], sizes: tuple[int, ...]) -> None:
    s, h = alignment()
    change(s[h])
    assert asked(s)[0] == "join"
    same(s, over=sizes)


def test_loops_of_other_pieces_are_gone() -> None:
    """Also where the pieces are in nests of their own."""
    x, f = ps.Input("x", ps.int64, (n, m)), ps.Func("f", (n, m))
    f[0, j] = x[0, j]
    f[i, j] = x[i, j] * 2
    s = ps.Schedule(f)
    outer = s[f].tile(i, j, 4, 8)
    assert [x.name for x in outer] == ["io", "jo", "ii", "ji"]
    assert asked(s) == ["join", "split", "split", "reorder"]
    s[f].parallel("io").vectorize("ji")
    same(s)


def test_behind_changes_of_the_closing_piece() -> None:
    """The others follow its coordinates, whatever these have become."""
    s, h = alignment()
    s["h.piece(3)"].split(j, 4, names=("jo", "j"))
    s[h].join()
    assert [x.name for x in s[h].loops] == ["i", "jo", "j"]
    same(s)


@pytest.mark.slow
def test_of_what_is_computed_at_a_loop() -> None:
    x, g = ps.Input("x", ps.int64, (n, m)), ps.Func("g", (n + 1, m + 1))
    g[0, j] = 1
    g[i, 0] = i
    g[0, 0] = 7
    g[i, j] = g[i - 1, j] + x[i - 1, j - 1]
    f = ps.Func("f", (n, m))
    f[i, j] = g[i + 1, j] * 2 + g[i, j + 1]
    s = ps.Schedule(f)
    s[f].split(j, 4)
    s[f].reorder("jo", i, "ji")
    s[g].compute_at(f, "jo")
    s[g].tile(i, j, 2, 2)
    same(s)


@pytest.mark.slow
def test_with_those_of_other_funcs_in_the_loops() -> None:
    """A group whose loops over t hold pieces of both."""
    x = ps.Input("x", ps.int64, (n,))
    u, v = ps.Func("u", (T + 1, n), dtype=ps.int64), ps.Func("v", (T + 1, n), dtype=ps.int64)
    u[0, i] = x[i]
    v[0, i] = 2 * x[i]
    u[t, i] = v[t - 1, i] + 1
    v[t, i] = u[t - 1, i] * 3
    s = ps.Schedule((u, v))
    with refused(s, "the loop t holds more than the loop inside of it"):
        s[u].tile(t, i, 2, 4)
    s["v.piece(1)"].compute_with("u.piece(1)", i)
    s[u].tile(t, i, 2, 4)
    assert asked(s)[1:] == ["join", "join", "split", "split", "reorder"]
    same(s, over=(0, 1, 3, 9))


def test_a_piece_at_the_end_of_rows() -> None:
    s, f = last_column(reading=False)
    s[f].tile(i, j, 4, 8)
    same(s)


def test_refuses_what_comes_too_late_then() -> None:
    s, f = last_column(reading=True)
    with refused(s, "the first would run after the second", "f[0, 1]", kind="flow"):
        s[f].join()
    with refused(s, "s[\"f\"].tile('i', 'j', 4, 8) is refused", kind="flow"):
        s[f].tile(i, j, 4, 8)
    s[f].parallel(i)
    same(s)


def test_refuses_one_piece() -> None:
    f = ps.Func("f", (n,))
    f[i] = i
    s = ps.Schedule(f)
    with refused(s, "the definition of f has one piece"):
        s[f].join()


def test_refuses_pieces_of_which_none_has_all_loops() -> None:
    f = ps.Func("f", (2, n))
    f[0, i] = i
    f[1, i] = 2 * i
    s = ps.Schedule(f)
    with refused(s, "no piece of f has a Var for each axis", hint="compute_with"):
        s[f].join()


def test_refuses_what_is_joined() -> None:
    s, h = alignment()
    s[h].join()
    with refused(s, "the pieces are in one nest already, of i, j"):
        s[h].join()


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (lambda s: s["h.piece(1)"].vectorize(j, 4), "the loop ji of h.piece(1) is vector already"),
        (lambda s: s["h.piece(1)"].parallel(j), "the loop j of h.piece(1) is parallel already"),
        (lambda s: s["h.piece(1)"].split(j, 4, tail="guard"), "is in full tiles already"),
        (lambda s: s["h.piece(1)"].peel(j, first=1), "a part of its piece"),
        (lambda s: s["h.piece(3)"].partition(j < 4), "a part of its piece"),
    ],
    ids=["vector", "parallel", "guard", "peel", "partition"],
)
def test_refuses_what_would_be_lost(before: Callable[[ps.Schedule], object], why: str) -> None:
    s, _ = alignment()
    before(s)
    name = "h.piece(2)"
    with refused(s, why, hint="join first"):
        s[name].join()


def test_refuses_loops_that_hold_more() -> None:
    """What is computed for a piece in its own loops would be left without it."""
    x, g = ps.Input("x", ps.int64, (m,)), ps.Func("g")
    g[j] = x[j] * x[j]
    f = ps.Func("f", (n, m))
    f[0, j] = g[j] + g[j]
    f[i, j] = i + j
    s = ps.Schedule(f)
    s[g].compute_at("f.piece(0)", "j")
    with refused(s, "the loop j of f.piece(0) holds other stages, too: g"):
        s[f].join()


def test_a_refusal_for_another_reason_is_told_as_before() -> None:
    s, h = alignment()
    with refused(s, "h.piece(3) has no loop q"):
        s[h].tile(i, "q", 4, 8)
    assert not s.directives
