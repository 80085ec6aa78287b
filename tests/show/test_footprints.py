"""Footprints: which elements one iteration of a loop touches, compared with the executed loops."""

from __future__ import annotations

from typing import Any

import pytest

import polysched as ps
from polysched.checking.arguments import random_arguments
from polysched.checking.execute import Machine, Path, Touch, Write
from polysched.checking.subject import module_of
from polysched.interp.evaluate import Symbols
from polysched.lang.call.binding import bind
from polysched.show import footprint
from polysched.show.spaces.footprint import Footprint, Touched

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


def product() -> ps.Schedule:
    a, b = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    c = ps.Func("C", (n, m))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    return ps.Schedule(c)


def blur() -> ps.Schedule:
    x = ps.Input("x", ps.uint8, (n + 2, m + 2))
    rows, f = ps.Func("rows"), ps.Func("f", (n, m))
    rows[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    f[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]
    return ps.Schedule(f)


class Elements:
    """Notes the elements that are touched where the outermost loops are in their first iteration,
    from a statement at the root on."""

    def __init__(self, nest: int, loops: int) -> None:
        self.nest, self.loops = nest, loops
        self.reads: dict[str, set[tuple[int, ...]]] = {}
        self.writes: dict[str, set[tuple[int, ...]]] = {}

    def joint(self, path: Path, writes: list[Write]) -> None:
        nest = next(at for kind, at in path if kind == "seq")
        coordinates = [at for kind, at in path if kind not in ("seq", "lanes")]
        if nest == self.nest and not any(coordinates[: self.loops]):
            for w in writes:
                self.writes.setdefault(w.to.buffer.name, set()).add(w.to.element)
                for r in w.reads:
                    self.reads.setdefault(r.buffer.name, set()).add(r.element)

    def looked(self, path: Path, reads: list[Touch]) -> None:
        pass

    def wrong(self, kind: str, text: str) -> None:
        raise AssertionError(f"{kind}: {text}")


def executed(s: ps.Schedule, nest: int, loops: int, sizes: dict[str, int]) -> Elements:
    binding = bind(s.program, (), random_arguments(s.program, sizes))
    start = {s.program.names[t]: a.copy() for t, a in binding.arrays.items()}
    found = Elements(nest, loops)
    symbols = Symbols(binding.sizes, binding.params)
    Machine(module_of(s), symbols, start, found).run()
    return found


def touched(made: Footprint) -> dict[str, Touched]:
    return {x.tensor: x for x in made.touched}


@pytest.mark.parametrize("loop", ["io", "jo", "ii", "k"])
def test_a_tile_of_a_product_touches_what_the_loops_touch(loop: str) -> None:
    s = product()
    s["C.update(0)"].tile(i, j, 2, 3)
    sizes = {"n": 5, "m": 7, "l": 4}
    made = footprint(s, "C.update(0)", loop, **sizes).data
    assert set(made.iteration.values()) == {0}
    found = executed(s, 1, len(made.iteration), sizes)
    assert {x.tensor: x.reads for x in made.touched if x.reads} == found.reads
    assert {x.tensor: x.writes for x in made.touched if x.writes} == found.writes


def test_what_is_computed_in_a_tile_counts() -> None:
    s = blur()
    s["f"].tile(i, j, 2, 4)
    s["rows"].compute_at("f", "jo")
    sizes = {"n": 4, "m": 8}
    made = footprint(s, "f", "jo", **sizes).data
    found = executed(s, 0, 2, sizes)
    assert made.stages == ("rows", "f")
    of = touched(made)
    assert of["x"].reads == found.reads["x"] == {(a, b) for a in range(4) for b in range(6)}
    assert of["rows"].writes == of["rows"].reads == {(a, b) for a in range(4) for b in range(4)}
    assert of["f"].writes == found.writes["f"]
    assert of["rows"].lines is None  # it has storage of its own in each iteration
    inner = touched(footprint(s, "f", "ii", **sizes).data)
    assert set(inner) == {"rows", "f"}


def test_bytes_and_cache_lines_are_those_of_rows_in_memory() -> None:
    s = product()
    s["C.update(0)"].tile(i, j, 4, 16)
    s = s.for_target("x86-64-v3")
    made = footprint(s, "C.update(0)", "jo", n=8, m=32, l=32).data
    a, b, c = (touched(made)[name] for name in "ABC")
    assert (len(a.reads), len(b.reads), len(c.writes)) == (4 * 32, 32 * 16, 4 * 16)
    assert (a.bytes, b.bytes, c.bytes) == (512, 2048, 256)
    assert (a.lines, b.lines, c.lines) == (4 * 2, 32, 4)
    assert made.bytes == 512 + 2048 + 256
    assert made.fits == "L1 (32 KiB)"
    assert all(x.is_exact for x in made.touched)


def test_lines_follow_the_order_of_axes_in_memory() -> None:
    f, g = ps.Func("f"), ps.Func("g", (n, m))
    f[i, j] = i * ps.cast(ps.float32, j)
    g[i, j] = f[i, j] + f[i, j]
    s = ps.Schedule(g)
    s["f"].compute_root()
    rows = touched(footprint(s, "g", i, n=16, m=16).data)["f"]
    s["f"].reorder_storage(1, 0)
    columns = touched(footprint(s, "g", i, n=16, m=16).data)["f"]
    assert (rows.lines, columns.lines) == (1, 16)


def test_a_full_tile_is_drawn_where_the_first_one_is_smaller() -> None:
    f = ps.Func("f", (n, n))
    f[i, j] = 0
    r, q = ps.RVar("r", 0, n), ps.RVar("q", 0, n)
    q = ps.RVar("q", 0, r)
    f[r, q] += 1
    s = ps.Schedule(f)
    made = footprint(s, "f.update(0)", "r", n=5).data
    assert dict(made.iteration) == {"r": 4}
    assert touched(made)["f"].writes == {(4, b) for b in range(4)}


def test_what_data_decide_is_said_to_be_all_that_may_be() -> None:
    image = ps.Input("image", ps.uint8, (n,))
    r = ps.RVar("r", 0, n)
    h = ps.Func("h", (256,))
    h[i] = 0
    h[image[r]] += 1
    made = footprint(ps.Schedule(h), "h.update(0)", "r", n=3)
    of = touched(made.data)
    assert not of["h"].is_exact
    assert len(of["h"].writes) == 256
    assert of["image"].reads == {(0,)}
    assert any("Which elements of h are touched is decided by data" in x for x in made.notes)
    assert "Along axis 0, h has 256 elements; 0 to 63 are drawn" in made.notes[0]


def test_of_three_axes_one_slice_is_drawn_and_said() -> None:
    x = ps.Input("x", ps.float64, (n, m, l))
    k = ps.vars("k")
    f = ps.Func("f", (n, m, l))
    f[i, j, k] = x[i, j, k] + 1
    s = ps.Schedule(f)
    s["f"].split(i, 2)
    made = footprint(s, "f", "io", n=4, m=3, l=2)
    assert len(touched(made.data)["x"].reads) == 12
    assert "Of x, 2 slices are touched; one is drawn." in made.notes
    assert "x[0, :, :]" in made.svg


@pytest.mark.parametrize(
    ("draw", "error", "says"),
    [
        (lambda s: footprint(s, "C", "zz"), ps.ScheduleError, "C has no loop zz"),
        (lambda s: footprint(s, "D", i), ps.ScheduleError, "there is no stage D"),
        (lambda s: footprint(s, "C", i, q=1), ps.LanguageTypeError, "q is no size"),
        (
            lambda s: footprint(s, "C", i, n=3, m=90000, l=2),
            ps.ScheduleError,
            "too many elements of C",
        ),
    ],
)
def test_what_is_not_there_or_too_large_is_refused(
    draw: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        draw(product())
