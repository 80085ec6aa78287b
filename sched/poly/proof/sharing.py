"""Storage that iterations of a loop share, although they run concurrently.

A Func that is computed anew in each iteration of a parallel loop, and stored outside of it, is
written by several threads; lanes share all storage. Of its writes and reads, those of different
iterations must touch different elements. (The storage of sliding windows has been placed inside of
parallel loops before, see `placement`.)
"""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.tensors.tensors import Func
from ..model.statements import Statement
from ..placement.storage_placement import stored_depth
from ..sets.isl import Set
from ..tree.looptree import Seq, kinds, loops_of, produced
from ..tree.times import ScheduledStage, meeting, scheduled_stages
from .dependences import Dependence, Kind
from .obligations import Disjoint, Once, Proofs
from .proof import Violation


def shared(tree: Seq, context: Set, proofs: Proofs) -> Iterator[Violation]:
    """Pairs of instances that touch one element concurrently.

    Args:
        proofs: what is known to be disjoint.
    """
    if kinds(tree).isdisjoint({"parallel", "vector"}):
        return
    for path, node in produced(tree):
        for func in node.funcs:
            loops, stored = loops_of(path), stored_depth(path, func)
            for k in range(node.fresh_depth):
                kind = loops[k].kind
                if kind == "vector" or (kind == "parallel" and k >= stored):
                    yield from _races(tree, func, k, context, proofs)
    yield from _run_twice(tree, context, proofs)


def _run_twice(tree: Seq, context: Set, proofs: Proofs) -> Iterator[Violation]:
    """Instances that run in several parts of a stage, in concurrent iterations: the last tile of
    tail="shift" begins earlier, and runs instances of the tile before it again."""
    parts: dict[Statement, list[ScheduledStage]] = {}
    for p in scheduled_stages(tree):
        parts.setdefault(p.stage.statement, []).append(p)
    for statement, found in parts.items():
        for number, a in enumerate(found):
            for b in found[:number]:
                for k in _concurrent_loops(a, b):
                    again = proofs.broken(Once(a.run, b.run, k), context)
                    if again is not None:
                        func = statement.func
                        d = Dependence("output", func, statement.base, statement.base, again, True)
                        yield Violation(d, again, statement, statement, "race")


def _concurrent_loops(a: ScheduledStage, b: ScheduledStage) -> Iterator[int]:
    """The parallel loops around two stages whose iterations share what these store."""
    met = meeting(a, b)
    func = a.stage.statement.func
    for k, loop in enumerate(met.loops):
        private = any(depth > k for depth in met.stored(a, func))
        if loop.kind == "parallel" and not private:
            yield k


def _races(tree: Seq, func: Func, loop: int, context: Set, proofs: Proofs) -> Iterator[Violation]:
    using = [p for p in scheduled_stages(tree) if p.stage.statement.touches(func)]
    for a in using:
        if a.producer(func) is None:
            continue
        for b in using:
            if len(b.loops) > loop and a.loops[loop] is b.loops[loop]:
                yield from _between(a, b, func, loop, context, proofs)


def _between(
    a: ScheduledStage, b: ScheduledStage, func: Func, loop: int, context: Set, proofs: Proofs
) -> Iterator[Violation]:
    first, second = a.stage.statement, b.stage.statement
    for x in first.writes_of(func):
        for y in second.accesses_of(func):
            pairs = proofs.broken(Disjoint(a.run, b.run, x, y, loop), context)
            if pairs is not None:
                kind: Kind = "output" if y.is_write else "flow"
                d = Dependence(kind, func, first.base, second.base, pairs, x.must and y.must)
                yield Violation(d, pairs, first, second, "race")
