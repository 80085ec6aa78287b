"""`sequential`: ordered loops over the updates written inside them.

    with ps.sequential("t", 0, steps) as t:
        B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3
        A[i] = B[i]

The statements run one after the other, all of them once for each value of t. A read inside sees the
current value of every tensor that is updated inside; a Func first defined inside is computed anew
in each iteration.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors.errors import LanguageError, LanguageTypeError, Span, user_span
from ..errors.frames import bounded
from ..expr.expr import Expr, ExprLike, as_node
from ..expr.symbol_key import symbol_key
from ..expr.symbols import RVar
from ..nodes import nodes
from ..nodes.affine import never_affine, own_size
from ..nodes.nodes import Node, Op, Read, literal, postorder
from ..nodes.printer import Names, expr_text
from ..nodes.travelling import Travelling
from ..nodes.typing import infer_condition, typed_index
from .settle import settle
from .trace import Trace

if TYPE_CHECKING:
    from .define import History
    from .definitions import Recorded
    from .tensors import Func


class _Open(threading.local):
    """The blocks that the thread is inside of, outermost first."""

    def __init__(self) -> None:
        self.stack: list[Sequential] = []


_open = _Open()


def current_block() -> Sequential | None:
    """The innermost block that is being written."""
    return _open.stack[-1] if _open.stack else None


@contextmanager
def outside_blocks() -> Iterator[None]:
    """What is defined inside is in no block of this thread."""
    before, _open.stack = _open.stack, []
    try:
        yield
    finally:
        _open.stack = before


@bounded
class Sequential(Travelling):
    """An ordered loop, or without a loop an ordered block. `with` gives its RVar.

    Attributes:
        parent: the block around it, None for an outermost one.
        loop: its typed RVar, whose half-open bounds contain the values it takes, in ascending
            order also where the loop runs downwards.
        step: from one value to the next; negative for a loop that runs downwards.
        start, stop: typed, with the meaning that they have for Python's range.
        phase: the condition on the loop where its step is neither 1 nor -1.
        items: the definitions and blocks written inside, in order.
    """

    def __init__(
        self, name: str | None, lo: ExprLike | None, hi: ExprLike | None, step: int
    ) -> None:
        self.span = user_span()
        self.parent: Sequential | None = None
        self.items: list[tuple[Func, Recorded] | Sequential] = []
        self.step = step
        self.rvar: RVar | None = None
        self.loop: nodes.RVar | None = None
        self.start: Node = literal(0)
        self.stop: Node = literal(0)
        self.phase: Node | None = None
        self._touched: dict[History, Any] = {}
        self._state = "new"
        if name is not None:
            assert lo is not None
            assert hi is not None
            self._bounds = as_node(lo), as_node(hi)
            self._check_affine(name)
            if step > 0:
                self.rvar = RVar(name, lo, hi)
            else:
                self.rvar = RVar(name, Expr(self._bounds[1]) + 1, Expr(self._bounds[0]) + 1)
            self.rvar.node.domain.owner = self  # type: ignore[attr-defined]
            self._check_bounds(name)

    def _check_affine(self, name: str) -> None:
        for bound in self._bounds:
            if never_affine(bound) is not None:
                bounds = ", ".join(map(expr_text, self._bounds))
                raise LanguageError(
                    f"the bound {expr_text(bound)} of sequential({name!r}, {bounds}) is not affine "
                    "in sizes, Params and the loops around it",
                    where=self.span,
                    hint=own_size(bound),
                )

    def _check_bounds(self, name: str) -> None:
        for node in postorder(*self._bounds):
            if isinstance(node, (Read, nodes.Var, Trace)) or (
                isinstance(node, nodes.RVar) and node.domain.owner is None
            ):
                raise LanguageError(
                    f"the bounds of the sequential {name} are made of sizes, Params and the loops "
                    f"around it, and cannot contain {expr_text(node)}",
                    where=self.span,
                    hint="run to the largest bound and guard the updates: ps.select(t < ..., "
                    "new, old), or an RVar, whose bounds may be read from data",
                )

    # structure --------------------------------------------------------------------------------
    @property
    def chain(self) -> tuple[Sequential, ...]:
        """The blocks around it and itself, outermost first."""
        return (*(self.parent.chain if self.parent is not None else ()), self)

    @property
    def root(self) -> Sequential:
        """The outermost block around it."""
        return self.chain[0]

    @property
    def loops(self) -> tuple[nodes.RVar, ...]:
        """The typed loops around the statements inside, outermost first."""
        return tuple(b.loop for b in self.chain if b.loop is not None)

    @property
    def text(self) -> str:
        """The name of the block in messages."""
        name = "" if self.rvar is None else f" {self.rvar.name}"
        return f"the sequential{name} ({self.span})"

    @property
    def is_open(self) -> bool:
        """Whether it is still being written."""
        return self._state == "open"

    def range_text(self, names: Names | None = None) -> str:
        """The loop and its range, such as `t in [0, n)`, with the step where it is not 1."""
        assert self.rvar is not None
        interval = f"[{expr_text(self.start, names)}, {expr_text(self.stop, names)})"
        return f"{self.rvar.name} in {interval}" + ("" if self.step == 1 else f" by {self.step}")

    def definitions(self) -> Iterator[tuple[Func, Recorded]]:
        """All definitions in the block and in the blocks inside of it, in order."""
        for item in self.items:
            if isinstance(item, Sequential):
                yield from item.definitions()
            else:
                yield item

    # writing ----------------------------------------------------------------------------------
    def __enter__(self) -> RVar:
        if self._state != "new":
            raise LanguageError(f"{self.text} was entered before", hint="make a new one")
        self.parent = current_block()
        if self.parent is not None:
            self._check_names(self.parent)
        if self.rvar is not None:
            self._type(self.rvar)
        self._state = "open"
        _open.stack.append(self)
        entered: Any = self if self.rvar is None else self.rvar
        return entered  # type: ignore[no-any-return]

    def _check_names(self, parent: Sequential) -> None:
        if self.rvar is not None and self.rvar.name in {r.name for r in parent.loops}:
            raise LanguageError(
                f"a sequential inside of another one is called {self.rvar.name} too",
                where=self.span,
                hint="give one of them another name",
            )

    def _type(self, rvar: RVar) -> None:
        outer = self.parent.renaming(self._bounds) if self.parent is not None else {}
        node = rvar.node
        assert isinstance(node, nodes.RVar)
        for n in postorder(*self._bounds):
            if isinstance(n, nodes.RVar) and n not in outer:
                raise _outside(n, self.span)
        self.start, self.stop = (typed_index(b, outer, self.span) for b in self._bounds)
        lo, hi = (typed_index(b, outer, self.span) for b in (node.lo, node.hi))
        self.loop = nodes.RVar(node.name, lo, hi, node.domain, node.serial)
        if abs(self.step) > 1:
            distance = (self.loop, self.start) if self.step > 0 else (self.start, self.loop)
            phase = Op("mod", (Op("sub", distance, None), literal(abs(self.step))), None)
            self.phase = infer_condition(Op("eq", (phase, literal(0)), None), self.span)

    def renaming(self, roots: tuple[Node, ...]) -> dict[Node, Node]:
        """The typed loop for each RVar below `roots` that stands for a loop around."""
        typed = {symbol_key(b.rvar.node): b.loop for b in self.chain if b.rvar is not None}
        found: dict[Node, Node] = {}
        for node in nodes.reachable(*roots):
            if isinstance(node, nodes.RVar):
                loop = typed.get(symbol_key(node))
                if loop is not None:
                    found[node] = loop
        return found

    def remember(self, history: History) -> None:
        """Saves the state of a Func before this block reads or updates it for the first time."""
        for block in self.chain:
            if history not in block._touched:
                block._touched[history] = history.state()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _open.stack.remove(self)
        self._state = "closed"
        try:
            if error is None and self.parent is None:
                settle(self)
        except BaseException:
            self._undo()
            raise
        if error is not None:
            self._undo()
        elif self.parent is not None:
            self.parent.items.append(self)

    def _undo(self) -> None:
        """Restores the Funcs to their states before the block. Funcs that are only read here and
        are complete stay so: a definition or call elsewhere has used them meanwhile."""
        for history, state in self._touched.items():
            if history.completed_by is None:
                history.restore(state)
        self.items.clear()

    def __iter__(self) -> NoReturn:
        raise LanguageTypeError(
            f"{self!r} is not iterated over in Python: what is written inside is written once",
            hint=f"with ps.{self!r} as {'t' if self.rvar is None else self.rvar.name}:",
        )

    def __repr__(self) -> str:
        if self.rvar is None:
            return "sequential()"
        lo, hi = map(expr_text, self._bounds)
        step = "" if self.step == 1 else f", step={self.step}"
        return f"sequential({self.rvar.name!r}, {lo}, {hi}{step})"


def sequential(
    name: str | None = None,
    lo: ExprLike | None = None,
    hi: ExprLike | None = None,
    step: int = 1,
) -> Sequential:
    """An ordered loop over the updates inside: `with ps.sequential("t", 0, steps) as t:`.

    Everything inside runs in the order written, once for each t of `range(lo, hi, step)`; reads
    see current values. Without arguments: an ordered block, run once. A raise inside undoes it.

    Args:
        name: of the loop, for schedules and listings.
        lo, hi: integers, affine in sizes, Params and the loops around.
        step: a Python integer, not 0; below zero it counts downwards, as Python's range.

    Raises:
        LanguageError: bounds that depend on data, a step of 0, a name used by a loop around.
    """
    if isinstance(step, bool) or not isinstance(step, int):
        raise LanguageTypeError(
            f"the step of a sequential is a Python integer, not {step!r}",
            hint="a step that only a call knows is not affine: run over all values in steps of 1",
        )
    if step == 0:
        raise LanguageError(
            "the step of a sequential cannot be 0",
            hint="as in range(lo, hi, step): 1 counts upwards, -1 downwards",
        )
    if name is not None and not isinstance(name, str):
        raise LanguageTypeError(
            f"the name of a sequential comes first, and is a string, not {name!r}",
            hint='with ps.sequential("t", 0, n) as t:',
        )
    if name is None and (lo is not None or hi is not None or step != 1):
        raise LanguageTypeError(
            "a sequential over a range needs a name",
            hint='with ps.sequential("t", 0, n) as t:',
        )
    if name is not None and (lo is None or hi is None):
        raise LanguageTypeError(
            f"the sequential {name!r} needs two bounds",
            hint=f"half-open, as range(lo, hi): ps.sequential({name!r}, 0, n)",
        )
    return Sequential(name, lo, hi, step)


def check_loops(block: Sequential | None, roots: tuple[Node, ...], span: Span) -> None:
    """Refuses expressions that mention the loop of a block outside of that block."""
    inside = {} if block is None else block.renaming(roots)
    for node in nodes.reachable(*roots):
        if isinstance(node, nodes.RVar) and node.domain.owner is not None and node not in inside:
            raise _outside(node, span)


def _outside(node: nodes.RVar, span: Span) -> LanguageError:
    block = node.domain.owner
    around = block.text if isinstance(block, Sequential) else "a sequential"
    return LanguageError(
        f"{node.name} is the loop of {around}, and has no value outside of it",
        where=span,
        hint=f"an RVar of its own, ps.RVar({node.name!r}, lo, hi), runs here",
    )
