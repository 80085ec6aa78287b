"""Dynamic programs as recurrences: alignment, folding, hidden states, shortest paths."""

from __future__ import annotations

import numpy as np
import scipy.sparse.csgraph

import polysched as ps

from .case import Arguments, Array, Case, integers, normal


def longest_common() -> ps.Func:
    """The length of the longest common subsequence of two sequences."""
    n, m = ps.sizes("n m")
    a = ps.Input("a", ps.uint8, (n,))
    b = ps.Input("b", ps.uint8, (m,))
    i, j = ps.vars("i j")

    L = ps.Func("L", (n + 1, m + 1), ps.int32)
    L[0, 0] = 0
    L[0, j] = 0
    L[i, 0] = 0
    longer = ps.maximum(L[i - 1, j], L[i, j - 1])
    L[i, j] = ps.select(a[i - 1] == b[j - 1], L[i - 1, j - 1] + 1, longer)

    length = ps.Func("length", ())
    length[()] = L[n, m]
    return length


def edit_distance() -> ps.Func:
    """Levenshtein's distance of all prefixes of two sequences."""
    n, m = ps.sizes("n m")
    a = ps.Input("a", ps.uint8, (n,))
    b = ps.Input("b", ps.uint8, (m,))
    i, j = ps.vars("i j")

    D = ps.Func("D", (n + 1, m + 1), ps.int32)
    changed = D[i - 1, j - 1] + ps.cast(ps.int32, a[i - 1] != b[j - 1])
    one = ps.minimum(D[i - 1, j], D[i, j - 1]) + 1
    start = ps.cast(ps.int32, i + j)
    D[i, j] = ps.select((i == 0) | (j == 0), start, ps.minimum(changed, one))
    return D


def affine_gaps() -> ps.Func:
    """The best score of an alignment whose gaps cost 10 to open and 1 a letter (Gotoh); letters
    before the first match are free. Three Funcs that read each other."""
    n, m = ps.sizes("n m")
    a = ps.Input("a", ps.uint8, (n,))
    b = ps.Input("b", ps.uint8, (m,))
    i, j = ps.vars("i j")

    best, down, right = (ps.Func(f, (n + 1, m + 1), ps.int32) for f in ("best", "down", "right"))
    edge, never = (i == 0) | (j == 0), -1_000_000
    down[i, j] = ps.select(edge, never, ps.maximum(best[i - 1, j] - 10, down[i - 1, j] - 1))
    right[i, j] = ps.select(edge, never, ps.maximum(best[i, j - 1] - 10, right[i, j - 1] - 1))
    matched = best[i - 1, j - 1] + ps.select(a[i - 1] == b[j - 1], 5, -4)
    gap = ps.maximum(down[i, j], right[i, j])
    best[i, j] = ps.select(edge, 0, ps.maximum(matched, gap))

    score = ps.Func("score", ())
    score[()] = best[n, m]
    return score


def edit_script() -> ps.Func:
    """The way back through the table of edit distances: a tuple over steps that says where to
    look next."""
    n, m = ps.sizes("n m")
    i, j, t = ps.vars("i j t")
    D = edit_distance()

    move = ps.Func("move", (n + 1, m + 1), ps.int64)
    up, left = D[i, j] == D[i - 1, j] + 1, D[i, j] == D[i, j - 1] + 1
    move[i, j] = ps.select(i == 0, 2, j == 0, 1, up, 1, left, 2, 3)

    at = ps.Func("at", (n + m + 1,), (ps.int64, ps.int64))
    at[0] = (n, m)
    y, x = at[t - 1]
    chosen = move[ps.clip(y, 0, n), ps.clip(x, 0, m)]
    at[t] = (ps.maximum(y - (chosen & 1), 0), ps.maximum(x - (chosen >> 1), 0))
    return at


def nussinov() -> ps.Func:
    """The largest number of nested base pairs of each part [i, j] of an RNA (Nussinov).

    Rows go upwards from the last one; a part may be split in two at any place.
    """
    n = ps.sizes("n")
    base = ps.Input("base", ps.uint8, (n,))
    i, j = ps.vars("i j")
    k = ps.RVar("k", i + 1, j)

    N = ps.Func("N", (n, n))
    pairs = ps.cast(ps.int32, base[i] + base[j] == 3)
    ends = ps.maximum(N[i + 1, j], N[i, j - 1])
    both = N[i + 1, j - 1] + pairs
    split = ps.max(N[i, k] + N[k + 1, j], k, initial=0)
    N[i, j] = ps.select(i < j, ps.maximum(ps.maximum(ends, both), split), 0)
    return N


def matrix_chain() -> ps.Func:
    """The fewest multiplications for the product of n matrices, matrix i of p[i] by p[i + 1]."""
    n = ps.sizes("n")
    p = ps.Input("p", ps.int64, (n + 1,))
    i, j = ps.vars("i j")
    k = ps.RVar("k", i, j)

    cost = ps.Func("cost", (n, n), ps.int64)
    split = ps.min(
        cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1], k, initial=np.iinfo(np.int64).max
    )
    cost[i, j] = ps.select(i < j, split, 0)
    return cost


def viterbi() -> tuple[ps.Func, ps.Func]:
    """The score of the likeliest path to each state of a hidden Markov model, and the state
    before it, after each observation."""
    T, n = ps.sizes("T n")
    start = ps.Input("start", ps.float32, (n,))
    transition = ps.Input("transition", ps.float32, (n, n))
    emission = ps.Input("emission", ps.float32, (T, n))
    t, j = ps.vars("t j")
    k = ps.RVar("k", 0, n)

    score, before = ps.Func("score", (T + 1, n)), ps.Func("before", (T, n))
    score[0, j] = start[j]
    score[t, j] = ps.max(score[t - 1, k] + transition[k, j], k) + emission[t - 1, j]
    before[t, j] = ps.argmax(score[t, k] + transition[k, j], k)
    return score, before


def knapsack() -> ps.Func:
    """The largest value of items that weigh `w` or less together, each taken once at most."""
    items, capacity = ps.sizes("items capacity")
    weight = ps.Input("weight", ps.int64, (items,), range=(0, capacity + 1))
    value = ps.Input("value", ps.int32, (items,))
    i, w = ps.vars("i w")

    best = ps.Func("best", (items + 1, capacity + 1), ps.int32)
    best[0, w] = 0
    without = best[i - 1, w]
    rest = w - weight[i - 1]
    taken = best[i - 1, ps.clip(rest, 0, capacity)] + value[i - 1]
    best[i, w] = ps.select(rest >= 0, ps.maximum(without, taken), without)

    full = ps.Func("full", (capacity + 1,))
    full[w] = best[items, w]
    return full


def floyd_warshall() -> ps.Func:
    """All shortest paths: by way of the first k vertices, for k = 0, 1, ..., n."""
    n = ps.sizes("n")
    weight = ps.Input("weight", ps.int32, (n, n))
    k, i, j = ps.vars("k i j")

    d = ps.Func("d", (n + 1, n, n), ps.int32)
    d[0, i, j] = weight[i, j]
    d[k, i, j] = ps.minimum(d[k - 1, i, j], d[k - 1, i, k - 1] + d[k - 1, k - 1, j])

    path = ps.Func("path", (n, n))
    path[i, j] = d[n, i, j]
    return path


def shortest_paths_in_place() -> ps.Func:
    """All of them. The row and the column that a step goes by are set apart: so
    its order does not matter, and other rows may come later."""
    n = ps.sizes("n")
    i, j = ps.vars("i j")
    weight = ps.Input("weight", ps.int32, (n, n))

    d, row, column = (ps.Func(f, (n, n), ps.int32) for f in ("d", "row", "column"))
    d[i, j], row[i, j], column[i, j] = weight[i, j], 0, 0
    with ps.sequential("k", 0, n) as k:
        p, q = ps.RVar("p", 0, n), ps.RVar("q", 0, n)
        r, c = ps.rdom("r c", (0, n), (0, n))
        row[k, p] = d[k, p]
        column[q, k] = d[q, k]
        d[r, c] = ps.minimum(d[r, c], column[r, k] + row[k, c])
    return d


# arguments and references ---------------------------------------------------------------------


def _letters(rng: np.random.Generator, n: int, m: int) -> Arguments:
    return {
        "a": integers(rng, np.uint8, n, below=4),
        "b": integers(rng, np.uint8, m, below=4),
    }


def _common_reference(a: Array, b: Array) -> Array:
    """By rows of bits (Hyyroe): a zero in `row` where the length grows."""
    full = (1 << b.size) - 1
    places = {x: sum(1 << k for k, y in enumerate(b.tolist()) if y == x) for x in range(4)}
    row = full
    for x in a.tolist():
        kept = row & places[x]
        row = ((row + kept) | (row - kept)) & full
    return np.array(b.size - row.bit_count(), np.int32)


def _edit_reference(a: Array, b: Array) -> Array:
    """Along anti-diagonals."""
    D = np.add.outer(np.arange(a.size + 1), np.arange(b.size + 1)).astype(np.int32)
    for s in range(2, a.size + b.size + 1):
        i = np.arange(max(1, s - b.size), min(a.size, s - 1) + 1)
        j = s - i
        changed = D[i - 1, j - 1] + (a[i - 1] != b[j - 1])
        D[i, j] = np.minimum(changed, np.minimum(D[i - 1, j], D[i, j - 1]) + 1)
    return D


def _gaps_reference(a: Array, b: Array) -> Array:
    """Every length of a gap tried at every place."""
    best = np.zeros((a.size + 1, b.size + 1), np.int32)
    for i in range(1, a.size + 1):
        for j in range(1, b.size + 1):
            down = best[:i, j] - 9 - np.arange(i, 0, -1)
            right = best[i, :j] - 9 - np.arange(j, 0, -1)
            matched = best[i - 1, j - 1] + (5 if a[i - 1] == b[j - 1] else -4)
            best[i, j] = max(matched, down.max(), right.max())
    return best[-1, -1].reshape(())


def _script_reference(a: Array, b: Array) -> tuple[Array, Array]:
    D = _edit_reference(a, b)
    i, j = D.shape[0] - 1, D.shape[1] - 1
    at = [(i, j)]
    for _ in range(a.size + b.size):
        down = j == 0 or (i > 0 and D[i, j] == D[i - 1, j] + 1)
        across = not down and (i == 0 or D[i, j] == D[i, j - 1] + 1)
        i, j = max(i - (not across), 0), max(j - (not down), 0)
        at.append((i, j))
    return tuple(np.array(at, np.int64).T)


def _nussinov_reference(base: Array) -> Array:
    """By length: the last base is left alone, or pairs with base k."""
    n = base.size
    N = np.zeros((n + 1, n + 1), np.int32)  # N[i, j]: of the half-open part [i, j)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            k = np.arange(i, j - 1)
            pairs = (base[k].astype(int) + base[j - 1] == 3).astype(np.int32)
            N[i, j] = max(N[i, j - 1], (N[i, k] + N[k + 1, j - 1] + pairs).max())
    return N[:n, 1:]


def _chain_reference(p: Array) -> Array:
    n = p.size - 1
    cost = np.zeros((n, n), np.int64)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            k = np.arange(i, j)
            cost[i, j] = (cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1]).min()
    return cost


def _viterbi_reference(start: Array, transition: Array, emission: Array) -> tuple[Array, Array]:
    score, before = [start], []
    for seen in emission:
        each = score[-1][:, None] + transition
        before.append(each.argmax(0))
        score.append(each.max(0) + seen)
    return np.array(score), np.array(before, np.int64).reshape(emission.shape)


def _knapsack_arguments(rng: np.random.Generator, items: int, capacity: int) -> Arguments:
    return {
        "weight": rng.integers(0, capacity + 1, items),
        "value": integers(rng, np.int32, items, below=100),
        "capacity": capacity,
    }


def _knapsack_reference(weight: Array, value: Array, capacity: int) -> Array:
    best = np.zeros(capacity + 1, np.int32)
    for w, v in zip(weight.tolist(), value.tolist(), strict=True):
        best[w:] = np.maximum(best[w:], best[: capacity + 1 - w] + v)
    return best


def _graph(rng: np.random.Generator, n: int) -> Arguments:
    weight = integers(rng, np.int32, n, n, below=1000) + np.int32(1)
    np.fill_diagonal(weight, 0)
    return {"weight": weight}


CASES = (
    Case(
        name="longest_common",
        build=longest_common,
        sizes="n m",
        make=_letters,
        reference=_common_reference,
        tags="integer recurrence pieces",
    ),
    Case(
        name="edit_distance",
        build=edit_distance,
        sizes="n m",
        make=_letters,
        reference=_edit_reference,
        tags="integer recurrence",
    ),
    Case(
        name="affine_gaps",
        build=affine_gaps,
        sizes="n m",
        make=_letters,
        reference=_gaps_reference,
        tags="integer recurrence",
        large={"n": 61, "m": 71},
    ),
    Case(
        name="edit_script",
        build=edit_script,
        sizes="n m",
        make=_letters,
        reference=_script_reference,
        tags="integer recurrence gather tuple",
        large=101,
    ),
    Case(
        name="nussinov",
        build=nussinov,
        sizes="n",
        make=lambda rng, n: {"base": integers(rng, np.uint8, n, below=4)},
        reference=_nussinov_reference,
        tags="integer recurrence reduction triangular",
        large=101,
        limits={"n": 20},
    ),
    Case(
        name="matrix_chain",
        build=matrix_chain,
        sizes="n",
        make=lambda rng, n: {"p": rng.integers(1, 50, n + 1)},
        reference=_chain_reference,
        tags="integer recurrence reduction triangular",
        large=101,
        limits={"n": 20},
    ),
    Case(
        name="viterbi",
        build=viterbi,
        sizes="T n",
        make=lambda rng, T, n: {
            "start": normal(rng, n),
            "transition": normal(rng, n, n),
            "emission": normal(rng, T, n),
        },
        reference=_viterbi_reference,
        tags="float recurrence reduction multiple slow",
        large={"T": 101, "n": 31},
        limits={"n": 12},
        steps="T",
    ),
    Case(
        name="knapsack",
        build=knapsack,
        sizes="items capacity",
        make=_knapsack_arguments,
        reference=_knapsack_reference,
        tags="integer recurrence gather",
    ),
    Case(
        name="floyd_warshall",
        build=floyd_warshall,
        sizes="n",
        make=_graph,
        reference=lambda weight: scipy.sparse.csgraph.floyd_warshall(weight).astype(np.int32),
        tags="integer recurrence",
        large=201,
        limits={"n": 12},
    ),
)
