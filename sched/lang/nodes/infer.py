"""Type inference: the type of each node of an expression, and refusals of wrong types."""

from __future__ import annotations

from ..errors.errors import LanguageTypeError, Span
from .dtypes import (
    WEAK_FLOAT,
    DType,
    Type,
    bfloat16,
    bool_,
    concrete,
    float64,
    for_float_function,
    int64,
    join,
    promote,
    unsigned,
)
from .nodes import Node, Op, Read, postorder
from .ops import OPS
from .printer import written_text
from .tensor import Tensor

#: Rules by which an operator's result has the common type of its operands.
_COMMON = frozenset({"arith", "lattice", "bits", "select", "integer"})


class TypeInference:
    """Finds the types of the expressions of one definition of one Func."""

    def __init__(
        self, func: Tensor | None, self_types: tuple[Type | None, ...], span: Span
    ) -> None:
        self.func = func
        self.self_types = self_types
        self.span = span

    def infer(self, roots: tuple[Node, ...]) -> list[Type | None]:
        types: dict[Node, Type | None] = {}
        for node in postorder(*roots):
            types[node] = self._type(node, [types[a] for a in node.args])
        return [types[r] for r in roots]

    def lower_bound(self, root: Node) -> frozenset[Type | None]:
        """Types that the type of an expression must hold, whatever the type of the Func is: those
        of the operands that do not read the Func, below operators whose result has the common type
        of their operands."""
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

    def _type(self, node: Node, args: list[Type | None]) -> Type | None:
        match node:
            case Read(tensor=tensor, component=c):
                if tensor is self.func:
                    return self.self_types[c]
                return tensor.read_dtype(c)
            case Op():
                return self._rule(node, args)
            case _ if node.type is None and args:
                return join(args)  # of a trace, or of a reduction and its initial value
            case _:
                return node.type

    def _rule(self, node: Op, args: list[Type | None]) -> Type | None:
        rule = OPS[node.op].rule
        if rule in ("cast", "saturate"):
            if rule == "saturate":
                self._check_limits(node)
            return node.type
        if rule in ("compare", "test"):
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
        if rule == "counted":
            self._check_count(node, args[-1])
            args = args[:-1]
        t = self._operand_type(node, args)
        return self._wider(node, t) if rule == "widening" and t is not None else t

    def _operand_type(self, node: Op, args: list[Type | None]) -> Type | None:
        """The type in which the operator computes; operands that it cannot take are refused."""
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
        """The type in which an operator computes with operands of the common type `t`."""
        rule, c = OPS[node.op].rule, concrete(t)
        if rule in ("arith", "distance", "divide", "round", "sign", "fmod", "power") and c.is_bool:
            return self._bool_arithmetic(node)
        if rule in ("bits", "not", "integer", "counted", "widening") and c.is_float:
            raise self._no_bits(node, t, args)
        if rule in ("integer", "counted", "widening") and c.is_bool:
            return self._bool_arithmetic(node)
        if rule == "bits" and node.op in ("shl", "shr") and c.is_bool:
            return int64 if t is bool_ else t
        if rule == "test":
            return t if c.is_float else float64
        if rule == "divide":
            return t if c.is_float else WEAK_FLOAT if not isinstance(t, DType) else float64
        if rule in ("float", "ldexp"):
            if rule == "ldexp" and t is bfloat16:
                raise self._error(
                    "bfloat16 does not hold every exponent that ldexp may be given",
                    "ps.cast(ps.bfloat16, ps.ldexp(ps.cast(ps.float32, x), e)) rounds once, too",
                )
            return for_float_function(t)
        if rule == "fma" and not c.is_float:
            raise self._error(f"fma works on floats, not on {t!r}", "write a * b + c")
        return t

    def _no_bits(self, node: Op, t: Type, args: list[Type | None]) -> LanguageTypeError:
        if not any(a is not None and concrete(a).is_float for a in args):
            return self._error(
                f"no integer type holds {args[0]!r} and {args[1]!r}: {written_text(node)}",
                "cast one of them: ps.cast(ps.uint64, x)",
            )
        symbol = OPS[node.op].symbol
        return self._error(
            f"{symbol or node.op} works on integers{' and bools' if symbol else ''}, not on "
            f"{t!r}: {written_text(node)}",
            "compare first, or ps.bitcast(ps.uint32, x) to work on the bits",
        )

    def _bool_arithmetic(self, node: Op) -> Type:
        if node.op in ("add", "mul"):
            return bool_
        raise self._error(
            f"{node.op} of bools: {written_text(node)}",
            "use & | ^ ~ on conditions, or cast to an integer first",
        )

    def _check_count(self, node: Op, t: Type | None) -> None:
        if t is not None and not concrete(t).is_int:
            raise self._error(
                f"the count of {node.op} is {t!r}, not an integer: "
                f"{written_text(node.operands[-1])}",
                "ps.cast(ps.int32, x) converts",
            )

    def _check_limits(self, node: Op) -> None:
        if node.type is not None and not concrete(node.type).is_int:
            raise self._error(
                f"saturating_cast to {node.type!r}, which is no integer type: {written_text(node)}",
                f"ps.cast(ps.{node.type!r}{'_' * (node.type is bool_)}, ...) converts to it",
            )

    def _wider(self, node: Op, t: Type) -> DType:
        wider = concrete(t).wider
        if wider is None:
            raise self._error(
                f"{node.op} of {t!r}, which has {concrete(t).bits} bits: no type is twice as wide: "
                f"{written_text(node)}",
                "cast to a narrower type first: ps.cast(ps.int32, x); of a product, "
                "ps.mul_shift_right gives the upper half",
            )
        return wider

    def _error(self, what: str, hint: str) -> LanguageTypeError:
        return LanguageTypeError(what, where=self.span, hint=hint)
