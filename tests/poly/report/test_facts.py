"""Facts about a schedule, for tools that choose one: numbers of iterations, accesses, loops that
may be parallel or in another order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

import pytest

import polysched as ps
from polysched.poly.nests.loop_nest import NestLoop
from polysched.poly.tree.edits import stages

from ..directives.cases import gauss_seidel, jacobi, plane, product, running, seidel_2d
from ..directives.test_values import PROGRAMS, random_directive
from .test_idle_iterations import sizes_of, values_of, visited


# extents ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_loop_has_more_iterations_than_its_extent(name: str) -> None:
    rng = random.Random(f"facts {name}")
    s = ps.Schedule(PROGRAMS[name]())
    for _ in range(6):
        try:
            random_directive(rng, s, s[rng.choice(list(stages(s.tree))).name])
        except ps.ScheduleError:
            continue
    sizes = sizes_of(s, 5)
    found = s.extents(**sizes)
    for nest in s.nests:
        trace = visited(nest, values_of(s, sizes))
        loops = ((x, at) for x, at in trace if isinstance(x, NestLoop))
        rounds = Counter((x.loop.name, x.var, at[:-1]) for x, at in loops)
        for (loop, *_), count in rounds.items():
            assert max(own.get(loop, 0) for own in found.values()) >= count


def test_extents_of_tiles() -> None:
    s = ps.Schedule(product())
    s["C"].split("i", 8)
    assert s.extents(n=100, m=9, l=7)["C"] == {"io": 13, "ii": 8, "j": 9}
    assert s.extents(n=3, m=0, l=7)["C"] == {"io": 1, "ii": 3, "j": 0}
    assert s.extents(n=3, m=0, l=7)["C.update(0)"] == {"i": 3, "j": 0, "k": 7}


def test_extents_of_what_a_tile_needs() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = ps.cast(ps.float32, i)
    g[i] = f[i] + f[i + 2]
    s = ps.Schedule(g)
    s["g"].split("i", 8)
    s["f"].compute_at("g", "io")
    assert s.extents(n=100) == {"f": {"io": 13, "i": 10}, "g": {"io": 13, "ii": 8}}
    s["f"].split("i", 4, names=("fo", "fi"))
    assert s.extents(n=100)["f"] == {"io": 13, "fo": 3, "fi": 4}


def test_extents_where_sizes_are_known() -> None:
    s = ps.Schedule(plane())
    s["f"].split("i", 8)
    s.assume(ps.sizes("n") == 20)
    assert s.extents(m=5) == {"f": {"io": 3, "ii": 8, "j": 5}}


def test_extents_of_an_output_without_a_shape() -> None:
    f, i = ps.Func("f"), ps.vars("i")
    f[i] = i
    assert ps.Schedule(f).extents(**{"f.shape[0]": 7}) == {"f": {"i": 7}}


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"n": 5}, "m is missing"),
        ({"n": 5, "m": 4, "q": 3}, "q is no size of this program"),
        ({"n": -1, "m": 4}, "n=-1: a size is an integer >= 0"),
        ({"n": True, "m": 4}, "n=True: a size is an integer >= 0"),
        ({"n": 2.5, "m": 4}, "n=2.5: a size is an integer >= 0"),
        ({"n": 2**40, "m": 4}, "a size is below 2**40"),
    ],
)
def test_extents_at_no_sizes(sizes: dict[str, Any], says: str) -> None:
    with pytest.raises(ps.PolyschedError) as refusal:
        ps.Schedule(plane()).extents(**sizes)
    assert says in str(refusal.value)


# accesses ---------------------------------------------------------------------------------------
def test_accesses_move_along_loops() -> None:
    s = ps.Schedule(product())
    u = s["C.update(0)"]
    u.split("i", 8)
    u.shift("j", 3)
    a, b, old, new = u.accesses
    assert (a.tensor, a.index, a.is_write) == ("A", "i, k", False)
    assert a.steps == {"io": (8, 0), "ii": (1, 0), "j": (0, 0), "k": (0, 1)}
    assert (b.tensor, b.steps) == ("B", {"io": (0, 0), "ii": (0, 0), "j": (0, 1), "k": (1, 0)})
    assert (old.tensor, old.is_write, new.is_write) == ("C", False, True)
    assert old.steps == new.steps == {"io": (8, 0), "ii": (1, 0), "j": (0, 1), "k": (0, 0)}


def test_accesses_that_do_not_move_evenly() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    x, y = ps.Input("x", ps.int64, (n,)), ps.Input("y", ps.int64, (n,), range=(0, n))
    f = ps.Func("f", (n,))
    f[i] = x[y[i]] + x[i // 2] + x[n - 1 - i]
    found = {a.index: a.steps["i"] for a in ps.Schedule(f)["f"].accesses if not a.is_write}
    assert found == {"i": (1,), "y[i]": (None,), "i // 2": (None,), "n - 1 - i": (-1,)}


# loops ------------------------------------------------------------------------------------------
MAKERS: dict[str, Callable[[], Any]] = {
    "product": product, "gauss_seidel": gauss_seidel, "jacobi": jacobi, "plane": plane,
    "seidel_2d": seidel_2d, "running": lambda: running(3),
}  # fmt: skip


def accepted(s: ps.Schedule, stage: str, directive: str, *loops: str) -> bool:
    try:
        getattr(s.copy()[stage], directive)(*loops)
    except ps.ScheduleError:
        return False
    return True


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_loops_that_may_be_parallel_or_permuted(name: str, skewed: bool) -> None:
    """They are those for which the directives are accepted."""
    s = ps.Schedule(MAKERS[name]())
    for stage in stages(s.tree):
        if skewed and len(s[stage.name].loops) > 1:
            s[stage.name].skew(*s[stage.name].loops[:2])
    for stage in [x.name for x in stages(s.tree)]:
        loops = [x.name for x in s[stage].loops]
        given = [x.name for x in s[stage].parallelizable]
        assert given == [x for x in loops if accepted(s, stage, "parallel", x)]
        bands = [[x.name for x in band] for band in s[stage].permutable]
        assert [x for band in bands for x in band] == loops
        for band in bands:
            assert all(accepted(s, stage, "reorder", *o) for o in permutations(band))
        for band, after in pairwise(bands):
            orders = permutations([*band, after[0]])
            assert not all(accepted(s, stage, "reorder", *o) for o in orders)
    assert s == s.copy()


def test_a_parallel_loop_may_be_one() -> None:
    s = ps.Schedule(plane())
    s["f"].parallel("i")
    assert [x.name for x in s["f"].parallelizable] == ["i", "j"]
