"""What can be kept on the stack or in registers, as `store_in` asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..lang.nodes import Node, Var, integer, postorder, replaced_all
from ..lang.tensors import Func
from .memory import LARGEST, STACK, WHERE, Memory, Window
from .refusals import Fault
from .scantree import Scan, ScanAlloc, ScanIf, ScanKeep, ScanLoop, ScanSeq, ScanStage, walk


def fault(
    nests: Sequence[Scan], memory: Mapping[Func, Memory], folds: Mapping[Func, Window]
) -> Fault | None:
    """What cannot be kept where it is asked to be.

    Args:
        folds: what is kept of Funcs that are not stored whole.
    """
    every = [x for x in walk(*nests) if isinstance(x, (ScanAlloc, ScanKeep))]
    for func, how in memory.items():
        if how.place not in ("stack", "register"):
            continue
        rooms = [x for x in every if x.func is func]
        if not rooms:
            return (
                f"{func.name} lives for the whole program, and cannot be stored {WHERE[how.place]}",
                "store_at(...) or accumulate_at(...) a loop first",
            )
        for room in rooms:
            wrong = _no_room(room, how, folds) or _addressed(room, how)
            if wrong is not None:
                return wrong
    return next((x for nest in nests if (x := _all_together(nest, memory, folds))), None)


def _all_together(
    nest: Scan, memory: Mapping[Func, Memory], folds: Mapping[Func, Window]
) -> Fault | None:
    """Funcs of one nest, each of which would fit."""
    needed: dict[Func, int] = {}
    for x in walk(nest):
        if isinstance(x, (ScanAlloc, ScanKeep)):
            how = memory.get(x.func)
            if how is not None and how.place in ("stack", "register"):
                needed[x.func] = max(needed.get(x.func, 0), _bytes(x, how, folds) or 0)
    total = sum(needed.values())
    if total <= STACK:
        return None
    return (
        f"{', '.join(f.name for f in needed)} take {total} bytes together, and no more than "
        f"{STACK} can be stored {WHERE['stack']}",
        "loops further inside, smaller tiles, or some of them on the heap",
    )


def _no_room(room: ScanAlloc | ScanKeep, how: Memory, folds: Mapping[Func, Window]) -> Fault | None:
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


def _bytes(room: ScanAlloc | ScanKeep, how: Memory, folds: Mapping[Func, Window]) -> int | None:
    """How much memory it takes, where that is a constant."""
    func, extents = room.func, list(room.extents)
    if isinstance(room, ScanAlloc) and func in folds:
        extents[folds[func].axis] = integer(folds[func].planes)
    needed = [how.bytes(t, extents) for t in func.dtypes]
    return None if None in needed else sum(n for n in needed if n is not None)


def _addressed(room: ScanAlloc | ScanKeep, how: Memory) -> Fault | None:
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
    scan: Scan, room: ScanAlloc | ScanKeep, serial: frozenset[Node], shown: Mapping[Node, str]
) -> Iterator[str]:
    """The loops inside, not laid out one by one, that an index into a room depends on."""
    match scan:
        case ScanLoop(loop=loop, var=var, body=body):
            laid_out = loop.kind in ("unrolled", "vector")
            inside = serial if laid_out else serial | {var}
            yield from _moving(body, room, inside, {**shown, var: loop.name})
        case ScanAlloc(body=body) | ScanIf(body=body) | ScanKeep(body=body):
            yield from _moving(body, room, serial, shown)
        case ScanSeq(parts=parts):
            for part in parts:
                yield from _moving(part, room, serial, shown)
        case ScanStage(stage=stage, point=point):
            for access in stage.statement.accesses:
                kept = not isinstance(room, ScanKeep) or room.keep.holds(stage, access)
                if access.tensor is room.func and kept:
                    index = replaced_all(access.index, point)
                    for n in postorder(*index):
                        if isinstance(n, Var) and n in serial:
                            yield shown[n]
