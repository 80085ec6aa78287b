"""`trace`: values that are printed where they are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...records import dataclass
from ..errors.errors import (
    LanguageError,
    LanguageTypeError,
)
from ..expr.expr import Expr, ExprLike, as_node
from ..nodes import nodes
from ..nodes.dtypes import DType, Type
from ..nodes.nodes import Node, Read, postorder


@dataclass(frozen=True, slots=True, eq=False)
class Trace(nodes.Node):
    """A value that is printed where it is computed."""

    value: Node
    label: str
    type: Type | None

    @property
    def args(self) -> tuple[Node, ...]:
        return (self.value,)

    def with_args(self, args: tuple[Node, ...]) -> Node:
        same = args == self.args and args[0].type == self.type
        return self if same else Trace(args[0], self.label, args[0].type)

    def written(self, arg: Callable[[Node], str]) -> str:
        """The trace in the user's spelling."""
        return f"trace({arg(self.value)}, {self.label!r})"


def trace(value: ExprLike, label: str) -> Expr:
    """`value`, printed with its label and point each time it is computed.

    Meant for small sizes. The point is that of the definition in which the trace stands. A select
    can choose the points, since only a trace in the arm that is taken is printed, as in
    `ps.select(i == 3, ps.trace(x, "x"), x)`. A traced product is rounded before it is added to
    anything: no multiply-add is fused with it.

    Args:
        value: an expression; not inside of an index or of the bounds of an RVar.
        label: printed before the value.
    """
    if not isinstance(label, str):
        raise LanguageTypeError(
            f"the label of a trace is a string, not {label!r}", hint='ps.trace(x, "x")'
        )
    return Expr(Trace(as_node(value), label, None))


def check_traces(lhs: Sequence[Node], values: Sequence[Node]) -> None:
    """Refuses a trace inside of an index or of the domain of an RVar, which proofs must
    understand."""
    found = list(nodes.reachable(*lhs, *values))
    indices = [x for n in found if isinstance(n, Read) for x in n.index]
    for node in nodes.reachable(*lhs, *indices, *(n for n in found if isinstance(n, nodes.RVar))):
        if isinstance(node, Trace):
            raise LanguageError(
                f"{Expr(node)!r} stands inside of an index, or in the bounds of an RVar",
                hint="trace the value that is read, or the index in a value: ps.trace(i, 'i')",
            )


def has_trace(*roots: Node) -> bool:
    """Whether any node below the roots is a trace."""
    return any(isinstance(n, Trace) for n in postorder(*roots))


def trace_text(label: str, value: Any, dtype: DType, stage: str, point: Mapping[str, int]) -> str:
    """One line of output: `x = 0.5 at C[i=3, j=4]`."""
    shown = dtype.scalar(value) if dtype.is_float else bool(value) if dtype.is_bool else value
    at = ", ".join(f"{name}={k}" for name, k in point.items())
    return f"{label} = {shown} at {stage}[{at}]"
