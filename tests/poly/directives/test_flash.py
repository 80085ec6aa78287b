"""Attention by blocks: three recurrences at one loop, each folded, and the scores never stored
whole."""

from __future__ import annotations

import pytest

import polysched as ps

from ..schedule.test_serial import survives
from .support import judged, same, stored

BLOCK = 4
n, nb, d = ps.sizes("n nb d")
i, b, j, e = ps.vars("i b j e")
ONE = "  requires nb >= 1: one block"


def attention() -> tuple[ps.Func, ...]:
    """Scores S, their running maximum M, weights P, running sums L, running outputs O, result."""
    Q = ps.Input("Q", ps.float32, (n, d))
    K, V = (ps.Input(name, ps.float32, (BLOCK * nb, d)) for name in "KV")
    r, c = ps.RVar("r", 0, d), ps.RVar("c", 0, BLOCK)
    S, M, P, L, O = (ps.Func(name) for name in "SMPLO")
    S[i, b, j] = ps.sum(Q[i, r] * K[b * BLOCK + j, r], r)
    M[i, b] = ps.maximum(ps.select(b > 0, M[i, b - 1], -3e38), ps.max(S[i, b, c], c))
    P[i, b, j] = ps.exp(S[i, b, j] - M[i, b])
    scale = ps.exp(M[i, b - 1] - M[i, b])
    L[i, b] = ps.select(b > 0, L[i, b - 1] * scale, 0.0) + ps.sum(P[i, b, c], c)
    term = ps.sum(P[i, b, c] * V[b * BLOCK + c, e], c)
    O[i, b, e] = ps.select(b > 0, O[i, b - 1, e] * scale, 0.0) + term
    att = ps.Func("att", (n, d))
    att[i, e] = O[i, nb - 1, e] / L[i, nb - 1]
    ps.require(nb >= 1, "one block", att)
    return S, M, P, L, O, att


def flash() -> ps.Schedule:
    """Rows by four; all else at the loop over blocks of keys."""
    S, M, P, L, O, att = attention()
    s = ps.Schedule(att)
    s[att].split(i, BLOCK)
    for f in (O, L):
        s[f].compute_at(att, "io")
        s[f].reorder("b", "i")
    with s.batch():
        s[L].compute_with(O, "b")
        for f in (O, L):
            s[f.history.reductions[0]].compute_at(O, "b")
    s[P].compute_at(O, "b")
    s[M].compute_at(O, "b").store_at(att, "io")
    s[S].compute_at(O, "b")
    return s


@pytest.mark.slow
def test_values() -> None:
    s = flash()
    same(s, over=(0, 1, 2, 5), nb=1)
    same(s, over=(1, 3, 9), nb=3)
    judged(s, n=3, nb=2, d=2)


@pytest.mark.slow
def test_what_is_kept_of_the_recurrences() -> None:
    lines = str(flash()).splitlines()
    assert "  keeps 2 along axis 1 of M" in lines
    assert "  keeps 1 along axis 1 of O" in lines
    assert "  keeps 1 along axis 1 of L" in lines
    assert ONE in lines


@pytest.mark.slow
def test_storage_does_not_grow_with_the_sequence() -> None:
    """A tile of scores and of weights; one block of what is accumulated, two of the maxima."""
    s = flash()
    tile, row = (BLOCK, 1, BLOCK), (BLOCK, 1)
    expected = {
        "S.sum0": tile, "S": tile, "P": tile, "M.max0": row, "M": (BLOCK, 2),
        "L.sum0": row, "L": row, "O.sum0": (BLOCK, 1, 64), "O": (BLOCK, 1, 64),
    }  # fmt: skip
    assert stored(s, n=100, nb=50, d=64) == expected
    assert stored(s, n=1000, nb=5000, d=64) == expected


@pytest.mark.slow
def test_the_bytes_of_a_call() -> None:
    """What is small and of constant extent is on the stack; both rows of d are planned."""
    variant = flash().compile()._variants[False]
    sizes = {"n": 1000, "nb": 5000, "d": 64}
    found = zip(variant.spans, variant.bytes(sizes), strict=True)
    assert sum(size for _, size in found) <= 4 * (3 * 16 + 2 * 4 + 8 + 2 * 4 * 64 + 8)


@pytest.mark.slow
def test_rows_in_threads() -> None:
    s = flash()
    s["att"].parallel("io")
    judged(s, n=5, nb=2, d=2)
    same(s, over=(1, 5, 9), nb=3)


@pytest.mark.slow
def test_written_down_and_read_back() -> None:
    survives(flash())
