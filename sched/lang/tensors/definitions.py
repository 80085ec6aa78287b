"""Definitions: untyped ones, as they were written, and typed ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from ...records import dataclass
from ..errors.cells import Run
from ..errors.errors import Span
from ..nodes.nodes import Node, Read, RVar, Var, postorder
from ..nodes.printer import Names, expr_text, index_text, shared_texts
from .blocks import Sequential
from .opaque import Opaque, opaque_of

if TYPE_CHECKING:
    from ..nodes.tensor import Tensor
    from .tensors import Func


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A definition as written, untyped. `op` is "=" or the operator of an in-place update;
    `block` the innermost `sequential` around it."""

    lhs: tuple[Node, ...]
    values: tuple[Node, ...]
    op: str
    span: Span
    serial: int
    block: Sequential | None = None
    #: The RVars of a reduction, including those that its value does not mention.
    over: tuple[RVar, ...] = ()
    #: The execution of a notebook cell that wrote it.
    run: Run | None = None

    @property
    def roots(self) -> tuple[Node, ...]:
        """Every expression in it."""
        return (*self.lhs, *self.values, *self.over)


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """A typed definition: at each instance, `func[lhs] = values`.

    `number` counts the updates of the Func from 0; it is None for a piece of the pure definition.
    `rvars` are in the order in which they run, outermost first. `where` are conditions on them.
    """

    func: Func
    number: int | None
    lhs: tuple[Node, ...]
    values: tuple[Node, ...]
    op: str
    vars: tuple[Var, ...]
    rvars: tuple[RVar, ...]
    where: tuple[Node, ...]
    span: Span
    serial: int
    block: Sequential | None = None
    #: The serial of the definition of which it is a copy.
    stands_for: int | None = None
    #: Whether a schedule has added it, to copy an operand or to merge partial results.
    is_added: bool = False
    #: The tensor that it copies element by element, inside of that tensor's extents.
    copies: Tensor | None = None
    #: For a clone, the extents of the original Func, outside of which it has no elements.
    within: tuple[Node, ...] | None = None
    #: For a copy in tiles: axes, each with the fixed number of elements computed along it.
    tiles: tuple[tuple[int, int], ...] = ()
    #: Whether it is a copy padded with zeros: `select(there, read, 0)`.
    is_padded: bool = False
    #: For expressions into which Funcs have been inlined, the original ones of the user.
    before_inlining: Mapping[Node, Node] = field(default_factory=dict)
    #: A cache of the tensors that it reads, in the order of reading: see `steps.tensors_read`.
    read: tuple[Tensor, ...] | None = field(default=None, init=False, repr=False)

    @property
    def origin(self) -> int:
        """The serial of the user's definition from which this one comes."""
        return self.serial if self.stands_for is None else self.stands_for

    @property
    def loops(self) -> tuple[RVar, ...]:
        """The loops of the `sequential` blocks around it, outermost first."""
        return () if self.block is None else self.block.loops

    @property
    def dims(self) -> tuple[Var | RVar, ...]:
        """The dimensions of its iteration domain: the loops around, then its Vars, then its
        RVars."""
        return (*self.loops, *self.vars, *self.rvars)

    @property
    def opaque(self) -> Opaque | None:
        """The value of the extern stage that computes it, if one does."""
        return opaque_of(self.values)

    @property
    def is_update(self) -> bool:
        return self.number is not None

    @property
    def is_local(self) -> bool:
        """Whether an instance accesses no element of its Func but the one that it writes."""
        bounds = (b for r in self.rvars for b in (r.lo, r.hi))
        reads = postorder(*self.lhs, *self.values, *self.where, *bounds)
        own = (n for n in reads if isinstance(n, Read) and n.tensor is self.func)
        return all(n.index == self.lhs for n in own)

    @property
    def is_pointwise(self) -> bool:
        """Whether an instance accesses no element of its Func but the one at its Vars."""
        return self.lhs == self.vars and self.is_local

    @property
    def name(self) -> str:
        return self.func.name if self.number is None else f"{self.func.name}.update({self.number})"

    def text(self, names: Names | None = None) -> str:
        """The definition in the user's spelling, on one line."""
        right = ", ".join(expr_text(v, names) for v in self.values)
        return f"{self._left(names)} = {right if len(self.values) == 1 else f'({right})'}"

    def listing(self, names: Names | None = None, *, domain: bool = False) -> str:
        """As `text`; where that is too long, repeated parts are named on lines of their own.

        Args:
            names: the names of tensors.
            domain: whether to add the ranges of RVars and the conditions on them.
        """
        values, shared = shared_texts(self.values, names)
        right = ", ".join(values)
        text = f"{self._left(names)} = {right if len(values) == 1 else f'({right})'}"
        if domain:
            text += self._domain(names)
        for k, equation in enumerate(shared):
            text += f"\n    {'where' if k == 0 else '     '} {equation}"
        return text

    def _left(self, names: Names | None) -> str:
        name = (names or {}).get(self.func, self.func.name)
        return f"{name}[{index_text(self.lhs, names)}]"

    def _domain(self, names: Names | None) -> str:
        """The ranges of loops and RVars, such as `  for k in [0, n) if k != i`; empty without
        them."""
        around = () if self.block is None else self.block.chain
        loops = [b.range_text(names) for b in around if b.loop is not None]
        loops += [
            f"{r.name} in [{expr_text(r.lo, names)}, {expr_text(r.hi, names)})" for r in self.rvars
        ]
        where = " & ".join(expr_text(c, names) for c in self.where)
        given = f"  for {', '.join(loops)}" if loops else ""
        return given + (f" if {where}" if where else "")
