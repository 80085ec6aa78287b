"""Idle iterations: how many there are, and loop nests that have none."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import pytest

import polysched as ps
from polysched.lang.nodes.nodes import Node
from polysched.poly.nests.loop_nest import LoopNest, NestIf, NestLoop, NestSeq, NestStage
from polysched.poly.report import idle_iterations
from polysched.poly.report.idle_iterations import Uncountable, idle_shares, shares_at
from polysched.poly.sets.isl import Set
from polysched.poly.tree.edits import stages
from polysched.poly.tree.stage import iterations

from ..directives.cases import cholesky, gauss_seidel, i, j, jacobi, lu, m, n, nussinov, plane, t
from ..directives.test_values import PROGRAMS, random_directive

Point = tuple[int, ...]


# an oracle --------------------------------------------------------------------------------------
def evaluated(node: Node, values: Mapping[Any, int]) -> int:
    """An integer expression, as its operators are written in Python."""
    args = [evaluated(a, values) for a in node.args]
    if not args:
        return values[node] if node in values else int(node.value)  # type: ignore[attr-defined]
    op = node.op  # type: ignore[attr-defined]
    match op:
        case "select":
            return args[1] if args[0] else args[2]
        case "min" | "max":
            return min(args) if op == "min" else max(args)
        case "and" | "or":
            return all(args) if op == "and" else any(args)
        case "neg" | "not":
            return -args[0] if op == "neg" else not args[0]
    signs = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%",
             "eq": "==", "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}  # fmt: skip
    return int(eval(f"a {signs[op]} b", {"a": args[0], "b": args[1]}))


def visited(
    nest: LoopNest,
    values: dict[Any, int],
    around: Point = (),
    lanes: dict[Any, range] | None = None,
) -> Iterator[tuple[NestLoop | NestStage, Point]]:
    """Each loop at each of its iterations, and each stage where it runs. Lanes run in step: an
    iteration that only another one needs is one of the loop, in which nothing runs."""
    lanes = lanes or {}
    match nest:
        case NestLoop(var=var, lo=lo, hi=hi, step=step, body=body):
            together = [dict(zip(lanes, at, strict=True)) for at in product(*lanes.values())]
            ends = [
                (evaluated(lo, {**values, **at}), evaluated(hi, {**values, **at}))
                for at in together
            ]
            own = range(evaluated(lo, values), evaluated(hi, values), step)
            some = [x for a, b in ends for x in range(a, b, step)]
            if nest.loop.kind == "vector":
                lanes = {**lanes, var: own}
            for x in range(min(some, default=0), max(some, default=-1) + 1, step):
                yield nest, (*around, x)
                if x in own:
                    yield from visited(body, {**values, var: x}, (*around, x), lanes)
        case NestIf(condition=condition, body=body):
            if evaluated(condition, values):
                yield from visited(body, values, around, lanes)
        case NestSeq(parts=parts):
            for part in parts:
                yield from visited(part, values, around, lanes)
        case NestStage():
            yield nest, around


def below(nest: LoopNest, *, loops: bool = True) -> Iterator[LoopNest]:
    """What is in a nest; without what is in its loops, if so wanted."""
    yield nest
    parts: tuple[LoopNest, ...] = getattr(nest, "parts", None) or (getattr(nest, "body", None),)
    for part in parts:
        if part is not None and (loops or not isinstance(part, NestLoop)):
            yield from below(part, loops=loops)


def points(where: Set, sizes: Mapping[str, int]) -> set[Point]:
    for name, value in sizes.items():
        at = where.find_dim_by_name(idle_iterations.isl.dim_type.param, name)
        if at >= 0:
            where = where.fix_val(
                idle_iterations.isl.dim_type.param, at, idle_iterations.isl.Val(value)
            )
    found: set[Point] = set()
    count = int(where.dim(idle_iterations.isl.dim_type.set))

    def add(point: Any) -> None:
        of = range(count)
        found.add(
            tuple(
                int(str(point.get_coordinate_val(idle_iterations.isl.dim_type.set, k))) for k in of
            )
        )

    where.foreach_point(add)
    return found


def counted(nest: LoopNest, values: dict[Any, int]) -> dict[str, tuple[int, int]]:
    """For each stage in a loop, how often its innermost loop goes round, and how often it runs."""
    found: dict[str, tuple[int, int]] = {}
    trace = list(visited(nest, values))
    for loop in (x for x in below(nest) if isinstance(x, NestLoop)):
        for stage in own_stages(loop):
            rounds, runs = found.get(stage.stage.name, (0, 0))
            rounds += sum(x is loop for x, _ in trace)
            found[stage.stage.name] = rounds, runs + sum(x is stage for x, _ in trace)
    return found


def own_stages(loop: NestLoop) -> list[NestStage]:
    """Those of which it is the innermost loop."""
    body = [] if isinstance(loop.body, NestLoop) else below(loop.body, loops=False)
    return [x for x in body if isinstance(x, NestStage)]


def values_of(s: ps.Schedule, sizes: Mapping[str, int]) -> dict[Any, int]:
    return {s.parameters[name]: value for name, value in sizes.items()}


# counting ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_shares_are_those_of_an_enumeration(name: str, seed: int) -> None:
    rng = random.Random(f"visits {name}{seed}")
    s = ps.Schedule(PROGRAMS[name]())
    for _ in range(12):
        try:
            random_directive(rng, s, s[rng.choice(list(stages(s.tree))).name])
        except ps.ScheduleError:
            continue
    for size in (1, 4, 7):
        sizes = sizes_of(s, size)
        for nest in s.nests:
            shares = shares_at(nest, sizes)
            found = {k: (v.total, v.total - v.idle) for k, v in shares.items()}
            assert found == counted(nest, values_of(s, sizes))


def sizes_of(s: ps.Schedule, size: int) -> dict[str, int]:
    return {name: size + k for k, name in enumerate(s.parameters)}


def share(s: ps.Schedule) -> str:
    (found,) = (x for nest in s.nests for x in idle_shares(nest, s.accepted).values())
    return str(found)


def test_lanes_beyond_the_end() -> None:
    """Of 25 columns in four vectors of 8, three times over: 24 columns leave nothing over."""
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="guard")
    assert share(s) == "21% idle iterations (175 of 800, at n=25, m=25)"
    s.assume(m % 8 == 0)
    assert [idle_shares(nest, s.accepted) for nest in s.nests] == [{}]


def test_lanes_that_run_in_step() -> None:
    """Lane k needs the iterations from 100 * k on: all run over those of the last one, too."""
    f = ps.Func("f", (n,))
    f[i] = i
    s = ps.Schedule(f)
    s[f].vectorize(i, 4)
    s[f].reorder("ii", i)
    s[f].skew("ii", i, 100)
    assert share(s) == "98% idle iterations (1200 of 1224, at n=24)"


def test_sizes_that_a_schedule_knows() -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="guard")
    assert share(s.fixed({"m": 7})) == "12% idle iterations (24 of 192, at n=24)"
    s.assume((n == 2) & (m > 30))
    assert share(s) == "3% idle iterations (2 of 64, at m=31)"


def test_two_stages_in_one_loop() -> None:
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = i
    g[i] = f[i] * 2
    s = ps.Schedule((f, g))
    s["g"].compute_with("f", i, shift=1)
    (nest,) = s.nests
    found = {k: str(v) for k, v in idle_shares(nest, s.accepted).items()}
    assert found == dict.fromkeys("fg", "4% idle iterations (1 of 25, at n=24)")


def test_a_wave_of_tiles_that_are_whole() -> None:
    """Parallelograms: those at the ends are filled up with nothing."""
    s = ps.Schedule(jacobi())
    s["f"].skew(t, i, 1)
    s["f"].split(t, 4, tail="guard")
    s["f"].split(i, 8, tail="guard")
    s["f"].reorder("to", "io", "ti", "ii")
    s["f"].wavefront("to", "io")
    assert share(s) == "25% idle iterations (192 of 768, at n=24, T=24)"
    found = counted(s.nests[0], values_of(s, {"n": 24, "T": 24}))
    assert found == {"f": (768, 24 * 24)}


@pytest.mark.slow
def test_fewer_where_there_are_many() -> None:
    """Five loops over 24 each are too many steps; over 6 they are not."""
    a, b, c = ps.vars("a b c")
    f = ps.Func("f", (n, n, n, n, n))
    f[a, b, c, i, j] = i + j
    s = ps.Schedule(f)
    s["f"].split(j, 4, tail="guard")
    assert share(s) == "25% idle iterations (2592 of 10368, at n=6)"


def test_a_part_that_is_small() -> None:
    x, f = ps.Input("x", ps.int64, (n, n)), ps.Func("f", (n, n))
    f[i, j] = x[i, j]
    s = ps.Schedule(f)
    s["f"].partition((i > 0) | (j > 0))
    found = {k: str(v) for k, v in idle_shares(s.nests[0], s.accepted).items()}
    assert found == {
        "f[0]": "less than 1% idle iterations (1 of 576, at n=24)",
        "f[1]": "99% idle iterations (575 of 576, at n=24)",
    }


# none -------------------------------------------------------------------------------------------
def tiled(func: Any, stage: str, *loops_and_factors: Any, skew: Any = None) -> ps.Schedule:
    s = ps.Schedule(func)
    if skew is not None:
        s[stage].skew(*skew)
    s[stage].tile(*loops_and_factors)
    return s


def triangle() -> ps.Func:
    """The sum of each row up to the diagonal."""
    x, f = ps.Input("x", ps.float32, (n, n)), ps.Func("f", (n,))
    f[i] = 0.0
    k = ps.RVar("k", 0, i + 1)
    f[i] += x[i, k]
    return f


TILINGS: dict[str, Callable[[], ps.Schedule]] = {
    "lu": lambda: tiled(lu(), "a.update(1)", "r", "c", 4, 3),
    "lu, columns": lambda: tiled(lu(), "a.update(1)", "c", 5),
    "cholesky": lambda: tiled(cholesky(), "a.update(2)", "q", "c", 4, 4),
    "nussinov": lambda: tiled(nussinov(), "N.update(1)", "k", 4),
    "triangle": lambda: tiled(triangle(), "f.update(0)", "i", "k", 4, 4),
    "gauss_seidel": lambda: tiled(gauss_seidel(), "a", "r", "c", 4, 8),
    "jacobi, skewed": lambda: tiled(jacobi(), "f", "t", "i", 4, 8, skew=("t", "i", 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TILINGS)
def test_tiles_of_triangles_have_no_idle_iterations(name: str) -> None:
    """Not one loop has an iteration below which nothing runs, but for those of a whole nest of
    cholesky, which has nothing to do in the last round of the loop around it."""
    s = TILINGS[name]()
    assert all(idle_shares(nest, s.accepted) == {} for nest in s.nests)
    for size in (5, 8, 13):
        sizes = sizes_of(s, size)
        for nest in s.nests:
            trace = list(visited(nest, values_of(s, sizes)))
            for loop in (x for x in below(nest) if isinstance(x, NestLoop)):
                inside = [x.stage for x in below(loop) if isinstance(x, NestStage)]
                rounds = {p for x, p in trace if x is loop}
                depth = max((len(p) for p in rounds), default=0)
                needed = {p[:depth] for stage in inside for p in points(iterations(stage), sizes)}
                last = {p for p in rounds if name == "cholesky" and p[0] == sizes["n"] - 1}
                assert rounds - last == needed - last


@pytest.mark.parametrize("number", [2**40, 2**62 - 1, 2**63 - 1])
def test_sizes_that_no_call_has(number: int) -> None:
    """It is counted at sizes below 2**40; Python has no ranges of those far beyond."""
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="guard")
    s.assume(m % number == 3)
    assert share(s) == "62% idle iterations (120 of 192, at n=24, m=3)"


def test_loops_longer_than_a_range_of_python() -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="guard")
    s.assume(m == 2**63 + 8)
    assert "have some idle iterations" in s.explain()


# no telling -------------------------------------------------------------------------------------
def test_what_depends_on_data_is_not_counted() -> None:
    ends, x = ps.Input("ends", ps.int64, (n + 1,), range=(0, m)), ps.Input("x", ps.float32, (m,))
    f = ps.Func("f", (n,))
    k = ps.RVar("k", ends[i], ends[i + 1])
    f[i] = 0.0
    f[i] += x[k]
    s = ps.Schedule(f)
    with pytest.raises(Uncountable):
        idle_shares(s.nests[-1], s.accepted)


def test_too_many_steps_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="guard")
    monkeypatch.setattr(idle_iterations, "MOST", 10)
    with pytest.raises(Uncountable):
        idle_shares(s.nests[0], s.accepted)
    assert "the loops of f have some idle iterations" in s.explain()


def test_sizes_that_nothing_accepts() -> None:
    s = ps.Schedule(plane())
    with pytest.raises(Uncountable):
        idle_shares(s.nests[0], s.accepted.subtract(s.accepted))
