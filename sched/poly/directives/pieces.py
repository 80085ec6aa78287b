"""join: the pieces of a definition in one nest of loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...lang.errors.errors import ScheduleError
from ...lang.nodes.nodes import Node, Var, substitute
from ...records import dataclass, replace
from ..state.record import Directive
from ..tree.edits import Body, Shared, map_nodes, stages, with_body
from ..tree.looptree import Loop, Path, Seq, Tree, loops_of
from ..tree.stage import Stage

if TYPE_CHECKING:
    from ..state.editing import Editing


@dataclass(frozen=True)
class Join(Directive, name="join", of="func"):
    """for i: f[i, 0]; for j: f[i, j]   ->   for i: for j: f[i, 0], where j = 0; f[i, j]

    Legal: for each dependence x -> y, x is before y in the loops of the closing piece.
    """

    def edit(self, e: Editing) -> tuple[str, ...]:
        func = e.own().statement.func
        pieces = [
            (path, s)
            for path, s in e.tree.leaves
            if s.statement.func is func and not s.statement.definition.is_update
        ]
        if len({s.statement.base for _, s in pieces}) == 1:
            raise e.malformed(f"the definition of {func.name} has one piece, in one nest already")
        closing = [k for k, (_, s) in enumerate(pieces) if _is_closing(s)]
        if not closing:
            raise e.malformed(
                f"no piece of {func.name} has a Var for each axis, and so loops for the others",
                "compute_with puts stages into the loops of another one",
            )
        e.tree = join(e.tree, pieces, *pieces[closing[0]])
        return ()


def join(tree: Seq, pieces: list[tuple[Path, Stage]], at: Path, closing: Stage) -> Seq:
    """The pieces of a definition in the loops of the closing one: each at the coordinates that this
    would have at the same point.

    Raises:
        ScheduleError: a loop of them is no serial loop over whole pieces, or computes more.
    """
    own = loops_of(at)
    moved = [s for path, s in pieces if not _same(loops_of(path), own)]
    if not moved:
        raise ScheduleError(f"the pieces are in one nest already, of {_names(own)}")
    for path, stage in pieces:
        _check_whole(path, stage)
        _check_alone(path, stage, [s for _, s in pieces], own)

    joined = tuple(_at_the_point(s, closing) for s in moved)

    def change(node: Tree, body: Body) -> Body:
        if node is own[-1]:
            body = (*joined, *body)
        return (with_body(node, body),) if body else ()

    return map_nodes(tree, change, moved)


def are_joined(tree: Seq, names: Sequence[str]) -> bool:
    """Whether stages are all in the same loops."""
    found = [loops_of(path) for path, s in tree.leaves if s.name in names]
    return all(_same(loops, found[0]) for loops in found)


def _same(a: Sequence[Loop], b: Sequence[Loop]) -> bool:
    return [id(x) for x in a] == [id(x) for x in b]


def _is_closing(stage: Stage) -> bool:
    """Whether a piece has Vars alone on the left. It has loops, as Funcs in pieces have axes."""
    return all(isinstance(x, Var) for x in stage.statement.definition.lhs)


def _at_the_point(piece: Stage, closing: Stage) -> Stage:
    """A piece where the closing one would run for the same point: its coordinates, with the
    constants of the piece in the place of Vars."""
    ours, theirs = piece.statement, closing.statement
    given: dict[Node, Node] = dict(
        zip(
            (*theirs.around, *theirs.definition.lhs),
            (*ours.around, *ours.definition.lhs),
            strict=True,
        )
    )
    return replace(piece, coordinates=tuple(substitute(c, given) for c in closing.coordinates))


def _check_whole(path: Path, stage: Stage) -> None:
    """Refuses parts of pieces, and loops of kinds that the edit would drop or extend."""
    if stage.where is not None or stage.padding:
        raise ScheduleError(
            f"{stage.name} is a part of its piece, or filled up to full tiles",
            hint="join first, then peel, partition, or split with a tail",
        )
    for loop in loops_of(path):
        if loop.kind != "serial" or loop.full_tile is not None:
            kind = "in full tiles" if loop.kind == "serial" else loop.kind
            raise ScheduleError(
                f"the loop {loop.name} of {stage.name} is {kind} already",
                hint="join first, then say how loops run",
            )


def _check_alone(path: Path, stage: Stage, pieces: list[Stage], own: tuple[Loop, ...]) -> None:
    """Refuses a loop that would be gone and computes more than pieces."""
    for loop in loops_of(path):
        if any(loop is x for x in own):
            continue
        others = [s.name for s in stages(loop) if not any(s is x for x in pieces)]
        if others:
            raise Shared(
                f"the loop {loop.name} of {stage.name} holds other stages, too: "
                + ", ".join(dict.fromkeys(others)),
                loop,
            )


def _names(loops: tuple[Loop, ...]) -> str:
    return ", ".join(x.name for x in loops)
