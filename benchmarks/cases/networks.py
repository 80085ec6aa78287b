"""Layers of networks beside convolutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.special
from case import Array, Case
from gallery.attention import multi_head_attention
from gallery.case import normal
from gallery.networks import softmax
from gallery.registry import find

import polysched as ps
from polysched.targets.words import Number


def gelu(sigmoid: Callable[[ps.Expr], ps.Expr] = ps.sigmoid) -> ps.Func:
    """gelu(X + b), by the tanh formula of Hendrycks and Gimpel: 1 + tanh x = 2 sigmoid(2 x)."""
    n, m = ps.sizes("n m")
    X = ps.Input("X", ps.float32, (n, m))
    b = ps.Input("b", ps.float32, (m,))
    i, j = ps.vars("i j")

    Y = ps.Func("Y", (n, m))
    v = X[i, j] + b[j]
    Y[i, j] = v * sigmoid((8 / np.pi) ** 0.5 * (v + 0.044715 * v**3))
    return Y


def _gelu_reference(X: Array, b: Array) -> Array:
    v = X.astype(np.float64) + b
    return v * scipy.special.expit(np.sqrt(8 / np.pi) * (v + 0.044715 * v**3))


def in_lanes(
    s: ps.Schedule, name: str, k: str, width: Number = 4 * ps.native
) -> Callable[[ps.Func, str], None]:
    """A reduction of a row as `width` of them, kept in registers, and these together; gives what
    says where."""
    u = s[name].update(0)
    u.split(k, width, names=("ko", "lane"))
    made = u.rfactor("lane")
    part = s[made]

    def place(func: ps.Func, loop: str) -> None:
        s[name].compute_at(func, loop).update(0).vectorize("lane", ps.native)
        part.compute_at(func, loop).vectorize("lane", ps.native).unroll("lane")
        part.update(0).vectorize("lane", ps.native).unroll("lane")
        part.reorder_storage(*range(1, made.ndim), 0)

    return place


def softmax_rows(s: ps.Schedule) -> None:
    """Each row at once, in any order; nobody reads the result soon."""
    (f,) = s.program.outputs
    s[f].parallel("i").vectorize("j", ps.native).stream()
    s["total"].update(0).reassociate()
    total, top = (in_lanes(s, name, "k") for name in ("total", "top"))
    total(f, "i")
    s["weight"].compute_at(f, "i").vectorize("j", ps.native)
    top(f, "i")


def norm_rows(s: ps.Schedule) -> None:
    """Each row at once, in any order; nobody reads the result soon."""
    (f,) = s.program.outputs
    s[f].parallel("i").vectorize("j", ps.native).unroll("j", 2).stream()
    for name in ("Y.sum1", "Y.sum0"):
        s[name].update(0).reassociate()
        in_lanes(s, name, "k")(f, "i")


def gelu_rows(s: ps.Schedule) -> None:
    s["Y"].parallel("i").vectorize("j", ps.native).unroll("j", 4).stream()


def transposed(s: ps.Schedule, tensor: str, reader: Any, loop: str, rows: str) -> None:
    """A matrix, copied so that `rows` is along its columns: vectors of them."""
    copy = s[reader.stage(tensor, at=reader.loops[0], layout=(loop, rows))].compute_root()
    copy.split(rows, ps.native, names=("ro", "ri"))
    copy.reorder("ro", loop, "ri").vectorize("ri").parallel("ro")


def head_blocks(s: ps.Schedule, queries: int = 4) -> None:
    """All keys for some queries at a time; both products in tiles in registers. Heads on
    threads."""
    f, blocks = s["O"], {"O": "c", "score": "j"}
    transposed(s, "K", s["score.sum0"].update(0), "k", "j")
    s["O.sum1"].update(0).reassociate()
    total, top = (in_lanes(s, name, "r") for name in ("O.sum1", "weight.max0"))
    f.split("i", queries, names=("io", "i"))
    f.parallel("h")

    def tile(name: str) -> None:
        whole, begin, update = s[name], s[f"{name}.sum0"], s[f"{name}.sum0"].update(0)
        x, k = blocks[name], update.loops[-1]
        whole.split(x, ps.tile_columns, names=("to", "ti"))
        whole.reorder("to", "i", "ti").vectorize("ti", ps.native).unroll("ti").unroll("i")
        begin.compute_at(whole, "to")
        update.reorder(k, "h", "i", x)
        for stage in (begin, update):
            stage.vectorize(x, ps.native).unroll(x).unroll("i")

    tile("O")
    total("O", "io")
    s["weight"].compute_at(f, "io").vectorize("j", ps.native)
    top("O", "io")
    s["score"].compute_at(f, "io")
    tile("score")


def lstm_steps(s: ps.Schedule, vectors: int = 2) -> None:
    """What inputs give, for all steps at once: products of matrices. Then the steps, whose window
    of states slides along, with the units on threads."""
    with s.batch():
        s["h.piece(0)"].compute_at("y", "t").store_root()
        for name in ("c.sum0", "c.sum2", "c.sum4", "h.sum0"):
            f, u = s[name].compute_root(), s[name].update(0)
            transposed(s, "W", u, "d", "j")
            f.shift("t", -1)
            u.shift("t", -1)
            u.tile("t", "j", ps.rows_beside(vectors).at_most(8), vectors * ps.native)
            u.reorder("jo", "to", "d", "ti", "ji").parallel("jo")
            f.compute_at(u, "to").vectorize("j", ps.native).unroll("j").unroll("t")
            u.accumulate_at("to").vectorize("ji", ps.native).unroll("ji").unroll("ti")
        for name in ("c.sum1", "c.sum3", "c.sum5", "h.sum1"):
            f, u = s[name].vectorize("j", ps.native), s[name].update(0)
            transposed(s, "R", u, "k", "j")
            u.split("j", 4 * vectors * ps.native, names=("jo", "j"))
            u.reorder("jo", "k", "j").parallel("jo")
            u.accumulate_at("jo").vectorize("j", ps.native).unroll("j")
        for name in ("c.piece(1)", "h.piece(1)", "y"):
            s[name].vectorize("j", ps.native)


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

EXACT = (
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

#: The programs in which a function is the fast one, by the cases that they are beside.
FAST: dict[str, Callable[[], ps.Func]] = {
    "softmax": lambda: softmax(ps.fast_exp),
    "GELU with bias": lambda: gelu(ps.fast_sigmoid),
    "attention": lambda: multi_head_attention(ps.fast_exp),
}

CASES = (
    *EXACT,
    *(
        replace(case, name=f"{case.name}, fast", build=FAST[case.name])
        for case in EXACT
        if case.name in FAST
    ),
)
