"""Orders of recurrences beyond the axes as declared: permuted, skewed, shifted, in parts."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest

import polysched as ps
from polysched.lang.program.program import Program
from polysched.poly.model.model import Model
from polysched.poly.recurrence.affine_order import obeyed, scheduled
from polysched.poly.recurrence.recurrence import required
from polysched.poly.tree.looptree import Loop, Seq
from polysched.poly.tree.stage import Stage
from polysched.poly.tree.written import own_nest

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def at(f: ps.Func, *index: ps.Expr | int, other: int = 0) -> ps.Expr:
    """An element, or another value outside of the shape."""
    tests = [t for x, extent in zip(index, f.shape, strict=True) for t in (x >= 0, x < extent)]
    return ps.select(reduce(operator.and_, tests), f[index], other)


def func(name: str = "f", *shape: object) -> ps.Func:
    return ps.Func(name, shape or (n, m), dtype=ps.int32)


def swapped() -> ps.Func:
    f = func()
    f[i, j] = at(f, i + 1, j - 1) + 2 * at(f, i - 1, j - 1) + i + 1
    return f


def swapped_downwards() -> ps.Func:
    f = func()
    f[i, j] = at(f, i + 1, j + 1) + 2 * at(f, i - 1, j + 1) + at(f, i - 1, j) + j + 1
    return f


def wavefront() -> ps.Func:
    f = func()
    f[i, j] = at(f, i - 1, j + 2) + 2 * at(f, i + 1, j - 1) + i + j + 1
    return f


def steep() -> ps.Func:
    f = func()
    f[i, j] = at(f, i - 1, j + 5) + 2 * at(f, i + 1, j - 4) + at(f, i, j + 1) + 1
    return f


def shifted() -> ps.Func:
    f, g = func("f", n), func("g", n)
    f[i] = at(g, i + 2, other=3) + i
    g[i] = 2 * at(f, i - 3, other=5)
    return f


def shifted_down() -> ps.Func:
    f, g = func("f", n), func("g", n)
    f[i] = at(g, i + 2, other=3) + i
    g[i] = 2 * at(f, i - 1, other=5)
    return f


def of_two_ranks() -> ps.Func:
    """Columns from the left, each from the sum of the one before."""
    f, g = func(), func("g", m)
    r = ps.RVar("r", 0, n)
    f[i, j] = at(g, j - 1) + at(f, i + 1, j - 1, other=1)
    g[j] = ps.sum(f[r, j], r)
    return f


def odd_from_even() -> ps.Func:
    f = func("f", n)
    f[i] = ps.select(i % 2 == 1, at(f, i - 1) + 2 * at(f, i + 1), i)
    return f


def three_colours() -> ps.Func:
    f = func("f", n)
    f[i] = ps.select(i % 3 == 0, at(f, i + 1) * 2, ps.select(i % 3 == 1, at(f, i - 2) + 3, i))
    return f


def to_the_middle() -> ps.Func:
    f = func("f", n)
    f[i] = ps.select(2 * i < n, at(f, i - 1) + 1, at(f, i + 1, other=9) + 2)
    return f


def snake() -> ps.Func:
    """Even rows to the right, odd ones to the left, each from the end of the one above."""
    f = func()
    right = ps.select(j > 0, at(f, i, j - 1), at(f, i - 1, j))
    left = ps.select(j < m - 1, at(f, i, j + 1), at(f, i - 1, j))
    f[i, j] = ps.select(i % 2 == 0, right, left) + 1
    return f


def with_pieces_and_an_update() -> ps.Func:
    f = func()
    f[0, j] = j
    f[i, j] = at(f, i - 1, j + 2) + 2 * at(f, i + 1, j - 1) * ps.select(i > 0, 1, 0)
    f[i, j] += 7
    return f


PROGRAMS = [
    swapped, swapped_downwards, wavefront, steep, shifted, shifted_down, of_two_ranks,
    odd_from_even, three_colours, to_the_middle, snake, with_pieces_and_an_update,
]  # fmt: skip


@pytest.mark.parametrize("build", PROGRAMS)
def test_an_order_is_found_and_computes_what_is_meant(build: Callable[[], ps.Func]) -> None:
    built = build()
    kernel = ps.Schedule(built).compile()
    names = Program((built,)).sizes
    for sizes in itertools.product(range(8), repeat=len(names)):
        given = dict(zip(names, sizes, strict=True))
        found, wanted = kernel(**given), ps.interpret(built, **given)
        np.testing.assert_array_equal(found, wanted, err_msg=str(given))


def listing(func: ps.Func) -> list[str]:
    """The loops of the schedule, and what is said of a point; not the definitions."""
    lines = str(ps.Schedule(func)).splitlines()[1:]
    return [
        (line.partition("[")[0] + " ..." + line.partition("  #")[2])
        if " = " in line.partition("  #")[0] and "for" not in line
        else line
        for line in lines
    ]


def test_the_axes_in_another_order_keep_their_names() -> None:
    assert listing(swapped()) == ["  for j in [0, m):", "    for i in [0, n):", "      f ..."]
    assert listing(swapped_downwards())[0] == "  for j.down in [1 - m, 1):  # j = -j.down"


def test_a_wavefront_says_where_it_is() -> None:
    assert listing(wavefront()) == [
        "  for wave in [2 - (n + m), 1):",
        "    for i.down in [max(wave, 1 - n), min(m + wave, 1)):  # i = -i.down",
        "      f ... j = i.down - wave",
    ]


def test_shifted_funcs_say_where_they_are() -> None:
    assert listing(shifted()) == [
        "  for wave in [0, n + 2):",
        "    if n >= wave + 1:",
        "      g ...",
        "    if wave >= 2:",
        "      f ... i = wave - 2",
        "  keeps 1 of g",
    ]


def test_parts_are_a_loop_of_their_own() -> None:
    lines = listing(odd_from_even())
    assert lines[0] == "  for part in [0, min(n, 2)):"
    assert lines[1].endswith(" by 2:")
    assert len(lines) == 3


def test_a_tree_that_breaks_a_pair_is_not_obeyed() -> None:
    """The check that every tree of isl's scheduler has to pass."""
    program = Program((wavefront(),))
    model = Model(program)
    (s,) = model.statements
    pairs = list(required(model, [s]))
    found = scheduled(model, [s], pairs)
    assert isinstance(found, Seq)
    assert obeyed(found, pairs)
    assert not obeyed(Seq((own_nest(s),)), pairs)
    (x, y) = s.loops
    merged = Seq((Loop("wave", (Loop("x", (Stage(s, (y, y)),)),)),))
    assert not obeyed(merged, [])
    assert obeyed(Seq((Loop("y", (Loop("x", (Stage(s, (y, x)),)),)),)), [])


@pytest.mark.slow
@pytest.mark.parametrize("way", [1, -1])
def test_a_recurrence_inside_a_sequential_has_an_order_in_each_iteration(way: int) -> None:
    """A Func that is fresh in each iteration of the loop around."""
    steps = ps.sizes("steps")
    a = ps.InOut("a", ps.int32, (n, n))
    with ps.sequential("t", 0, steps) as t:
        f = func("f", n, n)
        f[i, j] = a[i, j] + at(f, i, j - way, other=2) - at(f, i - way, j + 1) + t
        a[i, j] = f[i, j]
    kernel = ps.Schedule(a).compile()
    for size, count in itertools.product(range(5), range(4)):
        data = np.arange(size * size, dtype=np.int32).reshape(size, size) % 7
        native, wanted = data.copy(), data.copy()
        kernel(native, steps=count)
        ps.interpret(a, wanted, steps=count)
        np.testing.assert_array_equal(native, wanted)


def test_inside_a_sequential_no_other_order_is_looked_for() -> None:
    steps = ps.sizes("steps")
    a = ps.InOut("a", ps.int32, (n,))
    with ps.sequential("t", 0, steps):
        f = func("f", n)
        f[i] = ps.select(2 * i < n, at(f, i - 1) + 1, at(f, i + 1, other=9) + a[i])
        a[i] = f[i]
    with pytest.raises(ps.LanguageError, match="no affine order found in which f"):
        ps.Schedule(a)
