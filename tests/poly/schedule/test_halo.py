"""Halos of programs: as large as what values follow from, and enough to compute parts alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
BOUNDARIES = ("repeat_edge", "reflect", "mirror", "constant")


def extended(x: Any, kind: str) -> ps.Func:
    return ps.boundary.constant(x, 7) if kind == "constant" else getattr(ps.boundary, kind)(x)


def line(index: Callable[[Any], Any], length: Any = n, extent: Any = n) -> ps.Func:
    """f[i] = x[index(i)]"""
    x, f = ps.Input("x", ps.int64, (extent,)), ps.Func("f", (length,))
    f[i] = x[index(i)]
    return f


# what each program has -------------------------------------------------------------------------
def table() -> ps.Func:
    x, w = ps.Input("x", ps.float32, (n,)), ps.Input("w", ps.float32, (5,))
    r = ps.RVar("r", 0, 5)
    f = ps.Func("f", (n,))
    f[i] = ps.sum(ps.boundary.constant(x, 0)[i + r - 2] * w[r], r)
    return f


def product() -> ps.Func:
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    f = ps.Func("f", (n, m))
    f[i, j] = 0
    f[i, j] += A[i, k] * B[k, j]
    return f


def gather() -> ps.Func:
    x, at = ps.Input("x", ps.float32, (m,)), ps.Input("at", ps.int32, (n,), range=(0, m))
    f = ps.Func("f", (n,))
    f[i] = x[at[i]]
    return f


def histogram() -> ps.Func:
    at, k = ps.Input("at", ps.int32, (n,), range=(0, m)), ps.RVar("k", 0, n)
    f = ps.Func("f", (m,))
    f[i] = 0
    f[at[k]] += 1
    return f


def running() -> ps.Func:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = ps.select(j > 0, f[i, ps.maximum(j - 1, 0)], 0) + x[i, j]
    return f


def together() -> ps.Func:
    """Two Funcs that follow from each other, along the first axis."""
    x = ps.Input("x", ps.float32, (n, m))
    e = ps.boundary.repeat_edge(x)
    f, g = (ps.Func(name, (n, m), dtype=ps.float32) for name in "fg")
    f[i, j] = ps.select(i > 0, g[ps.maximum(i - 1, 0), j], 0) + e[i, j + 1]
    g[i, j] = ps.select(i > 0, f[ps.maximum(i - 1, 0), j], 0) + e[i, j - 2]
    return f


def prefix() -> ps.Func:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    k = ps.RVar("k", 0, i + 1)
    f[i] = ps.sum(x[k], k)
    return f


def turned() -> ps.Func:
    x, f = ps.Input("x", ps.float32, (m + 1, n)), ps.Func("f", (n, m))
    f[i, j] = x[j + 1, i]
    return f


def updated() -> ps.InOut:
    a, b = ps.InOut("a", ps.float32, (n,)), ps.Input("b", ps.float32, (n,))
    a[i] += ps.boundary.repeat_edge(b)[i + 3]
    return a


def read_before() -> ps.Func:
    a, f = ps.InOut("a", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = a.initial[ps.minimum(i + 2, n - 1)]
    a[i] += f[i]
    return f


def by_param() -> ps.Func:
    p = ps.Param("p", ps.int32, min=-1, max=3)
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = ps.boundary.repeat_edge(x)[i + p]
    return f


def paced() -> ps.Func:
    x, g, f = ps.Input("x", ps.float32, (n,)), ps.Func("g", (2 * n,)), ps.Func("f", (n,))
    g[i] = x[i // 2]
    f[i] = g[2 * i] + g[2 * i + 1]
    return f


def further() -> ps.Func:
    """Values follow from x[i] and x[i + 1], but for the edges: g[0] follows from x[2]."""
    x, g, f = ps.Input("x", ps.float32, (n,)), ps.Func("g", (n,)), ps.Func("f", (n,))
    g[i] = x[ps.minimum(i + 2, n - 1)]
    f[i] = g[ps.maximum(i - 2, 0)] + g[ps.maximum(i - 1, 0)]
    return f


def two_outputs() -> tuple[ps.Func, ...]:
    x = ps.Input("x", ps.float32, (n,))
    e, f, g = ps.boundary.repeat_edge(x), ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i], g[i] = e[i - 4], e[i + 1]
    return f, g


PROGRAMS: dict[str, tuple[Callable[[], Any], dict[str, Any], dict[str, Any]]] = {
    "valid": (lambda: line(lambda i: i + 2, n, n + 2), {"x": ((0, 2),)}, {"x": (0,)}),
    "behind only": (lambda: line(lambda i: i + 3, n, n + 3), {"x": ((0, 3),)}, {"x": (0,)}),
    "constant": (lambda: line(lambda i: i + 1, 8, 9), {"x": ((0, 1),)}, {"x": (0,)}),
    "the first": (lambda: line(lambda i: i * 0), {"x": (None,)}, {"x": (None,)}),
    "table": (table, {"x": ((2, 2),), "w": (None,)}, {"x": (0,), "w": (None,)}),
    "product": (
        product,
        {"A": ((0, 0), None), "B": (None, (0, 0))},
        {"A": (0, None), "B": (None, 1)},
    ),
    "gather": (gather, {"at": ((0, 0),), "x": (None,)}, {"at": (0,), "x": (None,)}),
    "histogram": (histogram, {"at": (None,)}, {"at": (None,)}),
    "running": (running, {"x": ((0, 0), None)}, {"x": (0, None)}),
    "together": (together, {"x": (None, (2, 1))}, {"x": (None, 1)}),
    "prefix": (prefix, {"x": (None,)}, {"x": (None,)}),
    "round": (
        lambda: line(lambda i: ps.select(i > 0, i - 1, n - 1)),
        {"x": (None,)},
        {"x": (None,)},
    ),
    "turned": (turned, {"x": ((0, 1), (0, 0))}, {"x": (1, 0)}),
    "in place": (updated, {"a": ((0, 0),), "b": ((0, 3),)}, {"a": (0,), "b": (0,)}),
    "initial": (read_before, {"a": ((0, 2),)}, {"a": (0,)}),
    "Param": (by_param, {"x": ((1, 3),)}, {"x": (0,)}),
    "between at another pace": (paced, {"x": (None,)}, {"x": (None,)}),
    "between further out": (further, {"x": ((2, 2),)}, {"x": (0,)}),
    "two outputs": (two_outputs, {"x": ((4, 1),)}, {"x": (0,)}),
    "never read": (
        lambda: line(lambda i: 0 * i, 0, n),
        {"x": ((0, 0),)},
        {"x": (None,)},
    ),
    "extern": (
        lambda: ps.extern("s", np.sort, [ps.Input("x", ps.float32, (n,))], (n,), ps.float32),
        {"x": (None,)},
        {"x": (None,)},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_halos(name: str) -> None:
    make, reaches, axes = PROGRAMS[name]
    found = ps.halo(make())
    assert dict(found) == reaches
    assert found.axes == axes
    for x, each in found.items():
        assert [r is None for r in each] == [why is not None for why in found.reasons[x]]


REASONS: dict[str, tuple[Callable[[], Any], str, int, str]] = {
    "table": (table, "w", 0, "each point reads the same of it (w[r])"),
    "gather": (gather, "x", 0, "data say which elements are read (x[at[i]])"),
    "histogram": (histogram, "at", 0, "data say which elements are read (f[at[k]])"),
    "running": (running, "x", 1, "values of f follow from others of f, as far as these go back"),
    "paced": (paced, "x", 0, "no constant says how far from a point g is read"),
    "prefix": (prefix, "x", 0, "no constant says how far from a point it is read (x[k])"),
}


@pytest.mark.parametrize("name", REASONS)
def test_says_why_a_whole_axis_is_needed(name: str) -> None:
    make, x, axis, reason = REASONS[name]
    found = ps.halo(make())
    assert found.reasons[x][axis] == reason
    assert f"{x}, axis {axis}: the whole of it: {reason}" in str(found).splitlines()


def test_shows_what_there_is() -> None:
    assert str(ps.halo(turned())) == (
        "x, axis 0: 0 before, 1 behind, along axis 1 of the output\n"
        "x, axis 1: 0 before, 0 behind, along axis 0 of the output"
    )


def test_schedules_change_nothing() -> None:
    f = chain([("mirror", [(1, 0)]), ("repeat_edge", [(-2, 0)])], 1)
    s = ps.Schedule(f)
    s[f].split(i, 4)
    assert ps.halo(s) == ps.halo(f) == ps.halo(ps.Program(f)) == ps.halo([f])


@pytest.mark.slow
def test_long_chains_are_followed() -> None:
    f = chain([("repeat_edge", [(0, 1), (1, 0), (-1, 0)])] * 20, 2)
    assert ps.halo(f)["x"] == ((20, 20), (0, 20))


# refusals --------------------------------------------------------------------------------------
def diagonal() -> ps.Func:
    x, f = ps.Input("x", ps.int64, (n + m,)), ps.Func("f", (n, m))
    f[i, j] = x[i + j]
    return f


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "stride": (
        lambda: line(lambda i: 2 * i, n, 2 * n),
        "x[2 * i]: axis 0 of x moves by 2 elements for one along axis 0 of f",
    ),
    "stride of a constant extent": (
        lambda: line(lambda i: 3 * i, 8, 24),
        "x[3 * i]: axis 0 of x moves by 3 elements for one along axis 0 of f",
    ),
    "repeated": (
        lambda: line(lambda i: i // 2),
        "x[i // 2]: axis 0 of x moves by one element for 2 along axis 0 of f",
    ),
    "backwards": (
        lambda: line(lambda i: n - 1 - i),
        "x[n - 1 - i]: axis 0 of x runs backwards along axis 0 of f",
    ),
    "backwards at a constant extent": (
        lambda: line(lambda i: 7 - i, 8, 8),
        "x[7 - i]: axis 0 of x runs backwards along axis 0 of f",
    ),
    "diagonal": (diagonal, "x[i + j]: axis 0 of x moves with the axes 0 and 1 of f"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_what_parts_do_not_follow(name: str) -> None:
    make, what = REFUSED[name]
    with pytest.raises(ps.LanguageError) as refused:
        ps.halo(make())
    rest = ". So a part of f does not need the same part of x with some elements around it"
    assert refused.value.what == what + rest
    assert refused.value.hint == ("pass all of x, and ask for parts of f: region=((lo, hi), ...)")
    assert refused.value.where is not None


def test_refuses_an_axis_between_two() -> None:
    x, f = ps.Input("x", ps.int64, (15,)), ps.Func("f", (8, 8))
    f[i, j] = x[i + j]
    with pytest.raises(ps.LanguageError, match=r"x moves with the axes 0 and 1 of f\. So"):
        ps.halo(f)


def test_refuses_outputs_that_follow_other_axes() -> None:
    x = ps.Input("x", ps.float32, (n, n))
    f, g = ps.Func("f", (n, n)), ps.Func("g", (n, n))
    f[i, j], g[i, j] = x[i, j], x[j, i]
    with pytest.raises(ps.LanguageError) as refused:
        ps.halo((f, g))
    assert refused.value.what == (
        "axis 0 of x follows axis 0 of f, and axis 1 of g: outputs in parts need other parts of it"
    )
    assert refused.value.hint == "ask for them one by one: ps.halo(g)"


# against values --------------------------------------------------------------------------------
Stage = tuple[str, list[tuple[int, int]]]
STAGES = st.lists(
    st.tuples(
        st.sampled_from(BOUNDARIES),
        st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=3,
)


def chain(stages: list[Stage], rank: int) -> ps.Func:
    """Stencils one after the other: each reads what was computed before at some distances."""
    at, shape = (i, j)[:rank], (n, m)[:rank]
    before: Any = ps.Input("x", ps.int64, shape)
    for k, (kind, offsets) in enumerate(stages):
        source, f = extended(before, kind), ps.Func(f"f{k}", shape)
        f[at] = sum(
            source[tuple(v + o for v, o in zip(at, offset, strict=False))] for offset in offsets
        )
        before = f
    return before


def influence(kernel: Any, size: int) -> tuple[int, int]:
    """How far before and behind a point elements lie that change its value."""
    start = kernel(np.zeros(size, np.int64))
    changed = np.array([kernel(row) - start for row in np.eye(size, dtype=np.int64)])
    elements, points = np.nonzero(changed)
    before = points - elements
    return int(before.max(initial=0)), int((-before).max(initial=0))


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(STAGES)
def test_values_follow_from_the_halo(stages: list[Stage]) -> None:
    # What is computed first is read at the edges of what comes behind it.
    kernels = [ps.Schedule(chain(stages[k:], 1)).compile() for k in range(len(stages))]
    found = [influence(kernel, size) for kernel in kernels for size in (*range(1, 10), 20)]
    wanted = tuple(max(r[k] for r in found) for k in (0, 1))
    (reach,) = ps.halo(chain(stages, 1))["x"]
    assert reach is not None
    if any(kind == "mirror" for kind, _ in stages):
        # Of sizes that it mirrors more than once, isl knows only that elements are read.
        most = sum(max(abs(o) for o, _ in offsets) for _, offsets in stages)
        assert wanted[0] <= reach[0] <= most
        assert wanted[1] <= reach[1] <= most
    else:
        assert reach == wanted


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(STAGES.filter(lambda s: len(s) < 3))
@example([("repeat_edge", [(0, 0)]), ("constant", [(0, 0), (1, 1)])])  # edges met aslant
@example([("mirror", [(-1, 0), (-2, 1)])])  # a relation of many pieces
def test_of_two_axes_each_has_its_own(stages: list[Stage]) -> None:
    f = chain(stages, 2)
    across, along = (
        chain([(kind, [o[k:] for o in offsets]) for kind, offsets in stages], 1) for k in (0, 1)
    )
    assert ps.halo(f)["x"] == ps.halo(across)["x"] + ps.halo(along)["x"]
    assert ps.halo(f).axes["x"] == (0, 1)


@settings(max_examples=12, deadline=None)
@given(
    STAGES,
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
)
def test_parts_with_their_halos_are_the_whole(stages: list[Stage], parts: list[int]) -> None:
    f = chain(stages, 1)
    (before, behind) = ps.halo(f)["x"][0]
    x = np.random.default_rng(1).integers(-99, 99, sum(parts))
    ends = list(itertools.accumulate(parts, initial=0))
    found = []
    for lo, hi in itertools.pairwise(ends):
        first, last = max(0, lo - before), min(len(x), hi + behind)
        found.append(ps.interpret(f, x[first:last])[lo - first : hi - first])
    assert np.array_equal(np.concatenate(found), ps.interpret(f, x))


# other libraries -------------------------------------------------------------------------------
#: They are imported in one process.
with_libraries = pytest.mark.xdist_group("libraries")


def blurred() -> ps.Func:
    x = ps.Input("x", ps.float32, (n, m))
    e, across, f = ps.boundary.reflect(x), ps.Func("across"), ps.Func("f", (n, m))
    across[i, j] = (e[i, j - 1] + e[i, j] + e[i, j + 1]) / 3
    f[i, j] = (across[i - 2, j] + across[i, j] + across[i + 1, j]) / 3
    return f


PICTURE = np.random.default_rng(5).random((41, 23), np.float32)


@pytest.mark.slow  # to import Dask takes longer than all else here
@with_libraries
@pytest.mark.parametrize("chunks", [(41, 23), (7, 23), (10, 5), ((20, 1, 20), (3, 20))], ids=str)
def test_dask_computes_parts_that_overlap(chunks: Any) -> None:
    dask = pytest.importorskip("dask.array")
    f = blurred()
    x = dask.from_array(PICTURE, chunks=chunks)
    depth = ps.halo(f)["x"]
    found = x.map_overlap(f, depth=depth, boundary="none", dtype=x.dtype, meta=PICTURE[:0, :0])
    assert found.compute(scheduler="threads").tobytes() == f(PICTURE).tobytes()


@with_libraries
@pytest.mark.slow
def test_a_smaller_depth_is_not_enough() -> None:
    dask = pytest.importorskip("dask.array")
    f = blurred()
    x = dask.from_array(PICTURE, chunks=(7, 23))
    for less in (((1, 1), (1, 1)), ((2, 0), (1, 1))):
        made = x.map_overlap(f, depth=less, boundary="none", dtype=x.dtype, meta=PICTURE[:0, :0])
        assert made.compute(scheduler="threads").tobytes() != f(PICTURE).tobytes()


@with_libraries
def test_xarray_calls_programs() -> None:
    xarray = pytest.importorskip("xarray")
    f = blurred()
    labelled = xarray.DataArray(
        PICTURE, dims=("y", "x"), coords={"y": np.arange(41)}, name="picture"
    )
    core = [["y", "x"]]
    found = xarray.apply_ufunc(f, labelled, input_core_dims=core, output_core_dims=core)
    assert found.dims == ("y", "x")
    assert found.coords["y"].equals(labelled.coords["y"])
    assert found.values.tobytes() == f(PICTURE).tobytes()
    turned = xarray.apply_ufunc(
        f, labelled.transpose("x", "y"), input_core_dims=core, output_core_dims=core
    )
    assert turned.values.tobytes() == f(PICTURE).tobytes()


@with_libraries
def test_xarray_and_dask_call_programs_on_parts() -> None:
    xarray, _ = pytest.importorskip("xarray"), pytest.importorskip("dask.array")
    f = blurred()
    labelled = xarray.DataArray(PICTURE, dims=("y", "x")).chunk({"y": 9, "x": 6})
    depth = ps.halo(f)["x"]
    found = xarray.apply_ufunc(
        lambda x: x.map_overlap(
            f, depth=depth, boundary="none", dtype=x.dtype, meta=PICTURE[:0, :0]
        ),
        labelled,
        dask="allowed",
    )
    assert found.compute(scheduler="threads").values.tobytes() == f(PICTURE).tobytes()


@with_libraries
def test_dask_computes_rows_of_a_product() -> None:
    """An axis that no output follows is passed as a whole."""
    dask = pytest.importorskip("dask.array")
    f = product()
    halo = ps.halo(f)
    assert (halo["A"][0], halo["B"][0]) == ((0, 0), None)
    a, b = PICTURE, PICTURE.T.copy()
    rows = dask.from_array(a, chunks=(7, -1))
    found = rows.map_blocks(f, B=b, dtype=a.dtype, meta=a[:0, :0], chunks=(rows.chunks[0], (41,)))
    assert found.compute(scheduler="threads").tobytes() == f(a, b).tobytes()
