"""From a definition as written to a typed one: promotion, casts, and fused multiply-adds.

Contraction happens here and nowhere else, so it is part of the meaning: in `x + y` and `x - y`
the right operand is fused if it is a product, else the left if that is one; a negated product
folds its sign. A cast, a select, a read and `strict` are not looked through, and nothing inside
`strict` is contracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import nodes
from .dtypes import (
    INDEX,
    WEAK_FLOAT,
    DType,
    Type,
    bool_,
    concrete,
    float64,
    for_float_function,
    int64,
    promote,
    same_kind,
    uint64,
)
from .errors import LanguageError, LanguageTypeError, Span
from .nodes import Const, Node, Op, Read, RVar, postorder
from .ops import COMPARISONS, OPS
from .printer import expr_text

if TYPE_CHECKING:
    from .define import Recorded
    from .tensors import Func

Typed = tuple[tuple[Node, ...], tuple[Node, ...], tuple[RVar, ...], tuple[Node, ...]]


def infer_types(
    func: Func, recorded: Sequence[Recorded], known: Sequence[Type | None]
) -> tuple[Type | None, ...]:
    """The least types that hold every definition; weak literals and self-reads say nothing.

    `known` is a lower bound, as found for fewer definitions.
    """
    types = tuple(known)
    while True:
        found = types
        for definition in recorded:
            new = _Typer(func, found, definition.span).infer(definition.values)
            found = tuple(promote(a, b) for a, b in zip(found, new, strict=True))
        if found == types:
            return types
        types = found


def elaborate(func: Func, recorded: Recorded, dtypes: tuple[DType, ...]) -> Typed:
    """The typed left side, values, RVars in running order, and conditions of a definition."""
    typer = _Typer(func, dtypes, recorded.span)
    rename: dict[Node, Node] = {}
    rvars: list[RVar] = []
    for first, equals in sorted(_rvars(recorded).items(), key=lambda item: item[0].serial):
        lo, hi = typer.index(first.lo, rename), typer.index(first.hi, rename)
        rvars.append(RVar(first.name, lo, hi, first.domain, first.serial))
        rename.update((old, rvars[-1]) for old in equals)
    lhs = tuple(typer.index(x, rename) for x in recorded.lhs)
    values = tuple(
        typer.store(nodes.substitute(v, rename), t, update=recorded.op != "=")
        for v, t in zip(recorded.values, dtypes, strict=True)
    )
    domains = dict.fromkeys(r.domain for r in rvars)
    where = tuple(
        typer.condition(nodes.substitute(d.where, rename), "where=")
        for d in domains
        if d.where is not None
    )
    return lhs, values, tuple(rvars), where


def infer_condition(root: Node, span: Span) -> Node:
    """A typed condition over sizes and Params, outside of any definition."""
    return _Typer(None, (), span).condition(root, "the requirement")


def typed_size(root: Node, span: Span) -> Node:
    """A typed extent or bound over sizes; a literal among them adapts as a size does."""
    node = _Typer(None, (), span).typed(root)
    if isinstance(node, Const) and isinstance(node.value, int):
        return Const(int(node.value), INDEX)
    if node.type is None or not concrete(node.type).is_int:
        raise LanguageTypeError(f"{expr_text(root)} is {node.type!r}, not an integer", where=span)
    return node


def _rvars(recorded: Recorded) -> dict[RVar, list[RVar]]:
    """The RVars of a definition, those that their bounds and conditions mention included.

    RVars are equal by name and bounds: the one made first stands for its equals.
    """
    from .expr import symbol_key

    found: dict[object, list[RVar]] = {}
    pending = [*recorded.lhs, *recorded.values]
    seen: set[Node] = set()
    while pending:
        for node in postorder(pending.pop()):
            if isinstance(node, RVar) and node not in seen:
                seen.add(node)
                found.setdefault(symbol_key(node), []).append(node)
                pending += [node.lo, node.hi]
                if node.domain.where is not None:
                    pending.append(node.domain.where)
    result = {}
    names: dict[str, RVar] = {}
    for equals in found.values():
        first = min(equals, key=lambda r: r.serial)
        other = names.setdefault(first.name, first)
        if other is not first:
            raise LanguageError(
                f"two different RVars are both called {first.name}: over "
                f"[{expr_text(other.lo)}, {expr_text(other.hi)}) and "
                f"[{expr_text(first.lo)}, {expr_text(first.hi)})",
                where=recorded.span,
                hint="give one of them another name",
            )
        result[first] = equals
    return result


def convert(node: Node, to: DType, where: Span | None = None) -> Node:
    """`node` with the type `to`; literals are converted now, and must fit."""
    if node.type == to:
        return node
    if not isinstance(node, Const) and node.type is not None and concrete(node.type) == to:
        return node
    if isinstance(node, Const) and not isinstance(node.type, DType):
        return Const(literal_value(node.value, to, where), to)
    return Op("cast", (node,), to)


def literal_value(value: bool | int | float, to: DType, where: Span | None) -> bool | int | float:
    """A Python literal as a value of the type `to`."""
    if to.is_float:
        with np.errstate(over="ignore"):
            return float(to.numpy.type(value))
    if isinstance(value, float):
        raise LanguageTypeError(f"the literal {value!r} is not an integer", where=where)
    if to.is_int and not to.min <= value <= to.max:
        raise LanguageTypeError(
            f"the literal {value} does not fit in {to}, the type of what it is combined with",
            where=where,
            hint="cast the other operand to a wider type first: ps.cast(ps.int32, x)",
        )
    return value


class _Typer:
    """Types the expressions of one definition of one Func."""

    def __init__(self, func: Func | None, self_types: tuple[Type | None, ...], span: Span) -> None:
        self.func = func
        self.self_types = self_types
        self.span = span

    # entry points ----------------------------------------------------------------------------
    def infer(self, roots: tuple[Node, ...]) -> list[Type | None]:
        types: dict[Node, Type | None] = {}
        for node in postorder(*roots):
            types[node] = self._type(node, [types[a] for a in node.args])
        return [types[r] for r in roots]

    def typed(self, root: Node) -> Node:
        """`root` with every node typed. What is made of indices and literals alone keeps a weak
        type, so that it adapts to its neighbours; it is computed in that type's `concrete`."""
        done: dict[tuple[Node, bool], Node] = {}
        stack = [(root, False, False)]
        while stack:
            node, strict, expanded = stack.pop()
            if (node, strict) in done:
                continue
            inner = strict or (isinstance(node, Op) and node.op == "strict")
            if expanded:
                args = tuple(done[a, inner] for a in node.args)
                done[node, strict] = self._build(node, args, inner)
            else:
                stack.append((node, strict, True))
                stack += [(a, inner, False) for a in node.args]
        return done[root, False]

    def index(self, root: Node, rename: dict[Node, Node]) -> Node:
        """An index: a value of an integer type, then widened to 64 bits."""
        node = self.typed(nodes.substitute(root, rename))
        if node.type is not INDEX and not concrete(node.type or int64).is_int:
            raise LanguageTypeError(
                f"the index {expr_text(root)} is {node.type!r}, not an integer",
                where=self.span,
                hint="ps.cast(ps.int32, x) truncates; ps.floor first rounds down",
            )
        return convert(node, int64, self.span)

    def condition(self, root: Node, what: str) -> Node:
        node = self.typed(root)
        if node.type != bool_:
            raise LanguageTypeError(
                f"{what} {expr_text(root)} is {node.type!r}, not a condition",
                where=self.span,
                hint="compare it: x != 0",
            )
        return node

    def store(self, root: Node, to: DType, update: bool) -> Node:
        node = self.typed(root)
        t = node.type
        assert t is not None
        assert self.func is not None
        if not same_kind(t, to):
            what = "update" if update else "definition"
            raise LanguageTypeError(
                f"this {what} of {self.func.name} computes {t!r}, which does not fit in {to}, "
                f"the dtype of {self.func.name}",
                where=self.span,
                hint=f"say so explicitly: ps.cast(ps.{to}, ...)",
            )
        return convert(node, to, self.span)

    # one node ---------------------------------------------------------------------------------
    def _type(self, node: Node, args: list[Type | None]) -> Type | None:
        match node:
            case Read(tensor=tensor, component=c):
                if tensor is self.func:
                    return self.self_types[c]
                history = getattr(tensor, "history", None)
                return history.dtypes()[c] if history is not None else tensor.dtypes[c]
            case Op():
                return self._rule(node, args)
            case _:
                return node.type

    def _rule(self, node: Op, args: list[Type | None]) -> Type | None:
        rule = OPS[node.op].rule
        if rule == "cast":
            return node.type
        if rule == "compare":
            self._operand_type(node, args)
            return bool_
        if rule == "strict":
            return args[0]
        return self._operand_type(node, args)

    def _operand_type(self, node: Op, args: list[Type | None]) -> Type | None:
        """The type in which the operator works, refusing what it cannot work on."""
        rule = OPS[node.op].rule
        if rule == "select":
            if args[0] not in (None, bool_):
                raise self._error(
                    f"the condition of a select is {args[0]!r}: {expr_text(node.args[0])}",
                    "compare it: x != 0",
                )
            args = args[1:]
        t: Type | None = None
        for a in args:
            t = promote(t, a)
        if t is None:
            return None
        c = concrete(t)
        if rule in ("arith", "divide", "round") and c.is_bool:
            return self._bool_arithmetic(node)
        if rule in ("bits", "not") and c.is_float:
            raise self._error(
                f"{OPS[node.op].symbol} works on integers and bools, not on {t!r}: "
                f"{expr_text(node)}",
                "compare first, or ps.bitcast(ps.uint32, x) to work on the bits",
            )
        if rule == "bits" and node.op in ("shl", "shr") and c.is_bool:
            return int64 if t is bool_ else t
        if rule == "divide":
            return t if c.is_float else WEAK_FLOAT if not isinstance(t, DType) else float64
        if rule == "float":
            result = for_float_function(t)
            if result is None:
                raise self._error(
                    f"NumPy computes {node.op} of {t!r} in float16, which is not supported yet",
                    "cast to float32 first: ps.cast(ps.float32, x)",
                )
            return result
        if rule == "fma" and not c.is_float:
            raise self._error(f"fma works on floats, not on {t!r}", "write a * b + c")
        return t

    def _bool_arithmetic(self, node: Op) -> Type:
        if node.op in ("add", "mul"):
            return bool_
        raise self._error(
            f"{node.op} of bools: {expr_text(node)}",
            "use & | ^ ~ on conditions, or cast to an integer first",
        )

    def _error(self, what: str, hint: str) -> LanguageTypeError:
        return LanguageTypeError(what, where=self.span, hint=hint)

    def _build(self, node: Node, args: tuple[Node, ...], strict: bool) -> Node:
        match node:
            case Read(tensor=tensor, component=c):
                index = tuple(self._as_index(tensor.name, a) for a in args)
                return Read(tensor, index, c, self._type(node, []))
            case Op(op="strict"):
                return Op("strict", args, args[0].type)
            case Op():
                return self._build_op(node, args, strict)
            case _:
                return node

    def _as_index(self, tensor: str, node: Node) -> Node:
        t = node.type
        if t is None or not (t is INDEX or concrete(t).is_int):
            raise self._error(
                f"an index of {tensor} is {t!r}, not an integer: {expr_text(node)}",
                "ps.cast(ps.int32, x) truncates; ps.floor first rounds down",
            )
        return convert(node, int64, self.span)

    def _build_op(self, node: Op, args: tuple[Node, ...], strict: bool) -> Node:
        rule = OPS[node.op].rule
        types = [a.type for a in args]
        if rule == "cast":
            return self._build_cast(node, args[0])
        weak = self._operand_type(node, types)
        assert weak is not None
        t = concrete(weak)
        if rule == "select":
            return Op("select", (args[0], *(self._to(a, t) for a in args[1:])), t)
        if rule == "compare":
            return self._build_compare(node, args, t)
        if rule == "round" and t.is_int:
            return self._to(args[0], t)
        operands = tuple(self._to(a, t) for a in args)
        if t.is_bool and rule == "arith":
            return Op("or" if node.op == "add" else "and", operands, bool_)
        if node.op == "abs" and t.kind in "bu":
            return operands[0]
        kept = weak if isinstance(weak, DType) else WEAK_FLOAT if t.is_float else INDEX
        built = Op(node.op, operands, kept)
        return contract(built) if t.is_float and not strict else built

    def _to(self, node: Node, t: DType) -> Node:
        return convert(node, t, self.span)

    def _build_cast(self, node: Op, arg: Node) -> Node:
        assert isinstance(node.type, DType)
        if node.op == "bitcast":
            source = concrete(arg.type or int64)
            arg = convert(arg, source, self.span)
            if source.bits != node.type.bits:
                raise self._error(
                    f"bitcast from {source} to {node.type}: the widths differ", "cast converts"
                )
            return arg if source == node.type else Op("bitcast", (arg,), node.type)
        if isinstance(arg, Const) and not isinstance(arg.type, DType):
            fits = node.type.is_float or isinstance(arg.value, (bool, int))
            if fits and (node.type.is_float or node.type.min <= arg.value <= node.type.max):
                return convert(arg, node.type, self.span)
            arg = convert(arg, concrete(arg.type), self.span)
        return arg if arg.type == node.type else Op("cast", (arg,), node.type)

    def _build_compare(self, node: Op, args: tuple[Node, ...], t: DType) -> Node:
        a, b = args
        types = {concrete(x.type or int64) for x in (a, b)}
        if types == {int64, uint64}:
            return _compare_signs(node.op, a, b)
        for literal, other in ((a, b), (b, a)):
            if isinstance(literal, Const) and not isinstance(literal.type, DType) and t.is_int:
                fits = t.min <= literal.value <= t.max
                if not fits and other.type != uint64 and not isinstance(literal.value, float):
                    t = int64
        return Op(node.op, (convert(a, t, self.span), convert(b, t, self.span)), bool_)


def _compare_signs(op: str, a: Node, b: Node) -> Node:
    """int64 against uint64, exactly: no type holds both."""
    if concrete(a.type or int64) == uint64:
        flipped = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(op, op)
        return _compare_signs(flipped, b, a)
    a = convert(a, int64)
    negative = Op("lt", (a, Const(0, int64)), bool_)
    compared = Op(op, (Op("cast", (a,), uint64), convert(b, uint64)), bool_)
    return Op("select", (negative, Const(op in ("lt", "le", "ne"), bool_), compared), bool_)


def contract(node: Op) -> Op:
    """`x + a*b` and its like as one fused multiply-add; other nodes as they are."""
    if node.op not in ("add", "sub"):
        return node
    x, y = node.operands
    t = node.type
    negative = node.op == "sub"
    if (product := _product(y)) is not None:
        a, b, sign = product
        return Op("fma", (_negated(a) if sign != negative else a, b, x), t)
    if (product := _product(x)) is not None:
        a, b, sign = product
        return Op("fma", (_negated(a) if sign else a, b, _negated(y) if negative else y), t)
    return node


def _product(node: Node) -> tuple[Node, Node, bool] | None:
    """The factors of a product and whether it is negated."""
    match node:
        case Op(op="mul", operands=(a, b)):
            return a, b, False
        case Op(op="neg", operands=(inner,)):
            found = _product(inner)
            return None if found is None else (found[0], found[1], not found[2])
        case _:
            return None


def _negated(node: Node) -> Node:
    if isinstance(node, Const):
        return Const(-node.value, node.type)
    return Op("neg", (node,), node.type)


def negate_condition(node: Node) -> Node:
    """The opposite of a typed condition; for integers without a `not`."""
    match node:
        case Op(op=op, operands=(a, b)) if (
            op in COMPARISONS and not concrete(a.type or int64).is_float
        ):
            return Op(COMPARISONS[op], (a, b), bool_)
        case Op(op="not", operands=(a,)):
            return a
        case _:
            return Op("not", (node,), bool_)
