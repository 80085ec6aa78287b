"""Guards and domains in parts: together they say what they said as one."""

from __future__ import annotations

import random
from functools import reduce

import pytest

from polysched.poly.scan import guards as module
from polysched.poly.scan.guards import by_sizes, split_guard
from polysched.poly.sets.hulls import PIECES_LIMIT
from polysched.poly.sets.isl import CONTEXT, Set

ASKED = ("n >= m", "n <= 3", "m = 2", "n > 2 m", "p >= n", "p <= 1", "n = 3 p", "p > m")
"""Of the sizes, by some pieces."""
VISITED = ("i >= 2", "i <= n", "i < m", "i mod 2 = 0", "j = 0", "j < i", "i + j >= n", "j >= p",
           "j <= n + 1", "i >= 2 m - n")  # fmt: skip
"""Of the loops."""


def of(*pieces: str) -> Set:
    """The union of some pieces, of two loops."""
    return Set.read_from_str(CONTEXT, f"[n, m, p] -> {{ [i, j] : {' or '.join(pieces)} }}")


def drawn(draw: random.Random, conditions: tuple[str, ...], most: int) -> str:
    return " and ".join(draw.sample(conditions, draw.randint(1, most)))


AROUND = of("0 <= i <= n + 3 and 0 <= j < 8")


def every(parts: list[Set]) -> Set:
    return reduce(Set.intersect, parts)


@pytest.mark.parametrize("seed", range(30))
def test_parts_of_a_guard_say_it(seed: int) -> None:
    draw = random.Random(seed)
    shared = drawn(draw, VISITED, 2)
    guard = of(*(f"({shared}) and {drawn(draw, VISITED + ASKED, 3)}" for _ in range(4)))
    parts = split_guard(guard, AROUND)
    assert every([AROUND, *(part for _, part in parts)]).is_equal(AROUND.intersect(guard))
    assert [depth for depth, _ in parts] == sorted(depth for depth, _ in parts)


def test_what_all_pieces_of_a_guard_ask_stands_outside() -> None:
    either = "(j = 0 or j >= i)"
    parts = dict(split_guard(of(f"n >= m and i >= 2 and {either}"), AROUND))
    assert [parts[depth].is_equal(of(text)) for depth, text in ((0, "n >= m"), (1, "i >= 2"))] == [
        True, True
    ]  # fmt: skip
    assert every([AROUND, parts[2]]).is_equal(AROUND.intersect(of(either)))


def test_what_is_known_of_loops_is_not_asked_again() -> None:
    parts = split_guard(of("i >= 0 and (j = 0 or j >= i)"), AROUND)
    assert [depth for depth, _ in parts] == [2]


def test_a_guard_of_nothing_stays() -> None:
    nothing = AROUND.subtract(AROUND)
    assert every([part for _, part in split_guard(nothing, AROUND)]).is_empty()


def either_of(draw: random.Random) -> tuple[str, str]:
    """What is asked of the sizes and of the loops, each one of several things."""
    sizes = [drawn(draw, ASKED, 2) for _ in range(4)]
    loops = [f"0 <= i and 0 <= j <= n and {drawn(draw, VISITED, 2)}" for _ in range(4)]
    return f"({' or '.join(sizes)})", f"({' or '.join(loops)})"


@pytest.mark.parametrize("seed", range(30))
def test_a_domain_is_both_of_its_parts(seed: int) -> None:
    sizes, loops = either_of(random.Random(seed))
    whole = of(f"{sizes} and {loops}")
    of_sizes, few = by_sizes(whole)
    assert (few if of_sizes is None else few.intersect(of_sizes)).is_equal(whole)


@pytest.mark.parametrize("seed", range(30))
def test_a_domain_that_is_not_both_of_them_stays_whole(seed: int) -> None:
    """What is asked of the loops depends on what is asked of the sizes."""
    draw = random.Random(seed)
    pieces = [f"{drawn(draw, ASKED, 2)} and 0 <= i and 0 <= j <= n and {drawn(draw, VISITED, 2)}"
              for _ in range(PIECES_LIMIT + 4)]  # fmt: skip
    whole = of(*pieces)
    of_sizes, few = by_sizes(whole)
    assert (few if of_sizes is None else few.intersect(of_sizes)).is_equal(whole)


def test_many_pieces_at_sizes_are_few() -> None:
    asked = [f"n >= 7 m + {k} and p = {3 * k}" for k in range(12)]
    visited = "(0 <= i < n and j = 0 or 0 <= i < m and 3 <= j < n)"
    whole = of(f"({' or '.join(asked)}) and {visited}")
    assert int(whole.n_basic_set()) > PIECES_LIMIT
    of_sizes, few = by_sizes(whole)
    assert of_sizes is not None
    assert of_sizes.params().is_equal(whole.params())
    assert int(few.n_basic_set()) == 2


def test_a_domain_of_few_pieces_is_not_asked_about() -> None:
    few = of("n >= m and 0 <= i < n and j = 0", "p >= m and 0 <= i < n and j = 0")
    assert by_sizes(few) == (None, few)


def test_without_a_budget_all_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TO_PART", 0)
    monkeypatch.setattr(module, "OPERATIONS", 0)
    whole = of(*(f"n >= {k} m and p = {3 * k} and 0 <= i < n and j = {k}" for k in range(12)))
    guard = of("i >= 2 and (j = 0 or j >= i)")
    assert by_sizes(whole) == (None, whole)
    assert split_guard(guard, AROUND) == [(2, guard)]
