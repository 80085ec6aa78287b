"""Messages about the pieces of a definition, and about loops that hold no stage of their own."""

from __future__ import annotations

import polysched as ps

from .case import says

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def bordered() -> ps.Schedule:
    """A column of its own."""
    x, f = ps.Input("x", ps.int32, (n, m)), ps.Func("f", (n, m))
    f[i, 0] = 7
    f[i, j] = x[i, j]
    return ps.Schedule(f)


@says(
    """
    s["f"].join() is refused: the definition of f has one piece, in one nest already
      at FILE:LINE
    """
)
def one_piece() -> None:
    f = ps.Func("f", (n,))
    f[i] = i
    ps.Schedule(f)["f"].join()


@says(
    """
    s["f.piece(1)"].join() is refused: no piece of f has a Var for each axis, and so loops for the \
others
      at FILE:LINE
      hint: compute_with puts stages into the loops of another one
    """
)
def pieces_of_constants() -> None:
    f = ps.Func("f", (2, n))
    f[0, i] = i
    f[1, i] = 2 * i
    ps.Schedule(f)["f"].join()


@says(
    """
    s["f.piece(1)"].join() is refused: the pieces are in one nest already, of i, j
      at FILE:LINE
    """
)
def pieces_in_one_nest() -> None:
    bordered()["f"].join().join()


@says(
    """
    s["f.piece(1)"].join() is refused: f.piece(1).first is a part of its piece, or filled up to \
full tiles
      at FILE:LINE
      hint: join first, then peel, partition, or split with a tail
    """
)
def parts_of_pieces() -> None:
    s = bordered()
    s["f.piece(1)"].peel("j", first=1)
    s["f.piece(1)"].join()


@says(
    """
    s["f.piece(1)"].join() is refused: the loop j of f.piece(1) is parallel already
      at FILE:LINE
      hint: join first, then say how loops run
    """
)
def parallel_pieces() -> None:
    s = bordered()
    s["f.piece(1)"].parallel("j")
    s["f"].join()


@says(
    """
    s["f.piece(1)"].join() is refused: the loop ji of f.piece(1) is in full tiles already
      at FILE:LINE
      hint: join first, then say how loops run
    """
)
def pieces_in_full_tiles() -> None:
    s = bordered()
    s["f.piece(1)"].split("j", 4, tail="guard")
    s["f"].join()


@says(
    """
    s["f.piece(1)"].join() is refused: the loop j of f.piece(0) holds other stages, too: g
      at FILE:LINE
      hint: fission takes a loop apart where that is legal, and does not help here
    """
)
def pieces_beside_what_they_read() -> None:
    x, g, f = ps.Input("x", ps.int32, (m,)), ps.Func("g"), ps.Func("f", (n, m))
    g[j] = x[j] * x[j]
    f[0, j] = g[j] + g[j]
    f[i, j] = i + j
    s = ps.Schedule(f)
    s["g"].compute_at("f.piece(0)", "j")
    s["f"].join()


@says(
    """
    s["f"].peel('r', first=0, last=1) is refused: the loop r holds only what is computed for \
stages outside of it (f), and runs as these need it
      at FILE:LINE
      hint: say it before fission takes them apart, or compute_at elsewhere
    """
)
def a_loop_of_what_others_need() -> None:
    r = ps.RVar("r", 0, 0)
    f, g = ps.Func("f", (), dtype=ps.int32), ps.Func("g", (4,), dtype=ps.int32)
    f[()] = 5
    g[i] = 0
    g[r] += f[()]
    s = ps.Schedule(g)
    s["f"].compute_at("g.update(0)", "r").fission("r")
    s["f"].peel("r", last=1)
