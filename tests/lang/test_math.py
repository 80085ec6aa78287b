"""The functions of `lang.math`: their expansions, evaluated by NumPy, against wider arithmetic.

Errors are in units of the last place (ULP) of the true result. The bounds for float32 are those
measured over all 2**32 arguments; here only a sample of them is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.arithmetic.math import expansion
from polysched.lang.errors.errors import LanguageTypeError
from polysched.lang.nodes.dtypes import DType, bool_, concrete, float32, float64
from polysched.lang.nodes.nodes import Const, Node, Op, Read, postorder, substitute, transform
from polysched.lang.nodes.ops import FUNCTIONS, OPS
from polysched.lang.nodes.rare import usually_computed

Array = np.ndarray[Any, Any]
WIDE = ("exp2", "expm1", "sinh", "cosh", "log2", "log10", "log1p")
UNARY = ["exp", "log", "rsqrt", "sigmoid", "tanh", *WIDE]
DTYPES = (float32, float64)
#: The largest error in ULP that is allowed in float32, and in float64.
BOUNDS = {
    "cosh": (0.91, 1.35),
    "exp": (0.90, 0.91),
    "exp2": (0.90, 1.0),
    "expm1": (0.89, 1.25),
    "log": (0.92, 0.93),
    "log10": (0.91, 1.2),
    "log1p": (0.87, 1.1),
    "log2": (0.98, 1.2),
    "rsqrt": (0.51, 0.51),
    "sigmoid": (0.91, 0.90),
    "sinh": (0.97, 1.2),
    "tanh": (0.98, 1.25),
}
needs_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="no floats wider than float64 here"
)


# operators on arrays, as the language has them ----------------------------------------------------
def evaluate(root: Node, known: dict[Node, Array]) -> Array:
    """The value of a typed expression, elementwise."""
    values: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        for node in postorder(root):
            if node in known:
                values[node] = known[node]
            elif isinstance(node, Const):
                values[node] = concrete(node.type).numpy.type(node.value)
            elif isinstance(node, Op):
                values[node] = apply(node, [values[a] for a in node.operands])
    return values[root]


def apply(node: Op, args: list[Any]) -> Any:
    dtype = concrete(node.type or bool_).numpy
    if node.op == "fma":
        return fma(*np.broadcast_arrays(*args))
    if node.op == "bitcast":
        return args[0].view(dtype)
    if node.op == "cast":
        return args[0].astype(dtype)
    result = NUMPY[node.op](*args)
    assert result.dtype == dtype, node.op
    return result


NUMPY: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "add": np.add, "and": np.bitwise_and, "div": np.divide, "eq": np.equal,
    "gt": np.greater, "lt": np.less, "max": np.maximum, "min": np.minimum, "mul": np.multiply,
    "ne": np.not_equal,
    "or": np.bitwise_or,
    "rarely": np.where, "select": np.where,
    "shl": np.left_shift, "shr": np.right_shift, "sqrt": np.sqrt, "sub": np.subtract,
}  # fmt: skip


def fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, rounded once.

    Source: S. Boldo, G. Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms
    using rounding to odd, IEEE Transactions on Computers 57 (2008). Needs products in the range of
    normal numbers, or far below c.
    """
    if a.dtype == np.float32:
        product = a.astype(np.float64) * b  # exact
        return odd_sum(product, c.astype(np.float64)).astype(np.float32)
    plain = a * b + c
    high, low = two_product(a, b)
    total, rest = two_sum(c, low)
    total, more = two_sum(high, total)
    exact = total + odd_sum(rest, more)
    # A plain zero has the right sign; a plain infinity or NaN is right.
    return np.where((exact == 0) | ~np.isfinite(exact), plain, exact)


def odd_sum(a: Array, b: Array) -> Array:
    """a + b, where inexact rounded to the neighbour whose last bit is 1."""
    total, rest = two_sum(a, b)
    bits = total.view(np.int64)
    inexact = np.isfinite(rest) & (rest != 0) & (bits & 1 == 0)
    away = (rest > 0) == (total > 0)
    return np.where(inexact, bits + np.where(away, 1, -1), bits).view(np.float64)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its error (Dekker, with Veltkamp's halves)."""
    product = a * b
    a_high, b_high = halves(a), halves(b)
    a_low, b_low = a - a_high, b - b_high
    rest = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, rest


def halves(x: Array) -> Array:
    down = np.where(np.abs(x) > 2.0**900, 2.0**-100, 1.0)  # else the product overflows
    scaled = x * down * (2.0**27 + 1.0)
    return (scaled - (scaled - x * down)) / down


def call(op: str, dtype: DType, *args: Any) -> Array:
    """The function `op` by its expansion."""
    params, body = expansion(op, dtype)
    arrays = [np.atleast_1d(np.asarray(a, dtype.numpy)) for a in args]
    return evaluate(body, dict(zip(params, arrays, strict=True)))


# references ---------------------------------------------------------------------------------------
def true_sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


TRUE: dict[str, Callable[[Array], Array]] = {
    **{name: getattr(np, name) for name in WIDE},
    "exp": np.exp,
    "log": np.log,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": true_sigmoid,
    "tanh": np.tanh,
}


def worst_error(op: str, dtype: DType, x: Array) -> tuple[float, float]:
    """The largest error in ULP over x, and where. Results beyond the format must be exact."""
    wide = np.float64 if dtype == float32 else np.longdouble
    info = np.finfo(dtype.numpy)
    found = call(op, dtype, x)
    with np.errstate(all="ignore"):
        true = TRUE[op](x.astype(wide))
        rounded = true.astype(dtype.numpy)
        exponent = np.maximum(np.frexp(true)[1] - 1, info.minexp)
        unit = np.ldexp(wide(1), exponent - info.nmant)
        error = np.abs(found.astype(wide) - true) / unit
    # Where the true result rounds to infinity or just does not, both neighbours are 1 ULP away.
    error = np.where(np.isinf(rounded) | np.isinf(found), edge_error(found, rounded, info), error)
    error = np.where(np.isnan(rounded), np.where(np.isnan(found), 0, np.inf), error)
    error = np.where((found == 0) & (np.signbit(found) != np.signbit(rounded)), np.inf, error)
    k = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
    return float(error[k]), float(x[k])


def edge_error(found: Array, rounded: Array, info: Any) -> Array:
    largest = (np.abs(found) == info.max) | (np.abs(rounded) == info.max)
    return np.where(found == rounded, 0, np.where(largest, 0.5, np.inf))


# arguments ----------------------------------------------------------------------------------------
def around(points: Array, dtype: DType, count: int) -> Array:
    """The `count` floats on each side of every point, and those of the other sign."""
    signed = np.int32 if dtype == float32 else np.int64
    steps = np.arange(-count, count + 1, dtype=signed)
    x = (points.astype(dtype.numpy).view(signed)[:, None] + steps).view(dtype.numpy).ravel()
    x = x[np.isfinite(x)]
    return np.concatenate([x, -x])


def breakpoints(dtype: DType, count: int) -> Array:
    """Arguments near which a formula changes: roundings of n, thresholds, powers of two."""
    info = np.finfo(dtype.numpy)
    n = np.arange(-2 * info.maxexp - 100, 2 * info.maxexp + 100)
    powers = np.ldexp(1.0, np.arange(info.minexp - info.nmant, info.maxexp))
    thresholds = [
        0.35,
        710.475860073944,
        1024.0,
        0.6,
        0.7,
        1.0,
        10.0,
        20.0,
        88.722839,
        103.972077,
        709.782712893384,
    ]
    thresholds += [745.13321910194, -float(np.log(info.smallest_normal)), 9.01, 17.32, 19.06]
    thresholds += [16.0, 36.0]
    points = [n * (np.log(2.0) / 2), n * (np.log(2.0) / 4), powers, powers * np.sqrt(2.0)]
    with np.errstate(over="ignore"):
        return around(np.concatenate([*points, thresholds]), dtype, count)


def samples(dtype: DType) -> Array:
    """Bit patterns at a stride of a prime, random numbers of everyday size, and breakpoints."""
    random = np.random.default_rng(1)
    if dtype == float32:
        x = np.arange(0, 2**32, 12007, dtype=np.uint32).view(np.float32)
        return np.concatenate([x, breakpoints(dtype, 12)])
    patterns = random.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    ranges = [(-745.2, 709.8), (-40.0, 40.0), (-3.0, 3.0), (-0.4, 0.4), (0.2, 4.0), (0.6, 1.6)]
    uniform = [random.uniform(lo, hi, 20_000) for lo, hi in ranges]
    tiny = np.ldexp(random.uniform(-1, 1, 20_000), -random.integers(0, 60, 20_000))
    return np.concatenate([patterns, *uniform, tiny, 1 + tiny, breakpoints(dtype, 3)])


# value --------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("op", UNARY)
def test_error_of_float32(op: str) -> None:
    error, x = worst_error(op, float32, samples(float32))
    assert error <= BOUNDS[op][0], f"{op}({x!r})"


@pytest.mark.slow
@needs_long_double
@pytest.mark.parametrize("op", UNARY)
def test_error_of_float64(op: str) -> None:
    error, x = worst_error(op, float64, samples(float64))
    assert error <= BOUNDS[op][1], f"{op}({x!r})"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", UNARY)
def test_special_values_are_numpys(op: str, dtype: DType) -> None:
    info = np.finfo(dtype.numpy)
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -info.max], dtype.numpy)
    x = np.append(x, dtype.numpy.type([-info.smallest_subnormal, -info.smallest_normal]))
    with np.errstate(all="ignore"):
        expected = TRUE[op](x)
    special = np.isnan(expected) | np.isinf(expected) | np.isin(expected, [0.0, 0.5, 1.0, -1.0])
    found = call(op, dtype, x)
    np.testing.assert_array_equal(found[special], expected[special])
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_exp_runs_out_gradually(dtype: DType) -> None:
    info = np.finfo(dtype.numpy)
    k = np.arange(info.minexp - info.nmant + 1, info.minexp)
    x = (k * np.log(2.0)).astype(dtype.numpy)
    found = call("exp", dtype, x)
    assert np.all((found > 0) & (found < info.smallest_normal))
    np.testing.assert_allclose(np.log2(found.astype(np.float64)), k, atol=0.6)
    limit = dtype.numpy.type((info.minexp - info.nmant - 1) * np.log(2.0))
    assert call("exp", dtype, np.nextafter(limit, dtype.numpy.type(-np.inf)))[0] == 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tanh_is_odd_and_within_one(dtype: DType) -> None:
    x = samples(dtype)[::5]
    x = x[~np.isnan(x)]
    found = call("tanh", dtype, x)
    np.testing.assert_array_equal(call("tanh", dtype, -x), -found)
    assert np.max(np.abs(found)) == 1.0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_small_arguments_pass_through_tanh(dtype: DType) -> None:
    info = np.finfo(dtype.numpy)
    x = np.ldexp(dtype.numpy.type(1.37), np.arange(info.minexp - info.nmant, -info.nmant // 2 - 2))
    np.testing.assert_array_equal(call("tanh", dtype, x.astype(dtype.numpy)), x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sigmoid_is_at_most_one(dtype: DType) -> None:
    x = samples(dtype)[::5]
    found = call("sigmoid", dtype, x[~np.isnan(x)])
    assert np.min(found) == 0.0
    assert np.max(found) == 1.0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_exact_points(dtype: DType) -> None:
    one = call("log", dtype, 1.0)
    assert one == 0
    assert not np.signbit(one)
    assert call("exp", dtype, [0.0, -0.0, 1e-30]).tolist() == [1.0, 1.0, 1.0]
    assert call("sigmoid", dtype, [0.0, -0.0]).tolist() == [0.5, 0.5]
    assert call("rsqrt", dtype, [4.0, 0.25]).tolist() == [0.5, 2.0]


# ldexp --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_ldexp_rounds_once(dtype: DType) -> None:
    random = np.random.default_rng(2)
    signed, info = dtype.numpy.str.replace("f", "i"), np.finfo(dtype.numpy)
    low, high = np.iinfo(signed).min, np.iinfo(signed).max
    x = random.integers(low, high, 200_000, dtype=signed).view(dtype.numpy)
    x = x[np.isfinite(x)]  # what NumPy makes of the exponent of others depends on the machine
    e = random.integers(-2200, 2200, x.size)
    # Half of the results become denormal, where a second rounding would show.
    exponent = np.frexp(x[::2])[1]
    e[::2] = random.integers(info.minexp - info.nmant - 3, info.minexp + 2, e[::2].size) - exponent
    e = np.clip(e, -2200, 2200)
    with np.errstate(all="ignore"):
        expected = np.ldexp(x, e)
    np.testing.assert_array_equal(call("ldexp", dtype, x, e), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_ldexp_of_special_values(dtype: DType) -> None:
    info = np.finfo(dtype.numpy)
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.smallest_subnormal, info.max])
    for e in (-2200, -1075, -150, 0, 1, 150, 1075, 2098, 2200):
        with np.errstate(all="ignore"):
            expected = np.ldexp(x.astype(dtype.numpy), e)
        found = call("ldexp", dtype, x, np.full(x.size, e))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found[:2]), [False, True])


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_ldexp_takes_any_integer(dtype: DType, name: str) -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    x, e, y = ps.Input("x", dtype, (n,)), ps.Input("e", name, (n,)), ps.Func("y", (n,))
    y[i] = ps.ldexp(x[i], e[i])
    assert y.dtype == dtype
    value = y.history.typed()[0].values[0]
    limits = np.iinfo(name)
    exponents = np.array([limits.min, limits.max, 0, 1, 3, 100], name)
    arrays = {"x": np.full(6, 1.5, dtype.numpy), "e": exponents}
    reads = {r: arrays[r.tensor.name] for r in postorder(value) if isinstance(r, Read)}
    found = evaluate(inlined(value), reads)
    with np.errstate(over="ignore"):
        expected = np.ldexp(arrays["x"], np.clip(exponents.astype(object), -9999, 9999).astype(int))
    np.testing.assert_array_equal(found, expected)


def inlined(value: Node) -> Node:
    """A typed expression with its one function expanded."""

    def rule(node: Node) -> Node:
        if not isinstance(node, Op) or node.op not in FUNCTIONS:
            return node
        params, body = expansion(node.op, concrete(node.type or float64))
        return substitute(body, dict(zip(params, node.operands, strict=True)))

    return transform(value, rule)


@pytest.mark.parametrize("exponent", [2.0, np.float32(1.5), True])
def test_ldexp_refuses_exponents_that_are_no_integers(exponent: object) -> None:
    with pytest.raises(LanguageTypeError, match="the exponent of ldexp is"):
        ps.ldexp(1.0, exponent)


# form ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", sorted(FUNCTIONS))
def test_expansions_are_typed(op: str, dtype: DType) -> None:
    params, body = expansion(op, dtype)
    assert len(params) == OPS[op].arity
    assert expansion(op, dtype)[1] is body
    assert body.type == (bool_ if OPS[op].rule == "test" else dtype)
    for node in postorder(body):
        if isinstance(node, Op):
            assert node.op not in FUNCTIONS
            assert isinstance(node.type, DType)
            check_operands(node)


def check_operands(node: Op) -> None:
    """Raises where an operand has not the type in which the operator works."""
    types = [a.type for a in node.operands]
    assert len(types) == OPS[node.op].arity
    match OPS[node.op].rule:
        case "cast":
            assert node.op == "cast" or types[0].bits == node.type.bits
        case "compare":
            assert types[0] == types[1]
            assert node.type == bool_
        case "select":
            assert types == [bool_, node.type, node.type]
        case "bits" if node.type == bool_:
            assert types == [bool_, bool_]
        case _:
            assert types == [node.type] * len(types)


@pytest.mark.parametrize(
    ("op", "for_float32", "for_float64"),
    [
        ("exp", 20, 25),
        ("ldexp", 10, 17),
        ("log", 21, 32),
        ("rsqrt", 12, 12),
        ("sigmoid", 28, 33),
        ("tanh", 29, 39),
    ],
)
def test_expansions_stay_small(op: str, for_float32: int, for_float64: int) -> None:
    """Operations that are not behind a branch, but for bitcasts, which cost nothing. More of them
    need a reason."""
    for dtype, most in zip(DTYPES, (for_float32, for_float64), strict=True):
        nodes = [n for n in usually_computed(expansion(op, dtype)[1]) if isinstance(n, Op)]
        assert sum(n.op != "bitcast" for n in nodes) <= most


# the tools of these tests -------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_fma_of_these_tests_rounds_once(dtype: DType) -> None:
    random = np.random.default_rng(3)
    digits = np.finfo(dtype.numpy).nmant
    a = random.uniform(1, 2, 600).astype(dtype.numpy)
    b = random.uniform(-2, 2, 600).astype(dtype.numpy)
    c = (random.uniform(-2, 2, 600) * 2.0 ** random.integers(-4, 5, 600)).astype(dtype.numpy)
    # Sums that lie next to a tie, where rounding twice is wrong.
    ulp = 2.0**-digits
    a[:200], b[:200] = 1 + ulp * random.integers(0, 9, 200), 1 + ulp * random.integers(0, 9, 200)
    c[:200] = random.choice([2.0 ** (digits + 1), -(2.0**-digits), 2.0**digits, 0.5, -1.0], 200)
    # Sums that nearly cancel.
    c[200:400] = -(a[200:400] * b[200:400])
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in
             zip(a, b, c, strict=True)]  # fmt: skip
    expected = [nearest(x, digits + 1) for x in exact]
    np.testing.assert_array_equal(fma(a, b, c).astype(np.float64), expected)


def nearest(x: Fraction, precision: int) -> float:
    """x rounded to `precision` bits, ties to even (of normal size)."""
    if x == 0:
        return 0.0
    scale = precision - (abs(x.numerator).bit_length() - x.denominator.bit_length())
    if abs(x * Fraction(2) ** scale) >= 2**precision:
        scale -= 1
    return float(round(x * Fraction(2) ** scale) / Fraction(2) ** scale)
