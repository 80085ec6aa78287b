"""Directives that say how Funcs lie in memory, and hints about caches."""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.checking.examine import check
from polysched.codegen.build import storage
from polysched.codegen.ir.ir import Buffer
from polysched.codegen.ir.text import module_text
from polysched.poly.tree.memory import LARGEST, STACK

from .cases import i, j, m, n, product
from .support import listed, refused, same

ODD = (0, 1, 2, 9, 13)


def rows(dtype: ps.DType = ps.int64) -> ps.Schedule:
    """f reads two rows of g."""
    x = ps.Input("x", dtype, (n + 1, m))
    g, f = ps.Func("g", (n + 1, m)), ps.Func("f", (n, m))
    g[i, j] = x[i, j] * 2
    f[i, j] = g[i, j] + g[i + 1, j]
    return ps.Schedule(f)


def tiles(dtype: ps.DType = ps.int64) -> ps.Schedule:
    """The same in tiles of 4 x 8, with storage of their own for g."""
    s = rows(dtype)
    s["f"].tile(i, j, 4, 8)
    s["g"].compute_at("f", "jo")
    return s


def packed(rows: int = 2, columns: int = 4) -> ps.Schedule:
    """A matrix product in tiles that are kept, of operands that are copied in their order."""
    C = product()
    s = ps.Schedule(C)
    u = s["C"].update(0)
    A, B = s.program.inputs
    with s.batch():
        io, ii = u.split(i, rows, tail="pad")
        jo, ji = u.split(j, columns, tail="pad")
        u.reorder(io, jo, "k", ii, ji)
        s["C"].compute_at(u, jo)
        u.accumulate_at(jo)
        u.stage(B, at=jo, layout=("k", ji), pad=True)
        u.stage(A, at=io, layout=("k", ii), pad=True)
    u.vectorize(ji).unroll(ii)
    s["C"].unroll(i).unroll(j)
    return s


def sums(dtype: ps.DType = ps.int64) -> ps.Schedule:
    """One number from many."""
    x, total, k = ps.Input("x", dtype, (n,)), ps.Func("total", ()), ps.RVar("k", 0, n)
    total[()] = 0 if dtype.is_int else 0.0
    total[()] += x[k]
    return ps.Schedule(total)


def histogram() -> ps.Schedule:
    pixels, H = ps.Input("pixels", ps.uint8, (n, m)), ps.Func("H", (256,), ps.int32)
    r, c = ps.rdom("r c", (0, n), (0, m))
    H[i] = 0
    H[pixels[r, c]] += 1
    return ps.Schedule(H)


def buffer(s: ps.Schedule, name: str) -> Buffer:
    return next(b for b in s.compile()._lowered.module.buffers if b.name == name)


def flat(s: ps.Schedule) -> str:
    """The loop IR, where an element has one offset."""
    return module_text(s.compile()._lowered.flat)


def scratch(s: ps.Schedule, **sizes: int) -> list[int]:
    """The bytes of each intermediate that a call finds memory for."""
    return list(s.compile()._variants[False].bytes(sizes))


def on_stack(s: ps.Schedule) -> list[str]:
    """What LLVM is asked to put on the stack."""
    return re.findall(r"= alloca (\[\d+ x \w+\])", s.compile().llvm)


def hints(s: ps.Schedule) -> int:
    """How often LLVM is told to fetch."""
    return s.compile().llvm.count("call void @llvm.prefetch")


def lines(s: ps.Schedule) -> list[str]:
    return [x.strip() for x in str(s).splitlines()]


def explained(s: ps.Schedule) -> list[str]:
    return [x.strip() for x in s.explain().splitlines()]


# the order of axes ------------------------------------------------------------------------------
@pytest.mark.slow
def test_rows_of_columns() -> None:
    s = rows()
    assert "g[i * m + j]" in flat(s)
    assert s["g"].reorder_storage(j, i).name == "g"
    assert "g[j * (n + 1) + i]" in flat(s)
    assert "stores g as [j, i]" in lines(s)
    assert "g: int64[n + 1, m], as [j, i]" in explained(s)
    same(s, over=ODD)


def test_axes_by_number_and_the_last_order_counts() -> None:
    s = rows()
    s["g"].reorder_storage(1, 0).reorder_storage(0, 1)
    assert "g[i * m + j]" in flat(s)
    assert "stores g as [i, j]" in lines(s)


@pytest.mark.slow
def test_three_axes() -> None:
    x, k = ps.Input("x", ps.int64, (n, m, 3)), ps.vars("k")
    g, f = ps.Func("g", (n, m, 3)), ps.Func("f", (n, m))
    g[i, j, k] = x[i, j, k] + 1
    f[i, j] = g[i, j, 0] * g[n - 1 - i, j, 2]
    s = ps.Schedule(f)
    s["g"].reorder_storage(k, i, j)
    same(s, over=ODD)
    assert "g[(k * n + i) * m + j]" in flat(s)


@pytest.mark.slow
def test_planes_that_are_folded_in_another_order() -> None:
    s = rows()
    s["g"].compute_at("f", i).store_root()
    s["g"].reorder_storage(j, i)
    assert "g[j.2 * 2 + (i + 1) % 2]" in flat(s)
    same(s, over=ODD)


def test_refuses_axes_that_are_no_permutation() -> None:
    s = rows()
    for axes in ((j,), (0, 0), (0, 1, 2), (-1, 0)):
        with refused(
            s, "is no order of the 2 axes of g", hint="each axis once, outermost first",
            status="malformed",
        ):  # fmt: skip
            s["g"].reorder_storage(*axes)


def test_refuses_a_var_of_no_axis() -> None:
    s = rows()
    with refused(s, "k is no axis of g", hint="a number, or its Var"):
        s["g"].reorder_storage(j, ps.vars("k"))


# multiples --------------------------------------------------------------------------------------
@pytest.mark.slow
def test_whole_vectors() -> None:
    s = rows()
    assert scratch(s, n=10, m=13) == [11 * 13 * 8]
    assert s["g"].align_storage(j, 8).name == "g"
    assert scratch(s, n=10, m=13) == [11 * 16 * 8]
    assert "g[i * ((m + 7) // 8 * 8) + j]" in flat(s)
    assert "stores g with j in multiples of 8" in lines(s)
    same(s, over=ODD)


@pytest.mark.slow
def test_multiples_of_two_axes_in_another_order() -> None:
    s = rows()
    s["g"].align_storage(0, 4).align_storage(1, 3).align_storage(0, 8).reorder_storage(1, 0)
    assert scratch(s, n=10, m=13) == [16 * 15 * 8]
    assert "stores g as [j, i] with j in multiples of 3 and i in multiples of 8" in lines(s)
    same(s, over=ODD)


@pytest.mark.slow
def test_of_local_storage() -> None:
    s = tiles()
    assert on_stack(s) == ["[40 x i64]"]
    s["g"].align_storage(j, 16)
    assert on_stack(s) == ["[80 x i64]"]
    same(s, over=ODD)


def test_refuses_no_such_axis() -> None:
    s = rows()
    with refused(s, "g has 2 axes, and no axis 2", status="malformed"):
        s["g"].align_storage(2, 8)


def test_refuses_what_is_no_multiple() -> None:
    s = rows()
    with refused(s, "the multiple of align_storage is at least 1, not 0"):
        s["g"].align_storage(0, 0)
    with pytest.raises(TypeError, match=r"the multiple of align_storage is a Python integer, not "):
        s["g"].align_storage(0, 2.5)


# places -----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_small_local_storage_lies_on_the_stack_unless_it_shall_not() -> None:
    s = tiles()
    assert on_stack(s) == ["[40 x i64]"]
    assert scratch(s, n=9, m=9) == []
    assert s["g"].store_in("heap").name == "g"
    assert on_stack(s) == []
    assert scratch(s, n=9, m=9) == [40 * 8]
    assert "stores g on the heap" in lines(s)
    same(s, over=ODD)
    s["g"].store_in("auto")
    assert on_stack(s) == ["[40 x i64]"]
    assert not any(x.startswith("stores") for x in lines(s))


@pytest.mark.slow
def test_storage_of_a_thread_that_is_larger_when_asked_for() -> None:
    s = rows()
    s["f"].tile(i, j, 32, 128)
    s["g"].compute_at("f", "jo")
    assert on_stack(s) == []
    s["g"].store_in("stack")
    assert on_stack(s) == [f"[{33 * 128} x i64]"]
    assert "stores g on the stack" in lines(s)
    same(s, over=(0, 1, 33))


@pytest.mark.slow
def test_planes_of_constant_extents_lie_on_the_stack() -> None:
    """All rows that are read in a column of tiles are not many at a time."""
    s = rows()
    s["f"].split(j, 8)
    s["f"].reorder("jo", i, "ji")
    s["g"].compute_at("f", i).store_at("f", "jo").store_in("stack")
    planes = s.windows[next(f for f in s.funcs if f.name == "g")].planes
    assert on_stack(s) == [f"[{8 * planes} x i64]"]
    same(s, over=ODD)


def test_extents_that_are_assumed() -> None:
    s = rows()
    s.assume(m == 8)
    s["g"].compute_at("f", i).store_in("stack")
    assert on_stack(s) == ["[16 x i64]"]
    same(s, over=ODD, m=8)


def test_extents_that_are_assumed_later() -> None:
    s = rows()
    s["g"].compute_at("f", i)
    with refused(s, "the extents of g are not constant"):
        s["g"].store_in("stack")
    s.assume(m == 8)
    s["g"].store_in("stack")


def test_refuses_to_compute_elsewhere_what_would_not_fit_there() -> None:
    s = tiles()
    s["g"].store_in("stack")
    with refused(s, "the extents of g are not constant: it cannot be stored on the stack"):
        s["g"].compute_at("f", "io")


def test_refuses_to_keep_more_than_fits() -> None:
    s = rows()
    s["f"].split(j, 8)
    s["f"].reorder("jo", i, "ji")
    s["g"].compute_at("f", i).store_at("f", "jo").store_in("stack")
    with refused(s, f"no more than {LARGEST} can be stored on the stack"):
        s["g"].fold_storage(i, 1 << 16)


@pytest.mark.slow
def test_what_is_inlined_needs_no_place() -> None:
    s = tiles()
    s["g"].store_in("stack").compute_inline()
    assert not any(x.startswith("stores") for x in lines(s))
    same(s, over=ODD)


def test_refuses_an_unknown_place() -> None:
    s = rows()
    with refused(
        s, "the place of store_in is one of auto, heap, stack, register, not 'cache'",
        status="malformed",
    ):  # fmt: skip
        s["g"].store_in("cache")


@pytest.mark.parametrize("place", ["stack", "register"])
def test_refuses_storage_of_the_whole_program(place: str) -> None:
    s = rows()
    with refused(s, "g lives for the whole program, and cannot be stored", hint="store_at(...)"):
        s["g"].store_in(place)


def test_refuses_extents_that_are_not_constant() -> None:
    s = rows()
    s["g"].compute_at("f", i)
    with refused(
        s, "the extents of g are not constant: it cannot be stored on the stack",
        hint="split the loops around it by constant factors",
    ):  # fmt: skip
        s["g"].store_in("stack")


def test_refuses_too_much() -> None:
    s = rows()
    s["f"].tile(i, j, 400, 800)
    s["g"].compute_at("f", "jo")
    with refused(s, f"g takes {401 * 800 * 8} bytes, and no more than {LARGEST} can be stored"):
        s["g"].store_in("stack")


def test_refuses_too_much_together() -> None:
    """Each would fit."""
    x, f = ps.Input("x", ps.int32, (n, 50_000)), ps.Func("f", (n, 50_000))
    a, b, c = (ps.Func(name) for name in "abc")
    a[i, j] = x[i, 49_999 - j] + 1
    b[i, j] = a[i, 49_999 - j] + 1
    c[i, j] = b[i, 49_999 - j] + 1
    f[i, j] = c[i, 49_999 - j]
    s = ps.Schedule(f)
    for func in (a, b, c):
        s[func].compute_at(f, i)
    s[a].store_in("stack")
    s[b].store_in("stack")
    with refused(
        s, f"take {3 * 50_000 * 4} bytes together, and no more than {STACK} can be stored on the",
        hint="some of them on the heap", status="malformed",
    ):  # fmt: skip
        s[c].store_in("stack")


@pytest.mark.slow
def test_small_storage_is_on_the_stack_as_long_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(storage, "STACK", 2000)
    x, f = ps.Input("x", ps.int32, (n, 100)), ps.Func("f", (n, 100))
    last: ps.Input | ps.Func = x
    funcs = []
    for k in range(7):
        g = ps.Func(f"g{k}")
        g[i, j] = last[i, 99 - j] + 1
        last = g
        funcs.append(g)
    f[i, j] = last[i, j]
    s = ps.Schedule(f)
    for g in funcs:
        s[g].compute_at(f, i)
    kinds = [b.kind for b in s.compile()._lowered.module.buffers if b.name.startswith("g")]
    assert (kinds.count("stack"), kinds.count("scratch")) == (5, 2)
    same(s, over=(0, 2))


def test_refuses_too_much_in_multiples() -> None:
    s = tiles()
    s["g"].store_in("stack")
    with refused(s, f"no more than {LARGEST} can be stored on the stack", hint="smaller tiles"):
        s["g"].align_storage(j, 1 << 16)


def test_refuses_what_would_take_the_place_away() -> None:
    s = tiles()
    s["g"].store_in("stack")
    with refused(s, "g lives for the whole program"):
        s["g"].compute_root()


def test_refuses_outputs() -> None:
    s = rows()
    with refused(
        s, "f is an output, which lies where the caller says", hint="accumulate_at(...)",
        status="malformed",
    ):  # fmt: skip
        s["f"].store_in("stack")


def test_refuses_what_an_extern_stage_is_given() -> None:
    x, g = ps.Input("x", ps.float64, (n,)), ps.Func("g", (n,))
    g[i] = x[i] * 2
    f = ps.extern("f", lambda a: a + 1, [(g, ((0, n),))], (n,), ps.float64)
    s = ps.Schedule(f)
    with refused(s, "an extern stage is given g as an array", status="malformed"):
        s["g"].align_storage(0, 8)


# registers --------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_tile_in_registers() -> None:
    s = packed()
    u = s["C"].update(0).store_in("register")
    assert u.name == "C.update(0)"
    assert "keeps C in registers" in lines(s)
    assert "keeps C in registers" in explained(s)
    assert on_stack(s)[0] == "[8 x float]"
    same(s, over=(0, 1, 2, 5, 9))


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")
def test_no_memory_of_the_stack_in_the_inner_loop() -> None:
    """LLVM keeps what has an address for each element known when compiling."""
    s = packed()
    s["C"].update(0).store_in("register")
    kernel = s.compile()
    if "+fma," not in kernel.llvm:
        pytest.skip("this machine calls a function for a fused product")
    inner = [x for x in loops_of_assembly(kernel.asm) if any("vfmadd" in line for line in x)]
    assert inner, "the loop over k, of full tiles and of others"
    for loop in inner:
        products = [line for line in loop if "vfmadd" in line]
        assert len(products) == 2, "one of four lanes a row"
        assert all("ps\t" in line and "xmm" in line for line in products)
        assert not [line for line in loop if "(%rsp" in line]


def loops_of_assembly(code: str) -> Iterator[list[str]]:
    """From a label to the first jump back to it, without labels in between."""
    start: list[str] = []
    label = ""
    for line in code.splitlines():
        if found := re.match(r"(\.?\w+):", line):
            label, start = found[1], []
        elif label:
            start.append(line)
            if re.search(rf"\bj\w+\s+{re.escape(label)}\b", line):
                yield start


def test_refuses_a_register_that_a_serial_loop_indexes() -> None:
    s = tiles()
    with refused(
        s, "which element of g is used depends on the loop i, which is neither unrolled nor a "
        "vector: a register has no address", hint="unroll('i') or vectorize('i')",
    ):  # fmt: skip
        s["g"].store_in("register")


# streams ----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_results_past_the_caches() -> None:
    s = rows()
    assert "!nontemporal" not in s.compile().llvm
    assert s["f"].stream().name == "f"
    assert s.compile().llvm.count(", !nontemporal !0") == 1
    assert "f is streamed" in lines(s)
    assert "f is streamed" in explained(s)
    same(s, over=ODD)


@pytest.mark.slow
def test_pieces_of_a_stage_are_streamed_too() -> None:
    s = rows()
    s["f"].stream().split(j, 8, tail="peel")
    assert s.compile().llvm.count(", !nontemporal !0") == 2
    same(s, over=ODD)


def test_one_piece_of_a_stage() -> None:
    s = rows()
    s["f"].split(j, 8, tail="peel")
    s["f.tail"].stream()
    assert s.compile().llvm.count(", !nontemporal !0") == 1


def test_a_running_sum_keeps_what_it_streams_in_registers() -> None:
    a, f = ps.Input("a", ps.int64, (n,)), ps.Func("f", (n,))
    f[i] = a[i] + ps.select(i > 0, f[i - 1], 0)
    s = ps.Schedule(f)
    s["f"].stream().unroll(i, 4)
    kernel = s.compile()
    assert kernel.llvm.count(", !nontemporal !0") >= 4
    x = np.arange(37, dtype=np.int64)
    assert np.array_equal(kernel(x), np.cumsum(x))


def test_refuses_to_stream_what_reads_itself() -> None:
    s = ps.Schedule(product())
    with refused(
        s, "C.update(0) reads what it writes: it belongs into the caches",
        hint="a pure definition can be streamed", status="malformed",
    ):  # fmt: skip
        s["C"].update(0).stream()


# prefetches -------------------------------------------------------------------------------------
@pytest.mark.slow
def test_what_a_later_iteration_reads() -> None:
    s = rows()
    assert s["f"].prefetch("g", j, 8).name == "f"
    assert hints(s) == 2, "two rows"
    assert "prefetch g[i * m + j + 8]" in flat(s).replace("(j + 8)", "j + 8")
    assert "f prefetches g, 8 iterations of j ahead" in lines(s)
    assert "f prefetches g, 8 iterations of j ahead" in explained(s)
    same(s, over=ODD)


@pytest.mark.slow
def test_a_row_ahead_where_the_loops_inside_begin() -> None:
    s = rows()
    (x,) = s.program.inputs
    s["g"].prefetch(x, i)
    assert "prefetch x[(i + 1) * m]" in flat(s)
    assert "g prefetches x, 1 iteration of i ahead" in lines(s)
    same(s, over=ODD)


@pytest.mark.slow
def test_of_local_storage_inside_of_it_alone() -> None:
    s = tiles()
    s["f"].prefetch("g", "ji", 2)
    assert hints(s) == 2
    t = tiles()
    t["f"].prefetch("g", "io", 1)
    assert hints(t) == 0, "there is none of it yet"
    same(s, over=ODD)


def test_of_each_component_that_is_read() -> None:
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,))
    g[i] = (x[i], x[i] + 1, x[i] + 2)
    f[i] = g[i][0] + g[n - 1 - i][2]
    s = ps.Schedule(f)
    s["f"].prefetch(g, i, 4)
    assert hints(s) == 2
    same(s, over=ODD)


def test_in_place_and_far_beyond_the_end() -> None:
    a, (r, c) = ps.InOut("a", ps.int64, (n, m)), ps.rdom("r c", (1, n), (0, m))
    a[r, c] += a[r - 1, c]
    s = ps.Schedule(a)
    s["a"].prefetch(a, r, 1 << 40)
    assert hints(s) == 2
    same(s, over=ODD)


def test_elements_that_data_choose_are_not_fetched() -> None:
    x, y = ps.Input("x", ps.int64, (n,), range=(0, n)), ps.Input("y", ps.int64, (n,))
    f = ps.Func("f", (n,))
    f[i] = y[x[i]]
    s = ps.Schedule(f)
    s["f"].prefetch(y, i, 4)
    assert hints(s) == 0
    s["f"].prefetch(x, i, 4)
    assert hints(s) == 1


def test_a_prefetch_follows_the_name_of_its_loop() -> None:
    s = rows()
    s["f"].prefetch("g", j, 8).rename(j, "column")
    assert hints(s) == 2
    assert "f prefetches g, 8 iterations of column ahead" in lines(s)


def test_a_prefetch_whose_loop_is_gone_is_noted() -> None:
    s = rows()
    s["f"].prefetch("g", j, 8).split(j, 4)
    assert hints(s) == 0
    assert "note: f does not prefetch g: there is no loop j any more" in lines(s)
    t = rows()
    t["f"].split(j, 4)
    t["f"].prefetch("g", "ji", 2).unroll("ji")
    assert "note: f does not prefetch g: ji is unrolled" in lines(t)


def test_refuses_a_prefetch_of_what_is_not_read() -> None:
    s = rows()
    with refused(s, "f does not read x", hint="it reads g", status="malformed"):
        s["f"].prefetch("x", j)


def test_refuses_a_prefetch_in_a_loop_without_later_iterations() -> None:
    s = rows()
    s["f"].vectorize(j, 8)
    with refused(s, "ji is vector: it has no later iterations to fetch for", status="malformed"):
        s["f"].prefetch("g", "ji")


def test_refuses_a_prefetch_of_nothing_ahead() -> None:
    s = rows()
    with refused(s, "the distance of prefetch is at least 1, not 0"):
        s["f"].prefetch("g", j, 0)


# atomic sums ------------------------------------------------------------------------------------
def test_a_histogram_in_parallel() -> None:
    s = histogram()
    u = s["H"].update(0)
    with refused(s, "two iterations would run concurrently", hint="atomic()", kind="race"):
        u.parallel("r")
    assert u.atomic().parallel("r").name == "H.update(0)"
    assert "H.update(0) is atomic" in lines(s)
    assert "H.update(0) is atomic" in explained(s)
    assert s.bit_exact
    listed(
        s,
        """
        for i in [0, 256):
          H[i] = 0
        for r in [0, n) (parallel):
          for c in [0, m):
            H[pixels[r, c]] = H[pixels[r, c]] + 1
        H.update(0) is atomic
        """,
    )
    pixels = np.array([[3, 3, 5], [3, 0, 5]], np.uint8)
    assert check(s, pixels=pixels).counts["instances"] == 256 + 6
    found = s.compile()(pixels)
    np.testing.assert_array_equal(found, np.bincount(pixels.ravel(), minlength=256))


def test_a_sum_of_integers_in_any_order() -> None:
    s = sums()
    s["total"].update(0).atomic().parallel("k", 4)
    same(s, over=ODD)


def row_sums() -> ps.Schedule:
    x, C, k = ps.Input("x", ps.int64, (n, m)), ps.Func("C", (n,)), ps.RVar("k", 0, m)
    C[i] = 0
    C[i] += x[i, k]
    return ps.Schedule(C)


@pytest.mark.slow
def test_sums_that_are_kept_around_a_parallel_loop() -> None:
    s = row_sums()
    s["C"].update(0).atomic().accumulate_at(i).parallel("k")
    check(s, np.arange(12).reshape(3, 4))
    same(s, over=ODD)


@pytest.mark.parametrize("first", ["parallel", "kept"])
def test_refuses_sums_that_are_kept_inside_of_a_parallel_loop(first: str) -> None:
    """They are copied in and back, and another iteration adds meanwhile."""
    s = row_sums()
    u = s["C"].update(0).atomic()
    u.split("k", 4)
    u.reorder("ko", i, "ki")
    if first == "parallel":
        u.parallel("ko")
        with refused(s, "two iterations would run concurrently", hint="around the parallel one"):
            u.accumulate_at(i)
    else:
        u.accumulate_at(i)
        with refused(
            s, "C.update(0)[i=0, k=0] reads C[0], C.update(0)[i=0, k=4] writes it, at n=1, m=5",
            kind="race",
        ):  # fmt: skip
            u.parallel("ko")


def test_refuses_a_part_that_is_kept_beside_one_that_is_not() -> None:
    """It would write back all of what it has copied, and what others have added meanwhile is
    lost."""
    x, C = ps.Input("x", ps.int32, (2, n)), ps.Func("C", (1,), ps.int32)
    r, q = ps.RVar("r", 0, 2), ps.RVar("q", 0, n)
    C[i] = 0
    C[i] += x[r, q]
    s = ps.Schedule(C)
    first, last = s["C"].update(0).reorder(i, "r", "q").partition(r < 1)
    s[first].fission("q")
    s[first].atomic()
    s[last].split("q", 4)
    s[last].accumulate_at("qo")
    with refused(
        s,
        "two iterations would run concurrently",
        hint="copy-out of a private accumulator",
        kind="race",
    ):
        s[last].parallel("r")


def test_rows_in_parallel_and_their_terms_too() -> None:
    s = row_sums()
    s["C"].update(0).atomic().parallel(i).accumulate_at(i).parallel("k")
    check(s, np.arange(12).reshape(3, 4))


def test_a_maximum() -> None:
    x, f, k = ps.Input("x", ps.float32, (n,)), ps.Func("f", ()), ps.RVar("k", 0, n)
    f[()] = 0.0
    f[()] = ps.maximum(f[()], x[k])
    s = ps.Schedule(f)
    s["f"].update(0).atomic().parallel("k")
    same(s, over=ODD)


def test_a_float_sum_that_may_have_any_order() -> None:
    s = sums(ps.float32)
    s["total"].update(0).reassociate().atomic().parallel("k")
    assert not s.bit_exact


def test_refuses_a_float_sum_that_has_its_order() -> None:
    s = sums(ps.float32)
    with refused(
        s, "total.update(0) is a sum of floats, which come in any order then",
        hint="reassociate() allows it", status="malformed",
    ):  # fmt: skip
        s["total"].update(0).atomic()


def test_refuses_what_does_not_accumulate() -> None:
    s = rows()
    with refused(
        s, "f does not accumulate: nothing else can be made atomic",
        hint="an update does, C[i] += ...", status="malformed",
    ):  # fmt: skip
        s["f"].atomic()


def test_refuses_a_running_sum() -> None:
    a, r = ps.InOut("a", ps.int64, (n,)), ps.RVar("r", 1, n)
    a[r] += a[r - 1]
    s = ps.Schedule(a)
    with refused(s, "does not accumulate", status="malformed"):
        s["a"].atomic()


def test_others_still_race() -> None:
    """What is written down of a sum while it grows."""
    x, a = ps.Input("x", ps.int64, (n,)), ps.InOut("a", ps.int64, (1,))
    b = ps.InOut("b", ps.int64, (n,))
    with ps.sequential("t", 0, n) as t:
        a[0] += x[t]
        b[t] = a[0]
    s = ps.Schedule((a, b))
    s["a"].atomic()
    with refused(s, "two iterations would run concurrently", "writes a[0]", "b", kind="race"):
        s["a"].parallel("t")


# as values --------------------------------------------------------------------------------------
def everything(s: ps.Schedule) -> None:
    s["g"].reorder_storage(j, i).align_storage(i, 8)
    s["f"].stream().prefetch("g", "ji", 2)
    s["g"].store_in("heap")


def registers(s: ps.Schedule) -> None:
    s["C"].update(0).store_in("register")


def atomic(s: ps.Schedule) -> None:
    s["H"].update(0).atomic().parallel("r")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "say"), [(tiles, everything), (packed, registers), (histogram, atomic)]
)
def test_written_down_and_read_back(
    make: Callable[[], ps.Schedule], say: Callable[[ps.Schedule], None]
) -> None:
    s = make()
    before = s.copy()
    say(s)
    assert before != s
    assert str(before) == str(make()), "a copy stays as it was"
    output = s.program.outputs[0]
    back = ps.Schedule.from_json(output, s.to_json())
    assert (back, str(back)) == (s, str(s))
    names: dict[str, Any] = {"ps": ps, output.name: output}
    names |= {x.name: x for x in s.program.inputs}
    exec(s.source(), names)
    assert (names["s"], str(names["s"])) == (s, str(s))


def test_what_is_stored_counts_in_bytes() -> None:
    """Rows of full vectors, and only those that are still read."""
    s = rows(ps.float32)
    s["g"].compute_at("f", i).store_root().align_storage(j, 16)
    (bytes,) = scratch(s, n=100, m=50)
    (window,) = s.windows.values()
    assert bytes == math.prod((window.planes, 64, 4))
