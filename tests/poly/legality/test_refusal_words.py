"""What refusals say: what was asked, in terms of loops that there are, and what would help."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched import testing
from polysched.checking.report import CheckError
from polysched.lang.errors.errors import InternalError

from ..directives.support import listed, refused

n, m, T = ps.sizes("n m T")
t, i, j = ps.vars("t i j")


def chain() -> tuple[ps.Schedule, ps.Func, ps.Func]:
    """h reads g at one point."""
    x = ps.Input("x", ps.float32, (n,))
    g, h = ps.Func("g", (n,)), ps.Func("h", (n,))
    g[i] = x[i] * 2
    h[i] = g[i] + 1
    return ps.Schedule(h), g, h


def two_in_a_row(*, independent: bool) -> ps.Schedule:
    """for r: d; for c: b. With `independent`, b needs nothing of later rows' d."""
    b, d = (ps.InOut(name, ps.float32, (n, n)) for name in "bd")
    with ps.sequential("r", 1, n) as r:
        d[r, 0] = 1.0 if independent else b[r - 1, 0]
        with ps.sequential("c", 0, n) as c:
            b[r, c] = d[r, 0]
    return ps.Schedule((b, d))


def steps(*, edge: bool) -> tuple[ps.Schedule, ps.Func]:
    """A recurrence in pieces; with an edge, each step needs the piece of the one before."""
    x = ps.Input("x", ps.float32, (n,))
    u = ps.Func("u", (T + 1, n))
    u[0, i] = x[i]
    if edge:
        u[0, 0] = x[0]
        u[t, 0] = u[t - 1, ps.minimum(1, n - 1)]
    u[t, i] = u[t - 1, ps.maximum(i - 1, 0)] + u[t - 1, i]
    return ps.Schedule(u), u


COMPOSITES: dict[str, Callable[[Any], Any]] = {
    "tile": lambda u: u.tile("r", "c", 8, 8),
    "unroll_and_jam": lambda u: u.unroll_and_jam("r", 8),
    "wavefront": lambda u: u.wavefront("r", "c"),
    "reorder": lambda u: u.reorder("c", "r"),
}


@pytest.mark.parametrize("name", COMPOSITES)
@pytest.mark.parametrize("independent", [False, True])
def test_messages_name_loops_that_are_there(name: str, independent: bool) -> None:
    s = two_in_a_row(independent=independent)
    with refused(s, f's["b.update(0)"].{name}(', "the loop r holds more than") as caught:
        COMPOSITES[name](s["b.update(0)"])
    said = f"{caught[0].what} {caught[0].hint}"  # the place may have any name
    assert not set(re.findall(r"\w+", said)) & {"ro", "ri", "co", "ci", "wave"}, said


def test_fission_is_advised_where_it_helps() -> None:
    """The hint, followed to the letter, makes the directive right."""
    s = two_in_a_row(independent=True)
    with refused(s, "holds more", hint='fission("r", after="d.update(0)") first'):
        s["b.update(0)"].tile("r", "c", 8, 8)
    s["b.update(0)"].fission("r", after="d.update(0)")
    s["b.update(0)"].tile("r", "c", 8, 8)
    s, _ = steps(edge=False)
    with refused(s, "holds more", hint='fission("t", after="u.piece(0)") first'):
        s["u.piece(1)"].reorder(i, t)


def test_fission_is_not_advised_where_it_does_not_help() -> None:
    s = two_in_a_row(independent=False)
    with refused(s, "holds more", hint="fission takes a loop apart where that is legal, and does"):
        s["b.update(0)"].reorder("c", "r")


def test_pieces_that_need_each_other_are_to_be_written_as_one() -> None:
    s, _ = steps(edge=True)
    advice = "u[t, i] = ps.select((t == 0) & (i == 0), ..., t == 0, ..., i == 0, ..., ...)"
    with refused(s, "holds more", hint=advice):
        s["u.piece(3)"].tile(t, i, 4, 4)


def test_the_parts_of_a_loop_are_explained_where_they_are_named() -> None:
    x = ps.Input("x", ps.float32, (n,))
    g, h = ps.Func("g"), ps.Func("h", (n,))
    g[i] = x[i] * 2
    h[i] = g[i] + g[ps.minimum(i + 1, n - 1)]
    s = ps.Schedule(h)
    s[g].compute_at(h, i)
    with refused(
        s,
        "s[\"h\"].vectorize('i', 8) is refused",
        "the vector loop ii",
        "(ii would be the inner part of i)",
        hint="compute g at a loop outside of i first",
    ):  # fmt: skip
        s[h].vectorize(i, 8)


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda u: u.tile(i, "q", 8, 8), "tile('i', 'q', 8, 8) is refused: h has no loop q"),
        (lambda u: u.vectorize("q", 8), "vectorize('q', 8) is refused: h has no loop q"),
        (lambda u: u.unroll_and_jam("q", 8), "unroll_and_jam('q', 8) is refused: h has no loop q"),
        (lambda u: u.wavefront(i, "q"), "wavefront('i', 'q') is refused: h has no loop q"),
        (lambda u: u.tile(i, i, 8, 8), "tile('i', 'i', 8, 8) is refused: a loop is named twice"),
    ],
)
def test_what_has_parts_asks_for_all_loops_first(ask: Any, what: str) -> None:
    s, _, h = chain()
    with refused(s, what) as caught:
        ask(s[h])
    assert caught[0].where is not None
    assert caught[0].where.file == __file__
    assert caught[0].hint in (None, "its loops are i")


@pytest.mark.parametrize(("name", "most"), [("vectorize", 64), ("unroll", 256)])
def test_factors_that_are_too_large_are_refused_before_anything_is_split(
    name: str, most: int
) -> None:
    s, _, h = chain()
    with refused(s, f"the factor of {name} is at most {most}, not {most + 1}"):
        getattr(s[h], name)(i, most + 1)
    getattr(s[h], name)(i, most)


def test_unroll_and_jam_gives_a_name_that_is_free() -> None:
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j]
    s = ps.Schedule(f)
    s[f].rename(j, "ii").unroll_and_jam(i, 4)
    assert [loop.name for loop in s[f].loops] == ["i", "ii", "ii2"]


# inlined ----------------------------------------------------------------------------------------
def test_says_why_a_stage_is_inlined_and_how_to_keep_it() -> None:
    s, g, _ = chain()
    why = "it has no loops, as it is one equation that each of them reads at one point"
    with refused(s, 's["g"].parallel(', why, hint='s["g"].compute_root() keeps it') as caught:
        s[g].parallel(i)
    assert caught[0].directive == "s[\"g\"].parallel('i')"
    for look in (lambda: s[g][i], lambda: s[g].update(0)):
        with refused(s, f"g is inlined into its consumers: {why}", hint="compute_root"):
            look()
    s[g].compute_root()
    s[g].parallel(i)
    s = ps.Schedule.default(s.program.outputs)
    with refused(s, "one equation, read by one of them, at one point, once"):
        s[g].parallel(i)


def test_says_which_directive_inlined_a_stage() -> None:
    s, g, _ = chain()
    s[g].compute_root().compute_inline()
    with refused(s, 'it has no loops, as s["g"].compute_inline() said so (', "test_refusal_words"):
        s[g].parallel(i)


# tuple reductions -------------------------------------------------------------------------------
@pytest.mark.parametrize("inlined", [False, True])
def test_reductions_are_called_as_they_were_written(inlined: bool) -> None:
    A, W = ps.Input("A", ps.float32, (n, m)), ps.Input("W", ps.float32, (5,))
    k = ps.RVar("k", 0, m)
    label, found = ps.Func("label", (n,)), ps.Func("found", (n,))
    label[i] = ps.argmin(A[i, k], k)
    found[i] = W[label[i]] if inlined else W[ps.argmin(A[i, k], k) + 1]
    read = "W[label[i]]" if inlined else "W[argmin(A[i, k], k) + 1]"
    assert any(f"found reads {read} (" in c for c in ps.Schedule(found).conditions)
    label, found = ps.Func("label", (n,)), ps.Func("found", (n,))
    label[i] = ps.max(ps.cast(ps.int32, A[i, k]), k)
    found[i] = W[label[i]] if inlined else W[ps.max(ps.cast(ps.int32, A[i, k]), k)]
    with pytest.raises(ps.LanguageError) as info:
        ps.Schedule(found)
    read = "W[label[i]]" if inlined else "W[max(int32(A[i, k]), k)]"
    assert info.value.what.startswith(f"{read} is read at an index that depends on data")


def test_a_type_error_in_a_reduction_is_told_as_it_was_written() -> None:
    A, W = ps.Input("A", ps.float32, (n, m)), ps.Input("W", ps.float32, (5,))
    k, f = ps.RVar("k", 0, m), ps.Func("f", (n,))
    with pytest.raises(ps.LanguageTypeError, match=r"not an integer: max\(A\[i, k\], k\)"):
        f[i] = W[ps.max(A[i, k], k)]


def test_an_empty_reduction_is_called_as_it_was_written() -> None:
    A, k, f = ps.Input("A", ps.float32, (n, m)), ps.RVar("k", 0, m), ps.Func("f", (n,))
    f[i] = ps.argmax(A[i, k], k)
    empty = np.zeros((2, 0), np.float32)
    assert "argmax(A[i, k], k) has no value" in ps.Schedule(f).conditions[0]
    for run in (f, lambda A: ps.interpret(f, A=A)):
        with pytest.raises(ps.CallValueError, match=r"argmax\(A\[i, k\], k\) has no value"):
            run(A=empty)


def test_a_tuple_reduction_is_parallel_by_rfactor() -> None:
    A, k, f = ps.Input("A", ps.float32, (n, m)), ps.RVar("k", 0, m), ps.Func("f", (n,))
    f[i] = ps.argmin(A[i, k], k)
    s = ps.Schedule(f)
    with refused(s, "parallel('k')", hint="rfactor(...) gives each iteration a partial result"):
        s[f].reduction(0).parallel(k)
    s[s[f].reduction(0).rfactor(k)].update(0)


# trust ------------------------------------------------------------------------------------------
def scatter() -> tuple[ps.Schedule, ps.InOut, ps.RVar]:
    x = ps.Input("x", ps.int64, (n,), range=(0, n))
    y, z = ps.Input("y", ps.float32, (n,)), ps.InOut("z", ps.float32, (n,))
    p = ps.RVar("p", 0, n)
    z[x[p]] = y[p]
    return ps.Schedule(z), z, p


def test_a_check_says_which_trusted_directive_is_wrong() -> None:
    s, z, p = scatter()
    with s.trust("x is a permutation"):
        s[z].parallel(p)
    call = {"y": np.arange(4, dtype=np.float32), "z": np.zeros(4, np.float32)}
    testing.check(s, x=np.array([3, 1, 0, 2]), **call)
    with pytest.raises(CheckError) as info:
        testing.check(s, x=np.array([3, 1, 1, 2]), **call)
    assert info.value.what == (
        "s[\"z.update(0)\"].parallel('p') (trusted: x is a permutation) is wrong: "
        "race: iterations that run concurrently share z[1]"
    )
    assert "please report it" not in str(info.value)
    assert not isinstance(info.value, InternalError)


def test_a_fault_of_ours_is_still_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    s, z, p = scatter()
    with s.trust("x is a permutation"):
        s[z].parallel(p)
    monkeypatch.setattr(ps.Schedule, "trusted", ())
    call = {"y": np.arange(2, dtype=np.float32), "z": np.zeros(2, np.float32)}
    with pytest.raises(InternalError, match="please report it"):
        testing.check(s, x=np.array([1, 1]), **call)


# listings ---------------------------------------------------------------------------------------
def test_a_listing_says_which_index_a_transformed_loop_runs() -> None:
    s, _, h = chain()
    s[h].transform((i,), lambda i: -i)
    listed(
        s,
        """
        for i in [1 - n, 1):
          h[i] = x[i] * 2.0 + 1.0  # h.i = -i
    """,
    )
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = x[i, j]
    s = ps.Schedule(f)
    s[f].transform((i, j), lambda i, j: (j, -i))
    listed(
        s,
        """
        for i in [0, m):
          for j in [1 - n, 1):
            f[i, j] = x[i, j]  # f.i = -j, f.j = i
    """,
    )
    s = ps.Schedule(f)
    s[f].transform((i,), lambda i: -i, names=("up",))
    assert "f[i, j] = x[i, j]  # i = -up" in str(s)
