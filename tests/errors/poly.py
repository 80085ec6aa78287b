"""Messages of schedules."""

from __future__ import annotations

import json
from unittest.mock import patch

import polysched as ps

from .case import says

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


def ones() -> ps.Func:
    """f[i, j] = 1"""
    f = ps.Func("f", (n, m), ps.int32)
    f[i, j] = 1
    return f


def filled() -> ps.Schedule:
    return ps.Schedule(ones())


def product() -> ps.Schedule:
    """C = A B"""
    k = ps.RVar("k", 0, l)
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    C = ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += A[i, k] * B[k, j]
    return ps.Schedule(C)


def pipeline() -> ps.Schedule:
    """h reads two rows of g."""
    x, g, h = ps.Input("x", ps.int32, (n + 2, m)), ps.Func("g"), ps.Func("h", (n, m))
    g[i, j] = x[i, j] * 2
    h[i, j] = g[i, j] + g[i + 2, j]
    return ps.Schedule(h)


def no_pair():
    """Where instances that are out of order take too long to find, none are named."""
    return patch("polysched.poly.legality.checker.smallest_pair", return_value=None)


# loops ------------------------------------------------------------------------------------------
@says(
    """
    s["f"].fuse('j', 'i') is refused: the loop i is around j, and the outer one comes first
      at FILE:LINE
      hint: fuse("i", "j")
    """
)
def fusing_from_the_inside_out() -> None:
    filled()["f"].fuse(j, i)


@says(
    """
    s["g"].store_at('h', 'i') is refused: g is read by g2 outside of the loop i
      at FILE:LINE
      hint: store it at a loop around all that reads and writes it
    """
)
def storing_inside_of_one_of_two_readers() -> None:
    g, g2, h = ps.Func("g"), ps.Func("g2", (n,)), ps.Func("h", (n,))
    g[i] = i
    g2[i] = g[i] + g[i + 1]
    h[i] = g[i] + g2[i] + g2[n - 1 - i]
    s = ps.Schedule([g2, h])
    with s.trust("g2 reads what is not there yet"), s.batch():
        s["g"].store_root()
        s["g"].compute_at("h", i)
    s["g"].store_at("h", i)


# halos ------------------------------------------------------------------------------------------
@says(
    """
    x[2 * i]: axis 0 of x moves by 2 elements for one along axis 0 of f. So a part of f does not \
need the same part of x with some elements around it
      at FILE:LINE
      hint: pass all of x, and ask for parts of f: region=((lo, hi), ...)
    """,
    ps.LanguageError,
)
def halo_of_a_stride() -> None:
    x, f = ps.Input("x", ps.float32, (2 * n,)), ps.Func("f", (n,))
    f[i] = x[2 * i]
    ps.halo(f)


@says(
    """
    axis 0 of x follows axis 0 of f, and axis 1 of g: outputs in parts need other parts of it
      at FILE:LINE
      hint: ask for them one by one: ps.halo(g)
    """,
    ps.LanguageError,
)
def halo_of_outputs_that_are_turned() -> None:
    x = ps.Input("x", ps.float32, (n, n))
    f, g = ps.Func("f", (n, n)), ps.Func("g", (n, n))
    f[i, j], g[i, j] = x[i, j], x[j, i]
    ps.halo((f, g))


# directives -------------------------------------------------------------------------------------
@says(
    """
    s["e"].vectorize('t') is refused: the extern stage e is inside of the loop t
      at FILE:LINE
      hint: a function over arrays has no lanes: vectorise another loop
    """
)
def lanes_of_an_extern_stage() -> None:
    x, a = ps.Input("x", ps.float32, (n,)), ps.InOut("a", ps.float32, (4, n))
    with ps.sequential("t", 0, 4) as t:
        e = ps.extern("e", abs, [x], (n,), ps.float32)
        a[t, i] = e[i]
    ps.Schedule(a)["e"].vectorize("t")


@says(
    """
    s["f"].compute_at('g', 'i') is refused: g and f need each other
      at FILE:LINE
      hint: they are computed together
    """
)
def place_of_a_recurrence_in_itself() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f, g = ps.Func("f", (n,), ps.float32), ps.Func("g", (n,), ps.float32)
    h = ps.Func("h", (n,))
    f[i] = ps.select(i == 0, x[i], g[ps.maximum(i - 1, 0)])
    g[i] = f[i] + 1
    h[i] = f[i] + g[i]
    ps.Schedule(h)["f"].compute_at("g", "i")


@says(
    """
    s["h"].fuse('io', 'ii') is refused: the loops around g[0] cannot change any more: its own ones \
are made of them
      at FILE:LINE
      hint: change the loops of the consumer first
    """
)
def loops_around_a_part_by_iterations() -> None:
    s = pipeline()
    s["h"].split("i", 8)
    s["g"].compute_at("h", "ii")
    s["g"].partition(i < j)
    s["h"].fuse("io", "ii")


@says(
    """
    s["C.update(0)[0]"].accumulate_at('j') is refused: C.update(0)[0], C.update(0)[1] run at \
different iterations, so no one loop copies what they accumulate
      at FILE:LINE
    """
)
def accumulation_of_parts_that_run_at_different_iterations() -> None:
    first, second = product()["C.update(0)"].partition(j < 8)
    second.shift("k", 1)
    first.accumulate_at("j")


@says(
    """
    s["C.update(0)"].accumulate_at('i') is refused: the loops of C.update(0) over i, j do not \
determine which element it accumulates
      at FILE:LINE
    """
)
def accumulation_under_a_skewed_loop() -> None:
    u = product()["C.update(0)"]
    u.reorder("i", "k", "j").skew("k", "j", 1)
    u.accumulate_at("i")


@says(
    """
    s["a.update(0)"].parallel('r') is refused: it could not be shown that a.update(0) runs before \
a.update(0) where it must
      at FILE:LINE
    """
)
def order_that_nobody_can_show() -> None:
    a, r = ps.InOut("a", ps.float32, (n,)), ps.RVar("r", 1, n)
    a[r] += a[r - 1]
    with no_pair():
        ps.Schedule(a)["a"].parallel("r")


@says(
    """
    s["g"].fold_storage(axis=0, planes=2) is refused: 2 planes of g along axis 0: it is not shown \
that this is enough
      at FILE:LINE
    """
)
def planes_that_nobody_can_show_to_be_enough() -> None:
    s = pipeline()
    s["h"].compute_with("g", "i", shift=2)
    with no_pair():
        s["g"].fold_storage(0, 2)


# tails ------------------------------------------------------------------------------------------
@says(
    """
    s["g.update(0)"].split('i', 4, tail='pad') is refused: tail='pad' cannot fill up the tiles of \
g.update(0): data say what runs
      at FILE:LINE
      hint: tail='auto' or 'peel'
    """
)
def padding_of_loops_that_data_bound() -> None:
    p = ps.Input("p", ps.int32, (n,), range=(0, 100))
    x = ps.Input("x", ps.int32, (100,))
    g, f = ps.Func("g", (n,)), ps.Func("f", (n,))
    g[i] = 0
    g[i] += x[ps.RVar("k", 0, p[i])]
    f[i] = g[n - 1 - i]
    ps.Schedule(f)["g.update(0)"].split("i", 4, tail="pad")


@says(
    """
    s["f[0]"].split('j', 8, tail='shift') is refused: tail='shift' cannot run all of f[0]: more \
than its last 8 iterations are outside of full tiles
      at FILE:LINE
      hint: tail='auto' or 'peel' takes any shape
    """
)
def shifted_tiles_of_every_other_iteration() -> None:
    even, _ = filled()["f"].partition(j % 2 == 0)
    even.fission("j")
    even.split("j", 8, tail="shift")


@says(
    """
    s["g"].split('j', 4, tail='pad') is refused: tail='pad' would overwrite elements of g, of \
which few are kept
      at FILE:LINE
      hint: fold_storage of padded storage is not possible
    """
)
def padding_of_folded_storage() -> None:
    s = pipeline()
    s["h"].compute_with("g", "i", shift=2)
    s["g"].fold_storage(0, 3)
    s["g"].split("j", 4, tail="pad")


# schedules --------------------------------------------------------------------------------------
@says(
    """
    this is a sketch: its directives have not been proven
      at FILE:LINE
      hint: prove() proves them, or refuses
    """
)
def call_of_a_sketch() -> None:
    filled().sketch().compile()


@says(
    """
    m is missing
      at FILE:LINE
      hint: extents(m=...)
    """,
    ps.LanguageTypeError,
)
def extents_at_some_sizes_alone() -> None:
    filled().extents(n=3)


@says(
    """
    this schedule is written in format 99, and this version reads 1 to 2
      at FILE:LINE
      hint: a newer version of polysched reads it
    """,
    ps.LanguageError,
)
def json_of_another_format() -> None:
    f = ones()
    written = json.loads(ps.Schedule(f).to_json()) | {"format": 99}
    ps.Schedule.from_json(f, json.dumps(written))


def variant_of(condition: object) -> None:
    """Reads a schedule with a variant of this condition."""
    f = ones()
    s = ps.Schedule(f)
    s.specialize(n == 4)["f"].unroll("i")
    written = json.loads(s.to_json())
    written["steps"][0]["specialize"] = condition
    ps.Schedule.from_json(f, json.dumps(written))


@says(
    """
    {'symbol': 'n'} is no condition that to_json wrote
      at FILE:LINE
    """,
    ps.LanguageError,
)
def variant_of_a_size() -> None:
    variant_of({"symbol": "n"})


@says(
    """
    1.5 is no int64
      at FILE:LINE
    """,
    ps.LanguageError,
)
def variant_of_a_number_that_is_not_of_its_type() -> None:
    variant_of({"const": 1.5, "type": "int64"})


@says(
    """
    'two rows' is no name of Python
      at FILE:LINE
      hint: ps.factor("rows", 6)
    """,
    ps.LanguageError,
)
def factor_whose_name_nobody_can_write() -> None:
    ps.factor("two rows", 6)


@says(
    """
    rows is a number from 1 on, not 0
      at FILE:LINE
    """,
    ps.LanguageError,
)
def factor_that_is_nothing() -> None:
    ps.factor("rows", 0)
