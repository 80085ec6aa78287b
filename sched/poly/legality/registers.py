"""What can be kept on the stack or in registers, as `store_in` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ...lang.nodes.nodes import Node, Var, integer, postorder, replaced_all
from ...lang.tensors.tensors import Func
from ..nests.loop_nest import (
    LoopNest,
    NestAccumulator,
    NestAlloc,
    NestLoop,
    NestStage,
    children,
    walk,
)
from ..nests.nests import NestTree, nest_trees
from ..sets.isl import Set
from ..sets.memo import Memo, Same
from ..tree.looptree import Accumulator, Alloc, Loop, Seq, nodes
from ..tree.memory import LARGEST, STACK, WHERE, Fault, Memory, Window
from ..tree.uses import shape


def fault(
    tree: Seq,
    symbols: Mapping[str, Node],
    context: Set,
    memory: Mapping[Func, Memory],
    folds: Mapping[Func, Window],
    memo: Memo,
) -> Fault | None:
    """What cannot be kept where `store_in` places it; None if all can.

    Args:
        symbols: the sizes that isl knows by name.
        context: what holds of them.
        memory: of Funcs that are to be on the stack or in registers.
        folds: what is kept of Funcs that are not stored whole.
        memo: the answers for nests that have not changed.
    """
    found = [(nest, _stored_in(nest)) for nest in nest_trees(tree, context)]
    for func, how in memory.items():
        if not any(func in stored for _, stored in found):
            return (
                f"{func.name} lives for the whole program, and cannot be stored {WHERE[how.place]}",
                "store_at(...) or accumulate_at(...) a loop first",
            )
    for nest, stored in found:
        here = {func: how for func, how in memory.items() if func in stored}
        if here:
            kept = {func: folds[func] for func in here if func in folds}
            given = tuple(here.items()), tuple(kept.items()), Same(context)
            key = ("fits", shape(nest.tree), _loop_names(nest), nest.parts, *given)
            wrong = memo.of(key, partial(_fault, nest, symbols, context, here, kept))
            if wrong is not None:
                return wrong
    return None


def _stored_in(nest: NestTree) -> set[Func]:
    """What has storage there."""
    found: set[Func] = set()
    for _, x in nodes(Seq((nest.tree,))):
        if isinstance(x, Alloc):
            found.update(x.funcs)
        elif isinstance(x, Accumulator):
            found.add(x.func)
    return found


def _loop_names(nest: NestTree) -> tuple[str, ...]:
    """What a message may say."""
    return tuple(x.name for _, x in nodes(Seq((nest.tree,))) if isinstance(x, Loop))


def _fault(
    nest: NestTree,
    symbols: Mapping[str, Node],
    context: Set,
    memory: Mapping[Func, Memory],
    folds: Mapping[Func, Window],
) -> Fault | None:
    """What cannot be kept in one nest where `store_in` places it."""
    bounded = nest.bounded(symbols, context)
    rooms = [x for x in walk(bounded) if isinstance(x, (NestAlloc, NestAccumulator))]
    for func, how in memory.items():
        for room in rooms:
            if room.func is func:
                wrong = _no_room(room, how, folds) or _addressed(room, how)
                if wrong is not None:
                    return wrong
    return _all_together(rooms, memory, folds)


def _all_together(
    rooms: Sequence[NestAlloc | NestAccumulator],
    memory: Mapping[Func, Memory],
    folds: Mapping[Func, Window],
) -> Fault | None:
    """Funcs of one nest, each of which would fit."""
    needed: dict[Func, int] = {}
    for x in rooms:
        if x.func in memory:
            bytes = _bytes(x, memory[x.func], folds) or 0
            needed[x.func] = max(needed.get(x.func, 0), bytes)
    total = sum(needed.values())
    if total <= STACK:
        return None
    return (
        f"{', '.join(f.name for f in needed)} take {total} bytes together, and no more than "
        f"{STACK} can be stored {WHERE['stack']}",
        "loops further inside, smaller tiles, or some of them on the heap",
    )


def _no_room(
    room: NestAlloc | NestAccumulator, how: Memory, folds: Mapping[Func, Window]
) -> Fault | None:
    """Storage whose size is not known when compiling, or too large."""
    func, bytes = room.func, _bytes(room, how, folds)
    if bytes is None:
        return (
            f"the extents of {func.name} are not constant: it cannot be stored {WHERE[how.place]}",
            "split the loops around it by constant factors",
        )
    if bytes > LARGEST:
        return (
            f"{func.name} takes {bytes} bytes, and no more than {LARGEST} can be stored "
            f"{WHERE[how.place]}",
            "a loop further inside, or smaller tiles",
        )
    return None


def _bytes(
    room: NestAlloc | NestAccumulator, how: Memory, folds: Mapping[Func, Window]
) -> int | None:
    """How much memory it takes, where that is a constant."""
    func, extents = room.func, list(room.extents)
    if isinstance(room, NestAlloc) and func in folds:
        extents[folds[func].axis] = integer(folds[func].planes)
    needed = [how.bytes(t, extents) for t in func.dtypes]
    return None if None in needed else sum(n for n in needed if n is not None)


def _addressed(room: NestAlloc | NestAccumulator, how: Memory) -> Fault | None:
    """What is to be in registers, and has elements that are found when the program runs."""
    moving = next(_moving(room.body, room, frozenset(), {}), None)
    if how.place != "register" or moving is None:
        return None
    return (
        f"which element of {room.func.name} is used depends on the loop {moving}, which is "
        "neither unrolled nor a vector: a register has no address",
        f"unroll({moving!r}) or vectorize({moving!r})",
    )


def _moving(
    nest: LoopNest,
    room: NestAlloc | NestAccumulator,
    serial: frozenset[Node],
    shown: Mapping[Node, str],
) -> Iterator[str]:
    """The loops inside, not laid out one by one, that an index into a room depends on."""
    match nest:
        case NestLoop(loop=loop, var=var, body=body):
            laid_out = loop.kind in ("unrolled", "vector")
            inside = serial if laid_out else serial | {var}
            yield from _moving(body, room, inside, {**shown, var: loop.name})
        case NestStage(stage=stage, point=point):
            for access in stage.statement.accesses:
                held = not isinstance(room, NestAccumulator) or room.accumulator.holds(
                    stage, access
                )
                if access.tensor is room.func and held:
                    index = replaced_all(access.index, point)
                    for n in postorder(*index):
                        if isinstance(n, Var) and n in serial:
                            yield shown[n]
        case _:
            for part in children(nest):
                yield from _moving(part, room, serial, shown)
