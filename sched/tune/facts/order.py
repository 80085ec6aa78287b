"""Which orders of loops, split or not, keep what distances of dependences ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from .distances import Distance, Span

Spans = tuple[Span, ...]


def carried(distances: Sequence[Distance]) -> list[Spans]:
    """The spans of distances, apart for each loop that may carry them, as the program is written:
    zero along the loops around it, and at least one along itself."""
    found: dict[Spans, None] = {}
    for d in distances:
        for k in range(len(d.spans)):
            if d.is_carried_by(k):
                low, high = d.spans[k]
                ahead: Span = (max(1, low or 1), high)
                found[((0, 0),) * k + (ahead, *d.spans[k + 1 :])] = None
    return list(found)


def is_in_order(loops: Sequence[int], spans: Sequence[Spans]) -> bool:
    """Whether each dependence still goes forward where loops run in this order.

    Args:
        loops: by position, the loop as written that a loop is all or a part of, the outer part
            before the inner one.
        spans: of the dependences, apart for each loop that carries them.
    """
    return all(_is_forward(loops, s) for s in spans)


def _is_forward(loops: Sequence[int], spans: Spans) -> bool:
    # Of a loop that is split, the distance along the outer part is zero or has the sign of the
    # whole; where it is zero, that along the inner part is the whole.
    for _, low in _steps(loops, spans):
        if low is None or low < 0:
            return False
        if low > 0:
            return True
    return True


def _steps(loops: Sequence[int], spans: Spans) -> Iterator[tuple[int, int | None]]:
    """The positions of loops along which a dependence may be, each with its least distance; of
    those that are split, the inner part decides."""
    last = {k: at for at, k in enumerate(loops)}
    for at, k in zip(count(), loops, strict=False):
        if k >= len(spans) or spans[k] == (0, 0):
            continue
        low = spans[k][0]
        is_decided = low is None or low <= 0 or last[k] == at
        yield at, (low if is_decided else 0)


def is_independent(loops: Sequence[int], at: int, spans: Sequence[Spans]) -> bool:
    """Whether no dependence is carried by the loop at a position, where they run in this order."""
    return not any(_may_carry(loops, at, s) for s in spans)


def _may_carry(loops: Sequence[int], at: int, spans: Spans) -> bool:
    k = loops[at]
    if k >= len(spans) or spans[k] == (0, 0):
        return False
    return not any(low is not None and low > 0 for p, low in _steps(loops, spans) if p < at)
