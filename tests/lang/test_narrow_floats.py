"""float16 and bfloat16: compiled code on every number, against NumPy and exact fractions."""

from __future__ import annotations

import math
import operator
import platform
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import polysched as ps
from polysched.lang.arithmetic.fma import round_fraction
from polysched.lang.nodes import bfloat
from polysched.lang.nodes.dtypes import ALL

n, i = ps.size("n"), ps.vars("i")
X86 = platform.machine() == "x86_64"
EVERY = np.arange(1 << 16, dtype=np.uint16)
TYPES = pytest.mark.parametrize("dtype", [ps.float16, ps.bfloat16], ids=str)


def singles(dtype, bits):
    """The numbers of these bits, as float32, by NumPy alone."""
    if dtype is ps.float16:
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


def nearest(dtype, numbers):
    """The bits of float32 numbers in the type; all NaNs are one."""
    with np.errstate(all="ignore"):
        bits = numbers.astype(np.float16).view(np.uint16)
    found = bits if dtype is ps.float16 else bfloat.rounded(numbers)
    return np.where(np.isnan(numbers), 0x7FFF, found)


def computed(expression, width, target=None, **arrays):
    f = ps.Func("f", (n,))
    f[i] = expression
    s = ps.Schedule(f, target=target)
    if width > 1:
        s[f].vectorize(i, width)
    # An object that needs a routine which the process does not have is refused here.
    return s.compile()(**arrays)


def bits_of(dtype, array):
    bits = np.asarray(array).view(np.uint16)
    return np.where(np.isnan(singles(dtype, bits)), 0x7FFF, bits)


@TYPES
@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize(
    ("ours", "numpys"),
    [(ps.sqrt, np.sqrt), (ps.floor, np.floor), (lambda x: x * x, np.square), (abs, np.abs),
     (lambda x: 1 / x, np.reciprocal), (lambda x: -x, np.negative)],
    ids=["sqrt", "floor", "square", "abs", "reciprocal", "negative"],
)  # fmt: skip
def test_2_1_every_number_is_rounded_once(dtype, width, ours, numpys):
    x = ps.Input("x", dtype, (n,))
    with np.errstate(all="ignore"):
        expected = nearest(dtype, numpys(singles(dtype, EVERY)))
    found = computed(ours(x[i]), width, x=EVERY.view(dtype.numpy))
    np.testing.assert_array_equal(bits_of(dtype, found), expected)


@TYPES
@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("source", [ps.float64, ps.int64], ids=str)
def test_2_1_wide_numbers_beside_ties_are_rounded_once(dtype, width, source):
    """Ties, and their nearest neighbours, that float32 takes for ties."""
    digits = dtype.format.precision
    ties = [Fraction(2 * k + 1) * 2**e for k in (1 << (digits - 1), (1 << digits) - 3)
            for e in (3, 40 - digits)]  # fmt: skip
    if source is ps.float64:
        ties = [*ties, Fraction(3, 2**30), Fraction(5, 2**134)]
        values = [float(t * (1 + d * Fraction(1, 1 << 50))) for t in ties for d in (-1, 0, 1)]
    else:
        values = [int(t + d) for t in ties for d in (-1, 0, 1)]
    values += [-v for v in values]
    x = ps.Input("x", source, (n,))
    found = computed(ps.cast(dtype, x[i]), width, x=np.array(values, source.numpy))
    with np.errstate(over="ignore"):
        expected = [
            dtype.bits_of(round_fraction(Fraction(v), dtype)) | (v < 0) << 15 for v in values
        ]
    np.testing.assert_array_equal(found.view(np.uint16), expected)


def test_2_1_a_multiply_add_that_two_roundings_get_wrong():
    x, y, z = (ps.Input(name, ps.bfloat16, (n,)) for name in "xyz")
    given = {name: ps.bfloat16.array([v] * 8) for name, v in zip(
        "xyz", (1.0 + 2**-7, 1.0 - 2**-8, 2.0**-100), strict=True)}  # fmt: skip
    exact = Fraction(1 + Fraction(1, 128)) * (1 - Fraction(1, 256)) + Fraction(1, 2**100)
    wanted = float(round_fraction(exact, ps.bfloat16))
    for width in (1, 8):
        found = computed(ps.fma(x[i], y[i], z[i]), width, **given)
        assert set(singles(ps.bfloat16, found.view(np.uint16)).tolist()) == {wanted}


@TYPES
def test_2_1_payloads_of_nans_stay_as_far_as_there_is_room(dtype):
    x = ps.Input("x", ps.float32, (n,))
    words = np.array([0x7FC12000, 0xFFD52000, 0x7F812000], np.uint32)
    found = computed(ps.cast(dtype, x[i]), 1, x=words.view(np.float32)).view(np.uint16)
    shift, sign = (13, 0x8000) if dtype is ps.float16 else (16, 0x8000)
    payload = (words & 0x7FFFFF) >> shift
    quiet = 1 << (dtype.format.mantissa - 1)
    top = dtype.format.sign - (1 << dtype.format.mantissa)
    np.testing.assert_array_equal(found, payload | quiet | top | (words >> 16) & sign)


@pytest.mark.parametrize("target", [None, "x86-64-v3"] if X86 else [None])
@pytest.mark.parametrize("width", [1, 3, 8, 16, 24, 32, 64])
def test_2_1_float32_next_to_every_tie_becomes_the_nearest_bfloat16(width, target):
    """In code for every shape of vectors: what lies above and below a half, and the half."""
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    words = ((EVERY.astype(np.uint32) << 16)[:, None] + lower).ravel().view(np.float32)
    x = ps.Input("x", ps.float32, (n,))
    found = computed(ps.cast(ps.bfloat16, x[i]), width, target, x=words).view(np.uint16)
    # NaNs by their bits, too: each keeps what there is room for.
    np.testing.assert_array_equal(found, bfloat.rounded(words))


@TYPES
def test_2_1_a_number_that_is_the_same_in_all_lanes_is_widened_exactly(dtype):
    x, y = ps.Input("x", ps.float32, (n,)), ps.Input("y", dtype, (1,))
    ones = np.ones(16, np.float32)
    for bits in (0x3C01, 0xBC55, 0x0001, 0x8001):
        given = np.array([bits], np.uint16)
        found = computed(x[i] * ps.cast(ps.float32, y[0]), 8, x=ones, y=given.view(dtype.numpy))
        assert set(found.tolist()) == set(singles(dtype, given).tolist())


@TYPES
def test_2_1_the_interpreter_rounds_as_the_compiled_code_does(dtype):
    """Next to ties of all sizes, denormal numbers, infinities and NaNs."""
    lower = {ps.bfloat16: 0x8000, ps.float16: 0x1000}[dtype]
    upper = np.arange(0, 1 << 32, 1 << 24, dtype=np.uint64).astype(np.uint32)
    offsets = np.array([lower - 1, lower, lower + 1, 3 * lower], np.uint32)
    words = (upper[:, None] + offsets).ravel().view(np.float32)
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.cast(dtype, x[i])
    meant = ps.interpret(f, words)
    assert np.array_equal(bits_of(dtype, meant), bits_of(dtype, computed(f[i], 1, x=words)))
    assert np.array_equal(bits_of(dtype, meant), nearest(dtype, words))


OPERATORS = {
    "+": operator.add, "//": operator.floordiv, "/": operator.truediv, "<": operator.lt,
}  # fmt: skip


@pytest.mark.parametrize("other", ALL, ids=str)
@TYPES
def test_2_1_types_beside_narrow_floats(dtype, other):
    """Those of the table, which are those of the operators of NumPy and ml_dtypes."""
    if other.is_float and other is not dtype:
        wanted = ps.float32 if other.is_narrow else other
    else:
        by_bytes = {1: dtype, 2: ps.float32}
        wanted = dtype if other is dtype else by_bytes.get(other.itemsize, ps.float64)
    a, b = ps.Input("a", dtype, (n,)), ps.Input("b", other, (n,))
    arrays = [x.array([1]) for x in (dtype, other)]
    is_known = all(x.dtype.names is None for x in arrays)  # as records bfloat16s have no operators
    for name, apply in OPERATORS.items():
        f, chosen = ps.Func("f", (n,)), ps.Func("chosen", (n,))
        f[i], chosen[i] = apply(a[i], b[i]), ps.select(i > 2, b[i], a[i])
        assert f.dtype is (ps.bool_ if name == "<" else wanted)
        assert chosen.dtype is wanted
        assert not is_known or apply(*arrays).dtype == f.dtype.numpy


@pytest.mark.parametrize("given", [np.uint16, np.float16, np.float32])
def test_1_4_arrays_of_other_types_are_no_bfloat16(given):
    x = ps.Input("x", ps.bfloat16, (n,))
    f = ps.Func("f", (n,))
    f[i] = x[i]
    with pytest.raises(ps.CallTypeError, match=r"not bfloat16\n.* ps\.bfloat16\.array\(x\), or"):
        f(np.zeros(3, given))


def test_1_4_hints_make_bfloat16_of_what_is_no_array():
    """NumPy has no name for it: the dtype is that of the package which is installed, or none."""
    x = ps.Input("x", ps.bfloat16, (n,))
    f = ps.Func("f", (n,))
    f[i] = x[i]
    with pytest.raises(ps.CallTypeError, match=r"hint: ps\.bfloat16\.array\(x\)"):
        f([1.5, 2.5])
    with pytest.raises(ps.CallTypeError, match=r"np\.empty\(shape, ps\.bfloat16\.numpy\)"):
        f(ps.bfloat16.array([1.5]), out=np.zeros(1, np.float32))
    assert f(ps.bfloat16.array([1.5]), out=np.empty(1, ps.bfloat16.numpy)) == 1.5


@TYPES
def test_2_2_a_sum_of_ones_stops_growing(dtype):
    x, k = ps.Input("x", dtype, (n,)), ps.RVar("k", 0, n)
    s = ps.Func("s", ())
    s[()] = 0
    s[()] += x[k]
    ones = dtype.array(np.ones(4096, np.float32))
    total = float(singles(dtype, np.asarray(s(ones)).reshape(1).view(np.uint16))[0])
    assert s.dtype is dtype
    assert total == min(4096, 2**dtype.format.precision)
    assert math.isfinite(total)


@TYPES
def test_2_2_explain_and_the_listing_warn_of_it(dtype):
    x, k = ps.Input("x", dtype, (n,)), ps.RVar("k", 0, n)
    for kept, warns in ((dtype, True), (ps.float32, False)):
        s = ps.Func("s", (), kept)
        s[()] = 0
        s[()] += ps.cast(kept, x[k])
        schedule = ps.Schedule(s)
        assert (f"accumulates in {dtype}, of" in str(schedule.explain())) is warns
        assert (f"for k in [0, n):  # accumulates in {dtype} s\n" in str(schedule)) is warns


def test_2_2_the_listing_warns_at_the_loop_of_the_terms():
    """Once, at the innermost one; not of a maximum, nor where each term has its own element."""
    x = ps.Input("x", ps.bfloat16, (n, n))
    r, k = ps.RVar("r", 0, n), ps.RVar("k", 0, n)
    f, g, h = ps.Func("f", (n,)), ps.Func("g", (n,)), ps.Func("h", (n,))
    for func in (f, g, h):
        func[i] = 0
    f[i] += x[i, k]
    g[i] = ps.maximum(g[i], x[i, k])
    h[r] += x[r, r]
    s = ps.Schedule((f, g, h))
    s["f.update(0)"].split(k, 8, names=("ko", "ki"))
    warned = [line for line in str(s).splitlines() if "accumulates" in line]
    assert len(warned) == 1
    assert warned[0].strip().startswith("for ki in")
    assert warned[0].endswith("accumulates in bfloat16 f")


def _listed(define, *tensors):
    """Whether the listing and `explain()` warn of a Func or an array in place, and where."""
    f = define(*tensors)
    s = ps.Schedule(f)
    lines = [line.strip() for line in str(s).splitlines() if "accumulates" in line]
    assert bool(lines) == ("binary digits" in str(s.explain()))
    return [line.partition(":  # accumulates in float16 ") for line in lines]


def _as_tuple(x, k):
    f = ps.Func("f", ())
    f[()] = (ps.cast(ps.float32, 0), ps.cast(ps.float16, 0))
    f[()] = (f[()][0] + x[k], f[()][1] + x[k])
    return f


def _of(value):
    def define(x, k):
        f = ps.Func("f", (), ps.float16)
        f[()] = 0
        f[()] = value(f[()], x[k])
        return f

    return define


def _in_place(x, _):
    f = ps.InOut("f", ps.float16, (1,))
    with ps.sequential("t", 0, n) as t:
        f[0] = f[0] + x[t]
    return f


def _running(value):
    def define(x, _):
        f = ps.Func("f", (n,))
        f[0] = x[0]
        f[i] = value(f[i - 1], x[i])
        return f

    return define


@pytest.mark.parametrize(
    ("define", "loop"),
    [
        (_as_tuple, "k"),
        (_of(lambda f, x: ps.fma(x, x, f)), "k"),
        (_of(lambda f, x: ps.cast(ps.float16, ps.cast(ps.float32, f) + x)), "k"),
        (_of(lambda f, x: ps.select(x > 0, f + x, f)), "k"),
        (_in_place, "t"),
        (_running(lambda f, x: f + x), "i"),
    ],
    ids=["a value of a tuple", "fma", "rounded again", "some terms", "in place", "a running sum"],
)
def test_2_2_every_way_to_add_up_in_16_bits_is_told(define, loop):
    x, k = ps.Input("x", ps.float16, (n,)), ps.RVar("k", 0, n)
    ((head, _, name),) = _listed(define, x, k)
    assert (head, name) == (f"for {loop} in [0, n)", "f")


@pytest.mark.parametrize(
    "define",
    [_of(lambda f, x: ps.select(x > f, x, f)), _of(lambda f, x: f * f + x),
     _running(lambda f, x: f * 0.5 + x * 0.5), _running(lambda f, x: (f + x) / 2)],
    ids=["a choice", "a square", "a filter", "a mean"],
)  # fmt: skip
def test_2_2_what_does_not_add_up_in_16_bits_is_not_told(define):
    assert not _listed(define, ps.Input("x", ps.float16, (n,)), ps.RVar("k", 0, n))


@TYPES
@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "trunc", "sign"])
def test_2_6_of_every_number(dtype, name):
    x = ps.Input("x", dtype, (n,))
    found = np.asarray(computed(getattr(ps, name)(x[i]), 8, x=EVERY.view(dtype.numpy)))
    numbers = singles(dtype, EVERY)
    with np.errstate(invalid="ignore"):
        wanted = getattr(np, name)(numbers)
    if wanted.dtype == bool:
        assert np.array_equal(found, wanted)
        return
    known = ~np.isnan(numbers)
    assert np.array_equal(found.view(np.uint16)[known], nearest(dtype, wanted)[known])
    assert np.isnan(singles(dtype, found.view(np.uint16)[~known])).all()


@TYPES
def test_2_6_neighbours_are_those_of_the_type(dtype):
    """Of every number, on the way to all kinds of others, as NumPy and ml_dtypes have them."""
    numbers = np.tile(np.arange(1 << 16, dtype=np.uint16).view(dtype.numpy), 8)
    ends = dtype.array(np.float32([np.inf, -np.inf, 0, -0.0, 1, -3.25, 1e-40, np.nan]))
    towards = np.repeat(ends, 1 << 16)
    x, y = ps.Input("x", dtype, (n,)), ps.Input("y", dtype, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.nextafter(x[i], y[i])
    s = ps.Schedule(f)
    s[f].vectorize("i", 16)
    found = s.compile()(numbers, towards)
    with np.errstate(all="ignore"):
        # NumPy's float16 alone stays at a zero on the way to the other one.
        wanted = np.where(numbers == towards, towards, np.nextafter(numbers, towards))
    assert found.dtype == wanted.dtype
    known = ~np.isnan(wanted.astype(np.float32))
    assert np.array_equal(found.view(np.uint16)[known], wanted.view(np.uint16)[known])
    assert np.isnan(found.astype(np.float32)[~known]).all()
    few = slice(None, None, 4099)
    again = ps.interpret(f, numbers[few], towards[few])
    assert np.array_equal(
        again.view(np.uint16)[known[few]], wanted.view(np.uint16)[few][known[few]]
    )


WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np, polysched as ps
n, i, k = ps.size("n"), ps.vars("i"), ps.RVar("k", 0, 6)
x, y = ps.Input("x", ps.bfloat16, (n,)), ps.Input("y", ps.float16, (n,))
given = ps.bfloat16.array(np.arange(6, dtype=np.float32))
for value in (x[i] * 2 + 1, ps.exp(x[i]), ps.max(x[k], k), ps.isnan(x[i])):
    f = ps.Func("f", (n,))
    f[i] = value
    assert ps.Schedule(f).compile()(given).tobytes() == ps.interpret(f, given).tobytes()
f = ps.Func("f", (n,))
f[i] = ps.sqrt(x[i] - 1)
from polysched.testing import check
check(f, x=given)
f = ps.Func("f", (n,))
f[i] = y[i]
try:
    f(given)
except ps.CallTypeError as error:
    print(error)
"""


@pytest.mark.slow
def test_1_4_bfloat16_needs_no_package_and_is_called_by_its_name():
    command = [sys.executable, "-P", "-c", WITHOUT]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith("y has the dtype bfloat16, not float16")
    assert "declare it as bfloat16" in said
