"""What can be kept on the stack or in registers, as `store_in` asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..lang import index as ix
from ..lang.nodes import Node, Var, postorder, replaced_all
from ..lang.tensors import Func
from .memory import Memory
from .scan import Scan, ScanAlloc, ScanIf, ScanKeep, ScanLoop, ScanSeq, ScanStage

Fault = tuple[str, str]
"""What is wrong, and what would help."""


def fault(nests: Sequence[Scan], memory: Mapping[Func, Memory]) -> Fault | None:
    """What cannot be kept where it is asked to be."""
    for func, how in memory.items():
        if how.place not in ("stack", "register"):
            continue
        rooms = [x for nest in nests for x in _rooms(nest) if x.func is func]
        if not rooms:
            return (
                f"{func.name} lives for the whole program, and cannot be stored in a {how.place}",
                "store_at(...) or accumulate_at(...) a loop first",
            )
        for room in rooms:
            if any(ix.constant(n) is None for n in room.extents):
                return (
                    f"the extents of {func.name} are not constant: it cannot be stored in a "
                    f"{how.place}",
                    "split the loops around it by constant factors",
                )
            moving = next(_moving(room.body, func, frozenset(), {}), None)
            if how.place == "register" and moving is not None:
                return (
                    f"which element of {func.name} is used depends on the loop {moving}, which is "
                    "neither unrolled nor a vector: a register has no address",
                    f"unroll({moving!r}) or vectorize({moving!r})",
                )
    return None


def _rooms(scan: Scan) -> Iterator[ScanAlloc | ScanKeep]:
    match scan:
        case ScanAlloc(body=body) | ScanKeep(body=body):
            yield scan
            yield from _rooms(body)
        case ScanLoop(body=body) | ScanIf(body=body):
            yield from _rooms(body)
        case ScanSeq(parts=parts):
            for part in parts:
                yield from _rooms(part)


def _moving(
    scan: Scan, func: Func, serial: frozenset[Node], shown: Mapping[Node, str]
) -> Iterator[str]:
    """The loops inside, not laid out one by one, that an index of the Func depends on."""
    match scan:
        case ScanLoop(loop=loop, var=var, body=body):
            laid_out = loop.kind in ("unrolled", "vector")
            inside = serial if laid_out else serial | {var}
            yield from _moving(body, func, inside, {**shown, var: loop.name})
        case ScanAlloc(body=body) | ScanIf(body=body) | ScanKeep(body=body):
            yield from _moving(body, func, serial, shown)
        case ScanSeq(parts=parts):
            for part in parts:
                yield from _moving(part, func, serial, shown)
        case ScanStage(stage=stage, point=point):
            for access in stage.statement.accesses:
                if access.tensor is func:
                    index = replaced_all(access.index, point)
                    for n in postorder(*index):
                        if isinstance(n, Var) and n in serial:
                            yield shown[n]
