"""The iterations of `sequential` blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..lang.program.steps import Block, Step
from ..lang.tensors.blocks import Sequential
from ..lang.tensors.definitions import Definition
from ..lang.tensors.tensors import Func
from .evaluate import Env, Evaluator, Faults, Symbols
from .storage import Point


class Range:
    """The values that the loop of a block takes."""

    def __init__(self, block: Sequential, symbols: Symbols) -> None:
        self.loop = block.loop
        self.step = block.step
        evaluator = Evaluator((block.start, block.stop), symbols, {}, Faults())
        self.start, self.stop = evaluator[block.start], evaluator[block.stop]

    def iterations(self, around: Env) -> Iterator[Env]:
        """The environments of the iterations, in order; a block without a loop has one."""
        if self.loop is None:
            yield dict(around)
            return
        for value in range(self.start(around), self.stop(around), self.step):
            yield {**around, self.loop: value}


def blocks(steps: Iterable[Step]) -> Iterator[Block]:
    """All blocks, including those inside of others."""
    for step in steps:
        if isinstance(step, Block):
            yield step
            yield from blocks(step.body)


def fresh_in(block: Block) -> tuple[Func, ...]:
    """The Funcs that each iteration of a block computes anew."""
    found = dict.fromkeys(d.func for d in block.definitions)
    return tuple(f for f in found if f.history.home is block.sequential)


def loop_point(d: Definition, env: Env) -> Point:
    """The iteration of the loops around a definition."""
    return tuple(env[loop] for loop in d.loops)
