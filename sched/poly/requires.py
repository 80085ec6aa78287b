"""What a schedule requires of the sizes at each call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..lang.elaborate import infer_condition
from ..lang.errors import LanguageError, user_span
from ..lang.expr import as_node
from ..lang.nodes import Const, Node, Op, Read, RVar, Size, Var, integer, postorder
from ..lang.printer import expr_text
from .edits import stages
from .expressions import Translator
from .isl import isl
from .state import State

if TYPE_CHECKING:
    from .schedule import Schedule


def on_sizes(condition: Any) -> Node:
    """A condition on sizes and Params, typed.

    Raises:
        LanguageError: it is about more than those.
    """
    node = infer_condition(as_node(condition), user_span())
    for n in postorder(node):
        if isinstance(n, (Read, Var, RVar)):
            raise LanguageError(
                f"an assumption is about sizes and Params, and cannot contain {expr_text(n)}"
            )
    return node


def constants(state: State) -> dict[str, Node]:
    """Sizes that are known: what is assumed to be equal to a constant."""
    found: dict[str, Node] = {}
    for a in state.assumptions:
        match a.condition:
            case Op(op="eq", operands=(Size(name=name), Const(value=value))):
                found[name] = integer(int(value))
    return found


def bounding(s: Schedule) -> frozenset[str]:
    """The Params by which the instances of a stage begin or end, so loops do."""
    kind, found = isl.dim_type.param, set()
    for stage in stages(s.tree):
        for k in range(stage.instances.dim(kind)):
            name = stage.instances.get_dim_name(kind, k)
            if name in s.program.params and stage.instances.involves_dims(kind, k, 1):
                found.add(name)
    return frozenset(found)


def assumptions(state: State, symbols: Mapping[str, Node]) -> Iterator[tuple[Node, str]]:
    """Conditions on the sizes that directives ask for, each with its reason."""
    names = Translator(symbols)
    for a in state.assumptions:
        node = a.condition if a.condition is not None else names.condition(a.allowed)
        if node is not None:
            yield node, a.text


def conditions(s: Schedule) -> Iterator[str]:
    """All that is required, each with the access, the message or the directive that needs it."""
    names = Translator(s.parameters)
    for c in s.proven.sizes:
        node = names.condition(c.allowed)
        if node is not None:
            yield f"{expr_text(node)}: {c.text}"
    for r in s.program.requirements:
        yield f"{expr_text(r.condition)}: {r.message}"
    for node, reason in s.assumptions:
        needed = expr_text(node)
        yield f"{needed}: assumed" + ("" if reason == needed else f", {reason}")
