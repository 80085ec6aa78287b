"""Which lines of a schedule's listing each line of the loop IR is made from.

Loops keep their variables on the way to the loop IR, and stores say which definition they belong
to. What a pass has made from a loop has a variable of its own: it belongs to the loops between
those around it and those inside that are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from ...codegen.ir import ir
from ...lang.nodes.nodes import Var
from ...lang.nodes.printer import Names
from ...poly.nests.loop_nest import (
    LoopNest,
    NestAccumulator,
    NestAlloc,
    NestIf,
    NestLoop,
    NestSeq,
    NestStage,
)
from ...records import dataclass

Numbers = tuple[int, ...]


@dataclass(slots=True)
class NestLines:
    """Where loops and stages stand in a listing.

    Attributes:
        loops: by the variable of loops, which is unique in a nest, the numbers of their lines.
        names: by the number of a line, what its loop is called.
        around: by the number of a line, those of the loops around its loop, outermost first.
        stages: by the serial of a definition, for each line with a stage of it: the number of that
            line, and those of the loops around, outermost first.
    """

    loops: dict[Var, list[int]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    around: dict[int, Numbers] = field(default_factory=dict)
    stages: dict[int, list[tuple[int, Numbers]]] = field(default_factory=dict)
    end: int = 0


def nest_lines(nests: Sequence[LoopNest], names: Names, first: int) -> NestLines:
    """The lines of nests as `listing.text` writes them, one after the other.

    Args:
        first: the number of the first one.
    """
    found = NestLines(end=first)
    for nest in nests:
        _number(nest, names, (), found)
    return found


def _number(nest: LoopNest, names: Names, around: Numbers, found: NestLines) -> None:
    match nest:
        case NestLoop(loop=loop, var=var, body=body):
            found.loops.setdefault(var, []).append(found.end)
            found.names[found.end], found.around[found.end] = loop.name, around
            around = (*around, found.end)
            found.end += 1
            _number(body, names, around, found)
        case NestSeq(parts=parts):
            for part in parts:
                _number(part, names, around, found)
        case NestAlloc():
            body = nest.body
            while isinstance(body, NestAlloc):
                body = body.body
            found.end += 1
            _number(body, names, around, found)
        case NestIf(body=body) | NestAccumulator(body=body):
            found.end += 1
            _number(body, names, around, found)
        case NestStage(stage=stage):
            statement = stage.statement
            found.end += statement.guard is not None
            places = found.stages.setdefault(statement.definition.serial, [])
            places.append((found.end, around))
            found.end += statement.definition.listing(names).count("\n") + 1


def links(
    loops: Sequence[tuple[str, ir.Function | ir.Stmt | None]], known: NestLines
) -> list[Numbers]:
    """For each line of the loop IR, the numbers of lines of the listing that it is made from."""
    found: dict[int, Numbers] = {}
    for _, what in loops:
        if isinstance(what, ir.Function):
            _link(what.body, (), _serials(what.body), known, found)
    return [found.get(id(what), ()) for _, what in loops]


def _link(
    stmt: ir.Stmt,
    around: Numbers,
    serials: Mapping[int, frozenset[int]],
    known: NestLines,
    found: dict[int, Numbers],
) -> None:
    """Links a statement and all inside; `around` are the lines of the loop around it."""
    if isinstance(stmt, ir.For):
        lines = _lines_of(stmt, serials, known) or _copying(stmt, around, serials, known)
        around = found[id(stmt)] = lines or _between(stmt, around, serials, known)
    elif isinstance(stmt, ir.Stores):
        found[id(stmt)] = _stage(stmt, around, known) or around
    elif not isinstance(stmt, ir.Seq):
        found[id(stmt)] = around
    for child in ir.children(stmt):
        _link(child, around, serials, known, found)


def _stage(stmt: ir.Stores, around: Numbers, known: NestLines) -> Numbers:
    """The stages that a statement runs: those inside of the loop around it."""
    own = set(_origins(stmt))
    if not own:  # a copy, of the one stage there is
        stages = [p for places in known.stages.values() for p in places]
        copies = [line for line, chain in stages if around and set(around) & set(chain)]
        return tuple(copies) if len(copies) == 1 else ()
    places = [p for serial in sorted(own) for p in known.stages.get(serial, ())]
    inside = [p for p in places if not around or set(around) & set(p[1])]
    return tuple(sorted({line for line, _ in inside or places}))


def _between(
    loop: ir.For, around: Numbers, serials: Mapping[int, frozenset[int]], known: NestLines
) -> Numbers:
    """The lines of the loops that one may have been made from whose variable is of its own: they
    are around what runs inside, within those around it, and outside of those inside that are
    known. Of these the one that has its name, if there is one."""
    below = (x for x in ir.walk(loop.body) if isinstance(x, ir.For))
    inside = {line for x in below for line in _lines_of(x, serials, known)}
    chains = [c for c in _chains(loop, serials, known) if not around or set(around) & set(c)]
    possible = {
        line
        for chain in chains
        for line in chain
        if line not in around
        and line not in inside
        and not (around and line < min(around))
        and not any(line > other for other in inside if other in chain)
    }
    same = {line for line in possible if known.names[line] == loop.name}
    return tuple(sorted(same or possible)) or around


def _lines_of(loop: ir.For, serials: Mapping[int, frozenset[int]], known: NestLines) -> Numbers:
    """The lines of the loops that have a loop's variable and what runs inside of it."""
    chained = {line for chain in _chains(loop, serials, known) for line in chain}
    lines = known.loops.get(loop.var, ())
    return tuple(line for line in lines if line in chained)


def _copying(
    loop: ir.For, around: Numbers, serials: Mapping[int, frozenset[int]], known: NestLines
) -> Numbers:
    """The lines of a loop that only copies elements, of which no definition is said: those of its
    variable within the loop around it."""
    if serials[id(loop)]:
        return ()
    lines = known.loops.get(loop.var, ())
    return tuple(x for x in lines if not around or set(around) & set(known.around[x]))


def _chains(
    loop: ir.For, serials: Mapping[int, frozenset[int]], known: NestLines
) -> Iterator[Numbers]:
    """The lines of the loops around each stage that runs inside of a loop."""
    for serial in sorted(serials[id(loop)]):
        for _, chain in known.stages.get(serial, ()):
            yield chain


def _serials(root: ir.Stmt) -> dict[int, frozenset[int]]:
    """The definitions that run inside of each loop, by its identity."""
    found: dict[int, frozenset[int]] = {}

    def visit(stmt: ir.Stmt) -> frozenset[int]:
        own = frozenset(_origins(stmt))
        inside = own.union(*(visit(child) for child in ir.children(stmt)))
        if isinstance(stmt, ir.For):
            found[id(stmt)] = inside
        return inside

    visit(root)
    return found


def _origins(stmt: ir.Stmt) -> Iterator[int]:
    for s in stmt.stores if isinstance(stmt, ir.Stores) else ():
        if s.origin is not None:
            yield s.origin.serial
