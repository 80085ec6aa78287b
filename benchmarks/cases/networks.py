"""Layers of networks beside convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special
from case import Array, Case
from gallery.case import normal
from gallery.registry import find

import polysched as ps

LANES = 16


def gelu() -> ps.Func:
    """gelu(X + b), by the tanh formula of Hendrycks and Gimpel."""
    n, m = ps.sizes("n m")
    X = ps.Input("X", ps.float32, (n, m))
    b = ps.Input("b", ps.float32, (m,))
    i, j = ps.vars("i j")

    Y = ps.Func("Y", (n, m))
    v = X[i, j] + b[j]
    Y[i, j] = 0.5 * v * (1.0 + ps.tanh((2 / np.pi) ** 0.5 * (v + 0.044715 * v**3)))
    return Y


def _gelu_reference(X: Array, b: Array) -> Array:
    v = X.astype(np.float64) + b
    return v * scipy.special.expit(np.sqrt(8 / np.pi) * (v + 0.044715 * v**3))


def in_lanes(s: ps.Schedule, name: str, rows: ps.Func, width: int = 4 * LANES) -> None:
    """A reduction of a row as `width` of them, kept in registers, and these together."""
    u = s[name].update(0)
    u.split("k", width, names=("ko", "lane"))
    part = s[u.rfactor("lane")]
    s[name].compute_at(rows, "i")
    part.compute_at(rows, "i").vectorize("lane", LANES).unroll("lane")
    part.update(0).vectorize("lane", LANES).unroll("lane")
    s[name].update(0).vectorize("lane", LANES)


def softmax_rows(s: ps.Schedule) -> None:
    """Each row at once, in any order."""
    (f,) = s.program.outputs
    s[f].parallel("i").vectorize("j", LANES)
    s["total"].update(0).reassociate()
    in_lanes(s, "total", f)
    s["weight"].compute_at(f, "i").vectorize("j", LANES)
    in_lanes(s, "top", f)


def norm_rows(s: ps.Schedule) -> None:
    """As above."""
    (f,) = s.program.outputs
    s[f].parallel("i").vectorize("j", LANES)
    for name in ("Y.sum1", "Y.sum0"):
        s[name].update(0).reassociate()
        in_lanes(s, name, f)


def gelu_rows(s: ps.Schedule) -> None:
    s["Y"].parallel("i").vectorize("j", LANES)


def head_blocks(s: ps.Schedule) -> None:
    """Not tuned: all keys for four queries at a time."""
    f = s["O"]
    io, _ = f.split("i", 4)
    f.parallel(io).vectorize("c", LANES)
    for name in ("O.sum1", "O.sum0", "weight", "weight.max0", "score", "score.sum0"):
        s[name].compute_at(f, io)
    s["O.sum0"].update(0).reorder("r", "c").vectorize("c", LANES)
    s["weight"].vectorize("j", LANES)


def lstm_steps(s: ps.Schedule) -> None:
    """Not tuned: the window of states slides along the steps of the result."""
    s["h.piece(0)"].compute_at("y", "t").store_root()


def _layer(name: str, gallery: str, **more: Any) -> Case:
    case = find(gallery)
    given: dict[str, Any] = {
        "name": name,
        "build": case.build,
        "make": case.make,
        "reference": case.reference,
    }
    return Case(**given | more)


ROWS: dict[str, Any] = {
    "size": "4096 x 1024",
    "peers": "torch halide numba numpy",
    "sizes": {"n": 4096, "m": 1024},
    "tiny": {"n": 41, "m": 37},
}

CASES = (
    _layer(
        "softmax",
        "softmax",
        kernel="softmax",
        schedule=softmax_rows,
        flops=lambda n, m: 5.0 * n * m,
        **ROWS,
    ),
    _layer(
        "layer norm",
        "layer_norm_rows",
        kernel="layer_norm",
        schedule=norm_rows,
        flops=lambda n, m: 8.0 * n * m,
        **ROWS,
    ),
    Case(
        name="GELU with bias",
        kernel="gelu",
        build=gelu,
        schedule=gelu_rows,
        make=lambda rng, n, m: {"X": normal(rng, n, m), "b": normal(rng, m)},
        reference=_gelu_reference,
        flops=lambda n, m: 9.0 * n * m,
        **ROWS,
    ),
    _layer(
        "attention",
        "multi_head_attention",
        size="8 heads x 512 x 64",
        kernel="attention",
        peers="torch halide numpy",
        schedule=head_blocks,
        sizes={"s": 8, "n": 512, "m": 512, "d": 64},
        tiny={"s": 2, "n": 33, "m": 41, "d": 17},
        flops=lambda s, n, m, d: 4.0 * s * n * m * d + 5.0 * s * n * m,
    ),
    _layer(
        "LSTM",
        "lstm_sequence",
        size="128 steps x 256",
        kernel="lstm",
        peers="torch numpy",
        schedule=lstm_steps,
        sizes={"T": 128, "U": 256, "D": 256},
        tiny={"T": 11, "U": 33, "D": 17},
        flops=lambda T, U, D: 8.0 * T * U * (U + D),
    ),
)
