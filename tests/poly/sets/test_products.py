"""Ends that are read off constraints, against those that isl finds."""

from __future__ import annotations

import random

import pytest

from polysched.poly.sets.hulls import _reach, filled
from polysched.poly.sets.isl import BasicSet, Set
from polysched.poly.sets.products import end_alike, slopes

SQUARE = "[n, m] -> { [i, j] : 0 <= i < n and 0 <= j < m }"


def convex(text: str) -> BasicSet:
    (piece,) = Set(text).get_basic_sets()
    return piece


@pytest.mark.parametrize(
    ("around", "pieces"),
    [
        (SQUARE, [SQUARE, "[n, m] -> { [i, j] : 2 <= i < n - 5 and 0 <= j < m }"]),
        ("[n] -> { [i] : -1 <= 2i < n }", ["[n] -> { [i] : 0 <= i and 4i <= 2n - 3 }"]),
        ("[n, b] -> { [i] : 8b <= i <= 8b + 9 and i < n }", ["[b] -> { [i] : i = 8b + 3 }"]),
    ],
)
def test_shifted_copies_end_alike(around: str, pieces: list[str]) -> None:
    space = Set(around).get_space()
    aligned = [Set(text).align_params(space).get_basic_sets()[0] for text in pieces]
    assert end_alike(convex(around), aligned)


@pytest.mark.parametrize(
    ("around", "piece"),
    [
        ("[n] -> { [i] : 0 <= i < n }", "[n] -> { [i] : 0 <= 2i < n }"),
        ("[n] -> { [i] : 0 <= i < n }", "[n] -> { [i] : n <= 2i < 2n }"),
        ("[n] -> { [i] : 0 <= i < n }", "[n] -> { [i] : i = 0 }"),
        (SQUARE, "[n, m] -> { [i, j] : 0 <= i < n and 0 <= j < m and 9 <= j - i }"),
        (SQUARE, "[n, m] -> { [i, j] : 0 <= i < m and 0 <= j < m }"),
        (SQUARE, "[n, m] -> { [i, j] : 0 <= i < n and 0 <= j < m and j <= n + m }"),
    ],
)
def test_parts_may_end_elsewhere(around: str, piece: str) -> None:
    assert not end_alike(convex(around), [convex(piece)])


def test_diagonals_are_no_products() -> None:
    assert slopes(convex("[n] -> { [i, j] : 0 <= i < n and i <= j <= i + 3 }")) is None


def test_what_shows_is_what_isl_finds() -> None:
    """Also where parts have existentials: these move no end by more than a constant."""
    draw = random.Random(7).choice
    shown = 0
    for _ in range(40):
        lo, hi = draw((0, -2, 3)), draw(("n", "n - 3", "m", "(n)/2"))
        strides = draw(("", " and i mod 2 = n mod 2", " and 3*floor((i + n)/3) >= i - 1 + n"))
        hi = hi.replace("(n)/2", "floor(n/2)")
        piece = Set(f"[n, m] -> {{ [i] : {lo} <= i < {hi} and i < n + 9 and m <= n{strides} }}")
        hull = Set("[n, m] -> { [i] : -2 <= i < n + 9 and i < m + 2 }")
        (part,) = piece.get_basic_sets()
        (plain,) = piece.remove_divs().get_basic_sets()
        (around,) = hull.get_basic_sets()
        found = _reach([Set.from_basic_set(part)], hull, [piece.params()])
        assert found == _reach([piece.remove_divs()], hull, [piece.params()])
        if end_alike(around, [plain]):
            assert found
            shown += 1
    assert shown


def test_copies_of_which_one_is_nowhere_are_kept_apart() -> None:
    """What no size has is not filled up to the others."""
    here = "[n] -> { [i] : 0 <= i < n; [i] : 3 <= i < n + 3 and n <= -5 }"
    found = filled(Set(here), Set("[n] -> { : n >= 0 }"), exact=False)
    assert found.is_subset(Set(here))
