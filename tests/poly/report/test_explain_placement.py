"""explain and print: where Funcs are computed and stored, how large, and how often they run."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.poly.report.recomputation import Recomputation, recomputation
from polysched.poly.tree.edits import stages

from ..placing import blur, chain, i, j, n, ran, row_sums
from .test_explain import sections


def notes(s: ps.Schedule) -> list[str]:
    """What is noted of storage, which a listing ends with, too."""
    found = [x for x in sections(s)["notes"] if "is stored" in x]
    assert [f"  note: {x}" for x in found] == [x for x in str(s).splitlines() if "is stored" in x]
    return found


# where ------------------------------------------------------------------------------------------
def test_at_the_root() -> None:
    assert "placement" not in sections(blur())


def test_in_tiles() -> None:
    """Ten rows where eight are new."""
    s = blur()
    s["by"].tile(i, j, 8, 8)
    s["bx"].compute_at("by", "jo")
    found = sections(s)
    assert found["placement"] == [
        "bx: computed at jo for by, stored there, runs each instance 1.15 times "
        "(720 for 624, at n=24, m=24)"
    ]
    assert found["storage"] == ["bx: float32[10, 8]"]
    assert notes(s) == []


def test_a_window_that_slides() -> None:
    s = blur()
    s["bx"].compute_at("by", i).store_root()
    found = sections(s)
    assert found["placement"] == [
        "bx: computed at i for by, stored outside of all loops, slides, runs each instance once"
    ]
    assert found["storage"] == ["bx: float32[n + 2, m], 3 kept along axis 0"]
    assert notes(s) == []


def test_a_window_that_slides_in_blocks() -> None:
    s = blur()
    s["by"].split(i, 8)
    s["bx"].compute_at("by", "ii").store_at("by", "io")
    found = sections(s)
    assert found["placement"] == [
        "bx: computed at ii for by, stored in io, slides, runs each instance 1.15 times "
        "(720 for 624, at n=24, m=24)"
    ]
    assert found["storage"] == ["bx: float32[10, m], 3 kept along axis 0"]


def test_what_does_not_slide() -> None:
    """Sums along rows are not computed one element at a time."""
    s = row_sums(2)
    s["f"].split(i, 8)
    s["c"].compute_at("f", "io").store_root()
    found = sections(s)
    assert found["placement"] == [
        "c: computed at io for f, stored outside of all loops, runs each instance 1.15 times "
        "(1410 for 1222, at n=24, m=24)"
    ]
    assert found["storage"] == ["c: int64[n + 2, m], 10 kept along axis 0"]


def test_several_readers() -> None:
    x, f = ps.Input("x", ps.int64, (n + 1,)), ps.Func("f")
    g, h = ps.Func("g", (n,)), ps.Func("h", (n,))
    f[i] = x[i] * 2
    g[i] = f[i] + f[i + 1]
    h[i] = f[i] * 3
    s = ps.Schedule((g, h))
    s["h"].compute_with("g", i)
    s["f"].compute_at("g", i)
    assert sections(s)["placement"] == [
        "f: computed at i for g and h, stored there, runs each instance 1.92 times "
        "(48 for 25, at n=24)"
    ]


# storage that moves -----------------------------------------------------------------------------
def test_storage_that_moves_into_a_parallel_loop() -> None:
    s = blur()
    s["bx"].compute_at("by", i).store_root()
    s["by"].parallel(i)
    assert notes(s) == ["bx is stored in i: iterations of i run concurrently"]
    assert sections(s)["placement"] == [
        "bx: computed at i for by, stored there, runs each instance 2.77 times "
        "(1728 for 624, at n=24, m=24)"
    ]


def test_storage_of_each_part_of_a_loop() -> None:
    s = blur()
    s["bx"].compute_at("by", i).store_root()
    s["by"].peel(i, first=1)
    assert notes(s) == ["bx is stored for each part: the loop around it was taken apart"]
    assert sections(s)["placement"] == [
        "bx: computed at i for by.first, stored outside of all loops, slides; "
        "computed at i for by, stored outside of all loops, slides, "
        "runs each instance 1.08 times (672 for 624, at n=24, m=24)"
    ]


# counts -----------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("k", [0, 1, 2])
def test_counts_are_what_runs(k: int) -> None:
    """At the sizes that are named, the loops run as many instances as were counted."""
    s = chain(3)
    s["f2"].split(i, 5)
    s["f1"].compute_at("f2", "io")
    s["f0"].compute_at("f1", i)
    name = f"f{k}"
    own = [x for x in stages(s.tree) if x.name == name]
    found = recomputation(own, s.accepted)
    assert found is not None
    report = ran(s, **found.sizes)
    assert found.distinct == report.distinct[name]
    if k == 2:
        assert str(found) == "runs each instance once"
    else:
        assert found.total == 24 * {0: 3 * (7 * 4 + 6), 1: 7 * 4 + 6}[k]


@pytest.mark.slow
def test_fewer_where_there_are_too_many() -> None:
    """Five loops of 24 iterations are too many instances to count."""
    x, g = ps.Input("x", ps.int64, (n, n, n, n, n)), ps.Func("g")
    f = ps.Func("f", (n, n, n, n, n))
    a, b, c, d, e = ps.vars("a b c d e")
    g[a, b, c, d, e] = x[a, b, c, d, e] * 2
    f[a, b, c, d, e] = g[a, b, c, d, e] + g[n - 1 - a, b, c, d, e]
    s = ps.Schedule(f)
    s["g"].compute_at("f", a)
    (line,) = sections(s)["placement"]
    assert line.endswith("runs each instance 2.00 times (15552 for 7776, at n=6)")


def test_as_text() -> None:
    assert str(Recomputation(3, 3, {"n": 1})) == "runs each instance once"
    assert str(Recomputation(3, 2, {})) == "runs each instance 1.50 times (3 for 2)"
