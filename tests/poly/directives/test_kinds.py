"""What is said of a loop stays said: a directive refuses to give it another kind."""

from __future__ import annotations

import itertools

import pytest

import polysched as ps

from .support import refused

DIRECTIVES = {"parallel": "parallel", "vectorize": "vector", "unroll": "unrolled"}

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def tiled() -> ps.Schedule:
    """`for i: for jo: for ji in [0, 8)`, of which any may be of any kind."""
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] + 1
    s = ps.Schedule(f)
    s[f].split(j, 8)
    return s


def kinds(s: ps.Schedule) -> dict[str, str]:
    return {loop.name: loop.kind for loop in s["f"].loops}


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(DIRECTIVES, 2)))
def test_a_loop_is_of_one_kind(first: str, second: str) -> None:
    s = tiled()
    getattr(s["f"], first)("ji")
    with refused(
        s, f"s[\"f\"].{second}('ji') is refused: the loop ji is {DIRECTIVES[first]} already",
        hint="say one of each part",
    ):  # fmt: skip
        getattr(s["f"], second)("ji")


@pytest.mark.parametrize(("name", "kind"), list(DIRECTIVES.items()))
def test_may_be_said_twice(name: str, kind: str) -> None:
    s = tiled()
    getattr(s["f"], name)("ji")
    getattr(s["f"], name)("ji")
    assert kinds(s) == {"i": "serial", "jo": "serial", "ji": kind}


@pytest.mark.parametrize("second", list(DIRECTIVES))
@pytest.mark.parametrize("first", ["vectorize", "unroll"])
def test_what_is_laid_out_is_not_split_by_a_number(first: str, second: str) -> None:
    s = tiled()
    getattr(s["f"], first)("ji")
    with refused(s, "already", hint="split first"):
        getattr(s["f"], second)("ji", 4)


@pytest.mark.parametrize("second", ["vectorize", "unroll"])
def test_a_part_of_a_parallel_loop_may_be_laid_out(second: str) -> None:
    """What is parallel inside of a parallel loop runs in order: nothing is lost."""
    s = tiled()
    s["f"].parallel(i)
    getattr(s["f"], second)(i, 4)
    assert kinds(s) == {"i": "parallel", "ii": DIRECTIVES[second], "jo": "serial", "ji": "serial"}


def test_the_hint_holds() -> None:
    s = tiled()
    s["f"].vectorize("ji")
    with refused(s, "is vector already", hint="or say it of jo, outside of it"):
        s["f"].parallel("ji")
    s["f"].parallel("jo")
    assert kinds(s) == {"i": "serial", "jo": "parallel", "ji": "vector"}


def test_fuse_loses_no_kind() -> None:
    s = tiled()
    s["f"].parallel("ji")
    with refused(s, "the loop ji is parallel already", hint="the loop that they become"):
        s["f"].fuse("jo", "ji")


def test_compute_with_loses_no_kind() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i], g[i] = x[i] + 1, x[i] + 2
    s = ps.Schedule((f, g))
    s[g].parallel(i)
    with refused(
        s, "the parallel loop i of g would become the serial loop i of f",
        hint="say it of f, or behind compute_with",
    ):  # fmt: skip
        s[g].compute_with(f, i)
    s[f].parallel(i)
    s[g].compute_with(f, i)
    assert kinds(s) == {"i": "parallel"}
