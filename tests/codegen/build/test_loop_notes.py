"""Notes beside vector loops: a listing says "gathers" if and only if lanes load one by one in the
code, and "scatters" if and only if they store so."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import polysched as ps

n, m = ps.sizes("n m")
i, j, v, c = ps.vars("i j v c")
x = ps.Input("x", ps.float32, (n, m))
flat = ps.Input("flat", ps.float32, (4096,))
points = ps.Input("points", ps.float32, (n, 3))
wide = ps.Input("wide", ps.float32, (n, 9))
at = ps.Input("at", ps.int32, (n,), range=(0, n))
permuted = ps.Input("permuted", ps.float32, (m, n))

SIZE = 64
LANES = 8

#: A lane that is put into a vector, or taken out of it, one after the other; not the first, which
#: begins one element in all lanes too.
_LANES_IN = re.compile(r"insertelement <\d+ x (?!i1\b)\w+> %[^,]+, [^,]+, i\d+ [1-9]")
_STORED = re.compile(r"extractelement <\d+ x float> %[^,]+, i\d+ [1-9]")


def gathers(kernel: ps.Kernel) -> bool:
    return "masked.gather" in kernel.llvm or bool(_LANES_IN.search(kernel.llvm))


def scatters(kernel: ps.Kernel) -> bool:
    return "masked.scatter" in kernel.llvm or bool(_STORED.search(kernel.llvm))


def vectorized(value: Callable[[], ps.Expr], loop: ps.Expr) -> ps.Schedule:
    f = ps.Func("f", (n, m))
    f[i, j] = value()
    s = ps.Schedule(f)
    s[f].vectorize(loop, LANES)
    return s


def vector_line(s: ps.Schedule) -> str:
    (line,) = (x for x in str(s).splitlines() if "(vector):" in x)
    return line


CASES: dict[str, tuple[Callable[[], ps.Expr], ps.Expr, str]] = {
    "contiguous": (lambda: x[i, j], j, ""),
    "backwards": (lambda: x[i, m - 1 - j], j, ""),
    "one for all": (lambda: x[i, 0] + at[i], j, ""),
    "shifted within": (lambda: x[i, ps.minimum(j + 1, m - 1)], j, ""),
    "both ends clamped": (lambda: x[i, ps.clip(j - 1, 0, m - 1)], j, ""),
    "every second": (lambda: flat[2 * j], j, ""),
    "every fourth": (lambda: flat[4 * j], j, ""),
    "each twice": (lambda: x[i, j // 2], j, ""),
    "every fifth": (lambda: flat[5 * j], j, "gathers flat"),
    "across rows": (lambda: x[i, j], i, "gathers x; scatters f"),
    "transposed": (lambda: permuted[j, i], j, "gathers permuted"),
    "by data": (lambda: x[i, at[j]], j, "gathers x"),
    "by data, and one that is not": (lambda: x[i, at[j]] + x[i, j], j, "gathers x"),
    "rows by data": (lambda: x[at[i], j], j, ""),
    "a product": (lambda: flat[ps.clip(j * j, 0, 4095)], j, "gathers flat"),
    "where data say so": (lambda: ps.select(x[i, j] > 0, permuted[j, i], 0), j, "gathers permuted"),
    "contiguous where data say so": (lambda: ps.select(x[i, j] > 0, x[i, at[0]], 0), j, ""),
    "an arm that full vectors lack": (lambda: ps.select(j < m, x[i, j], permuted[j, i]), j, ""),
    "components": (lambda: points[i, 1], i, "scatters f"),
    "many components": (lambda: wide[i, 1], i, "gathers wide; scatters f"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "loop", "said"), CASES.values(), ids=CASES)
def test_what_is_said_is_what_is_emitted(
    value: Callable[[], ps.Expr], loop: ps.Expr, said: str
) -> None:
    s = vectorized(value, loop).fixed({"n": SIZE, "m": SIZE})
    kernel = s.compile()
    line = vector_line(s)
    assert line.endswith(f"  # {said}" if said else "(vector):")
    assert ("gathers" in line) == gathers(kernel)
    assert ("scatters" in line) == scatters(kernel)


@pytest.mark.parametrize(("value", "loop", "said"), CASES.values(), ids=CASES)
def test_the_same_is_said_for_all_sizes(
    value: Callable[[], ps.Expr], loop: ps.Expr, said: str
) -> None:
    line = vector_line(vectorized(value, loop))
    assert line.endswith(f"  # {said}" if said else "(vector):")


PIXELS: dict[str, tuple[str, Callable[[ps.Stage], object], str]] = {
    "channels inside": ("plain", lambda f: f.vectorize(i, LANES).unroll(c), ""),
    "channels outside": ("plain", lambda f: f.reorder(c, i).vectorize(i, LANES).unroll(c), "each"),
    "channels around vectors": (
        "plain",
        lambda f: (f.split(i, LANES, names=("io", "ii")), f.reorder("io", c, "ii").unroll(c),
                   f.vectorize("ii")), "",
    ),
    "a loop over channels": ("plain", lambda f: f.vectorize(i, LANES), "each"),
    "half of the channels": (
        "plain", lambda f: (f.split(c, 3, names=("co", "ci")), f.vectorize(i, LANES).unroll("ci")),
        "each",
    ),
    "streamed": ("plain", lambda f: f.vectorize(i, LANES).unroll(c).stream(), "each"),
    "lanes that are no power of two": ("plain", lambda f: f.vectorize(i, 6).unroll(c), "each"),
    "too many channels": ("many", lambda f: f.vectorize(i, LANES).unroll(c), "each"),
}  # fmt: skip


@pytest.mark.parametrize(("which", "said", "wanted"), PIXELS.values(), ids=PIXELS)
def test_channels_that_are_unrolled_are_stored_together(
    which: str, said: Callable[[ps.Stage], object], wanted: str
) -> None:
    """Vectors over pixels: each lane stores its own element, or all channels are stored at once."""
    count = 6 if which == "plain" else 40
    planes = ps.Input("planes", ps.float32, (count, n))
    f = ps.Func("f", (n, count))
    f[i, c] = planes[c, i] + 1
    s = ps.Schedule(f)
    said(s[f])
    kernel = s.fixed({"n": 48}).compile()
    assert ("scatters f" in str(s)) == bool(wanted)
    assert scatters(kernel) == bool(wanted)


def test_explain_says_it_below_the_stage() -> None:
    lines = vectorized(lambda: x[i, j], i).explain().splitlines()
    assert "    ii gathers x; scatters f" in lines


def test_storage_of_a_func_is_that_of_the_code() -> None:
    """A column of three is near; one of nine is not, unless its axes are exchanged."""
    for width, order, said in ((3, (), ""), (9, (), "gathers g"), (9, (j, i), "")):
        g = ps.Func("g", (n, width))
        g[i, j] = x[i, j] + 1
        f = ps.Func("f", (n,))
        f[i] = g[i, 0] + g[i, width - 1]
        s = ps.Schedule(f)
        s[f].vectorize(i, LANES)
        if order:
            s[g].reorder_storage(*order)
        s = s.fixed({"n": SIZE, "m": SIZE})
        assert vector_line(s).endswith(f"  # {said}" if said else "(vector):")
        assert gathers(s.compile()) == bool(said)


def test_storage_inside_of_a_loop() -> None:
    g = ps.Func("g")
    g[i, j] = x[i, j] + 1
    f = ps.Func("f", (m, n))
    f[j, i] = g[i, j] + g[i, j]
    s = ps.Schedule(f)
    s[g].compute_root()
    _, io, _, ii = s[f].tile(j, i, 8, 8)
    s[g].compute_at(f, io).vectorize("j", LANES)
    s[f].vectorize(ii)
    s = s.fixed({"n": SIZE, "m": SIZE})
    said = [line.partition("  # ")[2] for line in str(s).splitlines() if "(vector)" in line]
    assert said == ["", "gathers g"]
    assert gathers(s.compile())


def test_an_accumulation_of_all_lanes_is_one_value() -> None:
    k = ps.RVar("k", 0, m)
    total = ps.Func("total", (n,), dtype=ps.int32)
    total[i] = 0
    total[i] += ps.cast(ps.int32, x[i, k])
    s = ps.Schedule(total)
    s[total].update(0).vectorize(k, LANES)
    assert vector_line(s).endswith("(vector):")


def test_lanes_that_may_meet_run_one_after_the_other() -> None:
    k = ps.RVar("k", 0, n)
    count = ps.Func("count", (n,), dtype=ps.int32)
    count[i] = 0
    count[at[k]] += 1
    s = ps.Schedule(count)
    s[count].update(0).vectorize(k, LANES)
    line = vector_line(s)
    assert line.endswith("  # runs one lane after the other: count.update(0)")
    assert f"<{LANES} x" not in s.fixed({"n": SIZE}).compile().llvm


@pytest.mark.parametrize("together", [False, True])
def test_loops_that_lanes_run_differently_are_masks(together: bool) -> None:
    """A triangle of rows: what one lane still reads, another does not. An element that is the same
    for all is loaded once, where any lane reads it; others are gathered under a mask."""
    for lo, said in ((0, ""), (i // 3, "" if together else "gathers x")):
        k = ps.RVar("k", lo, n)
        f = ps.Func("f", (n,), dtype=ps.float32)
        f[i] = 0.0
        f[i] += x[0, k] if together else x[(i * i) % n, k] if said else x[0, k]
        s = ps.Schedule(f)
        s[f].update(0).reorder(i, k).vectorize(i, LANES)
        s = s.fixed({"n": SIZE, "m": SIZE})
        assert vector_line(s).endswith(f"  # {said}" if said else "(vector):")
        assert gathers(s.compile()) == bool(said)


def sums(lanes: ps.Expr, order: tuple[ps.Expr, ...] = ()) -> ps.Schedule:
    """Sums of 8 rows by 8 columns in private accumulators, rows or columns in lanes."""
    k = ps.RVar("k", 0, m)
    f = ps.Func("f", (n, n))
    f[i, j] = 0
    f[i, j] += permuted[k, i] * permuted[k, j]
    s = ps.Schedule(f)
    u = s[f].update(0)
    (other,) = {"i", "j"} - {lanes.name}
    for loop in ("i", "j"):
        u.split(loop, LANES, names=(f"{loop}o", f"{loop}i"))
    u.reorder("io", "jo", "k", f"{other}i", f"{lanes.name}i")
    u.vectorize(f"{lanes.name}i").unroll(f"{other}i").accumulate_at("jo")
    if order:
        s[f].reorder_storage(*order)
    return s


@pytest.mark.parametrize(
    ("lanes", "order", "said"),
    [(i, (), ""), (j, (), ""), (i, (i, j), "gathers f; scatters f"), (i, (j, i), ""),
     (j, (i, j), ""), (j, (j, i), "gathers f; scatters f")],
)  # fmt: skip
def test_lanes_that_accumulate_lie_side_by_side(
    lanes: ps.Expr, order: tuple[ps.Expr, ...], said: str
) -> None:
    """Unless another order is asked for."""
    s = sums(lanes, order).fixed({"n": SIZE, "m": SIZE})
    assert vector_line(s).endswith(f"  # {said}" if said else "(vector):")
    blocks = re.split(r"\n(?=\S+:)", s.compile().llvm)
    summing = max(blocks, key=lambda block: len(re.findall(r"fmul|fmuladd|llvm\.fma", block)))
    one_by_one = _STORED.search(summing) or _LANES_IN.search(summing)
    assert bool(one_by_one) == bool(said)
