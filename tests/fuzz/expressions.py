"""Random expressions of each kind, typed as they are written so that few are refused."""

from __future__ import annotations

from polysched.lang.nodes.dtypes import (
    INDEX,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    Type,
    bool_,
    concrete,
    float32,
    float64,
    for_float_function,
    int64,
    promote,
    unsigned,
)
from polysched.testing.choices import Choices

from .indices import Indices
from .reads import Reads
from .reductions import Reductions
from .vocabulary import KINDS, Kind, Scope, Value
from .world import FLOATS, INTEGERS, NUMPYS, World

_OF_ONE = ("popcount", "clz", "ctz", "bit_reverse", "byte_swap")
_OF_TWO = (
    *("saturating_add", "saturating_sub", "saturating_mul", "pow"),
    *("halving_add", "rounding_halving_add"),
)
_COUNTED = (
    *("rotate_left", "rotate_right", "rounding_shift_right"),
    *("mul_shift_right", "rounding_mul_shift_right"),
)
_WIDENING = ("widening_add", "widening_mul")
_FUNCTIONS = (
    "sqrt", "exp", "log", "tanh", "sigmoid", "rsqrt", "sign",
    "exp2", "expm1", "sinh", "cosh", "log2", "log10", "log1p",
    "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "cbrt",
    "asin", "acos", "atan", "asinh", "acosh", "atanh",
    "fast_exp", "fast_exp2", "fast_log", "fast_tanh", "fast_sigmoid", "fast_rsqrt", "fast_erf",
    "erf", "erfc", "gamma", "lgamma",
)  # fmt: skip
_OF_TWO_FLOATS = (
    "ps.copysign", "ps.heaviside", "ps.hypot", "ps.nextafter", "ps.fmod", "ps.arctan2", "ps.pow",
    "ps.power", "ps.remainder", "ps.atan2",
)  # fmt: skip
_TESTS = ("isnan", "isinf", "isfinite", "signbit")


class Expressions:
    """Writes expressions for one definition."""

    def __init__(self, choices: Choices, world: World, scope: Scope) -> None:
        self.choices = choices
        self.world = world
        self.scope = scope
        self.indices = Indices(choices, world, scope, self)
        self.reads = Reads(choices, world, scope, self)
        self.reductions = Reductions(choices, world, scope, self)

    # entry points -----------------------------------------------------------------------------
    def value(self, depth: int, kind: Kind | None = None) -> Value:
        """An expression of a kind, at most about `depth` operators deep."""
        choices = self.choices
        wanted = kind or choices.pick(KINDS)
        if depth <= 0 or choices.below(8) == 0:
            return self._leaf(wanted)
        if self.scope.shared and choices.chance(18):
            return self.as_kind(choices.pick(self.scope.shared), wanted)
        if choices.chance(30):
            return self.as_kind(self.reads.value(depth), wanted)
        if self.scope.reductions > 0 and choices.chance(9):
            found = self.as_kind(self.reductions.value(depth, wanted), wanted)
        else:
            make = {"bool": self._bool, "int": self._int, "float": self._float}[wanted]
            found = self.as_kind(make(depth), wanted)
        if choices.chance(12):
            found = self.named(found)
        if choices.chance(3):
            found = self._deeply_shared(found)
        return found

    def traced(self, value: Value, percent: int) -> Value:
        """The value, perhaps printed whenever it is computed."""
        if value.literal or not self.scope.traces or not self.choices.chance(percent):
            return value
        return Value(f'ps.trace({value.text}, "{self.choices.pick(("a", "b"))}")', value.type)

    def named(self, value: Value) -> Value:
        """The value under a name, by which others may use it too, also in an index."""
        if value.literal or _TRACE in value.text:
            return value
        name = self.world.fresh("t")
        self.scope.lines.append(f"{name} = {value.text}")
        made = Value(name, value.type)
        self.scope.shared.append(made)
        return made

    def as_kind(self, value: Value, kind: Kind) -> Value:
        """The value converted, if it is of another kind."""
        if value.kind == kind:
            return value
        if kind == "bool":
            return Value(f"({self._strong(value).text} != 0)", bool_)
        return self.cast(value, self.choices.pick(INTEGERS if kind == "int" else FLOATS))

    def cast(self, value: Value, to: DType) -> Value:
        return Value(f"ps.cast(ps.{to.name}, {value.text})", to)

    def store(self, value: Value, to: DType) -> Value:
        """The value as something that may be stored as `to`."""
        c = concrete(value.type)
        order = "biuf"
        lossless = c.kind == to.kind or ((c.is_bool or to.is_float) and not c.is_float)
        weak = not isinstance(value.type, DType) and order.index(c.kind) <= order.index(to.kind)
        keep = lossless or (weak and not to.is_bool)
        return value if keep and self.choices.chance(80) else self.cast(value, to)

    # leaves -----------------------------------------------------------------------------------
    def _leaf(self, kind: Kind) -> Value:
        choices = self.choices
        what = choices.weighted((3, "literal"), (4, "symbol"), (7, "read"), (1, "param"))
        if what == "read" and self.world.tensors:
            return self.as_kind(self.reads.plain(), kind)
        if what == "symbol" and self.scope.symbols:
            return self.as_kind(Value(choices.pick(self.scope.symbols).name, INDEX), kind)
        if what == "param":
            return self.as_kind(self.symbolic(), kind)
        return self.literal(kind)

    def symbolic(self) -> Value:
        """A Param or a size."""
        params = [Value(p.name, _param_type(p.dtype)) for p in self.world.params]
        sizes = [Value(s, INDEX) for s in self.world.sizes]
        return self.choices.pick([*sizes, *params])

    def literal(self, kind: Kind) -> Value:
        """A Python number, or a NumPy scalar of some type."""
        choices, world = self.choices, self.world
        if kind == "bool":
            return Value(str(bool(choices.below(2))), bool_, literal=True)
        if choices.chance(25):
            t = choices.pick(INTEGERS if kind == "int" else NUMPYS)
            return Value(world.scalar(t), t, literal=True)
        if kind == "int":
            return Value(str(choices.pick((0, 1, 2, 3, 5, 7, 31, 64, 100))), WEAK_INT, literal=True)
        text = choices.pick(("0.5", "1.0", "-0.0", "0.1", "1e-3", "-3.0", "1e30", "2.0"))
        return Value(text, WEAK_FLOAT, literal=True)

    def _strong(self, value: Value) -> Value:
        """The value as an `Expr`: Python would compute with literals by itself."""
        return self.cast(value, concrete(value.type)) if value.literal else value

    # operators --------------------------------------------------------------------------------
    def _pair(self, depth: int, kind: Kind) -> tuple[Value, Value, Type]:
        """Two operands and their common type; for integers that is one, too."""
        a, b = self.value(depth - 1, kind), self.value(depth - 1, kind)
        if a.literal and b.literal:
            a = self._strong(a)
        t = promote(a.type, b.type)
        assert t is not None
        if kind == "int" and not concrete(t).is_int:
            b = self.cast(b, concrete(a.type))
            t = concrete(a.type)
        return a, b, t

    def _binary(self, depth: int, kind: Kind, operators: tuple[str, ...]) -> Value:
        a, b, t = self._pair(depth, kind)
        op = self.choices.pick(operators)
        if op.startswith("ps."):
            return Value(f"{op}({a.text}, {b.text})", t)
        return Value(f"({a.text} {op} {b.text})", t)

    def select(self, depth: int, kind: Kind) -> Value:
        """A choice between two values, or more."""
        condition = self.condition(depth - 1)
        a, b, t = self._pair(depth, kind)
        if self.choices.chance(20):
            second, c = self.condition(depth - 1), self.value(depth - 1, kind)
            t = promote(t, c.type) or t
            return Value(
                f"ps.select({condition.text}, {a.text}, {second.text}, {c.text}, {b.text})", t
            )
        name = self.choices.weighted((9, "select"), (1, "where"))
        return Value(f"ps.{name}({condition.text}, {a.text}, {b.text})", t)

    def condition(self, depth: int) -> Value:
        """On indices, or on anything."""
        if self.choices.chance(60):
            return Value(self.indices.condition(), bool_)
        return self._strong(self.value(depth, "bool"))

    def _int(self, depth: int) -> Value:
        form = self.choices.weighted(
            (10, "binary"), (3, "unary"), (4, "select"), (3, "cast"), (2, "bits"), (1, "mux"),
            (1, "clip"), (1, "rounded"), (1, "distance"), (3, "function"),
        )  # fmt: skip
        match form:
            case "binary":
                ops = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
                return self._binary(depth, "int", (*ops, "ps.minimum", "ps.maximum"))
            case "unary":
                a = self._strong(self.value(depth - 1, "int"))
                op = self.choices.pick(("-", "~", "abs", "+"))
                return Value(f"{op}({a.text})", a.type)
            case "select":
                return self.select(depth, "int")
            case "cast":
                return self.cast(self.value(depth - 1), self.choices.pick(INTEGERS))
            case "bits":
                return self._bits_of_float(depth)
            case "mux":
                index = self.cast(self.value(depth - 1, "int"), self.choices.pick(INTEGERS))
                a, b, t = self._pair(depth, "int")
                return Value(f"ps.mux({index.text}, [{a.text}, {b.text}])", t)
            case "clip":
                a = self.value(depth - 1, "int")
                return Value(f"ps.clip({a.text}, 1, 5)", promote(a.type, WEAK_INT) or a.type)
            case "function":
                return self._function_of_integers(depth)
            case "distance":
                a, b, t = self._pair(depth, "int")
                return Value(f"ps.absd({a.text}, {b.text})", unsigned(t))
            case _:
                a = self._strong(self.value(depth - 1, "int"))
                return Value(f"ps.{self.choices.pick(('floor', 'round'))}({a.text})", a.type)

    def _function_of_integers(self, depth: int) -> Value:
        """One of those with the widths and the rounding of fixed-point numbers, or of bits."""
        name = self.choices.pick((*_OF_ONE, *_OF_TWO, *_COUNTED, *_WIDENING, "saturating_cast"))
        if name == "saturating_cast":
            a, to = self.value(depth - 1), self.choices.pick(INTEGERS)
            return Value(f"ps.saturating_cast(ps.{to.name}, {a.text})", to)
        if name in _OF_ONE:
            a = self.value(depth - 1, "int")
            return Value(f"ps.{name}({a.text})", a.type)
        a, b, t = self._pair(depth, "int")
        if name in _WIDENING and concrete(t).wider is None:
            narrow = self.choices.pick([u for u in INTEGERS if u.bits < 64])
            a, b, t = self.cast(a, narrow), self.cast(b, narrow), narrow
        if name in _WIDENING:
            return Value(f"ps.{name}({a.text}, {b.text})", concrete(t).wider or t)
        if name in _OF_TWO:
            return Value(f"ps.{name}({a.text}, {b.text})", t)
        by = self._count(depth)
        if "mul" in name:
            return Value(f"ps.{name}({a.text}, {b.text}, {by})", t)
        return Value(f"ps.{name}({a.text}, {by})", a.type)

    def _count(self, depth: int) -> str:
        """Most counts are small numbers, some of them below 0 or beyond all bits."""
        if self.choices.chance(70):
            return str(self.choices.pick((0, 1, 3, 7, 8, 15, 16, 31, 63, 64, 200, -1)))
        return self.value(depth - 1, "int").text

    def _bits_of_float(self, depth: int) -> Value:
        """Of one that is no NaN: those may differ."""
        t = self.choices.pick(FLOATS)
        a = self.cast(self.value(depth - 1, "float"), t)
        number = Value(f"ps.select({a.text} == {a.text}, {a.text}, 0.0)", t)
        to = self.choices.pick([u for u in INTEGERS if u.bits == t.bits])
        return Value(f"ps.bitcast(ps.{to.name}, {number.text})", to)

    def _bool(self, depth: int) -> Value:
        form = self.choices.weighted((8, "compare"), (4, "logic"), (1, "not"), (2, "affine"),
                                     (1, "select"), (1, "is nan"))  # fmt: skip
        match form:
            case "compare":
                kind = self.choices.pick(KINDS)
                a, b = self.value(depth - 1, kind), self.value(depth - 1, kind)
                a = self._strong(a) if b.literal else a
                op = self.choices.pick(("<", "<=", ">", ">=", "==", "!="))
                return Value(f"({a.text} {op} {b.text})", bool_)
            case "logic":
                return self._binary(
                    depth, "bool", ("&", "|", "^", "ps.minimum", "ps.maximum", "+", "*")
                )
            case "not":
                return Value(f"~{self._strong(self.value(depth - 1, 'bool')).text}", bool_)
            case "affine":
                return Value(self.indices.condition(), bool_)
            case "select":
                return self.select(depth, "bool")
            case _:
                a = self._strong(self.value(depth - 1, "float"))
                return Value(f"ps.{self.choices.pick(_TESTS)}({a.text})", bool_)

    def _float(self, depth: int) -> Value:
        form = self.choices.weighted(
            (12, "binary"), (5, "product sum"), (3, "unary"), (4, "select"), (3, "cast"),
            (3, "function"), (1, "quotient"), (1, "fma"), (1, "ldexp"), (1, "power"), (1, "mixed"),
        )  # fmt: skip
        match form:
            case "binary":
                ops = ("+", "-", "*", "/", "ps.minimum", "ps.maximum", "ps.absd", "//", "%")
                return self._binary(depth, "float", (*ops, self.choices.pick(_OF_TWO_FLOATS)))
            case "product sum":
                return self._product_sum(depth)
            case "unary":
                a = self._strong(self.value(depth - 1, "float"))
                op = self.choices.pick(
                    ("-", "abs", "ps.strict", "ps.floor", "ps.ceil", "ps.rint", "ps.trunc")
                )
                return Value(f"{op}({a.text})", a.type)
            case "select":
                return self.select(depth, "float")
            case "cast":
                return self.cast(self.value(depth - 1), self.choices.pick(FLOATS))
            case "function":
                a = self._strong(self.value(depth - 1))
                t = for_float_function(a.type) if a.kind != "bool" else None
                if t is None:
                    a, t = self.cast(a, float32), float32
                return Value(f"ps.{self.choices.pick(_FUNCTIONS)}({a.text})", t)
            case "quotient":
                a, b, t = self._pair(depth, "int")
                exact = float64 if isinstance(t, DType) else WEAK_FLOAT
                return Value(f"({a.text} / {b.text})", exact)
            case "fma":
                a, b, t = self._pair(depth, "float")
                c = self.value(depth - 1, "float")
                return Value(f"ps.fma({a.text}, {b.text}, {c.text})", promote(t, c.type) or t)
            case "ldexp":
                a, e = self.value(depth - 1, "float"), self.value(depth - 1, "int")
                return Value(f"ps.ldexp({a.text}, {e.text})", a.type)
            case "power":
                a = self._strong(self.value(depth - 1, "float"))
                return Value(f"({a.text} ** {self.choices.pick(('2', '0.5', '3', '-1'))})", a.type)
            case _:
                a = self._strong(self.value(depth - 1, "float"))
                b = self.value(depth - 1, "int")
                return Value(f"({a.text} * {b.text})", promote(a.type, b.type) or a.type)

    def _product_sum(self, depth: int) -> Value:
        """A sum that may be fused, or just not."""
        a, b, t = self._pair(depth, "float")
        a = self._strong(a)
        c = self.value(depth - 1, "float")
        product, other = f"{a.text} * {b.text}", c.text
        form = self.choices.pick((
            "({p} + {c})", "({c} + {p})", "({p} - {c})", "({c} - {p})", "(-({p}) + {c})",
            "({c} - -({p}))", "({p} + {p})", "(ps.strict({p}) + {c})", "ps.strict({p} + {c})",
            "(ps.cast(ps.float64, {p}) + {c})", "({c} * {c} - {p})",
        ))  # fmt: skip
        if "{c} *" in form or other == product:
            other = self._strong(c).text
        wide = promote(t, c.type) or t
        if "float64" in form:
            wide = promote(float64, c.type) or float64
        return Value(form.format(p=product, c=other), wide)

    def _deeply_shared(self, value: Value) -> Value:
        """A tower in which each floor uses the one below twice; none on what has no name, since its
        text would double with each floor."""
        if _TRACE in value.text:
            return value
        found = self.cast(value, int64) if value.kind == "bool" else self._strong(value)
        for _ in range(4 + self.choices.below(12)):
            below = self.named(found)
            found = Value(f"({below.text} * {below.text} + {below.text})", below.type)
        return self.as_kind(found, value.kind)


_TRACE = "ps.trace("
"""What writes when it is computed, which may be once or twice: it gets no name."""


def _param_type(name: str) -> Type:
    t = next(t for t in (*INTEGERS, *FLOATS, bool_) if t.name == name)
    return INDEX if t.is_int else t
