"""Formulas of finance, mechanics and sound: exponentials, logarithms and roots at every element."""

from __future__ import annotations

import numpy as np
import scipy.special

import polysched as ps

from .case import Arguments, Array, Case, normal, uniform

HOP = 8
"""Samples from one frame of sound to the next."""


def black_scholes() -> tuple[ps.Func, ps.Func]:
    """The prices of European options to buy and to sell (Black and Scholes).

    The normal distribution is a polynomial (Zelen and Severo), whose error is below 1e-7.
    """
    n = ps.sizes("n")
    spot, strike, years = (ps.Input(f, ps.float64, (n,)) for f in ("spot", "strike", "years"))
    rate = ps.Param("rate", ps.float64, default=0.03)
    volatility = ps.Param("volatility", ps.float64, default=0.2)
    i = ps.vars("i")

    def below(x: ps.Expr) -> ps.Expr:
        """The chance that a normal variable is below x."""
        t = 1 / (1 + 0.2316419 * ps.abs(x))
        polynomial = 1.330274429
        for c in (-1.821255978, 1.781477937, -0.356563782, 0.319381530):
            polynomial = polynomial * t + c
        tail = 0.3989422804014327 * ps.exp(-0.5 * x * x) * polynomial * t
        return ps.select(x < 0, tail, 1 - tail)

    spread = volatility * ps.sqrt(years[i])
    drift = (rate + 0.5 * volatility * volatility) * years[i]
    d1, d2 = ps.Func("d1"), ps.Func("d2")
    d1[i] = (ps.log(spot[i] / strike[i]) + drift) / spread
    d2[i] = d1[i] - spread
    discounted = strike[i] * ps.exp(-rate * years[i])
    call, put = ps.Func("call", (n,)), ps.Func("put", (n,))
    call[i] = spot[i] * below(d1[i]) - discounted * below(d2[i])
    put[i] = discounted * below(-d2[i]) - spot[i] * below(-d1[i])
    return call, put


def n_body() -> tuple[ps.Func, ps.Func]:
    """A step of bodies that attract each other: where they are then, and how fast."""
    n = ps.sizes("n")
    place = ps.Input("place", ps.float32, (3, n))
    speed = ps.Input("speed", ps.float32, (3, n))
    mass = ps.Input("mass", ps.float32, (n,))
    step = ps.Param("step", ps.float32, default=0.01)
    i, c = ps.vars("i c")
    k = ps.RVar("k", 0, n)

    def pull(axis: int) -> ps.Expr:
        away = [place[a, k] - place[a, i] for a in range(3)]
        near = ps.rsqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2] + 0.01)
        return mass[k] * near * near * near * away[axis]

    force = ps.Func("force", (3, n))
    for axis in range(3):
        force[axis, i] = ps.sum(pull(axis), k)
    faster, moved = ps.Func("faster", (3, n)), ps.Func("moved", (3, n))
    faster[c, i] = speed[c, i] + step * force[c, i]
    moved[c, i] = place[c, i] + step * faster[c, i]
    return moved, faster


def log_mel() -> ps.Func:
    """What of each band of frequencies is in each frame of a sound, in logarithms.

    The spectrum of a frame is a product with tables of sines and cosines.
    """
    T, w, bins, bands = ps.sizes("T w bins bands")
    sound = ps.Input("sound", ps.float32, (HOP * T + w,))
    window = ps.Input("window", ps.float32, (w,))
    cosine = ps.Input("cosine", ps.float32, (w, bins))
    sine = ps.Input("sine", ps.float32, (w, bins))
    filters = ps.Input("filters", ps.float32, (bins, bands))
    t, b, m, x = ps.vars("t b m x")
    k, r = ps.RVar("k", 0, w), ps.RVar("r", 0, bins)

    frame = ps.Func("frame", (T, w))
    frame[t, x] = sound[HOP * t + x] * window[x]
    real, imaginary = ps.Func("real", (T, bins)), ps.Func("imaginary", (T, bins))
    real[t, b] = ps.sum(frame[t, k] * cosine[k, b], k)
    imaginary[t, b] = ps.sum(frame[t, k] * sine[k, b], k)
    power = ps.Func("power", (T, bins))
    power[t, b] = real[t, b] * real[t, b] + imaginary[t, b] * imaginary[t, b]
    mel = ps.Func("mel", (T, bands))
    mel[t, m] = ps.log(ps.maximum(ps.sum(power[t, r] * filters[r, m], r), 1e-6))
    return mel


# arguments and references ---------------------------------------------------------------------
def _options(rng: np.random.Generator, n: int) -> Arguments:
    return {
        "spot": rng.uniform(50, 150, n),
        "strike": rng.uniform(50, 150, n),
        "years": rng.uniform(0.1, 3, n),
        "rate": 0.05,
        "volatility": 0.3,
    }


def _option_prices(
    spot: Array, strike: Array, years: Array, rate: float, volatility: float
) -> tuple[Array, Array]:
    """By SciPy's normal distribution, and by what a pair of both options is worth."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    later = strike * np.exp(-rate * years)
    call = spot * scipy.special.ndtr(d1) - later * scipy.special.ndtr(d1 - spread)
    return call, call + later - spot


def _bodies(rng: np.random.Generator, n: int) -> Arguments:
    return {
        "place": normal(rng, 3, n),
        "speed": normal(rng, 3, n),
        "mass": uniform(rng, n),
        "step": 0.0625,
    }


def _moved_bodies(place: Array, speed: Array, mass: Array, step: float) -> tuple[Array, Array]:
    x = place.astype(np.float64)
    away = x[:, None, :] - x[:, :, None]
    pull = mass * away / ((away**2).sum(0) + 0.01) ** 1.5
    faster = speed + step * pull.sum(2)
    return x + step * faster, faster


def _sound(rng: np.random.Generator, T: int, w: int, bands: int) -> Arguments:
    bins = w // 2 + 1
    angle = 2 * np.pi / max(w, 1) * np.outer(np.arange(w), np.arange(bins))
    return {
        "sound": normal(rng, HOP * T + w),
        "window": np.hanning(w + 2)[1:-1].astype(np.float32),
        "cosine": np.cos(angle).astype(np.float32),
        "sine": -np.sin(angle).astype(np.float32),
        "filters": uniform(rng, bins, bands) ** 4,
    }


def _log_mel(sound: Array, window: Array, filters: Array, **tables: Array) -> Array:
    """By NumPy's FFT."""
    frames = np.lib.stride_tricks.sliding_window_view(sound, window.size)[::HOP]
    spectrum = np.fft.rfft(frames[: (sound.size - window.size) // HOP] * window.astype(np.float64))
    return np.log(np.maximum(np.abs(spectrum) ** 2 @ filters, 1e-6))


CASES = (
    Case(
        name="black_scholes",
        build=black_scholes,
        sizes="n",
        make=_options,
        reference=_option_prices,
        tolerance=5e-5,
        tags="float params multiple",
        large=1001,
    ),
    Case(
        name="n_body",
        build=n_body,
        sizes="n",
        make=_bodies,
        reference=_moved_bodies,
        tolerance=1e-4,
        tags="float params multiple pieces reduction",
        limits={"n": 12},
    ),
    Case(
        name="log_mel",
        build=log_mel,
        sizes="T w bands",
        make=_sound,
        reference=_log_mel,
        tolerance=1e-4,
        tags="float reduction",
        large={"T": 31, "w": 64, "bands": 20},
        limits={"T": 5, "w": 16, "bands": 9},
    ),
)
