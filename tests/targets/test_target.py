"""Targets as plain data: what follows from them, and which are refused."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import pytest

import polysched as ps
from polysched.lang.errors.errors import PolyschedError
from polysched.targets.known import PROCESSORS, named
from polysched.targets.target import V3, V4, Cache, Target, TargetError


def test_a_target_is_a_value() -> None:
    v3 = named("x86-64-v3")
    assert v3 == named("v3")
    assert hash(v3) == hash(named("v3"))
    assert v3 != named("v4")
    with pytest.raises(dataclasses.FrozenInstanceError):
        v3.cpu = "other"  # type: ignore[misc]


def test_its_digest_is_the_same_in_every_process() -> None:
    code = "from polysched.targets.known import named; print(named('znver4').digest)"
    told = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == named("znver4").digest
    digests = {named(name).digest for name in PROCESSORS}
    assert len(digests) == len(PROCESSORS)


@pytest.mark.parametrize("name", PROCESSORS)
def test_known_machines_are_whole(name: str) -> None:
    """Each has caches that grow, and instructions of its level only."""
    t = named(name)
    sizes = [cache.bytes for cache in t.caches]
    assert sizes == sorted(sizes)
    assert [cache.level for cache in t.caches] == list(range(1, len(sizes) + 1))
    assert all(c.bytes % (c.ways * c.line) == 0 for c in t.caches)
    assert t.caches[-1].shared_by <= t.cores
    assert t.cpu in ("generic", "x86-64-v3", "x86-64-v4")
    assert t.has("avx512vl") == (t.vector_bytes == 64)


@pytest.mark.parametrize(
    ("name", "lanes", "tile"),
    [
        ("x86-64-v3", (8, 4, 32), (6, 16)),
        ("x86-64-v4", (16, 8, 64), (6, 64)),
        ("aarch64", (4, 2, 16), (6, 16)),
    ],
)
def test_lanes_and_tiles_follow_from_registers(
    name: str, lanes: tuple[int, ...], tile: tuple[int, int]
) -> None:
    t = named(name)
    assert tuple(map(t.lanes, (ps.float32, ps.float64, ps.uint8))) == lanes
    assert t.tile(ps.float32) == tile
    assert t.tile(ps.float64) == (tile[0], tile[1] // 2)


def test_a_tile_fits_into_the_registers() -> None:
    for registers in (8, 16, 24, 32, 64):
        t = dataclasses.replace(named("v4"), vector_registers=registers)
        rows, columns = t.tile(ps.float32)
        vectors = columns // t.lanes(ps.float32)
        assert rows >= 1
        assert rows * vectors + vectors + 2 <= registers


def test_a_cache_that_there_is_not_is_the_last_one() -> None:
    assert named("cortex-a72").cache(3) == named("cortex-a72").cache(2)
    assert named("v3").cache(1).bytes == 32 << 10


# refusals ----------------------------------------------------------------------------------------
def old(**given: object) -> Target:
    about = {"name": "westmere", "cpu": "westmere", "features": ("+sse4.2", "+popcnt", "-fma")}
    return dataclasses.replace(named("v3"), **{**about, **given})  # type: ignore[arg-type]


def test_a_machine_without_fma_is_refused() -> None:
    with pytest.raises(TargetError) as caught:
        old()
    assert str(caught.value) == (
        "the CPU westmere lacks avx, avx2, bmi, bmi2, f16c, fma, lzcnt, movbe\n"
        "  hint: fused multiply-add is part of the arithmetic: x86-64-v3 or above is needed "
        "(Intel since Haswell, AMD since Excavator)"
    )
    assert isinstance(caught.value, PolyschedError)


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(TargetError, match=r"\(riscv64-unknown-linux-gnu\) is not supported"):
        old(arch="riscv64")


def test_every_aarch64_is_accepted() -> None:
    assert old(arch="aarch64", features=()).triple == "aarch64-unknown-linux-gnu"


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(TargetError) as caught:
        named("pdp11")
    assert "pdp11 is no machine that is known here" in str(caught.value)
    assert "x86-64-v3" in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"vector_bytes": 24},  # LLVM would end the process
        {"vector_bytes": 0},
        {"vector_registers": True},
        {"cores": 2.0},
        {"cpu": None},
        {"features": ["+fma"]},  # no target could be looked up
        {"features": (1,)},
        {"caches": ()},
        {"caches": ((1, 32768, 8),)},
    ],
)
def test_what_describes_no_machine_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(TargetError, match=next(iter(given)).rstrip("s")):
        dataclasses.replace(named("v3"), **given)


@pytest.mark.parametrize("name", ["level", "bytes", "ways", "line", "shared_by"])
def test_a_cache_of_nothing_is_refused(name: str) -> None:
    nothing: dict[str, Any] = {name: 0}
    with pytest.raises(TargetError, match=f"the {name} of a cache is a number from 1 on, not 0"):
        dataclasses.replace(Cache(1, 32768, 8), **nothing)


@pytest.mark.parametrize("level", [0, -1, True, "1"])
def test_caches_count_from_1(level: int) -> None:
    """In Python -1 would be the last one."""
    with pytest.raises(ps.LanguageError, match="there is no cache"):
        named("v3").cache(level)
    with pytest.raises(ps.LanguageError, match="there is no cache"):
        ps.machine("v3").bandwidth(level)


def test_levels_name_what_llvm_names() -> None:
    assert set(V3) < set(V4)
