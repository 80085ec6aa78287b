"""The idle iterations of a stage, counted at small sizes: iterations of its innermost loop in which
it does nothing.

A loop nest is executed with Python integers. Of a stage below `for i: if i < 3: S` the innermost
loop runs for every i, and those from 3 on are idle. Where a guard stands further outside, the
innermost loop does not begin. The lanes of a vector loop run in step: a loop inside of it, whose
bounds depend on the lane, runs in each lane for all iterations that any of the lanes needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product

from ...lang.arguments.admission import SIZE_LIMIT
from ...lang.arithmetic.evaluate import ByNode, compile_over_loops
from ...lang.nodes.nodes import Node, Op, Param, Size, Var, postorder
from ...records import dataclass
from ..nests.loop_nest import (
    LoopNest,
    NestAccumulator,
    NestAlloc,
    NestIf,
    NestLoop,
    NestSeq,
    NestStage,
    children,
    walk,
)
from ..sets.isl import Frame, Set, isl
from ..sets.smallest import smallest_point
from ..tree.stage import Stage

MOST = 50_000
"""So many steps are taken at most: a fraction of a second."""

A_STEP = 8
"""An expression of as many operations counts as one more."""

LEAST = (24, 12, 6, 3)
"""Sizes are at least one of these, the first with which there are few enough steps."""

Values = dict[Node, int]
Functions = dict[Node, tuple[ByNode, int]]
"""Those of expressions, each with how many steps it counts as."""


@dataclass(frozen=True)
class Share:
    """Of `total` iterations of the innermost loop around a stage, `idle` are idle."""

    total: int
    idle: int
    sizes: Mapping[str, int]

    def __str__(self) -> str:
        """`12% idle iterations (48 of 400, at n=24)`"""
        percent = 100 * self.idle // self.total
        share = f"{percent}%" if percent else "less than 1%"
        at = ", ".join(f"{k}={v}" for k, v in self.sizes.items())
        counted = f"{self.idle} of {self.total}" + (f", at {at}" if at else "")
        return f"{share} idle iterations ({counted})"


@dataclass
class Steps:
    """How many steps may still be taken for all nests of a schedule."""

    left: int = 10 * MOST


class Uncountable(Exception):
    """What runs depends on data, or takes too many steps to count."""


def idle_shares(nest: LoopNest, context: Set, steps: Steps | None = None) -> dict[str, Share]:
    """For each stage of a nest that has idle iterations, how many of all.

    Counted at sizes that are nearly equal, and, as most tiles divide 24, at ones beside them.

    Args:
        context: the sizes that a call accepts.
        steps: what other nests have left.

    Raises:
        Uncountable: there is no telling.
    """
    steps = steps or Steps()
    names, functions = _names(nest), Functions()
    for least in LEAST:
        try:
            at, beside = (
                shares_at(nest, sizes_from(k, names, context), steps, functions)
                for k in (least, least + 1)
            )
        except _TooMany:
            continue
        found = {name: at[name] if at[name].idle else beside[name] for name in at}
        return {name: share for name, share in found.items() if share.idle}
    raise Uncountable


def _names(nest: LoopNest) -> list[str]:
    return list(dict.fromkeys(n.name for n in _symbols(nest)))


def _symbols(nest: LoopNest) -> Iterator[Size | Param]:
    """The sizes and Params that the bounds and guards of a nest are made of."""
    for part in walk(nest):
        yield from (n for n in postorder(*_expressions(part)) if isinstance(n, (Size, Param)))


def sizes_from(least: int, names: Sequence[str], context: Set) -> dict[str, int]:
    """The smallest sizes of a context that are not below a bound, as far as a call accepts such.

    Raises:
        Uncountable: there are none.
    """
    frame = Frame(tuple(_parameters(context)), ())
    for name in (*names, *frame.params):
        if name in frame.params:
            x = frame.param(name)
            usual = x.ge_set(frame.constant(least)).intersect(x.lt_set(frame.constant(SIZE_LIMIT)))
            narrowed = context.intersect(usual.params())
            context = context if narrowed.is_empty() else narrowed
    found = smallest_point(Set.from_params(context))
    if found is None:
        raise Uncountable
    return dict.fromkeys(names, least) | found[0]


def _parameters(context: Set) -> Iterator[str]:
    for k in range(int(context.dim(isl.dim_type.param))):
        yield str(context.get_dim_name(isl.dim_type.param, k))


# counting ---------------------------------------------------------------------------------------
class _TooMany(Uncountable):
    """Smaller sizes may do."""


def shares_at(
    nest: LoopNest,
    sizes: Mapping[str, int],
    steps: Steps | None = None,
    functions: Functions | None = None,
) -> dict[str, Share]:
    """For each stage of a nest that is in a loop, how many iterations are idle at some sizes.

    Args:
        functions: of the expressions that were met before.

    Raises:
        Uncountable: what runs depends on data, or takes more than `MOST` steps.
    """
    pool = steps or Steps()
    values: Values = {n: sizes[n.name] for n in _symbols(nest)}
    functions = Functions() if functions is None else functions
    counter = _Counter(values, functions, most=min(MOST, pool.left))
    try:
        counter.run(nest)
    finally:
        pool.left -= counter.steps
    shown = {name: sizes[name] for name in _names(nest)}
    loops = [p for p in walk(nest) if isinstance(p, NestLoop)]
    stages = dict.fromkeys(s.name for loop in loops for s in _directly_in(loop.body))
    return {
        name: Share(total, total - counter.runs[name], shown)
        for name in stages
        for total in (counter.total[name],)
    }


@dataclass
class _Counter:
    """Executes a nest. `values` are those of the sizes and of the loops around."""

    values: Values
    functions: Functions
    most: int
    total: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    lanes: dict[Var, range] = field(default_factory=dict)
    """The vector loops around, with all of their iterations."""
    used: dict[int, frozenset[Node]] = field(default_factory=dict)
    """What the bounds and guards of parts of the nest are made of, by the identity of the part."""

    def step(self, count: int) -> None:
        self.steps += count
        if self.steps > self.most:
            raise _TooMany

    def run(self, nest: LoopNest) -> None:
        self.step(1)
        match nest:
            case NestStage(stage=stage):
                self.runs[stage.name] += 1
            case NestSeq(parts=parts):
                for part in parts:
                    self.run(part)
            case NestAlloc(body=body) | NestAccumulator(body=body):
                self.run(body)
            case NestIf(condition=condition, body=body):
                if self.value(condition):
                    self.run(body)
            case NestLoop():
                self.loop(nest)

    def loop(self, nest: NestLoop) -> None:
        if nest.data is not None:
            raise Uncountable
        lo, hi = self.value(nest.lo), self.value(nest.hi)
        count = max(0, -((lo - hi) // nest.step))  # `len` of a range ends at 2**63
        vectors = [x for x in self.lanes if x in postorder(nest.lo, nest.hi)]
        count_in_step = self._in_step(nest, vectors) if vectors else count
        for stage in _directly_in(nest.body):
            self.total[stage.name] += count_in_step
        if isinstance(nest.body, NestStage):
            self.runs[nest.body.stage.name] += count
            return
        values = range(lo, hi, nest.step)
        if nest.loop.kind == "vector":
            self.lanes[nest.var] = values
        if nest.var in self._used(nest.body):
            for x in values:
                self.values[nest.var] = x
                self.run(nest.body)
        elif values:
            self._alike(nest.body, count)
        self.lanes.pop(nest.var, None)

    def _alike(self, body: LoopNest, count: int) -> None:
        """So many iterations that all do the same: one is executed, and counts for each."""
        before, total, runs = self.steps, self.total, self.runs
        self.total, self.runs = Counter(), Counter()
        self.run(body)
        others = (count - 1) * (self.steps - before)
        if self.steps + others > self.most:
            self.steps = self.most + 1  # where they would have ended
            raise _TooMany
        self.steps += others
        for counts, one in (total, self.total), (runs, self.runs):
            for name, times in one.items():
                counts[name] += times * count
        self.total, self.runs = total, runs

    def _used(self, nest: LoopNest) -> frozenset[Node]:
        if id(nest) not in self.used:
            own = postorder(*_expressions(nest))
            self.used[id(nest)] = frozenset(own).union(*(self._used(x) for x in children(nest)))
        return self.used[id(nest)]

    def _in_step(self, nest: NestLoop, vectors: list[Var]) -> int:
        """The iterations of a loop whose bounds depend on lanes: those that any lane needs."""
        kept: Values = {x: self.values[x] for x in vectors}
        bounds = []
        for lanes in product(*(self.lanes[x] for x in vectors)):
            self.step(1)
            self.values.update(zip(vectors, lanes, strict=True))
            bounds.append((self.value(nest.lo), self.value(nest.hi)))
        self.values.update(kept)
        some = [(lo, hi) for lo, hi in bounds if lo < hi]
        lo = min((lo for lo, _ in some), default=0)
        hi = max((hi for _, hi in some), default=0)
        return -((lo - hi) // nest.step)

    def value(self, node: Node) -> int:
        if node not in self.functions:
            self.functions[node] = _function(node), _operations(node) // A_STEP
        function, steps = self.functions[node]
        self.step(steps)
        try:
            return function(self.values)
        except KeyError:  # what it is made of is no loop and no size
            raise Uncountable from None


def _directly_in(nest: LoopNest) -> Iterator[Stage]:
    """The stages of a nest that are in none of its loops."""
    match nest:
        case NestStage(stage=stage):
            yield stage
        case NestLoop():
            return
        case _:
            for part in children(nest):
                yield from _directly_in(part)


def _expressions(nest: LoopNest) -> tuple[Node, ...]:
    """What decides, at a node itself, on what runs below."""
    match nest:
        case NestLoop(lo=lo, hi=hi):
            return lo, hi
        case NestIf(condition=condition):
            return (condition,)
    return ()


def _operations(node: Node) -> int:
    """How often an operator is evaluated: what an expression shares counts each time."""
    found: dict[Node, int] = {}
    for n in postorder(node):
        found[n] = 1 + sum(found[x] for x in n.operands) if isinstance(n, Op) else 0
    return found[node]


def _function(node: Node) -> ByNode:
    made = compile_over_loops(node)
    if made is None:
        raise Uncountable
    return made
