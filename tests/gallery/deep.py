"""Programs of any depth, for the time that compiling takes; see also `pyramids.deep_pyramid`."""

from __future__ import annotations

from math import comb

import numpy as np

import polysched as ps

from .case import Array, Case, integers


def stencil_chain(depth: int = 100) -> ps.Func:
    """(1, 2, 1) applied `depth` times, modulo 2^32, by `depth` Funcs."""
    n = ps.sizes("n")
    signal = ps.Input("signal", ps.uint32, (n + 2 * depth,))
    i = ps.vars("i")

    f: ps.Input | ps.Func = signal
    for k in range(1, depth + 1):
        g = ps.Func(f"s{k}", (n,) if k == depth else None)
        g[i] = f[i] + 2 * f[i + 1] + f[i + 2]
        f = g
    return f


def many_updates(count: int = 100) -> ps.Func:
    """A linear congruential generator modulo 2^32: in turn a product and a sum, by updates."""
    n = ps.sizes("n")
    seed = ps.Input("seed", ps.uint32, (n,))
    i = ps.vars("i")

    f = ps.Func("f", (n,))
    f[i] = seed[i]
    for k in range(count):
        if k % 2 == 0:
            f[i] *= 1664525
        else:
            f[i] += k
    return f


def many_scatters(count: int = 100) -> ps.Func:
    """`count` reductions into one Func: each adds the signal, moved by one place more."""
    n = ps.sizes("n")
    signal = ps.Input("signal", ps.uint32, (n,))
    i = ps.vars("i")
    r = ps.RVar("r", 0, n)

    f = ps.Func("f", (n + count,), ps.uint32)
    f[i] = 0
    for k in range(count):
        f[r + k] += signal[r]
    return f


# arguments and references ---------------------------------------------------------------------


def _chain_reference(signal: Array) -> Array:
    """(1, 2, 1) is (1, 1) twice, so the powers are binomial coefficients."""
    taps = np.array([comb(200, k) % 2**32 for k in range(201)], np.uint32)
    return np.convolve(signal, taps, "valid")


def _updates_reference(seed: Array) -> Array:
    a, b = 1, 0
    for k in range(100):
        a, b = (a * 1664525, b * 1664525) if k % 2 == 0 else (a, b + k)
    return ((a * seed.astype(object) + b) % 2**32).astype(np.uint32)


def _scatters_reference(signal: Array) -> Array:
    """A convolution with ones; the Func has one place more than that."""
    return np.append(np.convolve(signal, np.ones(100, np.uint32)), np.uint32(0))


CASES = (
    Case(
        name="stencil_chain",
        build=stencil_chain,
        sizes="n",
        make=lambda rng, n: {"signal": integers(rng, np.uint32, n + 200)},
        reference=_chain_reference,
        tags="integer stencil deep",
        large=9_999,
    ),
    Case(
        name="many_updates",
        build=many_updates,
        sizes="n",
        make=lambda rng, n: {"seed": integers(rng, np.uint32, n)},
        reference=_updates_reference,
        tags="integer deep",
        large=9_999,
    ),
    Case(
        name="many_scatters",
        build=many_scatters,
        sizes="n",
        make=lambda rng, n: {"signal": integers(rng, np.uint32, n)},
        reference=lambda signal: _scatters_reference(signal),
        tags="integer deep reduction",
        large=9_999,
    ),
)
