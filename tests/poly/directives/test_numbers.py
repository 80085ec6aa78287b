"""The integers of directives: what they may be, given by a call or read from JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import polysched as ps

from .cases import blur, i, j, n, plane
from .support import refused, same

Given = Callable[[ps.Schedule, Any], object]

NUMBERS: dict[str, tuple[Given, str]] = {
    "split": (lambda s, x: s["f"].split(i, x), "factor"),
    "skew": (lambda s, x: s["f"].skew(i, j, x), "factor"),
    "shift": (lambda s, x: s["f"].shift(i, x), "distance"),
    "compute_with": (lambda s, x: s["f"].compute_with("g", i, shift=x), "shift"),
    "peel": (lambda s, x: s["f"].peel(i, first=x), "number of first iterations"),
    "bound": (lambda s, x: s["f"].bound(i, x), "extent"),
    "align_bounds": (lambda s, x: s["f"].align_bounds(i, x), "factor"),
    "fold_storage": (lambda s, x: s["g"].fold_storage(0, x), "number of planes"),
    "align_storage": (lambda s, x: s["g"].align_storage(1, x), "multiple"),
    "prefetch": (lambda s, x: s["f"].prefetch("g", i, x), "distance"),
}
MADE: dict[str, Given] = {
    "tile": lambda s, x: s["f"].tile(i, j, 4, x),
    "vectorize": lambda s, x: s["f"].vectorize(j, x),
    "unroll": lambda s, x: s["f"].unroll(j, x),
    "parallel": lambda s, x: s["f"].parallel(j, x),
    "unroll_and_jam": lambda s, x: s["f"].unroll_and_jam(i, x),
}
"""Directives that are made of others."""


def given() -> Iterator[tuple[str, Given, str]]:
    """Every directive with a number, by name."""
    yield from ((name, give, what) for name, (give, what) in NUMBERS.items())
    yield from ((name, give, "factor") for name, give in MADE.items())


@pytest.mark.parametrize("number", [2**40 + 1, 2**63, 2**64])
def test_refuses_huge_numbers(number: int) -> None:
    s = ps.Schedule(blur())
    before = s.key
    for name, give, what in given():
        with pytest.raises(ps.ScheduleError) as found:
            give(s, number)
        assert re.search(f"the {what} of {name} is .*2..40, not {number}", found.value.what)
        assert found.value.hint is not None
        assert "sizes are below 2**40" in found.value.hint
    assert s.key == before


@pytest.mark.parametrize("number", [True, 2.0, np.int64(4), np.float32(4), "4", n])
def test_refuses_what_is_no_python_integer(number: object) -> None:
    s = ps.Schedule(blur())
    for name, give, what in given():
        told = f"the {what} of {name} is a Python integer, not "
        if name == "tile":  # what is no number stands for a loop there
            told += "|tile takes loops, then as many factors"
        with pytest.raises(TypeError, match=told) as e:
            give(s, number)
        assert isinstance(e.value, ps.LanguageError)
        assert e.value.where is not None
        assert e.value.where.file == __file__


@pytest.mark.parametrize("name", NUMBERS)
def test_refuses_the_same_of_json(name: str) -> None:
    s = ps.Schedule(blur())
    with s.trust("only its text counts"):
        NUMBERS[name][0](s, 1)
    data = json.loads(s.to_json())
    options = data["steps"][0]["directive"]["options"]
    key = next(k for k, v in reversed(options.items()) if v == 1)
    for number in (2**40 + 1, 2**63, 2**64, -(2**63), 2.0, True, "4", [4]):
        options[key] = number
        with pytest.raises(ps.PolyschedError, match=f"the {NUMBERS[name][1]} of {name} is "):
            ps.Schedule.from_json(s.program.outputs, json.dumps(data))


@pytest.mark.parametrize("first", [-1, 0])
def test_refuses_to_peel_less_than_nothing(first: int) -> None:
    s = ps.Schedule(plane())
    with refused(s, "is at least 0, not -1" if first else "peel takes at least one iteration"):
        s["f"].peel(i, first=first)


@pytest.mark.parametrize("factor", [2**18, 2**40, -(2**40)])
def test_refuses_loops_that_would_leave_64_bits(factor: int) -> None:
    s = ps.Schedule(plane())
    with refused(s, "the loop j of f would count to j", "which may not fit in 64 bits"):
        s["f"].skew(i, j, factor)


def test_refuses_the_product_of_accepted_numbers() -> None:
    s = ps.Schedule(plane())
    s["f"].skew(i, j, 2**10)
    s["f"].transform((i, j), lambda i, j: (i, 2**6 * j))
    same(s)
    with refused(s, "may not fit in 64 bits"):
        s["f"].transform((i, j), lambda i, j: (i, 2**7 * j))


def test_counts_far() -> None:
    s = ps.Schedule(plane())
    s["f"].skew(i, j, 2**16)
    s["f"].shift(i, -(2**40))
    s["f"].split(j, 2**40)
    same(s)


def test_says_that_a_coefficient_is_too_large() -> None:
    s = ps.Schedule(plane())
    with refused(s, "may not fit in 64 bits: i * 1073741824, where sizes", hint="small"):
        s["f"].transform((i, j), lambda i, j: (i, j + i * 2**30))


def test_says_that_a_condition_is_too_large() -> None:
    s = ps.Schedule(plane())
    with refused(s, "the condition may not fit in 64 bits: i * 1073741824, where"):
        s["f"].partition(i * 2**30 < n)


@pytest.mark.parametrize("size", [2**40, 2**63, 2**64])
def test_refuses_to_compile_for_sizes_that_no_call_has(size: int) -> None:
    s = ps.Schedule(plane())
    with refused(s, f"n={size}: a size is below 2"):
        s.compile(n=size)


def test_refuses_blocks_of_blocks_beyond_64_bits() -> None:
    """The first element of a block was a product that wrapped: wrong elements, out of bounds."""
    s = ps.Schedule(plane())
    s["f"].split(j, 2**40)
    s["f"].split("jo", 2**20)
    same(s)
    with refused(s, "the loop jooo of f would count to", "may not fit in 64 bits"):
        s["f"].split("joo", 4)


def test_refuses_what_loops_would_compute_with() -> None:
    """Each coordinate fits; the index that both tell is a sum of products that may not."""
    s = ps.Schedule(plane())
    s["f"].transform((i, j), lambda i, j: (i + 2**12 * j, j + 2**12 * i))
    for look in (str, ps.Schedule.compile):
        with pytest.raises(ps.ScheduleError, match="which may not fit in 64 bits") as found:
            look(s)
        assert found.value.status == "unproved"
