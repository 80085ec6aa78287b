"""Loops with their bounds as text, in terms of the user's names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, RVar, Var, integer, substitute
from ...lang.nodes.printer import Names, expr_text, index_text
from ...records import dataclass
from ..nests.databounds import over_all
from ..nests.loop_nest import (
    LoopNest,
    NestAccumulator,
    NestAlloc,
    NestIf,
    NestLoop,
    NestSeq,
    NestStage,
    walk,
)
from ..tree.looptree import Loop


def loop_extent(nests: Sequence[LoopNest], loop: Loop) -> str:
    """How many iterations a loop of the tree has, as text over sizes and the loops around."""
    for x in walk(*nests):
        if isinstance(x, NestLoop) and x.loop is loop:
            return expr_text(ix.floordiv(ix.add(ix.sub(x.hi, x.lo), integer(x.step - 1)), x.step))
    return "0"


Notes = Callable[[NestLoop], str]
"""What is said at the end of a loop's line, if that is anything."""


@dataclass(frozen=True)
class Line:
    """A line of the listing, or several that belong together.

    Attributes:
        node: what it is about.
        depth: how many lines it stands inside of.
        text: without indentation; further lines of it are indented as far as the first one.
        note: what is said at its end.
    """

    node: LoopNest
    depth: int
    text: str
    note: str = ""


def text(
    found: LoopNest, indent: int = 0, names: Names | None = None, notes: Notes = lambda loop: ""
) -> str:
    """The loops with their bounds, as an indented listing.

    Args:
        names: unique ones of the tensors.
    """
    return "\n".join(_indented(x, indent) for x in lines(found, names, notes))


def _indented(line: Line, indent: int) -> str:
    pad = "  " * (indent + line.depth)
    note = f"  # {line.note}" if line.note else ""
    return pad + line.text.replace("\n", f"\n{pad}") + note


def lines(
    found: LoopNest, names: Names | None = None, notes: Notes = lambda loop: ""
) -> Iterator[Line]:
    """The same line by line, each with what it is about."""
    yield from _lines(found, 0, names, {}, notes)


def _lines(
    found: LoopNest, depth: int, names: Names | None, shown: dict[Node, Node], notes: Notes
) -> Iterator[Line]:
    """`shown` are loop variables by the names of their loops, as the user's lines have them."""

    def written(node: Node) -> str:
        return expr_text(substitute(node, shown), names)

    match found:
        case NestLoop(loop=loop, var=var, body=body):
            free = Var(loop.name) not in shown.values()
            inner = {**shown, var: Var(loop.name) if free else var}
            head = f"for {expr_text(inner[var])} in [{_bounds_text(found, names, written)})"
            by = "" if found.step == 1 else f" by {found.step}"
            kind = "" if loop.kind == "serial" else f" ({loop.kind})"
            everything = _over_all(found, len(shown))
            said = "; ".join(filter(None, (_direction(loop), everything, notes(found))))
            yield Line(found, depth, f"{head}{by}{kind}:", said)
            yield from _lines(body, depth + 1, names, inner, notes)
        case NestIf(condition=condition, body=body):
            yield Line(found, depth, f"if {written(condition)}:")
            yield from _lines(body, depth + 1, names, shown, notes)
        case NestSeq(parts=parts):
            for part in parts:
                yield from _lines(part, depth, names, shown, notes)
        case NestAlloc():
            rooms, body = [], found
            while isinstance(body, NestAlloc):
                name = (names or {}).get(body.func, body.func.name)
                rooms.append(f"{name}[{', '.join(map(written, body.extents))}]")
                body = body.body
            yield Line(found, depth, f"store {', '.join(rooms)}:")
            yield from _lines(body, depth + 1, names, shown, notes)
        case NestAccumulator(func=func, extents=extents, body=body):
            room = f"{(names or {}).get(func, func.name)}[{', '.join(map(written, extents))}]"
            yield Line(found, depth, f"keep {room}:")
            yield from _lines(body, depth + 1, names, shown, notes)
        case NestStage():
            yield from _stage_lines(found, depth, names, shown)


def _stage_lines(
    found: NestStage, depth: int, names: Names | None, shown: dict[Node, Node]
) -> Iterator[Line]:
    """A stage on its own lines, below its guard if it has one."""
    guard, func = found.stage.statement.guard, found.stage.statement.func
    loops = [expr_text(loop) for loop in shown.values()]

    def written(node: Node) -> str:
        return expr_text(substitute(node, shown), names)

    note = _point_note(found, written, loops, (names or {}).get(func, func.name))
    body = found.stage.statement.definition.listing(names)
    if guard is not None:
        yield Line(found, depth, f"if {expr_text(guard, names)}:")
    yield Line(found, depth + (guard is not None), body, note)


def _bounds_text(found: NestLoop, names: Names | None, written: Callable[[Node], str]) -> str:
    if found.data is None:
        return f"{written(found.lo)}, {written(found.hi)}"
    lo, hi = (index_text((end,), names) for end in (found.data.lo, found.data.hi))
    if found.data.stage.stage.where is None:
        return f"{lo}, {hi}"
    return f"max({written(found.lo)}, {lo}), min({written(found.hi)}, {hi})"


def _over_all(found: NestLoop, depth: int) -> str:
    """A note on a loop that runs over the declared range of an RVar, since the bounds that are read
    from data are not known where it begins; empty for other loops."""
    rvar = over_all(found, depth)
    return "" if rvar is None else f"all that {rvar.name} may be, under a guard"


def _point_note(
    found: NestStage, written: Callable[[Node], str], loops: Collection[str], func: str
) -> str:
    """The dimensions that no loop runs over, up or down, in terms of the loops.

    One that is called as a loop around it is not that loop: it is `f.i`. A loop that runs downwards
    says itself what it counts.
    """
    down = (x.args[0] for x in found.stage.coordinates if len(x.args) == 1)
    seen = {*found.stage.coordinates, *(x for x in down if f"{expr_text(x)}.down" in loops)}
    dims = ((x, at) for x, at in found.point.items() if isinstance(x, (Var, RVar)))
    shown = {expr_text(x): (written(at), x in seen) for x, at in dims}
    hidden = {x: at for x, (at, is_seen) in shown.items() if not is_seen or x in loops}
    return ", ".join(
        f"{func}.{x} = {at}" if x in loops else f"{x} = {at}"
        for x, at in hidden.items()
        if at.partition(".")[0] != x  # i, or i.2 where a loop outside is called i, too
    )


def _direction(loop: Loop) -> str:
    """What a loop that runs downwards counts."""
    name = loop.name.removesuffix(".down")
    return "" if name == loop.name else f"{name} = -{loop.name}"
