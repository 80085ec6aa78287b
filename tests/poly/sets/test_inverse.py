"""Which instance runs in an iteration: as one would write it, and always the right one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

import polysched as ps
from polysched.poly.sets.inverse import values_of
from polysched.poly.sets.isl import Map, isl

n, m = ps.sizes("n m")
x, z, c = ps.vars("x z c")


def cube() -> ps.Schedule:
    f = ps.Func("f", (n, 9, 2), ps.int32)
    f[x, z, c] = x + z * c
    return ps.Schedule(f)


def gives(inverse: Map) -> bool:
    """Whether the values are those of the map, wherever it has some."""
    out, count = isl.dim_type.out, inverse.dim(isl.dim_type.out)
    alone = [
        inverse.project_out(out, k + 1, count - k - 1).project_out(out, 0, k) for k in range(count)
    ]
    values = values_of(inverse, inverse.as_pw_multi_aff())
    found = [Map.from_pw_aff(v).intersect_domain(inverse.domain()) for v in values]
    return all(a.is_equal(b) for a, b in zip(alone, found, strict=True))


def test_digits_of_loops_that_were_fused() -> None:
    s = cube()
    s["f"].fuse("x", s["f"].fuse("z", "c"))
    assert "# x = xzc // 18, z = xzc // 2 - xzc // 18 * 9, c = xzc - xzc // 2 * 2" in str(s)


def test_digits_of_a_loop_that_was_split_again() -> None:
    s = cube()
    s["f"].split(s["f"].fuse("x", s["f"].fuse("z", "c")), 16)
    assert "select" not in str(s)


def test_fused_rows_of_vectors_are_contiguous() -> None:
    """No lane is by itself: what is stored is one vector."""
    s = cube()
    s["f"].vectorize(s["f"].fuse("x", s["f"].fuse("z", "c")), 16)
    text = s.compile().llvm
    assert "store <16 x i32>" in text
    assert "scatter" not in text


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.lists(st.integers(-2, 2), min_size=4, max_size=4),
    st.integers(1, 7),
)
def test_digits_are_the_map(extents: list[int], first: list[int], factor: int) -> None:
    """Loops over any ranges, the outermost one of any length, fused and split."""
    dims = [f"d{k}" for k in range(len(extents) + 1)]
    bounds = [
        f"{lo} <= {d} < {lo + e}" for d, lo, e in zip(dims[1:], first[1:], extents, strict=False)
    ]
    total = dims[0]
    for d, e in zip(dims[1:], extents, strict=True):
        total = f"({total}) * {e} + {d}"
    where = " and ".join([f"{first[0]} <= {dims[0]} < {first[0]} + n", *bounds])
    loops = f"floor(({total}) / {factor}), ({total}) mod {factor}"
    assert gives(Map(f"[n] -> {{ [{', '.join(dims)}] -> [{loops}] : {where} }}").reverse())


@pytest.mark.parametrize(
    "text",
    [
        "[n] -> { [x, y] -> [x + y, x - y] : 0 <= x, y < n }",
        "[n] -> { [x, y] -> [2x + 3y] : 0 <= x < n and y = 2 }",
        "[n] -> { [x, y] -> [floor(x / 3), x mod 3, y] : 0 <= x, y < n }",
        "[n] -> { [x] -> [floor(x / 2)] : 0 <= x < n and x mod 2 = 1 }",
        "[n] -> { [x, y] -> [3x + y] : 0 <= x < n and 0 <= y <= 2 and (x + y) mod 2 = 0 }",
        "[n] -> { [x, y] -> [2x + y] : 0 <= x < n and 0 <= y <= 3 and y mod 3 = 0 }",
        "[n] -> { [x, y] -> [4x - y] : 0 <= x < n and 0 <= y < 4 }",
        "[n] -> { [x] -> [x] : 0 <= x < n; [x] -> [x + 5] : n <= x < 2n }",
    ],
)
def test_other_maps_are_what_isl_says(text: str) -> None:
    assert gives(Map(text).reverse())
