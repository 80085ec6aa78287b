"""The types of expressions: promotion, casts, and fused multiply-adds.

Contraction (see `contract`) happens here and nowhere else. Nothing inside `strict` is contracted.
"""

from __future__ import annotations

from ..errors.errors import LanguageTypeError, Span
from . import nodes
from .contract import contract
from .convert import convert
from .dtypes import (
    INDEX,
    WEAK_FLOAT,
    WEAK_INT,
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
    unsigned,
)
from .nodes import Const, Node, Op, Read, postorder
from .ops import OPS
from .printer import written_text
from .tensor import Tensor


def infer_condition(root: Node, span: Span) -> Node:
    """A typed condition over sizes and Params, outside of any definition."""
    return Typer(None, (), span).condition(root, "the requirement")


def typed_size(root: Node, span: Span) -> Node:
    """A typed extent or bound over sizes; a literal among them adapts as a size does."""
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


#: Rules by which an operator's result has the common type of its operands.
_COMMON = frozenset({"arith", "lattice", "bits", "select"})


class Typer:
    """Types the expressions of one definition of one Func."""

    def __init__(
        self, func: Tensor | None, self_types: tuple[Type | None, ...], span: Span
    ) -> None:
        self.func = func
        self.self_types = self_types
        self.span = span

    # entry points ----------------------------------------------------------------------------
    def infer(self, roots: tuple[Node, ...]) -> list[Type | None]:
        types: dict[Node, Type | None] = {}
        for node in postorder(*roots):
            types[node] = self._type(node, [types[a] for a in node.args])
        return [types[r] for r in roots]

    def lower_bound(self, root: Node) -> frozenset[Type | None]:
        """The types of the operands that do not read the Func itself, below operators whose
        result has the common type of their operands."""
        types: dict[Node, Type | None] = {}
        for node in postorder(root):
            if not self._reads_itself(node) and all(a in types for a in node.args):
                types[node] = self._type(node, [types[a] for a in node.args])
        found = set()
        stack, seen = [root], {root}
        while stack:
            node = stack.pop()
            if node in types:
                found.add(types[node])
            elif isinstance(node, Op) and OPS[node.op].rule in _COMMON:
                operands = node.operands[1:] if node.op == "select" else node.operands
                stack += [a for a in operands if a not in seen]
                seen.update(operands)
        return frozenset(found)

    def _reads_itself(self, node: Node) -> bool:
        return isinstance(node, Read) and node.tensor is self.func

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
                f"the index {written_text(root)} is {node.type!r}, not an integer",
                where=self.span,
                hint="ps.cast(ps.int32, x) truncates; ps.floor first rounds down",
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

    # one node ---------------------------------------------------------------------------------
    def _type(self, node: Node, args: list[Type | None]) -> Type | None:
        match node:
            case Read(tensor=tensor, component=c):
                if tensor is self.func:
                    return self.self_types[c]
                return tensor.read_dtype(c)
            case Op():
                return self._rule(node, args)
            case _ if node.type is None and args:
                return args[0]
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
        if rule == "distance":
            t = self._operand_type(node, args)
            return None if t is None else unsigned(t)
        if rule == "ldexp":
            if args[1] is not None and not concrete(args[1]).is_int:
                raise self._error(
                    f"the exponent of ldexp is {args[1]!r}, not an integer: "
                    f"{written_text(node.operands[1])}",
                    "ps.cast(ps.int32, x) truncates",
                )
            args = args[:1]
        return self._operand_type(node, args)

    def _operand_type(self, node: Op, args: list[Type | None]) -> Type | None:
        """The type in which the operator works, refusing what it cannot work on."""
        rule = OPS[node.op].rule
        if rule == "select":
            if args[0] not in (None, bool_):
                raise self._error(
                    f"the condition of a select is {args[0]!r}: {written_text(node.args[0])}",
                    "compare it: x != 0",
                )
            args = args[1:]
        t: Type | None = None
        for a in args:
            t = promote(t, a)
        return None if t is None else self._working_type(node, t, args)

    def _working_type(self, node: Op, t: Type, args: list[Type | None]) -> Type:
        """The type in which an operator works on operands with the common type `t`."""
        rule, c = OPS[node.op].rule, concrete(t)
        if rule in ("arith", "distance", "divide", "round") and c.is_bool:
            return self._bool_arithmetic(node)
        if rule in ("bits", "not") and c.is_float:
            raise self._no_bits(node, t, args)
        if rule == "bits" and node.op in ("shl", "shr") and c.is_bool:
            return int64 if t is bool_ else t
        if rule == "divide":
            return t if c.is_float else WEAK_FLOAT if not isinstance(t, DType) else float64
        if rule in ("float", "ldexp"):
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

    def _no_bits(self, node: Op, t: Type, args: list[Type | None]) -> LanguageTypeError:
        if not any(a is not None and concrete(a).is_float for a in args):
            return self._error(
                f"no integer type holds {args[0]!r} and {args[1]!r}: {written_text(node)}",
                "cast one of them: ps.cast(ps.uint64, x)",
            )
        return self._error(
            f"{OPS[node.op].symbol} works on integers and bools, not on {t!r}: "
            f"{written_text(node)}",
            "compare first, or ps.bitcast(ps.uint32, x) to work on the bits",
        )

    def _bool_arithmetic(self, node: Op) -> Type:
        if node.op in ("add", "mul"):
            return bool_
        raise self._error(
            f"{node.op} of bools: {written_text(node)}",
            "use & | ^ ~ on conditions, or cast to an integer first",
        )

    def _error(self, what: str, hint: str) -> LanguageTypeError:
        return LanguageTypeError(what, where=self.span, hint=hint)

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
                "ps.cast(ps.int32, x) truncates; ps.floor first rounds down",
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
            return self._build_compare(node, args, concrete(common))
        if rule == "distance":
            return self._build_distance(node, args, strict)
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
        built = Op(node.op, operands, weak)
        return contract(built) if t.is_float and not strict else built

    def _build_distance(self, node: Op, args: tuple[Node, ...], strict: bool) -> Node:
        """Of floats it is abs(a - b), with a product fused as there."""
        common = self._operand_type(node, [a.type for a in args])
        assert common is not None
        operands = tuple(self._to(a, concrete(common)) for a in args)
        if concrete(common).is_int:
            return Op(node.op, operands, unsigned(common))
        difference = Op("sub", operands, common)
        return Op("abs", (difference if strict else contract(difference),), common)

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
        if _is_weak_integer(a) and not _is_weak_integer(b):
            return self._compare_literal(_flipped(node.op), b, a, t)
        if _is_weak_integer(b) and not _is_weak_integer(a):
            return self._compare_literal(node.op, a, b, t)
        if {concrete(x.type or int64) for x in args} == {int64, uint64}:
            return _compare_signs(node.op, a, b)
        return Op(node.op, (self._to(a, t), self._to(b, t)), bool_)

    def _compare_literal(self, op: str, a: Node, literal: Node, t: DType) -> Node:
        """A comparison with an integer literal, exact also where `a` has no such value."""
        assert isinstance(literal, Const)
        if a.type == bool_ and literal.value == 0 and op in ("eq", "ne"):
            return a if op == "ne" else Op("not", (a,), bool_)
        if t.is_float or t.is_bool or t.min <= literal.value <= t.max:
            return Op(op, (self._to(a, t), self._to(literal, t)), bool_)
        above = literal.value > t.max
        holds = op == "ne" or op in (("lt", "le") if above else ("gt", "ge"))
        # The outcome is known, but `a` is still an operand: what it reads is read.
        return Op("le" if holds else "gt", (self._to(a, t), Const(t.max, t)), bool_)


def _is_weak_integer(node: Node) -> bool:
    return isinstance(node, Const) and node.type is WEAK_INT


def _saturated(exponent: Node, span: Span) -> Node:
    """The exponent of ldexp, limited: beyond 2**(+-2200) every result is 0 or inf."""
    e = convert(exponent, concrete(exponent.type or int64), span)
    t = concrete(e.type or int64)
    for op, limit in (("min", 2200), ("max", -2200)):
        if t.min <= limit <= t.max:
            e = Op(op, (e, Const(limit, t)), t)
    return e


def _flipped(op: str) -> str:
    """The comparison with its operands exchanged."""
    return {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(op, op)


def _compare_signs(op: str, a: Node, b: Node) -> Node:
    """int64 against uint64, exactly: no type holds both."""
    if concrete(a.type or int64) == uint64:
        return _compare_signs(_flipped(op), b, a)
    a = convert(a, int64)
    negative = Op("lt", (a, Const(0, int64)), bool_)
    compared = Op(op, (Op("cast", (a,), uint64), convert(b, uint64)), bool_)
    return Op("select", (negative, Const(op in ("lt", "le", "ne"), bool_), compared), bool_)
