"""sin, cos and tan: errors, special values, large arguments, and code against the interpreter."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.arithmetic.math import expansion
from polysched.lang.arithmetic.math_reduction import pieces
from polysched.lang.errors.errors import LanguageError, LanguageTypeError
from polysched.lang.nodes import node_json
from polysched.lang.nodes.nodes import Const, Op, postorder
from polysched.lang.nodes.rare import usually_computed

Array = np.ndarray[Any, Any]
NAMES = ("sin", "cos", "tan")
FLOATS = (ps.float32, ps.float64)
#: The largest error in ULP that is allowed.
BOUNDS = {ps.float32: 0.95, ps.float64: 1.3}
n, i = ps.sizes("n"), ps.vars("i")
needs_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="no floats wider than float64 here"
)


def compiled(name: str, dtype: ps.DType, lanes: int = 8) -> tuple[ps.Func, ps.Kernel]:
    x, f = ps.Input("x", dtype, (n,)), ps.Func("f", (n,))
    f[i] = getattr(ps, name)(x[i])
    s = ps.Schedule(f)
    if lanes > 1:
        s[f].vectorize("i", lanes)
    return f, s.compile()


def pi_digits(bits: int) -> int:
    """pi * 2**bits, rounded down (Machin)."""

    def arctan_of_inverse(q: int) -> int:
        term, total, d = (1 << (bits + 64)) // q, 0, 1
        while term:
            total += term // d if d % 4 == 1 else -(term // d)
            term, d = term // (q * q), d + 2
        return total

    return (16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)) >> 64


def next_to_turns(dtype: ps.DType, every: int) -> Array:
    """Floats that are nearer to multiples of pi/2 than others: M 2**e, where M is the denominator
    of a convergent of 2**e / (pi/2)."""
    info, found = np.finfo(dtype.numpy), []
    for exponent in range(-info.nmant - 4, info.maxexp - info.nmant - 1, every):
        shift = 4 * info.maxexp + 400
        rest = Fraction(2 << shift, pi_digits(shift)) * Fraction(2) ** exponent
        before, denominator = 0, 1
        while denominator < 2 ** (info.nmant + 1):
            found.append(np.ldexp(float(denominator), exponent))
            rest = 1 / (rest - rest.__floor__())
            before, denominator = denominator, rest.__floor__() * denominator + before
    return np.array(found).astype(dtype.numpy)


def ordinary(dtype: ps.DType) -> Array:
    """Arguments of everyday sizes, of all sizes, and around the end of the usual reduction."""
    random = np.random.default_rng(11)
    uniform = [random.uniform(-size, size, 6000) for size in (1, 4, 100, 2e5, 2e6, 1e9)]
    sizes = np.ldexp(random.uniform(-2, 2, 6000), random.integers(-140, 126, 6000))
    if dtype == ps.float64:
        sizes = np.ldexp(random.uniform(-2, 2, 6000), random.integers(-1074, 1022, 6000))
    limits = [2.0**17, 2.0**20]
    edges = [np.nextafter(dtype.numpy.type(x), to) for x in limits for to in (0, x, 2 * x)]
    return np.concatenate([*uniform, sizes, edges]).astype(dtype.numpy)


def off(name: str, dtype: ps.DType, x: Array) -> float:
    """The largest error in ULP."""
    wide = np.float64 if dtype == ps.float32 else np.longdouble
    info = np.finfo(dtype.numpy)
    found = compiled(name, dtype)[1](x)
    true = getattr(np, name)(x.astype(wide))
    exponent = np.maximum(np.frexp(true)[1] - 1, info.minexp)
    errors = np.abs(found - true) / np.ldexp(wide(1), exponent - info.nmant)
    assert not np.isnan(errors).any()
    return float(np.max(errors))


@needs_long_double
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_errors(name: str, dtype: ps.DType) -> None:
    assert off(name, dtype, ordinary(dtype)) <= BOUNDS[dtype]


@needs_long_double
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_errors_next_to_multiples_of_a_right_angle(dtype: ps.DType) -> None:
    x = next_to_turns(dtype, 3 if dtype == ps.float32 else 29)
    if dtype == ps.float64:  # the nearest of all
        x = np.append(x, np.ldexp(6381956970095103.0, 797))
    for name in NAMES:
        assert off(name, dtype, x) <= BOUNDS[dtype], name


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_pieces_of_the_reduction_are_those_of_pi(dtype: ps.DType) -> None:
    first, *rest = pieces(dtype)
    scale = 1 if dtype == ps.float32 else Fraction(2) ** 160
    true = Fraction(2 << 1400, pi_digits(1400))
    bits = (29 if dtype == ps.float32 else 53) * len(rest)
    assert first == 0
    assert 0 <= true - sum(map(Fraction, rest)) / scale < Fraction(1, 2**bits)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_special_values_are_numpys(name: str, dtype: ps.DType) -> None:
    info = np.finfo(dtype.numpy)
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.smallest_subnormal], dtype.numpy)
    with np.errstate(invalid="ignore"):
        expected = getattr(np, name)(x)
    found = compiled(name, dtype)[1](x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(expected[:2]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_code_and_interpreter_agree(name: str, dtype: ps.DType) -> None:
    """Where no lane, some lanes and all lanes have large arguments, and without vectors."""
    random = np.random.default_rng(12)
    small, large = random.uniform(-9, 9, 16), random.uniform(-1e30, 1e30, 16)
    mixed = np.concatenate([small[:5], large[:3], [np.inf, np.nan, -0.0], small[5:10]])
    x = np.concatenate([small, large, mixed]).astype(dtype.numpy)
    for lanes in (1, 8):
        f, kernel = compiled(name, dtype, lanes)
        found, meant = kernel(x), ps.interpret(f, x)
        np.testing.assert_array_equal(found, meant)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(meant))


@pytest.mark.parametrize("name", NAMES)
def test_sixteen_bits_are_those_of_float32(name: str) -> None:
    b, f = ps.Input("b", ps.float16, (n,)), ps.Func("f", (n,))
    f[i] = getattr(ps, name)(b[i])
    x = np.array([0.5, -3.0, 60000.0, -0.0], np.float16)
    wide = getattr(np, name)(x.astype(np.float64))
    np.testing.assert_array_equal(f(x), wide.astype(np.float16))


def test_turns_can_be_summed_and_shared() -> None:
    """A rare branch in a reduction of vectors, and two of them in one statement."""
    x, f, g = ps.Input("x", ps.float64, (n,)), ps.Func("f", (n,)), ps.Func("g", ())
    k = ps.RVar("k", 0, n)
    f[i] = ps.sin(x[i]) * ps.cos(x[i]) + ps.sin(x[0])
    g[()] = ps.sum(f[k], k)
    s = ps.Schedule(g)
    s[f].compute_root()
    s[f].vectorize("i", 4)
    for given in ([0.1, 0.2, 1e40, 0.4, 5e7, 0.6], [7e30, 1.0], [0.25] * 9):
        values = np.array(given)
        assert s.compile()(values) == ps.interpret(g, values)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_reduction_of_large_arguments_is_no_usual_work(dtype: ps.DType) -> None:
    (_,), body = expansion("sin", dtype)
    usual = {node.op for node in usually_computed(body) if isinstance(node, Op)}
    assert "round" not in usual
    assert "round" in {node.op for node in postorder(body) if isinstance(node, Op)}
    assert len([*usually_computed(body)]) < 80


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_no_indices(name: str) -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    with pytest.raises(LanguageTypeError, match="index"):
        f[i] = x[getattr(ps, name)(i)]


def test_rare_branches_are_no_part_of_programs() -> None:
    x, y = Const(1.0, ps.float64), Const(True, ps.bool_)
    assert not hasattr(ps, "rarely")
    with pytest.raises(LanguageError, match="there is no operator 'rarely'"):
        node_json.operator("rarely", (y, x, x))


def test_a_sine_of_a_text_is_refused() -> None:
    with pytest.raises(LanguageTypeError, match="str"):
        ps.sin("x")
