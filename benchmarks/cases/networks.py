"""Layers of networks beside convolutions."""

from __future__ import annotations

import math
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

LOG2_E = math.log2(math.e)


def cubic(v: ps.Expr, factor: float = (8 / np.pi) ** 0.5) -> ps.Expr:
    """factor (v + 0.044715 v^3)"""
    return v * (factor + factor * 0.044715 * (v * v))


def by_sigmoid(v: ps.Expr) -> ps.Expr:
    return v * ps.sigmoid(cubic(v))


def by_power_of_two(v: ps.Expr) -> ps.Expr:
    """The same in fewer operators than with `ps.fast_sigmoid`: the sign, and the base of the
    exponential, are in the constants."""
    return v / (1.0 + ps.fast_exp2(cubic(v, -((8 / np.pi) ** 0.5) * LOG2_E)))


def gelu(of: Callable[[ps.Expr], ps.Expr] = by_sigmoid) -> ps.Func:
    """gelu(X + b), by the tanh formula of Hendrycks and Gimpel: 1 + tanh x = 2 sigmoid(2 x).

    Args:
        of: what makes gelu(v) of v.
    """
    n, m = ps.sizes("n m")
    X = ps.Input("X", ps.float32, (n, m))
    b = ps.Input("b", ps.float32, (m,))
    i, j = ps.vars("i j")

    Y = ps.Func("Y", (n, m))
    Y[i, j] = of(X[i, j] + b[j])
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


#: How many vectors on memory is read, where little is computed of each: 4 KiB or 8, a page of
#: memory or two. Processors foresee what follows in the same page.
AHEAD = 128


def softmax_rows(s: ps.Schedule) -> None:
    """Each row at once, in any order; nobody reads the result soon. Beside weights, what follows
    some kilobytes on is fetched: the next row, which the processor does not foresee."""
    (f,) = s.program.outputs
    s[f].parallel("i").vectorize("j", ps.native).stream()
    s["total"].update(0).reassociate()
    total, top = (in_lanes(s, name, "k") for name in ("total", "top"))
    total(f, "i")
    s["weight"].compute_at(f, "i").vectorize("j", ps.native).prefetch("logit", "j", AHEAD)
    top(f, "i")


def norm_rows(s: ps.Schedule) -> None:
    """Each row at once, in any order. The result goes through the caches: the last one of a server
    holds all of it, and what is streamed leaves it. A vector at a time: two at a time took longer
    on two threads."""
    (f,) = s.program.outputs
    s[f].parallel("i").vectorize("j", ps.native)
    for name in ("Y.sum1", "Y.sum0"):
        s[name].update(0).reassociate()
        in_lanes(s, name, "k")(f, "i")


def gelu_rows(s: ps.Schedule) -> None:
    """Four registers are one vector: a single branch for arguments that are large."""
    s["Y"].parallel("i").vectorize("j", 4 * ps.native).stream()


def fast_gelu_rows(s: ps.Schedule) -> None:
    y = s["Y"].parallel("i").vectorize("j", 4 * ps.native).stream()
    y.prefetch("X", "j", AHEAD // 4)


def transposed(s: ps.Schedule, tensor: str, reader: Any, loop: str, rows: str) -> None:
    """A matrix, copied so that `rows` is along its columns: vectors of them."""
    copy = s[reader.stage(tensor, at=reader.loops[0], layout=(loop, rows))].compute_root()
    copy.split(rows, ps.native, names=("ro", "ri"))
    copy.reorder("ro", loop, "ri").vectorize("ri").parallel("ro")


#: What is lanes of the scores, and of which the second product has tiles of rows. With 16 registers
#: two vectors of them would be no whole tiles, in which a row is a chain that waits for itself.
QUERIES = ps.tile_columns.at_least(3 * ps.native)
#: Rows of a tile of scores: registers are as many as in other tiles.
KEYS = ps.tile_rows * ps.tile_columns // QUERIES


def query_blocks(s: ps.Schedule) -> None:
    """All keys for some queries at a time, which are lanes until their weights are there: what is
    reduced over keys is so lane by lane. Both products in tiles in registers, and the largest score
    of a tile of keys is taken while it is there. Heads on threads."""
    f, weight, score, product = (s[name] for name in ("O", "weight", "score", "score.sum0"))
    total, top = s["O.sum1"], s["weight.max0"]
    f.split("i", QUERIES, names=("io", "i"))
    f.parallel("h")
    top.update(0).split("r", KEYS, names=("to", "ti"))
    tile = s[top.update(0).rfactor("to")]
    _mixed(s)
    for stage in (total, weight, top, tile, score):
        stage.compute_at(f, "io")
    for stage, rows in ((weight, 2), (score, KEYS)):
        stage.split("j", rows, names=("to", "ti"))
        stage.reorder("h", "to", "ti", "i").unroll("ti").reorder_storage(0, 2, 1)
    product.compute_at(score, "to").reorder_storage(0, 2, 1)
    product.reorder("h", "j", "i").unroll("j")
    product.update(0).reorder("k", "h", "j", "i").unroll("j")
    total.update(0).reorder("r", "h", "i")
    top.update(0).reorder("to", "h", "i")
    tile.reorder("h", "to", "i")
    tile.update(0).reorder("h", "to", "ti", "i").unroll("ti")
    changed = (total.update(0), top.update(0), tile.update(0), product.update(0))
    for stage in (total, weight, top, tile, score, product, *changed):
        stage.vectorize("i", ps.native).unroll("i")
    for stage in (tile, tile.update(0)):
        stage.compute_with(score, "to")
    _queries(s, product.update(0))


def _queries(s: ps.Schedule, product: Any) -> None:
    """Those of a block, copied so that they are lanes."""
    _, block, head, *_ = product.loops
    copy = s[product.stage("Q", at=block, layout=(head, "k", "i", "ii"))]
    _, _, head, k, i, lanes = copy.loops
    copy.reorder(head, i, k, lanes).vectorize(lanes).unroll(k, 8)


def _mixed(s: ps.Schedule) -> None:
    """The product of weights and values, in tiles of a block of queries."""
    f, begin, update = s["O"], s["O.sum0"], s["O.sum0"].update(0)
    f.split("i", ps.tile_rows, names=("it", "i"))
    f.split("c", ps.tile_columns, names=("to", "ti"))
    f.reorder("h", "io", "to", "it", "i", "ti").vectorize("ti", ps.native).unroll("ti").unroll("i")
    begin.compute_at(f, "it")
    update.reorder("r", "h", "i", "c")
    for stage in (begin, update):
        stage.vectorize("c", ps.native).unroll("c").unroll("i")
    update.unroll("r", 4)


def lstm_steps(s: ps.Schedule, vectors: int = 2) -> None:
    """What inputs give, for all steps at once: products of matrices. Then the steps, whose window
    of states slides along, with the units on threads: all gates of some units together, so that
    threads meet once a step."""
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
            u.unroll("d", 4)
        begin, shared = s["c.sum1"], s["c.sum1"].update(0)
        for name in ("c.sum1", "c.sum3", "c.sum5", "h.sum1"):
            f, u = s[name], s[name].update(0)
            transposed(s, "R", u, "k", "j")
            u.split("j", 4 * vectors * ps.native, names=("jo", "j"))
            u.reorder("jo", "k", "j")
            u.accumulate_at("jo").vectorize("j", ps.native).unroll("j")
            if name != "c.sum1":
                f.compute_with(begin, "j")
                u.compute_with(shared, "jo")
        begin.vectorize("j", ps.native)
        shared.parallel("jo")
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
        schedule=query_blocks,
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

#: What differs where a function is the fast one, by the cases that they are beside.
FAST: dict[str, dict[str, Any]] = {
    "softmax": {"build": lambda: softmax(ps.fast_exp)},
    "GELU with bias": {"build": lambda: gelu(by_power_of_two), "schedule": fast_gelu_rows},
    "attention": {"build": lambda: multi_head_attention(ps.fast_exp2, LOG2_E)},
}

CASES = (
    *EXACT,
    *(
        replace(case, name=f"{case.name}, fast", **FAST[case.name])
        for case in EXACT
        if case.name in FAST
    ),
)
