"""Recurrent networks: each step multiplies the state of the step before by a matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.special

import polysched as ps

from .case import Arguments, Array, Case, normal


def rnn() -> ps.Func:
    """h[t] = tanh(W x[t] + R h[t - 1] + b), of which the last one is wanted."""
    T, U, D = ps.sizes("T U D")
    x = ps.Input("x", ps.float32, (T, D))
    W = ps.Input("W", ps.float32, (U, D))
    R = ps.Input("R", ps.float32, (U, U))
    b = ps.Input("b", ps.float32, (U,))
    t, j = ps.vars("t j")
    d, k = ps.RVar("d", 0, D), ps.RVar("k", 0, U)

    h = ps.Func("h", (T + 1, U), ps.float32)
    h[0, j] = 0.0
    fed, back = ps.sum(W[j, d] * x[t - 1, d], d), ps.sum(R[j, k] * h[t - 1, k], k)
    h[t, j] = ps.tanh(b[j] + fed + back)

    last = ps.Func("last", (U,))
    last[j] = h[T, j]
    return last


def rnn_batch_first() -> ps.Func:
    """The last state of each sequence of a batch, which is the outermost axis."""
    N, T, U = ps.sizes("N T U")
    x = ps.Input("x", ps.float32, (N, T, U))
    R = ps.Input("R", ps.float32, (U, U))
    n, t, j = ps.vars("n t j")
    k = ps.RVar("k", 0, U)

    h = ps.Func("h", (N, T + 1, U), ps.float32)
    h[n, 0, j] = 0.0
    h[n, t, j] = ps.tanh(x[n, t - 1, j] + ps.sum(R[j, k] * h[n, t - 1, k], k))

    last = ps.Func("last", (N, U))
    last[n, j] = h[n, T, j]
    return last


def state_space() -> ps.Func:
    """A selective linear state space: each channel of x drives its own states, y mixes them."""
    T, D, S = ps.sizes("T D S")
    x = ps.Input("x", ps.float32, (T, D))
    decay = ps.Input("decay", ps.float32, (D, S))
    B = ps.Input("B", ps.float32, (T, S))
    C = ps.Input("C", ps.float32, (T, S))
    t, d, s = ps.vars("t d s")
    k = ps.RVar("k", 0, S)

    h = ps.Func("h", (T, D, S), ps.float32)
    kept = ps.select(t > 0, ps.exp(-decay[d, s]) * h[t - 1, d, s], 0.0)
    h[t, d, s] = kept + B[t, s] * x[t, d]
    y = ps.Func("y", (T, D))
    y[t, d] = ps.sum(C[t, k] * h[t, d, k], k)
    return y


def lstm_layer(name: str, x: ps.Input | ps.Func, T: ps.Size, U: ps.Size) -> tuple[ps.Func, ps.Func]:
    """The states h and c of a layer after t = 0, 1, ..., T steps, for inputs x[0] to x[T - 1].

    The gates are, in the order of the weights: input, forget, cell, output (as in PyTorch).
    """
    _, D = x.shape
    W = ps.Input(f"W{name}", ps.float32, (4, U, D))
    R = ps.Input(f"R{name}", ps.float32, (4, U, U))
    b = ps.Input(f"b{name}", ps.float32, (4, U))
    t, j = ps.vars("t j")
    d, k = ps.RVar("d", 0, D), ps.RVar("k", 0, U)

    h, c = (ps.Func(f"{state}{name}", (T + 1, U), ps.float32) for state in "hc")

    def gate(g: int) -> ps.Expr:
        fed = ps.sum(W[g, j, d] * x[t - 1, d], d)
        return b[g, j] + fed + ps.sum(R[g, j, k] * h[t - 1, k], k)

    h[0, j] = 0.0
    c[0, j] = 0.0
    kept = ps.sigmoid(gate(1)) * c[t - 1, j]
    c[t, j] = kept + ps.sigmoid(gate(0)) * ps.tanh(gate(2))
    h[t, j] = ps.sigmoid(gate(3)) * ps.tanh(c[t, j])
    return h, c


def lstm() -> tuple[ps.Func, ps.Func]:
    """Long short-term memory: the last h and c."""
    T, U, D = ps.sizes("T U D")
    j = ps.vars("j")
    h, c = lstm_layer("", ps.Input("x", ps.float32, (T, D)), T, U)

    last_h, last_c = ps.Func("last_h", (U,)), ps.Func("last_c", (U,))
    last_h[j] = h[T, j]
    last_c[j] = c[T, j]
    return last_h, last_c


def lstm_sequence() -> ps.Func:
    """Every h of a layer."""
    T, U, D = ps.sizes("T U D")
    t, j = ps.vars("t j")
    h, _ = lstm_layer("", ps.Input("x", ps.float32, (T, D)), T, U)

    y = ps.Func("y", (T, U))
    y[t, j] = h[t + 1, j]
    return y


def lstm_stacked() -> ps.Func:
    """Two layers, the second on what the first one gives."""
    T, U, V, D = ps.sizes("T U V D")
    t, j = ps.vars("t j")
    first, _ = lstm_layer("1", ps.Input("x", ps.float32, (T, D)), T, U)

    between = ps.Func("between", (T, U))
    between[t, j] = first[t + 1, j]
    second, _ = lstm_layer("2", between, T, V)

    last = ps.Func("last", (V,))
    last[j] = second[T, j]
    return last


def lstm_tuple() -> ps.Func:
    """Layers of equal width for a batch of sequences: (h, c) is one Func of tuples, and the layer
    an axis of it."""
    T, L, N, U = ps.sizes("T L N U")
    x = ps.Input("x", ps.float32, (T, N, U))
    W = ps.Input("W", ps.float32, (L, 4, U, U))
    R = ps.Input("R", ps.float32, (L, 4, U, U))
    b = ps.Input("b", ps.float32, (L, 4, U))
    t, l, n, j = ps.vars("t l n j")
    d, k = ps.RVar("d", 0, U), ps.RVar("k", 0, U)

    s = ps.Func("s", (T + 1, L, N, U), (ps.float32, ps.float32))

    def gate(g: int) -> ps.Expr:
        below = ps.select(l > 0, s[t, l - 1, n, d][0], x[t - 1, n, d])
        fed = ps.sum(W[l, g, j, d] * below, d)
        return b[l, g, j] + fed + ps.sum(R[l, g, j, k] * s[t - 1, l, n, k][0], k)

    s[0, l, n, j] = (0.0, 0.0)
    cell = ps.sigmoid(gate(1)) * s[t - 1, l, n, j][1] + ps.sigmoid(gate(0)) * ps.tanh(gate(2))
    s[t, l, n, j] = (ps.sigmoid(gate(3)) * ps.tanh(cell), cell)

    last = ps.Func("last", (L, N, U))
    last[l, n, j] = s[T, l, n, j][0]
    return last


def gru() -> ps.Func:
    """A gated recurrent unit: reset, update and new gate, in this order."""
    T, U, D = ps.sizes("T U D")
    x = ps.Input("x", ps.float32, (T, D))
    W = ps.Input("W", ps.float32, (3, U, D))
    R = ps.Input("R", ps.float32, (3, U, U))
    b = ps.Input("b", ps.float32, (3, U))
    t, j = ps.vars("t j")
    d, k = ps.RVar("d", 0, D), ps.RVar("k", 0, U)

    h = ps.Func("h", (T + 1, U), ps.float32)
    fed = [b[g, j] + ps.sum(W[g, j, d] * x[t - 1, d], d) for g in range(3)]
    back = [ps.sum(R[g, j, k] * h[t - 1, k], k) for g in range(3)]
    reset, update = (ps.sigmoid(fed[g] + back[g]) for g in (0, 1))
    new = ps.tanh(fed[2] + reset * back[2])
    h[0, j] = 0.0
    h[t, j] = (1.0 - update) * new + update * h[t - 1, j]

    last = ps.Func("last", (U,))
    last[j] = h[T, j]
    return last


def bidirectional() -> ps.Func:
    """Two plain layers, one from each end of the sequence, side by side."""
    T, U = ps.sizes("T U")
    x = ps.Input("x", ps.float32, (T, U))
    t, j = ps.vars("t j")
    k = ps.RVar("k", 0, U)

    forward, backward = (
        ps.Func("forward", (T, U), ps.float32),
        ps.Func("backward", (T, U), ps.float32),
    )
    RF, RB = (ps.Input(name, ps.float32, (U, U)) for name in ("RF", "RB"))
    before = ps.select(t > 0, forward[t - 1, k], 0)
    forward[t, j] = ps.tanh(x[t, j] + ps.sum(RF[j, k] * before, k))
    after = ps.select(t < T - 1, backward[t + 1, k], 0)
    backward[t, j] = ps.tanh(x[t, j] + ps.sum(RB[j, k] * after, k))

    y = ps.Func("y", (T, 2, U))
    g = ps.vars("g")
    y[t, g, j] = ps.select(g == 0, forward[t, j], backward[t, j])
    return y


# arguments and references ---------------------------------------------------------------------


def _layer(rng: np.random.Generator, gates: int, U: int, D: int, name: str = "") -> Arguments:
    """Weights that keep the state from saturating."""
    return {
        f"W{name}": normal(rng, gates, U, D) / np.float32(max(D, 1) ** 0.5),
        f"R{name}": normal(rng, gates, U, U) / np.float32(max(U, 1) ** 0.5),
        f"b{name}": normal(rng, gates, U),
    }


def _rnn_arguments(rng: np.random.Generator, T: int, U: int, D: int) -> Arguments:
    weights = {name: w[0] for name, w in _layer(rng, 1, U, D).items()}
    return {"x": normal(rng, T, D), **weights}


def _rnn_states(x: Array, W: Array, R: Array, b: Array) -> Array:
    h = np.zeros((len(x) + 1, len(b)))
    for t, value in enumerate(x):
        h[t + 1] = np.tanh(W @ value + R @ h[t] + b)
    return h


def _space_reference(x: Array, decay: Array, B: Array, C: Array) -> Array:
    h, y = np.zeros(decay.shape), np.zeros(x.shape)
    for t, value in enumerate(x):
        h = np.exp(-decay) * h + np.outer(value, B[t])
        y[t] = h @ C[t]
    return y


def _lstm_states(x: Array, W: Array, R: Array, b: Array) -> Iterator[tuple[Array, Array]]:
    """(h, c) after each step, from before the first; x may be a batch x[t, n, d]."""
    h = c = np.zeros((*x.shape[1:-1], b.shape[1]))
    yield h, c
    for value in x:
        z = np.einsum("gjd,...d->g...j", W, value) + np.einsum("gjk,...k->g...j", R, h)
        z += b.reshape(4, *(1,) * (h.ndim - 1), -1)
        i, f, o = scipy.special.expit(z[[0, 1, 3]])
        c = f * c + i * np.tanh(z[2])
        h = o * np.tanh(c)
        yield h, c


def _outputs(x: Array, W: Array, R: Array, b: Array) -> Array:
    """Every h after a step."""
    return np.array([h for h, _ in _lstm_states(x, W, R, b)])[1:]


def _tuple_reference(x: Array, W: Array, R: Array, b: Array) -> Array:
    """Layer after layer, each over the whole sequence."""
    lasts = []
    for layer in zip(W, R, b, strict=True):
        states = [h for h, _ in _lstm_states(x, *layer)]
        lasts.append(states[-1])
        x = np.array(states[1:]).reshape(x.shape)
    return np.array(lasts).reshape(len(W), *x.shape[1:])


def _stacked_reference(
    x: Array, W1: Array, R1: Array, b1: Array, W2: Array, R2: Array, b2: Array
) -> Array:
    between = _outputs(x, W1, R1, b1).reshape(len(x), b1.shape[1])
    *_, (last, _) = _lstm_states(between, W2, R2, b2)
    return last


def _gru_reference(x: Array, W: Array, R: Array, b: Array) -> Array:
    h = np.zeros(b.shape[1])
    for value in x:
        fed, back = W @ value + b, R @ h
        reset, update = scipy.special.expit(fed[:2] + back[:2])
        h = (1 - update) * np.tanh(fed[2] + reset * back[2]) + update * h
    return h


def _bidirectional_reference(x: Array, RF: Array, RB: Array) -> Array:
    eye, zero = np.eye(x.shape[1]), np.zeros(x.shape[1])
    forward = _rnn_states(x, eye, RF, zero)[1:]
    backward = _rnn_states(x[::-1], eye, RB, zero)[:0:-1]
    return np.stack([forward, backward], axis=1)


_LARGE = {"T": 31, "U": 61, "D": 33}
_LIMITS = {"T": 13, "U": 7, "V": 7, "D": 7, "L": 2, "N": 2, "S": 7}

CASES = (
    Case(
        name="rnn",
        build=rnn,
        sizes="T U D",
        make=_rnn_arguments,
        reference=lambda x, W, R, b: _rnn_states(x, W, R, b)[-1],
        tolerance=1e-5,
        tags="float recurrence reduction",
        large=_LARGE,
        limits=_LIMITS,
        steps="T",
    ),
    Case(
        name="rnn_batch_first",
        build=rnn_batch_first,
        sizes="N T U",
        make=lambda rng, N, T, U: {
            "x": normal(rng, N, T, U),
            "R": normal(rng, U, U) / np.float32(max(U, 1) ** 0.5),
        },
        reference=lambda x, R: np.array(
            [_rnn_states(one, np.eye(len(R)), R, np.zeros(len(R)))[-1] for one in x]
        ),
        tolerance=1e-5,
        tags="float recurrence reduction",
        large={"N": 5, "T": 31, "U": 33},
        limits=_LIMITS,
        steps="T",
    ),
    Case(
        name="state_space",
        build=state_space,
        sizes="T D S",
        make=lambda rng, T, D, S: {
            "x": normal(rng, T, D),
            "decay": np.abs(normal(rng, D, S)),
            "B": normal(rng, T, S),
            "C": normal(rng, T, S),
        },
        reference=_space_reference,
        tolerance=1e-5,
        tags="float recurrence reduction",
        large={"T": 101, "D": 33, "S": 17},
        limits=_LIMITS,
        steps="T",
    ),
    Case(
        name="lstm",
        build=lstm,
        sizes="T U D",
        make=lambda rng, T, U, D: {"x": normal(rng, T, D), **_layer(rng, 4, U, D)},
        reference=lambda **kwargs: list(_lstm_states(**kwargs))[-1],
        tolerance=1e-5,
        tags="float recurrence reduction multiple slow",
        large=_LARGE,
        limits=_LIMITS,
        steps="T",
    ),
    Case(
        name="lstm_sequence",
        build=lstm_sequence,
        sizes="T U D",
        make=lambda rng, T, U, D: {"x": normal(rng, T, D), **_layer(rng, 4, U, D)},
        reference=lambda x, W, R, b: _outputs(x, W, R, b).reshape(len(x), b.shape[1]),
        tolerance=1e-5,
        tags="float recurrence reduction slow",
        large=_LARGE,
        limits=_LIMITS,
        steps="T",
    ),
    Case(
        name="lstm_stacked",
        build=lstm_stacked,
        sizes="T U V D",
        make=lambda rng, T, U, V, D: {
            "x": normal(rng, T, D),
            **_layer(rng, 4, U, D, "1"),
            **_layer(rng, 4, V, U, "2"),
        },
        reference=_stacked_reference,
        tolerance=1e-5,
        tags="float recurrence reduction slow",
        large={**_LARGE, "V": 47},
        limits=_LIMITS,
        steps="T",
    ),
    Case(
        name="lstm_tuple",
        build=lstm_tuple,
        sizes="T L N U",
        make=lambda rng, T, L, N, U: {
            "x": normal(rng, T, N, U),
            "W": normal(rng, L, 4, U, U) / np.float32(max(U, 1) ** 0.5),
            "R": normal(rng, L, 4, U, U) / np.float32(max(U, 1) ** 0.5),
            "b": normal(rng, L, 4, U),
        },
        reference=_tuple_reference,
        tolerance=1e-5,
        tags="float recurrence reduction tuple slow",
        large={"T": 21, "L": 3, "N": 5, "U": 33},
        limits={**_LIMITS, "U": 5},
        steps="T",
    ),
    Case(
        name="gru",
        build=gru,
        sizes="T U D",
        make=lambda rng, T, U, D: {"x": normal(rng, T, D), **_layer(rng, 3, U, D)},
        reference=_gru_reference,
        tolerance=1e-5,
        tags="float recurrence reduction slow",
        large=_LARGE,
        limits=_LIMITS,
        steps="T",
    ),
    Case(
        name="bidirectional",
        build=bidirectional,
        sizes="T U",
        make=lambda rng, T, U: {
            "x": normal(rng, T, U),
            "RF": normal(rng, U, U) / np.float32(max(U, 1) ** 0.5),
            "RB": normal(rng, U, U) / np.float32(max(U, 1) ** 0.5),
        },
        reference=_bidirectional_reference,
        tolerance=1e-5,
        tags="float recurrence reduction",
        large={"T": 31, "U": 61},
        limits=_LIMITS,
        steps="T",
    ),
)
