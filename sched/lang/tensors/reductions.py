"""Inline reductions: `ps.sum(A[i, k] * B[k, j], k)` inside a definition.

A reduction in a definition of g is the Func `g.sum0` over the Vars and RVars around it that it
uses: a pure definition with the neutral element, and one update over the reduction's RVars.

    C[i, j] = ps.sum(A[i, k] * B[k, j], k)      is      C.sum0[i, j] = 0
                                                        C.sum0[i, j] += A[i, k] * B[k, j]
                                                        C[i, j] = C.sum0[i, j]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ...records import dataclass
from ..errors.errors import LanguageError, LanguageTypeError, Span
from ..expr.expr import Expr, ExprLike, as_node
from ..expr.functions import select
from ..expr.symbol_key import symbol_key
from ..expr.symbols import RVar
from ..nodes import nodes
from ..nodes.dtypes import DType, DTypeLike, Type, as_dtype, bool_, int64
from ..nodes.nodes import Const, Node, Op, Read, literal, postorder, substitute, transform_all
from ..nodes.typing import value_dtype

if TYPE_CHECKING:
    from .blocks import Sequential
    from .tensors import Func


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(nodes.Node):
    """A reduction as written; recording a definition replaces it by a read of the Func made for
    it."""

    op: str
    body: Node
    rvars: tuple[nodes.RVar, ...]
    initial: Node | None
    dtype: DType | None

    @property
    def type(self) -> Type | None:
        """The type of the value; None where it is that of the operands."""
        return self.dtype or {"argmax": int64, "argmin": int64}.get(self.op)

    @property
    def args(self) -> tuple[Node, ...]:
        return (self.body,) if self.initial is None else (self.body, self.initial)

    def with_args(self, args: tuple[Node, ...]) -> Node:
        if args == self.args:
            return self
        initial = None if self.initial is None else args[1]
        return Reduce(self.op, args[0], self.rvars, initial, self.dtype)

    def written(self, arg: Callable[[Node], str]) -> str:
        """The reduction in the user's spelling, given the text of its operands."""
        over = ", ".join(r.name for r in self.rvars)
        over = f"({over})" if len(self.rvars) > 1 else over
        initial = "" if self.initial is None else f", initial={arg(self.initial)}"
        return f"{self.op}({arg(self.body)}, {over}{initial})"


class Reduction(Protocol):
    """A reduction as users call it."""

    def __call__(
        self,
        value: ExprLike,
        rvars: RVar | Sequence[RVar],
        *,
        initial: ExprLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> Expr: ...


def _reduction(op: str, doc: str) -> Reduction:
    def reduce(
        value: ExprLike,
        rvars: RVar | Sequence[RVar],
        *,
        initial: ExprLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> Expr:
        over = tuple(rvars) if isinstance(rvars, (tuple, list)) else (rvars,)
        for r in over:
            if not isinstance(r, RVar):
                raise LanguageTypeError(
                    f"{op} runs over RVars, not over {r!r}",
                    hint=f"k = ps.RVar('k', 0, n); ps.{op}(A[i, k], k)",
                )
        if not over:
            raise LanguageTypeError(f"{op} needs at least one RVar to run over")
        if op in _ARG and (len(over) > 1 or initial is not None or dtype is not None):
            raise LanguageTypeError(
                f"{op} takes one RVar, whose value is the result, and neither initial= nor dtype=",
                hint="run a tuple update over several RVars",
            )
        start = None if initial is None else as_node(initial)
        target = None if dtype is None else as_dtype(dtype)
        members = tuple(r.node for r in over)
        return Expr(Reduce(op, as_node(value), members, start, target))

    reduce.__name__ = reduce.__qualname__ = op
    reduce.__doc__ = doc
    return reduce


_ARG = frozenset({"argmax", "argmin"})
#: Reductions that need an initial value or a domain that is not empty, which each call checks.
_NEEDS_ONE = frozenset({"max", "min", *_ARG})
_COMBINE = {
    "sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and",
}  # fmt: skip
_NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}

sum = _reduction("sum", "The sum over RVars, in the type of the expression or `dtype`.")
prod = _reduction("prod", "The product over RVars, in the type of the expression or `dtype`.")
max = _reduction("max", "The largest value over RVars; NaN propagates.")
min = _reduction("min", "The smallest value over RVars; NaN propagates.")
any = _reduction("any", "Whether a condition holds for any values of RVars.")
all = _reduction("all", "Whether a condition holds for all values of RVars.")
argmax = _reduction(
    "argmax", "The value of an RVar at the largest value: the smallest on ties, the first NaN's."
)
argmin = _reduction(
    "argmin", "The value of an RVar at the smallest value: the smallest on ties, the first NaN's."
)


def extract(
    func: Func,
    lhs: tuple[Node, ...],
    values: tuple[Node, ...],
    span: Span,
    first: int,
    block: Sequential | None,
) -> tuple[tuple[Node, ...], list[Func]]:
    """The values with every reduction replaced by a read of a Func of its own, and those Funcs.

    Args:
        first: how many reductions the Func has already; they are numbered on.
        block: the `sequential` around. The Funcs of the reductions are defined inside of it too,
            just before the definition, so that they see current values.
    """
    made: list[Func] = []
    on_left = [n for n in postorder(*lhs) if isinstance(n, nodes.Var)]

    def rule(node: Node) -> Node:
        if not isinstance(node, Reduce):
            return node
        if _reads(node, func):
            _check_own(func, node, span, block, _running((*lhs, *values)))
        name = f"{func.name}.{node.op}{first + len(made)}"
        around = {} if block is None else block.renaming((node, *node.rvars))
        reduced, index = _build(name, node, on_left, span, set(around))
        reduced.made_of, reduced.made_for = (node, index), func
        made.append(reduced)
        return Read(reduced, index, 1 if node.op in _ARG else 0, None)

    if _first_reduction(postorder(*values)) is not None:
        values = transform_all(values, rule)
    left = _first_reduction(nodes.reachable(*lhs, *values))
    if left is not None:
        raise LanguageError(
            f"{Expr(left)!r} stands in an index on the left, or in a bound or where= of an RVar: "
            "a reduction is part of a value",
            where=span,
            hint="give it a Func of its own, t[()] = ..., and read t[()] there",
        )
    return values, made


def reads_in_reductions(func: Func, values: tuple[Node, ...]) -> bool:
    """Whether reductions in values of a Func without a declared dtype read the Func itself. Then
    its type is found before the Funcs of the reductions are made, whose types follow from it."""
    if func.declared_dtypes is not None:
        return False
    found = (n for n in postorder(*values) if isinstance(n, Reduce))
    return next((True for n in found if _reads(n, func)), False)


def _reads(node: Reduce, func: Func) -> bool:
    return func in [n.tensor for n in nodes.reachable(node) if isinstance(n, Read)]


def _running(roots: tuple[Node, ...]) -> list[nodes.RVar]:
    """The RVars over which a definition runs, beside those of the reductions in it."""
    running: dict[Node, dict[nodes.RVar, None]] = {}
    for node in postorder(*roots):
        found = {r: None for a in node.args for r in running[a]}
        if isinstance(node, Reduce):
            around = (*found, *_outer_rvars(node, _bounding(node)))
            found = {r: None for r in around if not _own(node, r)}
        if isinstance(node, nodes.RVar):
            found[node] = None
        running[node] = found
    return list(dict.fromkeys(r for root in roots for r in running[root]))


def _bounding(node: Reduce) -> dict[Node, None]:
    """The Vars and RVars in the bounds and conditions of a reduction."""
    return _symbols(Reduce(node.op, literal(0), node.rvars, None, None))


def _first_reduction(found: Iterable[Node]) -> Reduce | None:
    return next((n for n in found if isinstance(n, Reduce)), None)


def _check_own(
    func: Func, node: Reduce, span: Span, block: Sequential | None, rvars: list[nodes.RVar]
) -> None:
    """Refuses a reduction in an update that reads the updated Func where it would not see the
    current values. The reduction becomes a Func of its own: outside of blocks that sees final
    values; inside of a block, the values before the whole update, which change meanwhile if the
    update runs over RVars."""
    around = {} if block is None else block.renaming(tuple(rvars))
    own = [r for r in rvars if r not in around]
    if block is not None and own:
        raise LanguageError(
            f"{Expr(node)!r} in an update of {func.name} over the RVar {own[0].name} reads "
            f"{func.name} itself: it is computed before the update runs, and would not see what "
            "that changes",
            where=span,
            hint=f"make {own[0].name} the loop, with ps.sequential({own[0].name!r}, lo, hi) as "
            f"{own[0].name}:, or, for the values before the update, define a Func above it",
        )
    if block is None and func.history.closed:
        raise LanguageError(
            f"{Expr(node)!r} in an update of {func.name} reads {func.name} itself, which is not "
            "complete before its last update",
            where=span,
            hint=f"update it over the RVar, {func.name}[...] += ..., compute another Func, or read "
            "current values: with ps.sequential():",
        )


def _build(
    name: str, node: Reduce, on_left: list[nodes.Var], span: Span, around: set[Node]
) -> tuple[Func, tuple[Node, ...]]:
    """The Func of one reduction, and the index at which it is read.

    Its dimensions are the Vars and RVars that it uses, but for the loops of blocks `around`.
    """
    from .tensors import Func

    inside = _symbols(node)
    outer = [r for r in _outer_rvars(node, inside) if r not in around]
    vars = [v for v in dict.fromkeys(on_left) if v in inside]
    vars += [v for v in inside if isinstance(v, nodes.Var) and v not in vars]
    index: tuple[Node, ...] = (*vars, *outer)
    names = _as_dimensions(node, outer)
    at = tuple(Expr(names.get(x, x)) for x in index)
    body = substitute(node.body, names)
    over = tuple(r for r in (names.get(r, r) for r in node.rvars) if isinstance(r, nodes.RVar))
    if node.op in _ARG:
        func = Func._internal(name, (value_dtype(body, span), int64, bool_))
        k = names.get(node.rvars[0], node.rvars[0])
        start = Const(_zero(func), func.dtypes[0])
        func.history.record(at, (Expr(start), 0, False), span)
        func.history.record(at, _arg_step(node.op, func, at, Expr(body), Expr(k)), span, over)
    else:
        func = Func._internal(name, None if node.dtype is None else (node.dtype,))
        start_value = _start(node, body, span)
        func.history.record(at, Expr(substitute(start_value, names)), span)
        here = Read(func, tuple(x.node for x in at), 0, None)
        op = _COMBINE[node.op]
        func.history.record(at, Expr(Op(op, (here, body), None), (op, here, body)), span, over)
    func.is_reduction = True
    func.nonempty = node.op in _NEEDS_ONE and node.initial is None
    return func, index


def _symbols(node: Reduce) -> dict[Node, None]:
    """Every Var and RVar that the reduction mentions, in bounds and conditions too."""
    found: dict[Node, None] = {}
    pending: list[Node] = [*node.args, *node.rvars]
    while pending:
        for n in postorder(pending.pop(0)):
            if isinstance(n, (nodes.Var, nodes.RVar)) and n not in found:
                found[n] = None
                if isinstance(n, nodes.RVar) and _own(node, n):
                    where = () if n.domain.where is None else (n.domain.where,)
                    pending += [n.lo, n.hi, *where]
    return found


def _own(node: Reduce, r: nodes.RVar) -> bool:
    """Whether the reduction runs over an RVar; equal ones count as one."""
    return next((True for own in node.rvars if symbol_key(own) == symbol_key(r)), False)


def _outer_rvars(node: Reduce, inside: dict[Node, None]) -> list[nodes.RVar]:
    """The RVars around the reduction that it uses: dimensions of its Func."""
    found = [n for n in inside if isinstance(n, nodes.RVar) and not _own(node, n)]
    return sorted(found, key=lambda r: r.serial)


def _as_dimensions(node: Reduce, outer: list[nodes.RVar]) -> dict[Node, Node]:
    """Vars for the RVars around, and the reduction's own RVars with bounds over these."""
    names: dict[Node, Node] = {r: nodes.Var(r.name) for r in outer}
    if not outer:
        return names
    domain = nodes.RDomain()
    for r in sorted(node.rvars, key=lambda r: r.serial):
        lo, hi = substitute(r.lo, names), substitute(r.hi, names)
        names[r] = nodes.RVar(r.name, lo, hi, domain, r.serial)
    wheres = dict.fromkeys(r.domain.where for r in node.rvars if r.domain.where is not None)
    for where in wheres:
        new = substitute(where, names)
        domain.where = new if domain.where is None else Op("and", (domain.where, new), None)
    return names


def _start(node: Reduce, body: Node, span: Span) -> Node:
    """The initial value of a reduction: the given one, or the neutral element."""
    if node.initial is not None:
        return node.initial
    if node.op in _NEUTRAL:
        return literal(_NEUTRAL[node.op])
    t = node.dtype or value_dtype(body, span)
    if t.is_float:
        return Const(float("-inf") if node.op == "max" else float("inf"), t)
    value = t.min if node.op == "max" else t.max
    return Const(bool(value) if t.is_bool else value, t)


def _zero(func: Func) -> bool | int | float:
    t = func.dtypes[0]
    return 0.0 if t.is_float else False if t.is_bool else 0


def _arg_step(op: str, func: Func, at: tuple[Expr, ...], value: Expr, k: Expr) -> tuple[Expr, ...]:
    """One step of argmin or argmax on (value, index, found) of the best element so far: among equal
    values the first one wins, and the first NaN wins over all numbers."""
    index = tuple(x.node for x in at)
    best, where, found = (Expr(Read(func, index, c, None)) for c in range(3))
    if func.dtypes[0].is_float:
        worse = value <= best if op == "argmax" else value >= best
        better = (best == best) & ~worse  # where it is NaN, too
    else:
        better = value > best if op == "argmax" else value < best
    chosen: tuple[Expr, ...] = select(~found | better, (value, k, True), (best, where, found))
    return chosen
