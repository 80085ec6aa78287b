"""Which integers a Func may hold: what argmin gives is an index that needs no clamp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.checking.examine import check
from polysched.lang.program.ranges import value_range

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
k, r = ps.RVar("k", 0, n), ps.RVar("r", 0, m)


class Labels:
    """Labels of m points, each one of n, and what can be made of them."""

    def __init__(self) -> None:
        self.x = ps.Input("x", ps.float32, (m, n))
        self.w = ps.Input("w", ps.float32, (m,))
        self.label = ps.Func("label", (m,))
        self.label[i] = ps.argmin(self.x[i, k], k)

    def plain(self) -> ps.Expr:
        return self.label[r]

    def clamped_func(self) -> ps.Expr:
        f = ps.Func("f")
        f[i] = ps.minimum(self.label[i], n - 1)
        return f[r]

    def chosen(self) -> ps.Expr:
        f = ps.Func("f")
        f[i] = ps.select(self.w[i] > 0, self.label[i], self.label[m - 1 - i])
        return f[r]

    def of_a_tuple(self) -> ps.Expr:
        f = ps.Func("f", dtype=(ps.float32, ps.int64))
        f[i] = self.w[i], self.label[i]
        return f[r][1]

    def halved(self) -> ps.Expr:
        f = ps.Func("f", (m,))
        f[i] = (self.label[i] + 1) // 2
        return ps.minimum(f[r], n - 1)

    def turned(self) -> ps.Expr:
        f = ps.Func("f", (m,))
        f[i] = n - 1 - self.label[i]
        return f[r]

    def updated(self) -> ps.Expr:
        f = ps.Func("f", (m,))
        f[i] = self.label[i]
        f[r] = ps.maximum(f[r], self.label[m - 1 - r])
        return f[r]

    def largest(self) -> ps.Expr:
        f = ps.Func("f", (m,))
        q = ps.RVar("q", 0, i + 1)
        f[i] = ps.max(self.label[q], q)
        return f[r]

    def best(self) -> ps.Expr:
        f = ps.Func("f", (m,), dtype=(ps.float32, ps.int64))
        value, at = f[i]
        f[i] = np.float32(np.inf), 0
        f[i] = ps.select(self.x[i, k] < value, (self.x[i, k], k), (value, at))
        return f[r][1]

    def recurrence(self) -> ps.Expr:
        f = ps.Func("f", (m,))
        f[i] = ps.select(i > 0, f[i - 1], self.label[0])
        return f[r]


WAYS = [name for name in vars(Labels) if not name.startswith("_")]


def _data(points: int, labels: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(points)
    x = rng.integers(0, 5, (points, labels)).astype(np.float32)
    return {"x": x, "w": np.arange(points, dtype=np.float32) - 2}


def _counted(way: str, shaped: bool) -> ps.Func:
    labels = Labels()
    c = ps.Func("c", (n,) if shaped else None, ps.float32)
    c[i] = 0
    c[getattr(labels, way)()] += labels.w[r]
    f = ps.Func("f2", (n,))
    f[i] = c[i] * 2
    return f


@pytest.mark.parametrize("shaped", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_an_index_needs_no_clamp(way: str, shaped: bool) -> None:
    f = _counted(way, shaped)
    s = ps.Schedule(f)
    kernel = s.compile()
    for points, labels in ((7, 5), (0, 0), (0, 3), (2, 1)):
        given = _data(points, labels)
        np.testing.assert_array_equal(kernel(**given), ps.interpret(f, **given))
    check(s, **_data(4, 3))


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_chosen_from_nothing(way: str) -> None:
    f = _counted(way, True)
    given = _data(3, 0)
    with pytest.raises(ps.CallError):
        ps.Schedule(f).compile()(**given)
    with pytest.raises(ps.CallError):
        ps.interpret(f, **given)


def _ends(func: ps.Func, component: int = 0) -> tuple[str, str]:
    found = value_range(func, component)
    return tuple("?" if end is None else repr(ps.Expr(end)) for end in (found.lo, found.hi))


VALUES: dict[str, tuple[Callable[[], ps.Func], tuple[str, str]]] = {}


def value(lo: str, hi: str) -> Callable[[Callable[[], ps.Func]], Callable[[], ps.Func]]:
    def note(make: Callable[[], ps.Func]) -> Callable[[], ps.Func]:
        VALUES[make.__name__] = make, (lo, hi)
        return make

    return note


@value("-3", "max(n - 1, -3)")
def initial() -> ps.Func:
    """What a maximum of nothing is, is among its values."""
    at = ps.Input("at", ps.int32, (n,), range=(0, n))
    f = ps.Func("f", (m,))
    f[i] = ps.max(ps.cast(ps.int64, at[k]), k, initial=-3)
    return f


@value("0", "9")
def as_a_small_type() -> ps.Func:
    q, x = ps.RVar("q", 0, 10), ps.Input("x", ps.float32, (m, 10))
    f = ps.Func("f", (m,), ps.int8)
    f[i] = ps.cast(ps.int8, ps.argmax(x[i, q], q))
    return f


@value("?", "?")
def wraps() -> ps.Func:
    """A size may be more than an int32 holds."""
    x = ps.Input("x", ps.float32, (m, n))
    f = ps.Func("f", (m,), ps.int32)
    f[i] = ps.cast(ps.int32, ps.argmax(x[i, k], k))
    return f


@value("-128", "127")
def wraps_in_a_small_type() -> ps.Func:
    f = ps.Func("f", (100,), ps.int8)
    f[i] = ps.cast(ps.int8, i) + ps.cast(ps.int8, 100)
    return f


@value("?", "?")
def counts_up() -> ps.Func:
    """An update that makes more of what was there has no end."""
    f = ps.Func("f", (m,))
    f[i] = 0
    f[i] += k
    return f


@value("?", "?")
def comes_from_floats() -> ps.Func:
    x = ps.Input("x", ps.float32, (m,))
    f = ps.Func("f", (m,), ps.int64)
    f[i] = ps.cast(ps.int64, x[i])
    return f


@value("?", "?")
def a_caller_s_array() -> ps.Func:
    a = ps.InOut("a", ps.int64, (m,))
    a[i] = 3
    return a


@value("0", "max(max(m, 1) - 1, 0)")
def remainder() -> ps.Func:
    x = ps.Input("x", ps.int64, (n,))
    f = ps.Func("f", (n,))
    f[i] = x[i] % ps.maximum(m, 1)
    return f


@value("0", "max(n - 1 + (m - 1), 0)")
def over_data() -> ps.Func:
    """An RVar is within all values that its bounds may have."""
    start = ps.Input("start", ps.int64, (m + 1,), range=(0, n + 1))
    f = ps.Func("f", (m,))
    e = ps.RVar("e", start[i], start[i + 1])
    f[i] = 0
    f[i] = ps.maximum(f[i], e + i)
    return f


@pytest.mark.parametrize("name", VALUES)
def test_bounds(name: str) -> None:
    make, expected = VALUES[name]
    f = make()
    ps.Schedule(f)
    assert _ends(f) == expected


@pytest.mark.parametrize("dtype", [ps.int32, ps.int16])
def test_refuses_labels_that_may_wrap(dtype: ps.DType) -> None:
    labels = Labels()
    small = ps.Func("small", (m,), dtype)
    small[i] = ps.cast(dtype, labels.label[i])
    c = ps.Func("c", (n,), ps.int64)
    c[i] = 0
    c[small[r]] += 1
    with pytest.raises(ps.LanguageError, match="nothing but its type bounds"):
        ps.Schedule(c)


def test_refuses_what_a_caller_gives() -> None:
    a, c = ps.InOut("a", ps.int64, (m,)), ps.Func("c", (n,), ps.int64)
    with ps.sequential("t", 0, m) as t:
        a[t] = 0
    c[i] = 0
    c[a.final[r]] += 1
    with pytest.raises(ps.LanguageError, match="nothing but its type bounds"):
        ps.Schedule(c)


@pytest.mark.slow
def test_clones_copies_and_partial_results_have_the_same() -> None:
    f = _counted("plain", True)
    s = ps.Schedule(f)
    s["label.argmin0"].update(0).split("k", 2)
    s["label.argmin0"].update(0).rfactor("ko")
    clone = s["label"].clone_in(s["c"].update(0))
    s["c"].update(0).split("r", 4)
    s["c"].update(0).stage(clone, at="ro")
    given = _data(7, 5)
    np.testing.assert_array_equal(s.compile()(**given), ps.interpret(f, **given))
