"""A cause for which code is likely to be slow, and the stages in their loops where it is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, postorder
from ...lang.tensors.definitions import Definition
from ...records import dataclass
from ..nests.loop_nest import LoopNest, NestIf, NestLoop, NestStage, children
from ..program.inline import is_expensive
from ..sets.linear import lengths

if TYPE_CHECKING:
    from .analysis import Analysis

LITTLE = 10_000
"""Nothing is said of a stage that has fewer instances for certain: it takes microseconds."""

FEW = 4
"""So many iterations are not worth a vector."""

GATHERS, AGAIN, SCALAR, FINE = "gathers", "recomputation", "scalar loop", "fine tasks"
"""The causes."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What is likely to cost time.

    Attributes:
        cause: one of the four.
        stage: that it is about.
        what: what happens in it.
        fix: what to write instead.
        blamed: names of directives; the last of them about the stage or its Func is to blame.
        seconds: about how long what threads are given takes, of which is said that it is little.
    """

    cause: str
    stage: str
    what: str
    fix: str
    blamed: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As data for JSON."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Cost:
        """What `to_json` gave."""
        return Cost(**{**data, "blamed": tuple(data["blamed"])})


@dataclass(frozen=True, slots=True)
class Leaf:
    """A stage in its loops, outermost first; `own` of the innermost are its own, the others those
    of a stage in which it is computed."""

    loops: tuple[NestLoop, ...]
    stage: NestStage

    @property
    def name(self) -> str:
        """Of the stage."""
        return self.stage.stage.name

    @property
    def definition(self) -> Definition:
        """What it computes."""
        return self.stage.stage.statement.definition

    @property
    def own(self) -> tuple[NestLoop, ...]:
        """The loops of its own."""
        return self.loops[len(self.stage.stage.statement.around) :]


def leaves(a: Analysis) -> Iterator[Leaf]:
    """The stages in the loops of a schedule which compute something by expressions, and often
    enough to be looked at; those of tails, too."""
    for nest in a.nests:
        for leaf in _leaves(nest, ()):
            if leaf.definition.opaque is None and not _is_little(leaf.loops):
                yield leaf


def _leaves(nest: LoopNest, around: tuple[NestLoop, ...]) -> Iterator[Leaf]:
    match nest:
        case NestStage():
            yield Leaf(around, nest)
        case NestLoop(body=body):
            yield from _leaves(body, (*around, nest))
        case NestIf(body=body):
            yield from _leaves(body, around)
        case _:
            for child in children(nest):
                yield from _leaves(child, around)


def _is_little(loops: tuple[NestLoop, ...]) -> bool:
    count = instances(loops)
    return count is not None and count < LITTLE


def instances(loops: tuple[NestLoop, ...]) -> int | None:
    """How many iterations loops have at most; None if that depends on sizes."""
    total = 1
    for x in loops:
        extent = most(x)
        if extent is None:
            return None
        total *= -(-extent // x.step)
    return total


def most(x: NestLoop) -> int | None:
    """How far a loop runs at most; None if that depends on anything."""
    if x.count is not None:
        return x.count
    known = (most_of(length) for length in lengths(x.hi, x.lo))
    return min((k for k in known if k is not None), default=None)


def most_of(extent: Node) -> int | None:
    """A number that an extent does not exceed, as far as it is a minimum of some."""
    parts, known = [extent], list[int]()
    while parts:
        part = parts.pop()
        if isinstance(part, Op) and part.op == "min":
            parts += part.operands
        elif (number := ix.constant(part)) is not None:
            known.append(max(0, number))
    return min(known, default=None)


def instance_seconds(d: Definition) -> float:
    """About how long one instance takes, by itself."""
    operators = sum(isinstance(n, Op) for n in postorder(*d.values))
    return (1.0 + 0.25 * operators + (5.0 if is_expensive(d) else 0.0)) * 1e-9
