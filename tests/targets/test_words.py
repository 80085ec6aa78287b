"""Numbers that depend on the machine: what they become, and as text and JSON."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import polysched as ps
from polysched.targets.known import named
from polysched.targets.words import (
    Resolved,
    Word,
    cache_elements,
    factor,
    from_json,
    native,
    rows_beside,
    tile_columns,
    tile_rows,
)

V3, V4, ARM = named("v3"), named("v4"), named("aarch64")

BASIC = st.sampled_from(
    [native, tile_rows, tile_columns, cache_elements(1), rows_beside(2), factor("a", 3)]
)
NUMBERS = st.integers(-9, 99)
WORDS = st.recursive(
    BASIC,
    lambda inner: st.one_of(
        *(st.builds(f, inner, inner | NUMBERS) for f in (
            Word.__add__, Word.__sub__, Word.__mul__, Word.__floordiv__, Word.at_least,
            Word.at_most,
        )),
        *(st.builds(f, inner, NUMBERS) for f in (
            Word.__radd__, Word.__rsub__, Word.__rmul__, Word.__rfloordiv__,
        )),
    ),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.parametrize(
    ("word", "on_v3", "on_v4", "on_arm"),
    [
        (native, 8, 16, 4),
        (4 * native, 32, 64, 16),
        (tile_rows, 6, 6, 6),
        (tile_columns, 16, 64, 16),
        (rows_beside(2).at_most(8), 6, 8, 8),
        (rows_beside(3), 3, 9, 9),
        (rows_beside(40), 1, 1, 1),
        (cache_elements(1) // 2, 4096, 4096, 8192),
        (2 * factor("rows", 6), 12, 12, 12),
        ((native - 1).at_most(7), 7, 7, 3),
        ((100 - native * 2).at_least(80), 84, 80, 92),
    ],
)
def test_a_word_is_a_number_of_the_target(word: Word, on_v3: int, on_v4: int, on_arm: int) -> None:
    found = [word.resolve(t, ps.float32) for t in (V3, V4, ARM)]
    assert found == [on_v3, on_v4, on_arm]


def test_it_counts_elements_of_the_type() -> None:
    assert [native.resolve(V3, t) for t in (ps.uint8, ps.float32, ps.float64)] == [32, 8, 4]
    assert cache_elements(2).resolve(V3, ps.float64) == 32768


@given(WORDS)
def test_text_and_json_say_the_same(word: Word) -> None:
    for made in (eval(repr(word), {"ps": ps}), from_json(json.loads(json.dumps(word.to_json())))):
        for t in (V3, V4, ARM):
            assert made.resolve(t, ps.float32) == word.resolve(t, ps.float32)
        assert repr(made) == repr(word)


def test_a_number_keeps_its_word() -> None:
    made = (2 * native).resolve(V4, ps.float32)
    assert (made, f"{made}", made + 1) == (32, "32", 33)
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert isinstance(again, Resolved)
        assert (again, repr(again.word)) == (32, "2 * ps.native")


# refusals ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("other", [1.5, True, "2", None])
def test_only_words_and_integers_go_together(other: object) -> None:
    with pytest.raises(ps.LanguageTypeError, match="goes with such numbers and Python integers"):
        native * other  # type: ignore[operator]


def test_there_are_three_caches() -> None:
    with pytest.raises(ps.LanguageError, match="there is no cache 4"):
        cache_elements(4)
    with pytest.raises(ps.LanguageError, match=r"^there is no cache array"):
        cache_elements(np.ones(3))  # type: ignore[arg-type]


@pytest.mark.parametrize("vectors", [0, -1, True, "2"])
def test_a_tile_has_a_vector_of_columns(vectors: object) -> None:
    with pytest.raises(ps.LanguageError, match="a tile has at least one vector of columns, not"):
        rows_beside(vectors)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "a b", "for", "2x", 3, None])
def test_a_factor_is_called_as_python_allows(name: object) -> None:
    with pytest.raises(ps.LanguageError, match="is no name of Python"):
        factor(name, 8)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [0, -1, True, 2.0, "8", None])
def test_a_factor_is_a_number_from_1_on(number: object) -> None:
    with pytest.raises(ps.LanguageError, match="rows is a number from 1 on, not"):
        factor("rows", number)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    ["width", ["factor", "rows"], ["factor", "a b", 2], ["*", 4], ["%", 4, "native"], 3, None],
)
def test_what_is_no_word_is_refused(data: object) -> None:
    with pytest.raises(ps.LanguageError, match="is no n"):
        from_json(data)
