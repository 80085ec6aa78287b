"""Preconditions that a program declares by `ps.require`."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from ...records import dataclass
from ..errors.errors import LanguageError, LanguageTypeError, Span, user_span
from ..expr.expr import ExprLike, as_node
from ..nodes import nodes
from ..nodes.nodes import Node, postorder
from ..nodes.printer import expr_text
from ..nodes.travelling import Travelling
from ..nodes.typing import infer_condition
from ..tensors.tensors import Func


@dataclass(frozen=True, slots=True, eq=False)
class Requirement(Travelling):
    """A precondition on sizes and Params, checked at each call and used in proofs."""

    condition: Node
    message: str
    span: Span
    is_addressed: bool
    """Whether it names the Funcs to which it belongs."""

    def concerns(self, sizes: Collection[str], params: Collection[nodes.Param]) -> bool:
        """Whether it mentions no other sizes and Params than these."""
        found = list(postorder(self.condition))
        named = (n.name for n in found if isinstance(n, nodes.Size))
        given = (n for n in found if isinstance(n, nodes.Param))
        return all(n in sizes for n in named) and all(n in params for n in given)


def listed(given: object) -> tuple[Requirement, ...]:
    """The preconditions that a program is given besides those of its Funcs."""
    found = tuple(given) if isinstance(given, Iterable) else (given,)
    for one in found:
        if not isinstance(one, Requirement):
            raise LanguageTypeError(
                f"one of the requirements of a program has type {type(one).__name__}",
                hint="write ps.require(n > 2) before the Func: its program has it then",
            )
    return found


class _Recent(threading.local):
    """The state that decides to which Func a requirement written without Funcs belongs: see
    `require`."""

    pending: list[tuple[Requirement, Func | None]]
    last: Func | None

    def __init__(self) -> None:
        self.pending = []
        self.last = None


_recent = _Recent()


def adopt(func: Func) -> None:
    """Called by each new Func, which gets the requirements written just before it. If the Func made
    before them was used in between, they belong to that one alone."""
    func.requirements = [
        r for r, last in _recent.pending if last is None or last.history.completed_by is None
    ]
    _recent.pending = []
    _recent.last = func


@contextmanager
def unadopted() -> Iterator[None]:
    """Funcs that are made inside get no requirements that were written before them, and those
    written behind them are not theirs."""
    before = _recent.pending, _recent.last
    _recent.pending, _recent.last = [], None
    try:
        yield
    finally:
        _recent.pending, _recent.last = before


def require(condition: ExprLike, message: str, *funcs: Func) -> None:
    """A precondition of a program: `ps.require(n >= 3, "the filter needs three rows")`.

    Args:
        condition: over sizes and Params.
        message: the message of the `CallError` of a call that does not meet it.
        funcs: the Funcs to which it belongs; every program that contains one of them checks it.
            Without any, it belongs to the Func made last, unless that was used already, and to the
            one made next, unless that one was used before. A program without its sizes and Params
            does not check it.
    """
    node = infer_condition(as_node(condition), user_span())
    if not isinstance(message, str):
        raise LanguageTypeError("the message of a requirement is a string")
    for n in postorder(node):
        if not isinstance(n, (nodes.Const, nodes.Size, nodes.Param, nodes.Op)):
            raise LanguageError(
                f"a requirement is about sizes and Params, and cannot contain {expr_text(n)}",
                hint="ps.select makes a value depend on data",
            )
    requirement = Requirement(node, message, user_span(), bool(funcs))
    for func in funcs:
        if not isinstance(func, Func):
            raise LanguageTypeError(f"a requirement belongs to Funcs, not to {func!r}")
    if funcs:
        for func in funcs:
            func.requirements.append(requirement)
        return
    last = _recent.last
    if last is not None and last.history.completed_by is not None:
        last = None
    if last is not None:
        last.requirements.append(requirement)
    _recent.pending.append((requirement, last))
