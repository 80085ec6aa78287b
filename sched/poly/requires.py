"""What a schedule requires of the sizes at each call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..lang.nodes import Node
from ..lang.printer import expr_text
from .expressions import Translator
from .state import State

if TYPE_CHECKING:
    from .schedule import Schedule


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
