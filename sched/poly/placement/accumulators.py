"""Private accumulators: what is copied in before an accumulation, and out at its end.

With I the iterations of the accumulating stage over its loops but those over RVars, and P those of
a pure definition inside, which begins elements anew,

    I \\ P is copied in, and I union P copied out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lang.errors.errors import ScheduleError
from ...lang.nodes.nodes import Node, Read, RVar, Var, postorder, replaced_all
from ...lang.nodes.printer import expr_text
from ...lang.tensors.definitions import Definition
from ...records import dataclass
from ..model.statements import Access, Statement
from ..program.accumulation import matched
from ..sets.coordinates import coordinate_map
from ..sets.isl import Frame, Map, Set, coalesced, isl, union_sets
from ..sets.memo import Same
from ..sets.projections import outer_part
from ..tree.looptree import Accumulator, Loop, Seq, Tree, leaves, loops_of, nodes
from ..tree.memory import Fault
from ..tree.stage import Stage, loop_map
from .layouts import element_of, expressions

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True)
class Copies:
    """The loops of the copy-in and of the copy-out."""

    copy_in: Tree
    copy_out: Tree


@dataclass(frozen=True)
class _Copied:
    """What is copied.

    Attributes:
        read: the iterations that accumulate and do not begin elements anew, over the loops around
            and those of the copies.
        whole: all that accumulate or begin elements.
        element: the element of each, over these loops.
    """

    read: Set
    whole: Set
    element: tuple[Node, ...]


def copies(node: Accumulator, depth: int, symbols: Mapping[str, Node], context: Set) -> Copies:
    """The copies around a body inside of `depth` loops.

    Raises:
        ScheduleError: no loops copy just what is accumulated, or the body uses it elsewhere, too.
    """
    inside = leaves(Seq(node.body))
    _check_private(node, [s for _, s in inside], depth, context)
    paths = [p for p, s in inside if node.is_of(s)]
    parts = [s for _, s in inside if node.is_of(s)]
    _check_together(parts)
    own = _own_loops(parts[0], depth)
    dims = tuple(Var(f"#{k}") for k in range(depth + len(own)))
    begun = [
        s
        for _, s in inside
        if s.statement.func is node.func and not s.statement.definition.is_update
    ]
    found = _copied(parts, begun, own, depth, symbols, dims)
    below = loops_of(paths[0])
    loops = [below[k - depth] for k in own]
    stage = parts[0]
    frame = Frame(stage.statement.frame.params, tuple(x.name for x in dims))

    def nest(where: Set, part: str) -> Tree:
        d = _copy(stage.statement.definition, found.element, dims)
        made: Tree = Stage(Statement(d, f"{node.stage}{part}", frame, where, None), dims)
        for loop in reversed(loops):
            # A constraint of one part alone does not bound a loop over the union of the parts.
            shared = all(any(x is loop for x in loops_of(p)) for p in paths)
            laid_out = shared and loop.kind in ("vector", "unrolled")
            made = Loop(loop.name, (made,), loop.kind if laid_out else "serial")
        return made

    return Copies(nest(found.read, ".load"), nest(found.whole, ".store"))


def _own_loops(stage: Stage, depth: int) -> list[int]:
    """Which coordinates of the accumulating stage the loops of copies run over, but for those of
    the `depth` loops around: those that the index of its element is made of."""
    index = stage.statement.definition.lhs
    return [
        k
        for k in range(depth, len(stage.coordinates))
        if all(n in index for n in postorder(stage.coordinates[k]) if isinstance(n, (Var, RVar)))
    ]


def _copied(
    parts: Sequence[Stage],
    begun: Sequence[Stage],
    own: Sequence[int],
    depth: int,
    symbols: Mapping[str, Node],
    dims: Sequence[Var],
) -> _Copied:
    """What is copied, found once for all trees that differ in other loops only: those over RVars,
    and those below the loops around what begins elements.

    Args:
        parts: the stages of what accumulates.
        begun: those of what begins elements.
        own: which coordinates of the former the loops of copies run over, beside `depth` others.
    """
    chosen = [*range(depth), *own]
    key = (
        depth,
        tuple([parts[0].coordinates[k] for k in chosen]),
        tuple([(s.statement, Same(s.where), s.padding) for s in parts]),
        tuple([(s.statement, Same(s.where), s.coordinates[:depth]) for s in begun]),
        tuple(symbols.items()),
    )
    known = parts[0].statement.copied
    made = known.get(key)
    if not isinstance(made, _Copied):
        if len(known) >= _MOST_KNOWN:
            known.clear()
        made = known[key] = _found_copied(parts, begun, chosen, depth, symbols, dims)
    return made


_MOST_KNOWN = 64
"""Answers that are kept of a statement: a search tries thousands of schedules of one program."""


def _found_copied(
    parts: Sequence[Stage],
    begun: Sequence[Stage],
    chosen: list[int],
    depth: int,
    symbols: Mapping[str, Node],
    dims: Sequence[Var],
) -> _Copied:
    stage = parts[0]
    running = union_sets([_project(s, chosen) for s in parts[1:]], _project(stage, chosen))
    anew = [_begun(s, stage, chosen, depth) for s in begun]
    fresh = union_sets(anew, Set.empty(running.get_space()))
    whole = coalesced(running.union(fresh))
    element = _element(stage, parts, chosen)
    if begun and not whole.is_subset(element.domain()):  # nothing is added to some of them
        element = _element(stage, parts, chosen, fresh)
    values = expressions(element.intersect_domain(whole), symbols, dims)
    return _Copied(coalesced(running.subtract(fresh)), whole, values)


def fault(tree: Seq, context: Set) -> Fault | None:
    """A copy-out in concurrent iterations of elements that belong to one of them by data, with a
    hint. It is found only where such loops are trusted: without trust they are refused as a race.
    """
    for path, node in nodes(tree):
        if not isinstance(node, Accumulator):
            continue
        inside = [stage for _, stage in leaves(Seq(node.body))]
        own = [stage for stage in inside if node.is_of(stage)]
        given = next((s for s in own if s.statement.guard or s.statement.data_bounds), None)
        if given is None:
            continue
        for depth, loop in enumerate(loops_of(path)):
            if loop.kind == "parallel" and _may_meet(node, inside, depth, context):
                return (
                    f"iterations of the parallel loop {loop.name} would write back all that "
                    f"{given.name} may accumulate there, though data say what it does",
                    "a serial loop, or no private accumulator",
                )
    return None


def _may_meet(node: Accumulator, inside: Sequence[Stage], depth: int, context: Set) -> bool:
    """Whether two iterations of a loop, in one iteration of those around it, may write back the
    same element, for all that data say."""
    written = [
        touched_by(stage, access, depth + 1)
        for stage in inside
        for access in stage.statement.accesses_of(node.func)
        if access.is_write and node.holds(stage, access)
    ]
    by_loops = Map.from_range(union_sets(written[1:], written[0]))
    by_loops = by_loops.move_dims(_IN, 0, _OUT, 0, depth + 1)
    met = by_loops.apply_range(by_loops.reverse())
    for k in range(depth):
        met = met.equate(_IN, k, _OUT, k)
    met = met.order_lt(_IN, depth, _OUT, depth)
    return not met.intersect_params(context).is_empty()


def _check_private(node: Accumulator, inside: Sequence[Stage], depth: int, context: Set) -> None:
    """Refuses what would use elements of the Func while their values are in the accumulator.

    Raises:
        ScheduleError: as said.
    """
    uses = [(s, a) for s in inside for a in s.statement.accesses_of(node.func)]
    others = [(s, a) for s, a in uses if not node.holds(s, a)]
    if not others:  # as mostly, and nothing need be known of what is held
        return
    held = [touched_by(s, a, depth) for s, a in uses if a.is_write and node.holds(s, a)]
    whole = union_sets(held[1:], held[0])
    for s, a in others:
        met = whole.intersect(touched_by(s, a, depth))
        if not met.intersect_params(context).is_empty():
            uses_it = f"{s.name} {'writes' if a.is_write else 'reads'} {a.text}"
            raise ScheduleError(
                f"{uses_it} inside of the loop too, which may be an element of the private "
                f"accumulator of {node.stage}",
                hint="a loop further inside, fission, or partition",
            )


def _check_together(parts: Sequence[Stage]) -> None:
    """The parts of the accumulating stage run at the same iterations, so one loop copies for all.

    Raises:
        ScheduleError: they do not.
    """
    if any(s.coordinates != parts[0].coordinates for s in parts):
        names = ", ".join(s.name for s in parts)
        raise ScheduleError(
            f"{names} run at different iterations, so no one loop copies what they accumulate"
        )


def _element(
    stage: Stage, parts: Sequence[Stage], chosen: Sequence[int], begun: Set | None = None
) -> Map:
    """{ some of the coordinates of a stage -> the element that it accumulates }, also where an
    element is begun.

    Raises:
        ScheduleError: the coordinates do not determine it.
    """
    index = stage.statement.definition.lhs
    found = element_of(stage, parts, chosen, index, begun)
    if found is None:
        raise ScheduleError(
            f"the loops of {stage.name} over {', '.join(map(expr_text, index))} do not determine "
            "which element it accumulates"
        )
    return found


def touched_by(stage: Stage, access: Access, depth: int) -> Set:
    """{ (loops, element) : an access of a stage touches the element }, full tiles if padded."""
    whole = loop_map(stage)
    total = int(whole.dim(isl.dim_type.out))
    at = whole.project_out(isl.dim_type.out, depth, total - depth)
    touches = access.reach.intersect_domain(stage.padded)
    return at.flat_range_product(touches).range()


def _copy(d: Definition, element: tuple[Node, ...], dims: tuple[Var, ...]) -> Definition:
    values = tuple(Read(d.func, element, c, t) for c, t in enumerate(d.func.dtypes))
    return Definition(
        d.func, None, element, values, "=", dims, (), (), d.span, d.serial, is_added=True
    )


def _project(stage: Stage, chosen: list[int]) -> Set:
    """The iterations of a stage over some of its loops."""
    whole = stage.instances.apply(loop_map(stage))
    for k in reversed(range(len(stage.coordinates))):
        if k not in chosen:
            whole = whole.project_out(isl.dim_type.set, k, 1)
    return coalesced(whole)


def _begun(pure: Stage, update: Stage, chosen: list[int], depth: int) -> Set:
    """The iterations of an update that would touch what a pure definition has begun.

    Raises:
        ScheduleError: it does not do so in the iteration of the loops around in which that runs.
    """
    given = matched(update.statement.definition, pure.statement.definition)
    coordinates = replaced_all(tuple(update.coordinates[k] for k in chosen), given)
    found = _where(pure, coordinates)
    if coordinates[:depth] == pure.coordinates[:depth]:
        return found.range()  # mostly they are written alike
    here = found.apply_range(_outermost(found, depth))
    if not here.is_equal(_where(pure, pure.coordinates[:depth])):
        raise ScheduleError(
            f"{pure.name} begins elements in other iterations than those in which {update.name} "
            "accumulates them",
            hint="both are shifted then, or none",
        )
    return found.range()


def _where(stage: Stage, coordinates: Sequence[Node]) -> Map:
    """{ instance of a stage -> coordinates }"""
    return coordinate_map(stage.statement.frame, coordinates).intersect_domain(stage.instances)


def _outermost(found: Map, count: int) -> Map:
    """{ iteration -> its outermost coordinates }"""
    return outer_part(found.range().get_space(), count)
