"""The table of operators: the one place that says which there are and how each is typed.

A new operator is a row here, its meaning in `lang/arithmetic/scalar.py`, its code in
`codegen/llvm/operators/instructions.py` (or, when it is a function built from other operators, an
expansion in `lang/arithmetic/math.py` instead of both), and a public name in
`lang/expr/functions.py`.
"""

from __future__ import annotations

from ...records import dataclass


@dataclass(frozen=True, slots=True)
class OpInfo:
    """How an operator is written and typed.

    rule:
      arith    operands are promoted, the result has their type; bool refused
      lattice  as arith, bool allowed (minimum, maximum)
      distance as arith; of integers the result is unsigned, of floats it becomes abs(a - b)
      divide   as arith, but integers become float64 first (true division)
      bits     integers or bools, promoted
      not      one integer or bool
      integer  as arith, integers alone
      counted  as integer, but for the last operand: a count, an integer of any type, which is given
               to the operator as one of the result's type
      widening as integer, with a result of twice the width: a sum or product of casts when typed
      saturate to the integer type that the node carries: limits and a cast when typed
      compare  operands are promoted, the result is bool
      select   bool, then two values that are promoted
      float    an integer becomes a float as in NumPy; the result is a float
      test     a float, or a number that becomes one exactly; the result is bool
      sign     as arith; of integers made of minima and maxima
      fmod     as arith; of integers made of the operators of integers
      power    as arith; of integers a function of integers
      ldexp    as float; the second operand is an integer, given to the operator as that float
      round    float to float; integers pass through unchanged
      cast     to the type that the node carries
      fma      three floats of one type
      strict   its operand's type
    """

    arity: int
    rule: str
    symbol: str | None = None
    precedence: int = 100


_OPERATORS: dict[str, OpInfo] = {
    "add": OpInfo(2, "arith", "+", 50),
    "sub": OpInfo(2, "arith", "-", 50),
    "mul": OpInfo(2, "arith", "*", 60),
    "div": OpInfo(2, "divide", "/", 60),
    "floordiv": OpInfo(2, "arith", "//", 60),
    "mod": OpInfo(2, "arith", "%", 60),
    "neg": OpInfo(1, "arith", "-", 70),
    "abs": OpInfo(1, "lattice"),
    "absd": OpInfo(2, "distance"),
    "min": OpInfo(2, "lattice"),
    "max": OpInfo(2, "lattice"),
    "and": OpInfo(2, "bits", "&", 30),
    "or": OpInfo(2, "bits", "|", 20),
    "xor": OpInfo(2, "bits", "^", 25),
    "shl": OpInfo(2, "bits", "<<", 40),
    "shr": OpInfo(2, "bits", ">>", 40),
    "not": OpInfo(1, "not", "~", 70),
    "lt": OpInfo(2, "compare", "<", 10),
    "le": OpInfo(2, "compare", "<=", 10),
    "gt": OpInfo(2, "compare", ">", 10),
    "ge": OpInfo(2, "compare", ">=", 10),
    "eq": OpInfo(2, "compare", "==", 10),
    "ne": OpInfo(2, "compare", "!=", 10),
    "select": OpInfo(3, "select"),
    "cast": OpInfo(1, "cast"),
    "bitcast": OpInfo(1, "cast"),
    "strict": OpInfo(1, "strict"),
    "fma": OpInfo(3, "fma"),
    "sqrt": OpInfo(1, "float"),
    "floor": OpInfo(1, "round"),
    "ceil": OpInfo(1, "round"),
    "round": OpInfo(1, "round"),
    "trunc": OpInfo(1, "round"),
    # Of integers, with the widths and the rounding that machines have instructions for.
    **dict.fromkeys(
        (
            "saturating_add",
            "saturating_sub",
            "saturating_mul",
            "halving_add",
            "rounding_halving_add",
        ),
        OpInfo(2, "integer"),
    ),
    **dict.fromkeys(("popcount", "clz", "ctz", "bit_reverse", "byte_swap"), OpInfo(1, "integer")),
    **dict.fromkeys(("rotate_left", "rotate_right", "rounding_shift_right"), OpInfo(2, "counted")),
    **dict.fromkeys(("mul_shift_right", "rounding_mul_shift_right"), OpInfo(3, "counted")),
    # Made of others when they are typed.
    **dict.fromkeys(("widening_add", "widening_mul"), OpInfo(2, "widening")),
    "saturating_cast": OpInfo(1, "saturate"),
}

_OF_EXPANSIONS: dict[str, OpInfo] = {
    # A select whose first value is seldom wanted: code branches around it.
    "rarely": OpInfo(3, "select"),
}

OPS: dict[str, OpInfo] = {
    **_OPERATORS,
    **_OF_EXPANSIONS,
    # Functions: expanded into the operators above, to the same bits everywhere, by
    # `lang/arithmetic/math.py`.
    "rsqrt": OpInfo(1, "float"),
    "exp": OpInfo(1, "float"),
    "log": OpInfo(1, "float"),
    "tanh": OpInfo(1, "float"),
    "sigmoid": OpInfo(1, "float"),
    "ldexp": OpInfo(2, "ldexp"),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "signbit"), OpInfo(1, "test")),
    **dict.fromkeys(("exp2", "expm1", "sinh", "cosh"), OpInfo(1, "float")),
    **dict.fromkeys(("log2", "log10", "log1p"), OpInfo(1, "float")),
    **dict.fromkeys(
        ("fast_exp", "fast_exp2", "fast_log", "fast_tanh", "fast_sigmoid", "fast_rsqrt"),
        OpInfo(1, "float"),
    ),
    **dict.fromkeys(("fast_erf", "erf", "erfc", "gamma", "lgamma"), OpInfo(1, "float")),
    **dict.fromkeys(("sin", "cos", "tan", "arcsin", "arccos", "arctan"), OpInfo(1, "float")),
    **dict.fromkeys(("arcsinh", "arccosh", "arctanh", "cbrt"), OpInfo(1, "float")),
    "arctan2": OpInfo(2, "float"),
    "sign": OpInfo(1, "sign"),
    "fmod": OpInfo(2, "fmod"),
    "pow": OpInfo(2, "power"),
    **dict.fromkeys(("copysign", "heaviside", "hypot", "nextafter"), OpInfo(2, "float")),
}

OF_EXPANSIONS = frozenset(_OF_EXPANSIONS)
"""Operators that only the expansions of functions have."""
FUNCTIONS = frozenset(OPS) - frozenset(_OPERATORS) - OF_EXPANSIONS
COMMUTATIVE = frozenset({"add", "mul", "min", "max", "and", "or", "xor"})
COMPARISONS = {
    "lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq",
}  # fmt: skip
