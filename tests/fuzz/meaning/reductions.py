"""Reductions inside of expressions: what they are made of, and one step of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .tensors import RVar
from .trees import Tree, tree
from .types import concrete, join

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
_STEPS = {"sum": "+", "prod": "*", "max": "max", "min": "min", "any": "|", "all": "&"}
_STARTS = {"sum": 0, "prod": 1, "any": False, "all": True}


@dataclass(frozen=True, eq=False)
class Reduction:
    """What a tree of a reduction has beside its operands: the expression, and perhaps where it
    starts.

    Attributes:
        rvars: its loops, outermost first.
        dtype: that of the result, where it is given.
        held: the result so far, as an operand of one step.
        step: one step, but for the place of an extreme.
    """

    op: str
    rvars: tuple[RVar, ...]
    dtype: str | None
    held: Tree
    step: Tree

    @property
    def is_place(self) -> bool:
        return self.op.startswith("arg")

    def type(self, operands: list[str | None]) -> str | None:
        """Of the result: the least one that holds the expression and the start."""
        if self.is_place:
            return "int64"
        if self.dtype is not None or operands[0] is None:
            return self.dtype
        own = concrete(operands[0]) if self.start is None else str(self.start.extra[1])
        found = join([operands[0], [*operands[1:], own][0]])
        return found and concrete(found)

    @property
    def start(self) -> Tree | None:
        """What the result begins from if nothing is given; None where that is no value."""
        return tree(_STARTS[self.op]) if self.op in _STARTS else None


def reduction(op: str, value: Any, rvars: Any, initial: Any = None, dtype: Any = None) -> Tree:
    """A reduction as it is written."""
    loops = rvars if isinstance(rvars, tuple) else (rvars,)
    inner = sorted((x.extra[2] for x in loops), key=lambda r: r.serial)
    body, held = tree(value), Tree("held")
    step = Tree(_STEPS.get(op, "max"), held, body)
    operands = (body,) if initial is None else (body, tree(initial))
    made = Tree("reduce", *operands, extra=Reduction(op, tuple(inner), dtype, held, step))
    held.extra = made
    return made


def is_better(op: str, value: Any, best: Any) -> bool:
    """Whether a value takes the place of the best one so far: a NaN is beyond all numbers, and of
    equal ones the first one stays."""
    if best is None:
        return True
    if value != value or best != best:
        return bool(best == best)
    return bool(value > best if op == "argmax" else value < best)


def needed(node: Tree) -> set[Any]:
    """The names of the symbols that a reduction does not bind itself, and the results so far of
    those that it stands in."""
    found: set[Any] = set()
    stack = [node]
    while stack:
        for part in stack.pop().walk():
            match part.op:
                case "symbol":
                    found.add(part.extra[0])
                case "held":
                    found.add(part)
                case "reduce":
                    for r in part.extra.rvars:
                        stack += [r.lo, r.hi, *([] if r.domain.where is None else [r.domain.where])]
    return found - {r.name for r in node.extra.rvars}
