"""Loop coordinates that others determine: functions that hold, as many as there are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import polysched as ps
from polysched.poly.sets.coordinates import Determined, beside, determined
from polysched.poly.sets.isl import Set, isl
from polysched.poly.tree.edits import stages
from polysched.poly.tree.stage import Stage, iterations
from polysched.poly.tree.times import independent_loops, scheduled_stages

from ..placing import blur, chain, i, j, m, n, row_sums

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param


def holds(function: Determined, own: int, where: Set) -> bool:
    """Whether a coordinate is that function of others in all iterations."""
    c = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(where.get_space()))
    c = c.set_coefficient_val(_SET, own, isl.Val(-function.factor))
    for x, factor in function.terms:
        if x == "":
            c = c.set_constant_val(isl.Val(factor))
        elif isinstance(x, int):
            c = c.set_coefficient_val(_SET, x, isl.Val(factor))
        else:
            k = where.find_dim_by_name(_PARAM, x)
            c = c.set_coefficient_val(_PARAM, k, isl.Val(factor))
    return bool(where.is_subset(Set.from_basic_set(isl.BasicSet.from_constraint(c))))


def nested() -> ps.Schedule:
    """Each in the loop of the next one, a row in each of its iterations."""
    s = chain(4)
    for k in (2, 1, 0):
        s[f"f{k}"].compute_at(f"f{k + 1}", i).store_root()
    return s


def again_and_again() -> ps.Schedule:
    """The same, three rows in each of its iterations."""
    s = chain(3)
    for k in (1, 0):
        s[f"f{k}"].compute_at(f"f{k + 1}", i)
    return s


def nested_in_tiles() -> ps.Schedule:
    s = chain(3)
    io, *_ = s["f2"].tile(i, j, 4, 8)
    for k in (1, 0):
        s[f"f{k}"].compute_at("f2", "ii").store_at("f2", io)
    s["f0"].split(j, 2)
    return s


def shifted() -> ps.Schedule:
    s = blur()
    s["by"].skew(i, j, 2)
    s["by"].shift(i, 3)
    s["bx"].compute_at("by", i).store_root()
    return s


def at_one_place() -> ps.Schedule:
    """A loop that takes one value, which sizes determine."""
    x = ps.Input("x", ps.float32, (n, m))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i, j] = x[i, j] * 2
    g[i] = f[i, m - 1]
    s = ps.Schedule(g)
    s["f"].compute_at("g", i)
    return s


CASES = [nested, again_and_again, nested_in_tiles, shifted, at_one_place, lambda: row_sums(1)]


def every_stage(s: ps.Schedule) -> list[Stage]:
    return list(stages(s.tree))


@pytest.mark.parametrize("make", CASES)
def test_what_is_determined_holds_and_is_all_that_isl_finds(
    make: Callable[[], ps.Schedule],
) -> None:
    count = 0
    for stage in every_stage(make()):
        visited = iterations(stage)
        for own, function in stage.determined.items():
            assert holds(function, own, visited)
            assert all(k < own for k in function.others)
        assert (
            stage.determined.keys() == determined(visited, range(len(stage.coordinates)), {}).keys()
        )
        count += len(stage.determined)
    assert count or make is not nested


def test_by_which_loops_coordinates_are_determined() -> None:
    """All of a chain of one row each in the outermost loop; by that loop alone."""
    (first, *_) = every_stage(nested())
    assert len(first.coordinates) == 5
    assert {k: t.others for k, t in first.determined.items() if k} == {
        k: frozenset({0}) for k in range(1, len(first.determined) + 1)
    }


def test_coordinates_beside_others() -> None:
    one, two = ps.vars("one two")
    from polysched.lang.nodes import index as ix
    from polysched.lang.nodes.nodes import integer

    up, down = ix.add(one, integer(3)), ix.sub(one, integer(2))
    assert beside([up, two, down, two]) == {2: (0, -5), 3: (1, 0)}
    assert beside([one, two]) == {}


def test_independent_loops() -> None:
    """Stages of the two functions for one loop are equal there where they are in the others; two
    functions that differ decide nothing."""
    p = list(scheduled_stages(nested().tree))
    a, b = p[0], p[1]
    shared = range(2)
    assert independent_loops(a.run, a.run, shared) == [0]
    assert set(independent_loops(a.run, b.run, shared)) <= {0, 1}
    assert independent_loops(a.run, a.run, [1]) == [1]  # what determines it is not among them
