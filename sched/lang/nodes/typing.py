"""The types of expressions: promotion, casts, and fused multiply-adds.

Contraction (see `contract`) happens here and nowhere else. Nothing inside `strict` is contracted.
"""

from __future__ import annotations

from ..errors.errors import LanguageTypeError, Span
from . import nodes
from .compare import typed_comparison
from .contract import contract
from .convert import convert
from .dtypes import (
    INDEX,
    WEAK_INT,
    DType,
    bool_,
    concrete,
    float64,
    int64,
    same_kind,
    unsigned,
)
from .infer import TypeInference
from .integer_ops import count, saturated, widened
from .nodes import Const, Node, Op, Read
from .of_integers import OF_INTEGERS
from .ops import OPS
from .printer import written_text


def infer_condition(root: Node, span: Span) -> Node:
    """A typed condition over sizes and Params, outside of any definition."""
    return Typer(None, (), span).condition(root, "the requirement")


def typed_size(root: Node, span: Span) -> Node:
    """A typed extent or bound over sizes; literals in it take int64, as sizes do."""
    node = Typer(None, (), span).typed(root)
    if isinstance(node, Const) and isinstance(node.value, int) and node.type != bool_:
        return Const(int(node.value), INDEX)
    if node.type is None or not concrete(node.type).is_int:
        raise LanguageTypeError(
            f"{written_text(root)} is {node.type!r}, not an integer", where=span
        )
    return node


def value_dtype(root: Node, span: Span) -> DType:
    """The type in which an expression over known tensors is computed."""
    found = Typer(None, (), span).infer((root,))[0]
    return concrete(int64 if found is None else found)


def typed_index(root: Node, rename: dict[Node, Node], span: Span) -> Node:
    """A typed index or bound, with symbols replaced."""
    return Typer(None, (), span).index(root, rename)


class Typer(TypeInference):
    """Types the expressions of one definition of one Func."""

    def typed(self, root: Node) -> Node:
        """`root` with every node typed. An expression of indices and literals alone keeps a weak
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
                f"the index {written_text(root)} is {node.type!r}, not an integer",
                where=self.span,
                hint=_as_integer(root),
            )
        return convert(node, int64, self.span)

    def condition(self, root: Node, what: str) -> Node:
        node = self.typed(root)
        if node.type != bool_:
            raise LanguageTypeError(
                f"{what} {written_text(root)} is {node.type!r}, not a condition",
                where=self.span,
                hint="compare it: x != 0",
            )
        return node

    def store(self, root: Node, to: DType, update: bool) -> Node:
        node = self.typed(root)
        t = node.type
        assert t is not None
        assert self.func is not None
        if isinstance(node, Const) and t is WEAK_INT and to.is_int:
            self._check_literal(node.value, to)
        if not same_kind(t, to):
            what = "update" if update else "definition"
            raise LanguageTypeError(
                f"this {what} of {self.func.name} computes {t!r}, which does not fit in {to}, "
                f"the dtype of {self.func.name}",
                where=self.span,
                hint=f"say so explicitly: ps.cast(ps.{to}, ...)",
            )
        return convert(node, to, self.span)

    def _check_literal(self, value: bool | int | float, to: DType) -> None:
        assert self.func is not None
        if not to.min <= value <= to.max:
            name = self.func.name
            raise self._error(
                f"the literal {value} does not fit in {to}, the dtype of {name}",
                f"ps.Func({name!r}, dtype=ps.uint64) holds it"
                if value > to.max
                else f"ps.cast(ps.{to}, ps.cast(ps.int64, {value})) wraps",
            )

    def _build(self, node: Node, args: tuple[Node, ...], strict: bool) -> Node:
        match node:
            case Read(tensor=tensor, index=written, component=c):
                index = tuple(map(self._as_index, (tensor.name,) * len(args), args, written))
                meant = tensor if tensor is self.func else tensor.meant()
                return Read(meant, index, c, self._type(node, []))
            case Op(op="strict"):
                return Op("strict", args, args[0].type)
            case Op():
                return self._build_op(node, args, strict)
            case _:
                return node.with_args(args)

    def _as_index(self, tensor: str, node: Node, written: Node) -> Node:
        t = node.type
        if t is None or not (t is INDEX or concrete(t).is_int):
            raise self._error(
                f"an index of {tensor} is {t!r}, not an integer: {written_text(written)}",
                _as_integer(written),
            )
        return convert(node, int64, self.span)

    def _build_op(self, node: Op, args: tuple[Node, ...], strict: bool) -> Node:
        rule = OPS[node.op].rule
        types = [a.type for a in args]
        if rule == "cast":
            return self._build_cast(node, args[0])
        if rule == "compare":
            common = self._operand_type(node, types)
            assert common is not None
            return typed_comparison(node.op, args[0], args[1], concrete(common), self.span)
        if rule == "distance":
            return self._build_distance(node, args, strict)
        if rule in ("widening", "saturate", "counted"):
            return self._build_integers(node, args)
        if rule == "test":
            working = concrete(self._operand_type(node, types) or float64)
            return Op(node.op, (self._to(args[0], working),), bool_)
        weak = self._rule(node, types)
        assert weak is not None
        t = concrete(weak)
        if rule == "select":
            return Op("select", (args[0], *(self._to(a, t) for a in args[1:])), weak)
        if rule == "ldexp":
            args = (args[0], _saturated(args[1], self.span))
        if rule == "round" and t.is_int:
            return args[0]
        operands = tuple(self._to(a, t) for a in args)
        if t.is_bool and rule == "arith":
            return Op("or" if node.op == "add" else "and", operands, bool_)
        if node.op == "abs" and t.kind in "bu":
            return operands[0]
        if t.is_int and rule in ("sign", "fmod"):
            return OF_INTEGERS[rule](operands, weak)
        built = Op(node.op, operands, weak)
        fuses = t.is_float and not t.is_narrow and not strict
        return contract(built) if fuses else built

    def _build_distance(self, node: Op, args: tuple[Node, ...], strict: bool) -> Node:
        """The distance of two values. For floats it is abs(a - b), in which products are fused as
        in any difference."""
        common = self._operand_type(node, [a.type for a in args])
        assert common is not None
        operands = tuple(self._to(a, concrete(common)) for a in args)
        if concrete(common).is_int:
            return Op(node.op, operands, unsigned(common))
        difference = Op("sub", operands, common)
        fuses = not (strict or concrete(common).is_narrow)
        return Op("abs", (contract(difference) if fuses else difference,), common)

    def _build_integers(self, node: Op, args: tuple[Node, ...]) -> Node:
        """An operator on integers whose operands have other types than its result."""
        rule, result = OPS[node.op].rule, self._rule(node, [a.type for a in args])
        assert result is not None
        if rule == "saturate":
            return saturated(args[0], concrete(result), self.span)
        if rule == "widening":
            common = self._operand_type(node, [a.type for a in args])
            assert common is not None
            return widened(node.op, tuple(self._to(a, concrete(common)) for a in args), result)
        values = tuple(self._to(a, concrete(result)) for a in args[:-1])
        return Op(node.op, (*values, count(node.op, args[-1], concrete(result))), result)

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


def _as_integer(written: Node) -> str:
    """How to make an index of what is no integer, for messages."""
    if isinstance(written, Op) and written.op == "div":
        a, b = map(written_text, written.operands)
        if not any(isinstance(x, Op) for x in written.operands):
            return f"{a} // {b} divides integers, and rounds down"
    return "ps.cast(ps.int32, x) truncates; ps.floor first rounds down"


def _saturated(exponent: Node, span: Span) -> Node:
    """The exponent of ldexp, limited: beyond 2**(+-2200) every result is 0 or inf."""
    e = convert(exponent, concrete(exponent.type or int64), span)
    t = concrete(e.type or int64)
    for op, limit in (("min", 2200), ("max", -2200)):
        if t.min <= limit <= t.max:
            e = Op(op, (e, Const(limit, t)), t)
    return e
