"""Machine code for other machines: the same bits where it runs, the expected instructions where it
does not."""

from __future__ import annotations

import platform
import re
from dataclasses import replace

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.llvm import compile_module
from polysched.codegen.lower import assembly
from polysched.codegen.runtime.kernel import Kernel
from polysched.lang.errors.errors import InternalError
from polysched.targets.host import target_of

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


def written(dtype: ps.DType) -> tuple[ps.Input, ps.Input, ps.Func]:
    """A, B and C += A B."""
    A, B = ps.Input("A", dtype, (n, l)), ps.Input("B", dtype, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m), dtype)
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    return A, B, C


def product(lanes: int, dtype: ps.DType = ps.float32) -> ps.Schedule:
    """C += A B in tiles of 4 rows and two vectors, of packed operands."""
    A, B, C = written(dtype)
    s = ps.Schedule(C)
    u = s[C].update(0)
    with s.batch():
        u.split(i, 4, tail="pad", names=("io", "ii"))
        u.split(j, 2 * lanes, tail="pad", names=("jo", "ji"))
        u.reorder("io", "jo", "k", "ii", "ji")
        u.accumulate_at("jo")
        u.stage(B, at="jo", layout=("k", "ji"), pad=True)
        u.stage(A, at="io", layout=("k", "ii"), pad=True)
    u.vectorize("ji", lanes).unroll("ji").unroll("ii")
    return s


def mixed(lanes: int) -> ps.Schedule:
    """Reversed, strided, clamped, gathered and masked."""
    a, b = ps.Input("a", ps.float32, (n,)), ps.Input("b", ps.uint8, (n,))
    f = ps.Func("f", (n,))
    place = ps.clip(ps.cast(ps.int64, b[i]), 0, n - 1)
    f[i] = a[n - 1 - i] * ps.cast(ps.float32, b[i]) + ps.select(i % 3 == 0, a[place], ps.exp(a[i]))
    s = ps.Schedule(f)
    s[f].vectorize(i, lanes)
    return s


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="runs x86 code")
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_the_oldest_x86_gives_the_same_bits(lanes: int) -> None:
    old, new = (Kernel(mixed(lanes), target=t) for t in (target_of("x86-64-v3"), None))
    plain = ps.Schedule(mixed(lanes).program.outputs).compile()
    for size in (0, 1, 7, 8, 31, 100):
        a = np.random.default_rng(size).standard_normal(size).astype("float32")
        b = np.arange(size).astype("uint8")
        wanted = plain(a, b)
        assert np.array_equal(old(a, b), wanted)
        assert np.array_equal(new(a, b), wanted)
    assert "zmm" not in old.asm


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="runs x86 code")
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_products_are_the_same_for_any_width(lanes: int) -> None:
    s = product(lanes)
    plain = ps.Schedule(s.program.outputs).compile()
    kernels = [Kernel(s), Kernel(s, target=target_of("x86-64-v3"))]
    for sizes in ((0, 3, 2), (1, 1, 1), (5, 9, 0), (9, 33, 17)):
        rows, columns, depth = sizes
        numbers = np.random.default_rng(1)
        a = numbers.standard_normal((rows, depth)).astype("float32")
        b = numbers.standard_normal((depth, columns)).astype("float32")
        wanted = plain(a, b)
        for kernel in kernels:
            assert np.array_equal(kernel(a, b), wanted)


def _inner(asm: str, pattern: str) -> list[str]:
    """The innermost loop with the most lines that match."""
    blocks = (b.splitlines() for b in re.split(r"^\.L\w+:", asm, flags=re.MULTILINE))
    return max(
        map(_until_branch, blocks), key=lambda b: sum(bool(re.search(pattern, x)) for x in b)
    )


def _until_branch(lines: list[str]) -> list[str]:
    ends = (k for k, x in enumerate(lines) if re.match(r"\t(j[a-z]+|b\.[a-z]+|cbnz)\t", x))
    return lines[: next(ends, len(lines))]


@pytest.mark.slow
def test_arm_keeps_the_tile_in_registers() -> None:
    """4 rows of two vectors of 4: 8 products, 2 loads of vectors, 4 of single elements."""
    inner = _inner(assembly(product(4).loop_program, target_of("aarch64")), r"fmla\tv")
    products = [x for x in inner if re.search(r"fmla\tv\d+\.4s", x)]
    assert len(products) == 8
    assert not [x for x in inner if "[sp" in x], "no spills"


@pytest.mark.slow
def test_x86_keeps_the_tile_in_registers() -> None:
    """4 rows of two vectors of 8: 8 products, 2 loads of vectors, 4 broadcasts."""
    inner = _inner(
        assembly(product(8).loop_program, target_of("x86-64-v3")), r"vfmadd\w+ps\t.*%ymm"
    )
    assert len([x for x in inner if re.search(r"vfmadd\w+ps\t.*%ymm", x)]) == 8
    assert len([x for x in inner if "vbroadcastss" in x]) == 4
    assert not [x for x in inner if "(%rsp" in x], "no spills"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x86-64-v3", "x86-64-v4"])
def test_a_tile_that_begins_in_some_iterations_stays_in_registers(name: str) -> None:
    """The parts of k come first, and in the first one the elements begin inside of the tile."""
    s = ps.Schedule(written(ps.float32)[2], target=name)
    u = s["C"].update(0)
    u.split("i", ps.tile_rows, names=("io", "ii"))
    u.split("j", ps.tile_columns, names=("jo", "ji"))
    u.split("k", 256, names=("ko", "ki"))
    u.reorder("ko", "jo", "io", "ki", "ii", "ji").accumulate_at("io")
    s["C"].compute_at(u, "io").vectorize("j", ps.native).unroll("j").unroll("i")
    u.vectorize("ji", ps.native).unroll("ji").unroll("ii")
    rows, columns = s.target.tile(ps.float32)
    vectors = rows * columns // s.target.lanes(ps.float32)
    inner = _inner(assembly(s.loop_program, s.target), r"vfmadd")
    assert len([x for x in inner if "vfmadd" in x]) == vectors
    assert not [x for x in inner if "(%rsp" in x and "mm" in x], "no vectors are spilled"


def test_arm_code_for_all_kinds_of_loads() -> None:
    text = assembly(mixed(4).loop_program, target_of("aarch64"))
    assert "fmla" in text
    assert "rev64" in text, "what is reversed"
    assert "fmaf" not in text, "no calls of the C library"


def test_a_triple_without_a_code_generator() -> None:
    unknown = replace(target_of("x86-64-v3"), system="-")
    object.__setattr__(unknown, "arch", "pdp11")
    with pytest.raises(InternalError, match="LLVM has no code generator for pdp11-"):
        compile_module("", unknown)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="makes x86 code")
def test_a_processor_gets_the_instructions_of_its_level() -> None:
    """They are ordered for it, and it is not asked for more."""
    old, new = (Kernel(product(8), target=target_of(name)).llvm for name in ("v3", "znver3"))
    assert '"target-cpu"="x86-64-v3"' in new
    assert '"tune-cpu"="znver3"' in new
    assert "tune-cpu" not in old


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="makes x86 code")
def test_v3_has_fused_multiply_add_and_no_avx512() -> None:
    text = assembly(mixed(8).loop_program, target_of("v3"))
    product_text = assembly(product(8).loop_program, target_of("v3"))
    assert "vfmadd" in product_text
    assert "fmaf" not in product_text
    assert "%zmm" not in text + product_text


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="makes x86 code")
@pytest.mark.parametrize(
    ("name", "register"), [("v3", "ymm"), pytest.param("v4", "zmm", marks=pytest.mark.slow)]
)
def test_vectors_in_frames_lie_in_one_cache_line(name: str, register: str) -> None:
    """Of more accumulators than there are registers, some are kept in the frame."""
    n, m, q = ps.sizes("n m q")
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, q)
    a, b = ps.Input("a", ps.float32, (n, q)), ps.Input("b", ps.float32, (q, m))
    c = ps.Func("c", (n, m))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    s = ps.Schedule(c, target=name)
    u = s["c"].update(0)
    u.split("i", 40, names=("io", "ii"))
    u.split("j", ps.native, names=("jo", "ji"))
    u.reorder("io", "jo", "k", "ii", "ji").accumulate_at("jo")
    u.vectorize("ji", ps.native).unroll("ii")
    text = assembly(s.loop_program, target_of(name))
    kept = re.findall(rf"vmov([au])ps\s+%{register}\d+, -?\d+\(%r[sb]p\)", text)
    assert set(kept) == {"a"}
