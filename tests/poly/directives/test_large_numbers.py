"""Directives with constants near the powers of two at which something could wrap: refused, or
everything of the schedule is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

import polysched as ps

n, m = ps.sizes("n m")
i, j, r = *ps.vars("i j"), ps.RVar("r", 0, m)


def cases() -> ps.Schedule:
    """A producer with neighbours, a consumer, a sum: the same program each time."""
    return _case().copy()


@cache
def _case() -> ps.Schedule:
    x, g, f, h = ps.Input("x", ps.int32, (n, m)), *(ps.Func(k, (n, m)) for k in "gf"), ps.Func("h")
    g[i, j] = x[i, j] * 3
    f[i, j] = g[i, j] + g[ps.minimum(i + 1, n - 1), ps.maximum(j - 2, 0)]
    h = ps.Func("h", (n,))
    h[i] = 0
    h[i] += f[i, r]
    s = ps.Schedule(h)
    s["f"].compute_root()
    return s


Said = Callable[[ps.Schedule, int], object]

DIRECTIVES: dict[str, Said] = {
    "split": lambda s, x: s["f"].split(j, x),
    "split guard": lambda s, x: s["f"].split(i, x, tail="guard"),
    "split peel": lambda s, x: s["f"].split(j, x, tail="peel"),
    "split shift": lambda s, x: s["f"].split(j, x, tail="shift"),
    "split round_up": lambda s, x: s["f"].split(j, x, tail="round_up"),
    "split pad": lambda s, x: s["g"].split(j, x, tail="pad"),
    "split twice": lambda s, x: (s["f"].split(j, x), s["f"].split("jo", x), s["f"].split("ji", x)),
    "split a sum": lambda s, x: s["h"].update(0).split(r, x),
    "tile": lambda s, x: s["f"].tile(i, j, x, 4),
    "tile both": lambda s, x: s["f"].tile(i, j, x, x),
    "tile, computed at": lambda s, x: (
        s["f"].tile(i, j, x, 4),
        s["g"].compute_at("f", "jo"),
    ),
    "vectorize": lambda s, x: s["f"].vectorize(j, x),
    "unroll": lambda s, x: s["f"].unroll(j, x),
    "parallel": lambda s, x: s["f"].parallel(i, x),
    "unroll_and_jam": lambda s, x: s["f"].unroll_and_jam(i, x),
    "fuse": lambda s, x: (s["f"].split(j, x), s["f"].fuse("jo", "ji")),
    "fuse tiles": lambda s, x: (s["f"].tile(i, j, 4, x), s["f"].fuse("ii", "ji")),
    "skew": lambda s, x: s["f"].skew(i, j, x),
    "skew twice": lambda s, x: (s["f"].skew(i, j, x), s["f"].skew(i, j, x)),
    "skew and tile": lambda s, x: (s["f"].skew(i, j, x), s["f"].tile(i, j, 4, 4)),
    "skew and reorder": lambda s, x: (s["f"].skew(i, j, x), s["f"].reorder(j, i)),
    "skew both": lambda s, x: (
        s["f"].skew(i, j, x),
        s["f"].reorder(j, i),
        s["f"].skew(j, i, x),
        s["f"].reorder(i, j),
    ),
    "shift": lambda s, x: s["f"].shift(i, x),
    "shift and split": lambda s, x: (s["f"].shift(i, x), s["f"].split(i, 8)),
    "shift and peel": lambda s, x: (s["g"].shift(i, x), s["g"].peel(i, first=2)),
    "transform": lambda s, x: s["f"].transform((i, j), lambda i, j: (i, j + x * i)),
    "transform scale": lambda s, x: s["f"].transform((i, j), lambda i, j: (i * x, j)),
    "transform offset": lambda s, x: s["f"].transform((i, j), lambda i, j: (j + x, i - x)),
    "transform both": lambda s, x: s["f"].transform((i, j), lambda i, j: (i + x * j, j * 2)),
    "wavefront of skewed": lambda s, x: (s["f"].skew(i, j, x), s["f"].wavefront(i, j)),
    "compute_with": lambda s, x: s["f"].compute_with("g", i, shift=x),
    "peel first": lambda s, x: s["f"].peel(j, first=x),
    "peel last": lambda s, x: s["f"].peel(j, last=x),
    "peel both": lambda s, x: s["f"].peel(j, first=x, last=x),
    "peel a sum": lambda s, x: s["h"].update(0).peel(r, first=x),
    "partition": lambda s, x: s["f"].partition(i < x),
    "partition sum": lambda s, x: s["f"].partition(i + x < n),
    "partition product": lambda s, x: s["f"].partition(i * x < j),
    "fold_storage": lambda s, x: s["g"].fold_storage(0, x),
    "fold_storage inside": lambda s, x: (
        s["g"].compute_at("f", i),
        s["g"].store_root(),
        s["g"].fold_storage(0, x),
    ),
    "align_storage": lambda s, x: s["g"].align_storage(1, x),
    "align_storage twice": lambda s, x: (
        s["g"].align_storage(0, x),
        s["g"].align_storage(1, x),
    ),
    "align_storage inside": lambda s, x: (
        s["f"].tile(i, j, 4, 4),
        s["f"].parallel("io"),
        s["g"].compute_at("f", "jo"),
        s["g"].align_storage(1, x),
    ),
    "bound": lambda s, x: s["f"].bound(j, x),
    "align_bounds": lambda s, x: s["f"].align_bounds(j, x),
    "prefetch": lambda s, x: s["f"].prefetch("g", j, x),
    "stage": lambda s, x: (
        s["f"].split(j, x),
        s["f"].stage("g", at="jo"),
    ),
    "stage pad": lambda s, x: (
        s["h"].update(0).split(r, x),
        s["h"].update(0).stage("f", at="ro", layout=("ri",), pad=True),
    ),
    "rfactor": lambda s, x: (s["h"].update(0).split(r, x), s["h"].update(0).rfactor("ro")),
    "accumulate_at": lambda s, x: (
        s["h"].update(0).split(i, x),
        s["h"].update(0).accumulate_at("io"),
    ),
    "assume": lambda s, x: s.assume(n < x),
    "assume product": lambda s, x: s.assume(n * x < m + x),
    "specialize": lambda s, x: s.specialize(n < x)["f"].split(j, 4),
    "specialize product": lambda s, x: s.specialize(n * x < m)["f"].split(j, 4),
}
WHOLE = ("split guard", "fuse tiles", "compute_with")
"""Where so many iterations happen as are asked for: minutes of them."""
POWERS = (20, 31, 44, 60, 63, 64)
CONSTANTS = sorted(
    {sign * (2**k + d) for k in (*POWERS, 40) for d in (-1, 0, 1) for sign in (1, -1)}
)
QUICK = (2**20, 2**31 - 1, 2**40, 2**44 + 1, -(2**63), 2**63 - 1, 2**64)
SHAPES = ((3, 4), (9, 17), (1, 1), (0, 2))


def right_or_refused(name: str, number: int) -> None:
    """Nothing that is accepted is refused later, but calls at sizes for which it is too large."""
    s = cases()
    try:
        DIRECTIVES[name](s, number)
    except (ps.ScheduleError, ps.LanguageError):
        return
    _same(s, () if name in WHOLE and number > 2**20 else SHAPES)
    again = ps.Schedule.from_json(s.program.outputs, s.to_json())
    assert again.key == s.key


def _same(s: ps.Schedule, shapes: Sequence[tuple[int, int]]) -> None:
    """What is shown, compiled and run; a call may be refused for its sizes."""
    assert str(s)
    assert s.explain()
    kernel = s.compile()
    for shape in shapes:
        try:
            found = kernel(_given(shape))
        except ps.CallValueError as error:
            if not any(why in error.what for why in ("do not fit into memory", "assumes that")):
                raise
            continue
        np.testing.assert_array_equal(found, _interpreted(shape))


@cache
def _interpreted(shape: tuple[int, int]) -> np.ndarray:
    return ps.interpret(_case().program.outputs[0], _given(shape))


def _given(shape: tuple[int, int]) -> np.ndarray:
    return np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)


ROWS = ("tile, computed at", "skew both", "transform offset", "peel both", "align_storage inside")


@pytest.mark.parametrize("number", [2**16, 2**31 - 1, 2**40])
@pytest.mark.parametrize("name", ROWS)
def test_some_are_right_or_refused(name: str, number: int) -> None:
    right_or_refused(name, number)


@pytest.mark.slow
@pytest.mark.parametrize("name", DIRECTIVES)
def test_all_are_right_or_refused(name: str) -> None:
    for number in CONSTANTS:
        right_or_refused(name, number)


def test_refuses_to_compute_what_is_inlined_with_another() -> None:
    """A KeyError was raised."""
    s = cases()
    s["f"].compute_inline()
    with pytest.raises(ps.ScheduleError, match="f is inlined into its consumers"):
        s["f"].compute_with("g", i)


@pytest.mark.parametrize("multiples", [(2**32, 2**32), (2**40, 2**21), (2**40, 2**22)])
@pytest.mark.parametrize("parallel", [False, True])
def test_storage_of_more_than_64_bits(multiples: tuple[int, int], parallel: bool) -> None:
    """The number of bytes wrapped: storage had less than was written."""
    s = cases()
    s["f"].tile(i, j, 4, 4)
    if parallel:
        s["f"].parallel("io")
    s["g"].compute_at("f", "jo")
    for axis, multiple in enumerate(multiples):
        s["g"].align_storage(axis, multiple)
    with pytest.raises(ps.CallError, match="do not fit into memory"):
        s.compile()(np.ones((5, 5), np.int32))


def test_a_range_that_ends_behind_the_last_int64() -> None:
    """An OverflowError of NumPy's was raised."""
    x, f = ps.Input("x", ps.int64, (n,), range=(0, 2**63)), ps.Func("f", (n,))
    f[i] = x[i]
    given = np.array([0, 2**63 - 1])
    assert f(given).tolist() == given.tolist()
    with pytest.raises(ps.CallError, match="is -1, outside the declared range 0 <= value < 9223"):
        f(-given[::-1] // (2**63 - 1))
