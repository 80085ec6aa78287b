"""Registers that are too few."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from math import prod

from ...poly.state.record import Directive
from .edits import Change
from .nests import StageSeen
from .suspicion import Subject, Suspicion, factor, inner

BESIDE = 2
"""Registers that hold what is added to those that are held."""


def spilling(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """Copies of unrolled loops need more registers than there are: smaller factors, or none."""
    unrolled, registers = of.records(x.name, "unroll"), of.schedule.target.vector_registers
    held = _held(of, x)
    if not unrolled or held <= registers:
        return
    spills = of.spills()
    if spills == 0:
        return
    evidence = f"its unrolled loops hold {held:,} vectors, and there are {registers} registers"
    if spills:
        evidence += f", of which {spills:,} are stored and loaded in innermost loops"
    for instead in _smaller(of, x, held / (registers - BESIDE)):
        yield Suspicion(x.name, "spills", evidence, Change(instead=instead))
    for d in unrolled:
        yield Suspicion(x.name, "spills", evidence, Change((), (d,)))


def _held(of: Subject, x: StageSeen) -> int:
    """How many vectors the copies of unrolled loops hold at a time: those of the elements that one
    iteration of the innermost serial loop writes."""
    lanes = of.lanes(x)
    unrolled = list(takewhile(lambda y: y.kind in ("vector", "unrolled"), reversed(x.mine)))
    return prod(
        -(-y.extent // lanes) if y.kind == "vector" else y.extent
        for y in unrolled
        if y.strides[0] != 0
    )


def _smaller(
    of: Subject, x: StageSeen, times: float
) -> Iterator[tuple[tuple[Directive, int], ...]]:
    """Factors of the splits that make unrolled loops, smaller by as much as there is too much: of
    one of them, or of all by less. Vectors fill powers of two."""
    unrolled = [y.name for y in x.mine if y.kind == "unrolled"]
    splits = [d for d in of.records(x.name, "split") if inner(d) in unrolled]
    for d in sorted(splits, key=factor):
        least = int(factor(d) // times)
        for small in dict.fromkeys((least, _power(least))):
            if small > 1:
                yield ((d, small),)
    if len(splits) > 1:
        part = times ** (1 / len(splits))
        yield tuple((d, max(1, _power(int(factor(d) // part)))) for d in splits)


def _power(most: int) -> int:
    """The largest power of two up to a number; 0 if there is none."""
    return 1 << most.bit_length() - 1 if most > 0 else 0
