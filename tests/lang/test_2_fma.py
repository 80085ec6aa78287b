"""Rule 2.5: fused multiply-add is part of the meaning, decided when a definition is recorded."""

from __future__ import annotations

from fractions import Fraction
from operator import neg

import numpy as np
import pytest
from lang.support import FLOATS, refused, run

import polysched as ps
from polysched.lang.arithmetic.fma import round_fraction
from polysched.lang.nodes.printer import expr_text

n = ps.sizes("n")
i = ps.vars("i")
A, B, C, D = (ps.Input(name, ps.float32, (n,)) for name in "ABCD")
a, b, c, d = (x[i] for x in (A, B, C, D))
G = ps.Input("G", ps.float64, (n,))
g = G[i]
I = ps.Input("I", ps.int32, (n,))


def typed(value):
    """The elaborated expression, as text."""
    f = ps.Func("f", (n,))
    f[i] = value
    (definition,) = f.history.typed()
    return expr_text(definition.values[0])


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        # one product, either side
        (c + a * b, "fma(A[i], B[i], C[i])"),
        (a * b + c, "fma(A[i], B[i], C[i])"),
        (c - a * b, "fma(-A[i], B[i], C[i])"),
        (a * b - c, "fma(A[i], B[i], -C[i])"),
        # two: the right one
        (a * b + c * d, "fma(C[i], D[i], A[i] * B[i])"),
        (a * b - c * d, "fma(-C[i], D[i], A[i] * B[i])"),
        # negated products fold their sign
        (c + -(a * b), "fma(-A[i], B[i], C[i])"),
        (c - -(a * b), "fma(A[i], B[i], C[i])"),
        (-(a * b) + c, "fma(-A[i], B[i], C[i])"),
        (-(a * b) - c, "fma(-A[i], B[i], -C[i])"),
        (c + neg(neg(a * b)), "fma(A[i], B[i], C[i])"),
        (c - neg(neg(neg(a * b))), "fma(A[i], B[i], C[i])"),
        (c + (-a) * b, "fma(-A[i], B[i], C[i])"),
        (c + a * -b, "fma(A[i], -B[i], C[i])"),
        # literals
        (a * 2 + 1, "fma(A[i], 2.0, 1.0)"),
        (1 - a * 2, "fma(-A[i], 2.0, 1.0)"),
        (2 * a - 1, "fma(2.0, A[i], -1.0)"),
        (1 - 2 * a, "fma(-2.0, A[i], 1.0)"),
        (a * a, "A[i] * A[i]"),
        (a**2 + b, "fma(A[i], A[i], B[i])"),
        # chains: the operands are those of the tree as written
        (a * b + c + d, "fma(A[i], B[i], C[i]) + D[i]"),
        (a * b + c * d + a, "fma(C[i], D[i], A[i] * B[i]) + A[i]"),
        ((a * b) * c + d, "fma(A[i] * B[i], C[i], D[i])"),
        (d + (a * b + c), "D[i] + fma(A[i], B[i], C[i])"),
        ((a * b + c) * d + a, "fma(fma(A[i], B[i], C[i]), D[i], A[i])"),
        (0 + a * b + c * d, "fma(C[i], D[i], fma(A[i], B[i], 0.0))"),
        # no products
        (a + b - c, "A[i] + B[i] - C[i]"),
        (a / b + c, "A[i] / B[i] + C[i]"),
        # an index product is one in the type of its neighbour
        (a * i + b, "fma(A[i], float32(i), B[i])"),
        (i * 0.5 + 0.25, "fma(float64(i), 0.5, 0.25)"),
    ],
)
def test_2_5_what_is_fused(value, wanted):
    assert typed(value) == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        # a cast is not looked through, written or implicit
        (ps.cast(ps.float64, a * b) + g, "float64(A[i] * B[i]) + G[i]"),
        (a * b + g, "float64(A[i] * B[i]) + G[i]"),
        (g + a * b, "G[i] + float64(A[i] * B[i])"),
        (ps.cast(ps.float32, g * g) + a, "float32(G[i] * G[i]) + A[i]"),
        (i * 0.5 + a, "float32(float64(i) * 0.5) + A[i]"),
        # a select
        (ps.select(a > 0, a * b, c) + d, "select(A[i] > 0.0, A[i] * B[i], C[i]) + D[i]"),
        (d - ps.select(a > 0, a * b, c * d), "D[i] - select(A[i] > 0.0, A[i] * B[i], C[i] * D[i])"),
        # minimum, abs
        (abs(a * b) + c, "abs(A[i] * B[i]) + C[i]"),
        (ps.minimum(a * b, c) + d, "min(A[i] * B[i], C[i]) + D[i]"),
        # strict: not with, not in
        (ps.strict(a * b) + c, "strict(A[i] * B[i]) + C[i]"),
        (c - ps.strict(a * b), "C[i] - strict(A[i] * B[i])"),
        (-ps.strict(a * b) + c, "-strict(A[i] * B[i]) + C[i]"),
        (ps.strict(a * b + c), "strict(A[i] * B[i] + C[i])"),
        (ps.strict(a * b + c) + d, "strict(A[i] * B[i] + C[i]) + D[i]"),
        (ps.strict(ps.sqrt(a * b - c)), "strict(sqrt(A[i] * B[i] - C[i]))"),
        (ps.strict(ps.fma(a, b, c)), "strict(fma(A[i], B[i], C[i]))"),
        # but around strict all is as ever
        (ps.strict(a) * b + c, "fma(strict(A[i]), B[i], C[i])"),
        (a * b + ps.strict(c), "fma(A[i], B[i], strict(C[i]))"),
        # integers have no rounding
        (I[i] * I[i] + 1, "I[i] * I[i] + 1"),
        (I[i] * 2 + i, "int64(I[i] * 2) + i"),
        # an explicit one is no product
        (ps.fma(a, b, c) + d, "fma(A[i], B[i], C[i]) + D[i]"),
    ],
)
def test_2_5_what_is_not_fused(value, wanted):
    assert typed(value) == wanted


def test_2_5_a_part_may_be_strict_in_one_place_and_fused_in_another():
    product = a * b + c
    assert typed(ps.strict(product) / product) == (
        "strict(A[i] * B[i] + C[i]) / fma(A[i], B[i], C[i])"
    )


def test_2_5_updates_fuse():
    texts = []
    for update in ("+=", "-=", "=+", "=+ right"):
        f = ps.Func("f", (n,))
        f[i] = 0.0
        if update == "+=":
            f[i] += a * b
        elif update == "-=":
            f[i] -= a * b
        elif update == "=+":
            f[i] = f[i] + a * b
        else:
            f[i] = a * b + f[i]
        texts.append(expr_text(f.history.typed()[1].values[0]))
    fused = "fma(A[i], B[i], f[i])"
    assert texts == [fused, "fma(-A[i], B[i], f[i])", fused, fused]


def test_2_5_an_update_in_a_wider_type_does_not_fuse():
    k = ps.RVar("k", 0, n)
    f = ps.Func("f", (), dtype=ps.float64)
    f[()] = 0.0
    f[()] += A[k] * B[k]
    assert expr_text(f.history.typed()[1].values[0]) == "f[()] + float64(A[k] * B[k])"


def test_2_5_a_read_of_a_func_is_not_looked_through():
    p, f = ps.Func("p"), ps.Func("f", (n,))
    p[i] = a * b
    f[i] = p[i] + c
    assert expr_text(f.history.typed()[0].values[0]) == "p[i] + C[i]"


# values ---------------------------------------------------------------------------------------
def adversarial(t):
    """Factors and addends for which one rounding differs from two, and from a wider type's."""
    p = 24 if t == ps.float32 else 53
    ulp = 2.0 ** (1 - p)
    narrow = t == ps.float32
    tie = 2.0**-40 if narrow else 2.0**-80
    huge = 1e30 if narrow else 1e200
    tiny = (2.0**-80, 2.0**-69) if narrow else (2.0**-600, 2.0**-474)
    triples = [
        (1 + ulp, 1 + ulp, -(1 + 2 * ulp)),  # the last bit of the product survives
        (1 + ulp, 1 - ulp, -1.0),
        (1 / 3, 3.0, -1.0),
        (ulp / 2, 1 + ulp, 1.0),  # just above a tie
        (-ulp / 2, 1 - ulp / 2, 1 + ulp),
        ((1 + ulp) * ulp / 2, 1 - ulp, 1 + ulp),  # just below a tie: a float64 cannot tell
        (tie, tie, 1 + ulp),
        (2.0 ** (p - 1) + 1, ulp / 2, 1.0),
        (1.0, 1.0, -1.0),
        (-1.0, 1.0, 1.0),
        (0.0, -1.0, -0.0),
        (huge, huge, -np.inf),
        (*tiny, 0.0),
    ]
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(60).astype(t.numpy) for _ in range(2))
    near = -(x * y)  # cancels: what remains is the rounding error of the product
    given = [np.array(column, t.numpy) for column in zip(*triples, strict=True)]
    return [np.concatenate(pair) for pair in zip(given, (x, y, near), strict=True)]


def fused(x, y, z, t):
    if not np.isfinite(x * y + z) and not np.isfinite(z):
        return z
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact:
        return round_fraction(exact, t)
    return x * y + z


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_5_one_rounding(t):
    x, y, z = adversarial(t)
    X, Y, Z = (ps.Input(name, t, (n,)) for name in "XYZ")
    f = ps.Func("f", (n,))
    u, v, w = X[i], Y[i], Z[i]
    f[i] = (u * v + w, w + u * v, w - u * v, u * v - w, ps.fma(u, v, w), ps.strict(u * v + w),
            ps.strict(u * v) + w)  # fmt: skip
    right, left, minus, less, explicit, strict, product = run(f, X=x, Y=y, Z=z)
    with np.errstate(all="ignore"):
        wanted = np.array([fused(*v, t) for v in zip(x, y, z, strict=True)])
        negated = np.array([fused(-p, q, r, t) for p, q, r in zip(x, y, z, strict=True)])
        rounded_twice = x * y + z
    assert np.array_equal(right, wanted)
    assert np.array_equal(left, wanted)
    assert np.array_equal(explicit, wanted)
    assert np.array_equal(minus, negated)
    assert np.array_equal(less, -negated)
    assert np.array_equal(strict, rounded_twice, equal_nan=True)
    assert np.array_equal(product, rounded_twice, equal_nan=True)
    assert (rounded_twice != wanted).sum() > 20, "the arguments must tell the two rounded_twice"


def test_2_5_a_float32_fma_is_not_one_in_float64_rounded_again():
    x, y, z = adversarial(ps.float32)
    with np.errstate(all="ignore"):
        twice = (x.astype(float) * y.astype(float) + z.astype(float)).astype(np.float32)
        wanted = np.array([fused(*v, ps.float32) for v in zip(x, y, z, strict=True)])
    X, Y, Z = (ps.Input(name, ps.float32, (n,)) for name in "XYZ")
    f = ps.Func("f", (n,))
    f[i] = X[i] * Y[i] + Z[i]
    assert (twice != wanted).any(), "the arguments must tell the two rounded_twice"
    assert np.array_equal(run(f, X=x, Y=y, Z=z), wanted)


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_5_inlining_does_not_fuse(t):
    """A product in a Func of its own is rounded, stored or not."""
    x, y, z = adversarial(t)
    X, Y, Z = (ps.Input(name, t, (n,)) for name in "XYZ")
    p, f = ps.Func("p"), ps.Func("f", (n,))
    p[i] = X[i] * Y[i]
    f[i] = p[i] + Z[i]
    with np.errstate(all="ignore"):
        rounded_twice = x * y + z
    assert np.array_equal(run(f, X=x, Y=y, Z=z), rounded_twice, equal_nan=True)
    assert np.array_equal(ps.Schedule(f).compile()(X=x, Y=y, Z=z), rounded_twice, equal_nan=True)


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_5_a_dot_product_is_the_ascending_chain(t):
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(100).astype(t.numpy) for _ in range(2))
    X, Y = ps.Input("X", t, (n,)), ps.Input("Y", t, (n,))
    k = ps.RVar("k", 0, n)
    f = ps.Func("f", ())
    f[()] = 0.0
    f[()] += X[k] * Y[k]
    total = t.numpy.type(0)
    for p, q in zip(x, y, strict=True):
        total = fused(p, q, total, t)
    assert run(f, X=x, Y=y) == total


def test_2_5_subtracting_from_itself():
    """x*x - x*x is fma(-x, x, x*x): the rounding error of the square, not 0."""
    x = np.float32([1 + 2.0**-12, 3.0, 1 / 3])
    f = ps.Func("f", (n,))
    f[i] = a * a - a * a
    found = run(f, A=x)
    assert np.array_equal(found, [fused(-v, v, v * v, ps.float32) for v in x])
    assert found[0] != 0


@pytest.mark.parametrize(
    ("value", "what", "hint"),
    [
        (lambda: ps.fma(I[i], 2, 3), "fma works on floats, not on int32", "write a * b + c"),
        (lambda: ps.fma(i, 2, 3), "fma works on floats, not on an index", "write a * b + c"),
        (lambda: ps.fma(a > 0, b > 0, c > 0), "fma works on floats, not on bool", None),
    ],
)
def test_2_5_fma_of_other_types_is_refused(value, what, hint):
    f = ps.Func("f", (n,))
    with refused(what, hint=hint, error=ps.LanguageTypeError):
        f[i] = value()


def test_2_5_fma_promotes():
    assert typed(ps.fma(a, 2, g)) == "fma(float64(A[i]), 2.0, G[i])"
    assert typed(ps.fma(a, I[i], 1)) == "fma(float64(A[i]), float64(I[i]), 1.0)"
    assert typed(ps.fma(a, i, 0.5)) == "fma(A[i], float32(i), 0.5)"


@pytest.mark.slow
def test_2_5_ten_thousand_negations_of_a_product():
    product = a * b
    for _ in range(10_001):
        product = -product
    assert typed(c + product) == "fma(-A[i], B[i], C[i])"
