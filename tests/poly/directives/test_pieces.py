"""What is said of a Func whose definition has several pieces is said of each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polysched as ps

from .support import listed, refused, same

n, m, T = ps.sizes("n m T")
t, i, j = ps.vars("t i j")


def edges() -> tuple[ps.Schedule, ps.Func]:
    """A row of its own, in loops of its own."""
    x, f = ps.Input("x", ps.int64, (n, m)), ps.Func("f", (n, m))
    f[0, j] = x[0, j]
    f[i, j] = x[i, j] * 2
    return ps.Schedule(f), f


def steps() -> tuple[ps.Schedule, ps.Func, ps.Input]:
    """Pieces that share the loop over t."""
    x, u = ps.Input("x", ps.int64, (n,)), ps.Func("u", (T + 1, n))
    u[0, i] = x[i]
    u[t, i] = u[t - 1, ps.maximum(i - 1, 0)] + x[i]
    return ps.Schedule(u), u, x


def asked(s: ps.Schedule) -> list[str]:
    return [d.text() for d in s.directives]


@pytest.mark.slow
def test_each_piece_gets_a_record() -> None:
    s, f = edges()
    assert repr(s[f]) == (
        "stage f in 2 pieces:\n  stage f.piece(0), loops j\n  stage f.piece(1), loops i, j"
    )
    outer, inner = s[f].split(j, 4)
    assert asked(s) == ["s[\"f.piece(0)\"].split('j', 4)", "s[\"f.piece(1)\"].split('j', 4)"]
    assert (repr(outer), inner.name) == ("loop jo of f", "ji")
    s[f].vectorize(inner)
    assert [x.kind for x in s["f.piece(0)"].loops] == ["serial", "vector"]
    assert [x.kind for x in s["f.piece(1)"].loops] == ["serial", "serial", "vector"]
    same(s)


def test_the_loops_of_all_are_those_that_each_has() -> None:
    s, f = edges()
    assert [x.name for x in s[f].loops] == ["j"]
    assert s[f]["j"].stage.loops == s[f].loops
    with refused(s, "f.piece(0) has no loop i"):
        s[f]["i"]


@pytest.mark.slow
def test_a_loop_that_pieces_share_is_split_once() -> None:
    s, u, _ = steps()
    s[u].split(t, 4)
    s[u].parallel(i, 8)
    assert asked(s)[:1] == ["s[\"u.piece(1)\"].split('t', 4)"]
    listed(
        s,
        """
        for to in [0, T // 4 + 1):
          for ti in [0, min(T + 1 - to * 4, 4)):
            if (to == 0) & (ti == 0):
              for i in [0, (n - 1) // 8 + 1) (parallel):
                for ii in [0, min(n - i * 8, 8)):
                  u[0, i] = x[i]  # u.i = i * 8 + ii
            if to * 4 + ti >= 1:
              for i in [0, (n - 1) // 8 + 1) (parallel):
                for ii in [0, min(n - i * 8, 8)):
                  u[t, i] = u[t - 1, max(i - 1, 0)] + x[i]  # t = to * 4 + ti, u.i = i * 8 + ii
    """,
    )
    same(s, over=(0, 1, 9))


def test_what_one_piece_refuses_none_is_given() -> None:
    s, f = edges()
    for ask in (lambda: s[f].parallel(i), lambda: s[f].unroll_and_jam(i, 2)):
        with refused(
            s, 's["f"].', "is refused: f.piece(0) has no loop i",
            hint='of the pieces of f, only s["f.piece(1)"] has i',
        ):  # fmt: skip
            ask()
    s["f.piece(1)"].parallel(i)
    with refused(s, "s[\"f\"].split('j', 4, names=('j', 'i')) is refused: f.piece(1) has a loop i"):
        s[f].split(j, 4, names=("j", "i"))
    assert asked(s) == ["s[\"f.piece(1)\"].parallel('i')"]


def test_a_proof_that_fails_for_one_piece_is_told_as_asked() -> None:
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (2, n))
    f[0, i] = x[i]
    f[1, i] = ps.select(i > 0, f[1, ps.maximum(i - 1, 0)], 0) + x[i]
    s = ps.Schedule(f)
    with refused(s, "s[\"f\"].vectorize('i', 4) is refused: two lanes", "f.piece(1)[i=0] writes"):
        s[f].vectorize(i, 4)
    s["f.piece(0)"].vectorize(i, 4)


def test_single_pieces_stay_reachable() -> None:
    s, f = edges()
    assert s[f].piece(0).name == "f.piece(0)"
    s[f].piece(1).unroll(i, 2)
    assert asked(s) == [
        "s[\"f.piece(1)\"].split('i', 2, names=('i', 'ii'))", "s[\"f.piece(1)\"].unroll('ii')"
    ]  # fmt: skip


def test_what_is_about_the_func_is_said_once() -> None:
    x, g = ps.Input("x", ps.int64, (n,)), ps.Func("g")
    g[0] = 7
    g[i] = x[i] * 3
    f = ps.Func("f", (n,))
    f[i] = g[i] + g[ps.minimum(i + 1, n - 1)]
    s = ps.Schedule(f)
    s[f].split(i, 8)
    s[g].compute_at(f, "io")
    assert [d.name for d in s.directives] == ["split", "compute_at"]
    same(s)


@pytest.mark.slow
def test_a_copy_is_made_for_the_pieces_that_read() -> None:
    s, u, x = steps()
    s[u].split(i, 8)
    copies = s[u].stage(x, at="io")
    assert isinstance(copies, tuple)
    assert [c.name for c in copies] == ["x.io", "x.io'"]
    s, f = edges()
    parts = s[f].partition(j < 4)
    assert [p.pieces for p in parts] == [
        ("f.piece(0)[0]", "f.piece(1)[0]"), ("f.piece(0)[1]", "f.piece(1)[1]")
    ]  # fmt: skip
    parts[0].fission(j).vectorize(j, 4)
    same(s)


def test_survives_as_data() -> None:
    s, f = edges()
    s[f].vectorize(j, 8)
    again = ps.Schedule.from_json(f, s.to_json())
    assert again == s
    made: dict[str, ps.Schedule] = {}
    exec(s.source(), {"ps": ps, "f": f}, made)
    assert made["s"] == s
    copied = s.copy()
    copied[f].rename("j", "column")
    assert [x.name for x in copied[s[f]].loops] == ["column", "ji"]
    assert [x.name for x in s[f].loops] == ["j", "ji"]


@pytest.mark.parametrize("name", ["paralell", "vectorise"])
def test_suggests_directives(name: str) -> None:
    s, f = edges()
    with pytest.raises(AttributeError, match="did you mean"):
        getattr(s[f], name)


@pytest.mark.parametrize("name", ["f.piece(0)", "f.piece(1)"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda u: u.split(j, 4), lambda u: u.reorder(i, j), lambda u: u.tile(i, j, 2, 2),
        lambda u: u.partition(j < 3), lambda u: u.loops, lambda u: u.parallelizable,
        lambda u: u.permutable, lambda u: u.vectorize(j, 4),
    ],
    ids=[
        "split", "reorder", "tile", "partition", "loops", "parallelizable", "permutable",
        "vectorize",
    ],
)  # fmt: skip
def test_what_has_become_parts_is_not_there_any_more(name: str, ask: Callable[[Any], Any]) -> None:
    """Neither by its own name, nor as one of all pieces."""
    s, f = edges()
    alone, every = s[name], s[f]
    s[name].partition(j % 2 == 0)
    for handle in (alone, every):
        with refused(s, f"there is no stage {name}", hint=f"{name}[0], {name}[1]"):
            ask(handle)
        assert f"stage {name}, which is not there any more" in repr(handle)
        assert "split" in dir(handle)
    with pytest.raises(AttributeError, match="did you mean split"):
        alone.spilt(j, 4)
    assert alone._ipython_key_completions_() == []
