"""Messages of pictures, and of answers about directives."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np

import polysched as ps
from polysched.show import footprint, space

from .case import says

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n, m))


def plane() -> ps.Schedule:
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] + 1
    return ps.Schedule(f)


def line() -> ps.Schedule:
    f = ps.Func("f", (n,))
    f[i] = 0
    r = ps.RVar("r", 1, n)
    f[r] = f[r - 1] + 1
    return ps.Schedule(f)


# pictures -----------------------------------------------------------------------------------------
@says(
    """
    k is no size of this program
      at FILE:LINE
      hint: they are n, m
    """,
    ps.LanguageTypeError,
    file="sched/show/spaces/sizes.py",
)
def a_size_of_nobody() -> None:
    space(plane(), "f", k=3)


@says(
    """
    no call accepts n=3
      at FILE:LINE
      hint: a call requires: n == 4: assumed
    """
)
def sizes_that_no_call_accepts() -> None:
    space(plane().copy().assume(n == 4), "f", n=3)


@says(
    """
    3600 instances are too many to be drawn: at most 2000
      at FILE:LINE
      hint: give smaller sizes
    """
)
def too_many_instances() -> None:
    space(plane(), "f", n=4, m=900)


@says(
    """
    there are too many instances of f to be drawn: more than 4096
      at FILE:LINE
      hint: give smaller sizes
    """
)
def far_too_many_instances() -> None:
    space(plane(), "f", n=1000, m=1000)


@says(
    """
    no sizes were found at which this is small enough to be drawn
      at FILE:LINE
      hint: give sizes: n=...
    """
)
def a_large_constant_extent() -> None:
    f = ps.Func("f", (n, 1000))
    f[i, j] = i + j
    space(ps.Schedule(f), f)


@says(
    """
    one or two coordinates of the algorithm are drawn, and not 'k'
      at FILE:LINE
      hint: those of f are i, j
    """,
    ps.LanguageTypeError,
)
def a_coordinate_of_nobody() -> None:
    space(plane(), "f", "k")


@says(
    """
    y is inlined into its consumers: it has no iterations of its own
      at FILE:LINE
      hint: s["y"].compute_root() keeps it
    """
)
def an_inlined_stage() -> None:
    y, f = ps.Func("y"), ps.Func("f", (n,))
    y[i] = x[i, 0] * 2
    f[i] = y[i]
    footprint(ps.Schedule(f), "f", i)
    space(ps.Schedule(f), y)


@says(
    """
    e is an extern stage, which computes all elements at once
      at FILE:LINE
    """
)
def an_extern_stage() -> None:
    f = ps.Func("f", (n,))
    f[i] = x[i, 0]
    e = ps.extern("e", np.sort, [f], (n,), ps.float32)
    space(ps.Schedule(e), e)


@says(
    """
    a picture is an SVG file, and not f.png
      at FILE:LINE
    """,
    ps.LanguageTypeError,
)
def a_picture_in_another_format() -> None:
    space(plane(), "f").save(Path("f.png"))


# refusals -----------------------------------------------------------------------------------------
@says(
    """
    it would be accepted: no two instances are in the wrong order
      at FILE:LINE
      hint: give the directive; polysched.show.space(s, C) draws its order then
    """,
    ps.LanguageError,
)
def the_picture_of_what_would_be_accepted() -> None:
    plane().why_not("parallel", i).picture()


@says(
    """
    it has been read from a pickle, which has the two instances and not the schedule
      at FILE:LINE
      hint: draw it where it was raised
    """,
    ps.LanguageError,
)
def the_picture_of_a_pickle() -> None:
    v = line()["f.update(0)"].why_not("parallel", "r")
    pickle.loads(pickle.dumps(v)).picture()


@says(
    """
    no two instances are known that run in the wrong order
      at FILE:LINE
    """,
    ps.LanguageError,
)
def the_picture_of_what_is_unproved() -> None:
    ps.ScheduleError("too intricate", status="unproved").picture()


@says(
    """
    it is not about the order of two instances
      at FILE:LINE
    """,
    ps.LanguageError,
)
def the_picture_of_a_wrong_factor() -> None:
    plane().why_not("split", i, 0).picture()


# why_not ------------------------------------------------------------------------------------------
@says(
    """
    there is no directive vectorise; did you mean vectorize?
      at FILE:LINE
      hint: directives are accumulate_at, align_bounds, align_storage, assume, atomic, bound, clone_in, compute_at, compute_inline, compute_root, compute_with, fission, fold_storage, fuse, join, parallel, partition, peel, prefetch, reassociate, rename, reorder, reorder_storage, reverse, rfactor, shift, skew, specialize, split, stage, store_at, store_in, store_root, stream, tile, transform, unroll, unroll_and_jam, vectorize, wavefront
    """,  # noqa: E501 - as it is shown
    ps.LanguageError,
    file="sched/poly/schedule/why_not.py",
)
def a_directive_that_is_misspelt() -> None:
    plane().why_not("vectorise", i)


@says(
    """
    why_not takes the name of a directive first, not i
      at FILE:LINE
      hint: s.why_not("parallel", i)
    """,
    ps.LanguageTypeError,
)
def a_loop_before_the_directive() -> None:
    plane().why_not(i, "parallel")  # type: ignore[arg-type]


@says(
    """
    why_not('parallel') does not say of which stage
      at FILE:LINE
      hint: s.why_not("parallel", loop), or s[C].why_not("parallel")
    """,
    ps.LanguageTypeError,
)
def a_directive_of_no_stage() -> None:
    plane().why_not("parallel")


@says(
    """
    assume is said of the whole schedule
      at FILE:LINE
      hint: s.why_not("assume", ...)
    """,
    ps.LanguageError,
)
def a_directive_that_is_of_no_stage() -> None:
    plane()["f"].why_not("assume", n > 3)


@says(
    """
    3 is neither a loop nor a stage
      at FILE:LINE
      hint: s[C].why_not("split", i, 8)
    """,
    ps.LanguageTypeError,
)
def a_directive_of_a_number() -> None:
    error = plane().why_not("split", 3).error
    assert error is not None
    raise error
