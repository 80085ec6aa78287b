"""16-bit floats against another way to compute with them: `python -P tests/lang/narrow_pairs.py`.

Each operator of two numbers on as many pairs as are asked for, which favour denormal numbers, ties
and special values; each function of one on every number. What is expected is computed in float64
and rounded once, by scaling. Without arguments it takes some minutes; `--pairs 24` a tenth.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import polysched as ps

Array = np.ndarray[Any, np.dtype[Any]]
TYPES = (ps.float16, ps.bfloat16)
EVERY = np.arange(1 << 16, dtype=np.uint16)
CHUNK = 1 << 15
"""Few enough that caches hold them."""

_extreme = {True: np.minimum, False: np.maximum}


def _least_or_largest(is_least: bool) -> Callable[[Array, Array], Array]:
    """With -0 below 0; NumPy keeps NaNs."""

    def of(x: Array, y: Array) -> Array:
        found = _extreme[is_least](x, y)
        sign = np.signbit(x) | np.signbit(y) if is_least else np.signbit(x) & np.signbit(y)
        zeros = (x == 0) & (y == 0)
        return np.where(zeros, np.where(sign, -0.0, 0.0).astype(found.dtype), found)

    return of


#: Ours, and what float64 gives, which has more than twice the digits. A NaN has no sign.
OF_TWO: dict[str, tuple[Callable[..., Any], Callable[..., Array]]] = {
    "add": (lambda x, y: x + y, np.add),
    "sub": (lambda x, y: x - y, np.subtract),
    "mul": (lambda x, y: x * y, np.multiply),
    "div": (lambda x, y: x / y, np.divide),
    "minimum": (ps.minimum, _least_or_largest(True)),
    "maximum": (ps.maximum, _least_or_largest(False)),
    "absd": (ps.absd, lambda x, y: np.abs(x - y)),
    "less": (lambda x, y: x < y, np.less),
    "equal": (lambda x, y: x == y, np.equal),
    "unequal": (lambda x, y: x != y, np.not_equal),
    "at least": (lambda x, y: x >= y, np.greater_equal),
    "copysign": (ps.copysign, lambda x, y: np.copysign(x, np.where(np.isnan(y), 1.0, y))),
    "fmod": (ps.fmod, np.fmod),
}
#: By definition those of float32, rounded.
OF_SINGLES: dict[str, tuple[Callable[..., Any], Callable[..., Array]]] = {
    "floordiv": (lambda x, y: x // y, np.floor_divide),
    "mod": (lambda x, y: x % y, np.remainder),
}
OF_ONE: dict[str, tuple[Callable[..., Any], Callable[..., Array]]] = {
    "neg": (lambda x: -x, np.negative),
    "abs": (abs, np.abs),
    "sqrt": (ps.sqrt, np.sqrt),
    "floor": (ps.floor, np.floor),
    "ceil": (ps.ceil, np.ceil),
    "round": (ps.rint, np.rint),
    "trunc": (ps.trunc, np.trunc),
    "square": (lambda x: x * x, np.square),
    "reciprocal": (lambda x: 1 / x, np.reciprocal),
    "isnan": (ps.isnan, np.isnan),
    "isinf": (ps.isinf, np.isinf),
    "isfinite": (ps.isfinite, np.isfinite),
    "signbit": (ps.signbit, lambda x: np.signbit(x) & ~np.isnan(x)),
}
#: Those that are float32's, rounded: compared with ours of float32.
FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin",
    "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "cbrt", "erf",
    "erfc", "gamma", "lgamma", "sigmoid", "rsqrt", "sign",
    "fast_exp", "fast_exp2", "fast_log", "fast_tanh", "fast_sigmoid", "fast_rsqrt", "fast_erf",
)  # fmt: skip
#: As these, of two numbers.
FUNCTIONS_OF_TWO = ("hypot", "pow", "arctan2", "heaviside")


def doubles(dtype: ps.DType, bits: Array) -> Array:
    """The numbers of these bits as float64."""
    if dtype is ps.float16:
        return bits.view(np.float16).astype(np.float64)
    with np.errstate(invalid="ignore"):  # of NaNs
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def nearest(dtype: ps.DType, numbers: Array) -> Array:
    """The bits of the nearest numbers of the type, ties to even; all NaNs are one."""
    form = dtype.format
    wide = numbers.astype(np.float64)
    finite = np.where(np.isfinite(wide), wide, 0.0)
    _, exponents = np.frexp(finite)
    units = np.maximum(exponents - form.precision, form.least)
    found = np.ldexp(np.rint(np.ldexp(finite, -units)), units)
    found = np.where(np.abs(found) >= form.limit, np.copysign(np.inf, wide), found)
    found = np.where(np.isinf(wide), wide, np.copysign(found, wide))
    single = found.astype(np.float32)
    if dtype is ps.float16:
        bits = single.astype(np.float16).view(np.uint16)
    else:
        bits = (single.view(np.uint32) >> 16).astype(np.uint16)
    return np.where(np.isnan(wide), 0x7FFF, bits)


def bits_of(dtype: ps.DType, found: Array) -> Array:
    """The bits of what has been computed, as `nearest` has them; of bools, these."""
    if found.dtype == bool:
        return found
    bits = np.ascontiguousarray(found).view(np.uint16)
    return np.where(np.isnan(doubles(dtype, bits)), 0x7FFF, bits)


def pairs(rng: np.random.Generator, dtype: ps.DType, count: int) -> tuple[Array, Array]:
    """Bits of so many pairs: any numbers, denormal ones, special ones; numbers of few digits,
    whose products are ties; and numbers of which one ends where the other one begins."""
    mantissa = dtype.format.mantissa
    x, y = (rng.integers(0, 1 << 16, count).astype(np.uint16) for _ in range(2))
    sign = np.uint16(0x8000)
    special = np.array([0, 1, (1 << mantissa) - 1, 1 << mantissa, 0x3C00, 0x3F80], np.uint16)
    top = np.uint16(0x8000 - (1 << mantissa))
    special = np.concatenate([special, np.array([top - 1, top, top + 1, 0x7FFF], np.uint16)])
    for one in (x, y):
        what = rng.random(count)
        denormal = one & (sign | np.uint16((1 << mantissa) - 1))
        few = one & ~np.uint16((1 << (mantissa // 2)) - 1)
        chosen = rng.choice(special, count) | (one & sign)
        one[:] = np.select([what < 0.15, what < 0.3, what < 0.5], [denormal, chosen, few], one)
    close = rng.random(count) < 0.25
    lower = (x >> mantissa & np.uint16(0x7FFF >> mantissa)).astype(np.int32)
    lower = np.maximum(lower - rng.integers(mantissa - 1, mantissa + 4, count), 0)
    beside = (y & (sign | np.uint16((1 << mantissa) - 1))) | (lower << mantissa).astype(np.uint16)
    return x, np.where(close, beside, y)


def kernel(
    dtype: ps.DType, operands: int, ours: list[Callable[..., Any]], lanes: int = 0
) -> Callable[..., tuple[Array, ...]]:
    """All of these functions of Inputs of a type, in so many lanes, or as many as fit."""
    n, i = ps.size("n"), ps.vars("i")
    given = [ps.Input(name, dtype, (n,))[i] for name in "xy"[:operands]]
    funcs = []
    for number, function in enumerate(ours):
        f = ps.Func(f"f{number}", (n,))
        f[i] = function(*given)
        funcs.append(f)
    s = ps.Schedule(tuple(funcs))
    for f in funcs:
        s[f].vectorize(i, lanes or ps.native)
    compiled = s.compile()
    return lambda *arrays: compiled(*arrays) if len(funcs) > 1 else (compiled(*arrays),)


def differences(
    dtype: ps.DType, rng: np.random.Generator, count: int, lanes: int = 0
) -> Iterator[str]:
    """What is wrong of operators on so many pairs, one operator at most once a chunk."""
    shared = [getattr(ps, name) for name in FUNCTIONS_OF_TWO]
    named = OF_TWO | OF_SINGLES | dict(zip(FUNCTIONS_OF_TWO, _with_singles(shared), strict=True))
    run = kernel(dtype, 2, [ours for ours, _ in named.values()], lanes)
    for start in range(0, count, CHUNK):
        bits = pairs(rng, dtype, min(CHUNK, count - start))
        results = run(*(b.view(dtype.numpy) for b in bits))
        x, y = (doubles(dtype, b) for b in bits)
        for (name, (_, meant)), found in zip(named.items(), results, strict=True):
            as_single = name not in OF_TWO
            with np.errstate(all="ignore"):
                wanted = meant(*((v.astype(np.float32) if as_single else v) for v in (x, y)))
            yield from _first(dtype, name, bits, found, wanted)


def _with_singles(
    functions: list[Callable[..., Any]],
) -> Iterator[tuple[Callable[..., Any], Callable[..., Array]]]:
    """Functions of two numbers, each with ours of float32."""
    for function in functions:
        run = kernel(ps.float32, 2, [function])
        yield function, lambda x, y, run=run: run(x, y)[0]


def of_one(dtype: ps.DType, lanes: int = 0) -> Iterator[str]:
    """What is wrong of functions of one number, on every number."""
    ours = [ours for ours, _ in OF_ONE.values()]
    shared = [getattr(ps, name) for name in FUNCTIONS]
    results = kernel(dtype, 1, [*ours, *shared], lanes)(EVERY.view(dtype.numpy))
    x = doubles(dtype, EVERY)
    with np.errstate(all="ignore"):
        singles = kernel(ps.float32, 1, shared)(x.astype(np.float32))
        wanted = [meant(x) for _, meant in OF_ONE.values()] + list(singles)
    names = [*OF_ONE, *FUNCTIONS]
    for name, found, meant in zip(names, results, wanted, strict=True):
        yield from _first(dtype, name, (EVERY,), found, meant)


def _first(
    dtype: ps.DType, name: str, bits: tuple[Array, ...], found: Array, wanted: Array
) -> Iterator[str]:
    """The first pair on which an operator is wrong."""
    meant = wanted if wanted.dtype == bool else nearest(dtype, wanted)
    differs = bits_of(dtype, found) != meant
    if differs.any():
        at = int(np.argmax(differs))
        given = ", ".join(f"{int(b[at]):#06x}" for b in bits)
        got, want = bits_of(dtype, found)[at], meant[at]
        yield f"{dtype} {name}({given}) is {int(got):#06x}, not {int(want):#06x}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=28, help="the logarithm of their number")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = 0
    for dtype in TYPES:
        found = [*of_one(dtype)]
        found += differences(dtype, np.random.default_rng(options.seed), 1 << options.pairs)
        for line in sorted(set(found)):
            print(line)
        wrong += len(found)
        operators = len(OF_TWO) + len(OF_SINGLES) + len(FUNCTIONS_OF_TWO)
        print(f"{dtype}: {operators} operators on 2**{options.pairs} pairs")
    print(f"{wrong} differences")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
