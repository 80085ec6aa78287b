"""The steps of a program, and the tensors that the definitions in them read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...records import dataclass
from ..nodes.nodes import Node, Read, postorder
from ..nodes.tensor import Tensor
from ..tensors.blocks import Sequential
from ..tensors.definitions import Definition
from ..tensors.tensors import Func


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """A definition, or all of one Func, in the order written."""

    func: Func
    definitions: tuple[Definition, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Recurrence:
    """All definitions of Funcs that need values of themselves or of each other."""

    funcs: tuple[Func, ...]
    definitions: tuple[Definition, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A `sequential` with the steps inside of it."""

    sequential: Sequential
    body: tuple[Step, ...]

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """All definitions in the block and in the blocks inside of it."""
        return tuple(d for step in self.body for d in step.definitions)


Step = Plain | Recurrence | Block


def roots_of(d: Definition) -> tuple[Node, ...]:
    """Every expression of a definition."""
    bounds = [b for r in d.rvars for b in (r.lo, r.hi)]
    return (*d.lhs, *bounds, *d.where, *d.values)


def tensors_read(d: Definition) -> tuple[Tensor, ...]:
    """The tensors that a definition reads, in the order of reading."""
    if d.read is None:
        found = dict.fromkeys(n.tensor for n in postorder(*roots_of(d)) if isinstance(n, Read))
        object.__setattr__(d, "read", tuple(found))  # the definition is frozen
    assert d.read is not None
    return d.read


def funcs_read(d: Definition) -> list[Func]:
    """The Funcs that a definition reads, in the order of reading."""
    return [t for t in tensors_read(d) if isinstance(t, Func)]


def reads_itself(func: Func) -> bool:
    """Whether the pure definition of a Func is a recurrence."""
    return any(func in funcs_read(d) for d in func.history.typed() if not d.is_update)


def all_steps(steps: Iterable[Step]) -> Iterator[Plain | Recurrence]:
    """The steps in and below blocks, in the order written."""
    for step in steps:
        if isinstance(step, Block):
            yield from all_steps(step.body)
        else:
            yield step


def in_order(steps: Sequence[Step]) -> tuple[Func, ...]:
    """Every Func, producers first."""
    found: dict[Func, None] = {}
    for step in all_steps(steps):
        for func in (step.func,) if isinstance(step, Plain) else step.funcs:
            found[func] = None
    return tuple(found)
