"""Vector loops that are missing, or that lie across memory."""

from __future__ import annotations

from collections.abc import Iterator

from ..explore.moves import Move
from .edits import Change
from .nests import StageSeen
from .suspicion import FEW, Subject, Suspicion, is_along


def strided(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """The innermost loop steps over lines, and another one runs along them."""
    inner = x.mine[-1]
    far = [t for t, k in zip(x.tensors, inner.strides, strict=True) if k is None or abs(k) > 1]
    best = [y for y in x.mine if y is not inner and is_along(y) and y.extent > FEW]
    if not far or not best:
        return
    along = best[-1]
    if along.kind == "parallel":
        return  # threads write to the same lines, which is another cause
    lanes = of.lanes(x)
    order = [*(y.name for y in x.mine if y is not along), along.name]
    moves = (
        Move(x.name, along.name, "reorder", tuple(order)),
        Move(x.name, along.name, "vectorize", (along.name, lanes)),
    )
    step = max(abs(k or 0) * w for k, w in zip(inner.strides, x.widths, strict=True))
    evidence = (
        f"the innermost loop {inner.name} moves {', '.join(dict.fromkeys(far))} by up to "
        f"{step:,} bytes an iteration, and {along.name} would move along the lines of caches"
    )
    vectors = tuple(d for d in of.records(x.name, "vectorize"))
    yield Suspicion(x.name, "strided inner access", evidence, Change(moves, vectors))


def scalar(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """No vector loop, though the innermost one moves along lines."""
    inner = x.mine[-1]
    is_scalar = all(y.kind != "vector" for y in x.loops)
    if is_scalar and not inner.reduces and inner.strides[0] == 1 and inner.extent > FEW:
        lanes = of.lanes(x)
        evidence = f"{inner.extent:,} iterations of {inner.name} run one element at a time"
        move = Move(x.name, inner.name, "vectorize", (inner.name, lanes))
        yield Suspicion(x.name, "no vector loop", evidence, Change((move,)))
