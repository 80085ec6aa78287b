"""This machine, and what POLYSCHED_TARGET asks for in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import polysched as ps
from polysched.targets import host, processor
from polysched.targets.host import caches, cannot_run, default_target, target_of, this_machine
from polysched.targets.known import PROCESSORS, named
from polysched.targets.target import V3, Cache, TargetError

# POLYSCHED_TARGET --------------------------------------------------------------------------------
AVX512 = ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
needs_x86 = pytest.mark.skipif(this_machine().arch != "x86_64", reason="a level of x86-64")


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Pretends to be a machine with some features, where a target is asked for."""

    def pretend(asked: str, *features: str, triple: str = "x86_64-unknown-linux-gnu") -> None:
        monkeypatch.setenv("POLYSCHED_TARGET", asked)
        monkeypatch.setattr(processor, "triple", lambda: triple)
        monkeypatch.setattr(processor, "name", lambda: "made-up")
        monkeypatch.setattr(processor, "features", lambda: dict.fromkeys(features, True))
        _forget()

    yield pretend
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    host.this_machine.cache_clear()
    host._asked.cache_clear()


@pytest.mark.parametrize("asked", ["", " ", "native"])
def test_without_a_wish_it_is_this_machine(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_TARGET", asked)
    assert default_target() == this_machine()


@pytest.mark.parametrize("asked", ["v3", "x86-64-v3"])
def test_less_than_the_machine_has(asked: str, made_up: Callable[..., None]) -> None:
    made_up(asked, *V3, *AVX512)
    assert default_target() == named("x86-64-v3")
    assert this_machine().cpu == "made-up"


def test_what_is_asked_for_may_be_all_there_is(made_up: Callable[..., None]) -> None:
    made_up("v4", *V3, *AVX512)
    assert default_target().cpu == "x86-64-v4"
    assert "+avx512vl" in default_target().features


@needs_x86
def test_kernels_are_made_for_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is changed between two of the same schedule."""
    n, i = ps.sizes("n"), ps.vars("i")
    f = ps.Func("f", (n,))
    f[i] = i * 2
    s = ps.Schedule(f)
    monkeypatch.setenv("POLYSCHED_TARGET", "v3")
    asked = s.compile()
    monkeypatch.delenv("POLYSCHED_TARGET")
    assert '"target-cpu"="x86-64-v3"' in asked.llvm
    assert '"target-cpu"="x86-64-v3"' not in s.compile().llvm
    assert asked(n=5).tolist() == [0, 2, 4, 6, 8]


def test_an_unknown_target_is_refused_by_name(made_up: Callable[..., None]) -> None:
    made_up("v5", *V3)
    with pytest.raises(TargetError) as caught:
        default_target()
    assert str(caught.value) == (
        "POLYSCHED_TARGET=v5 is no machine that code is made for here\n"
        f"  hint: these are: {', '.join(PROCESSORS)}; or native, or not set"
    )


def test_a_target_that_this_cpu_is_not_is_refused(made_up: Callable[..., None]) -> None:
    made_up("x86-64-v4", *V3, "avx512f", "avx512vl")
    with pytest.raises(TargetError) as caught:
        default_target()
    assert str(caught.value) == (
        "POLYSCHED_TARGET=x86-64-v4 needs avx512bw, avx512cd, avx512dq, which this CPU (made-up) "
        "lacks\n  hint: without POLYSCHED_TARGET code is made for this machine"
    )


def test_a_target_of_another_architecture_is_refused(made_up: Callable[..., None]) -> None:
    made_up("v3", triple="arm64-apple-darwin23")
    with pytest.raises(TargetError) as caught:
        default_target()
    assert str(caught.value) == (
        "POLYSCHED_TARGET=v3 is of the architecture x86_64, and this machine "
        "(aarch64-apple-darwin23) is not\n"
        "  hint: without POLYSCHED_TARGET code is made for this machine"
    )


def test_a_machine_that_is_too_old_is_refused_whatever_is_asked_for(
    made_up: Callable[..., None],
) -> None:
    made_up("v3", "fma")
    with pytest.raises(TargetError, match=r"the CPU made-up lacks avx, "):
        default_target()


def test_an_unknown_architecture_is_refused(made_up: Callable[..., None]) -> None:
    made_up("", triple="riscv64-unknown-linux-gnu")
    with pytest.raises(
        TargetError, match=r"made-up \(riscv64-unknown-linux-gnu\) is not supported"
    ):
        default_target()


def test_a_machine_with_avx512_has_longer_and_more_registers(made_up: Callable[..., None]) -> None:
    made_up("", *V3, *AVX512)
    assert (this_machine().vector_bytes, this_machine().vector_registers) == (64, 32)
    made_up("", *V3)
    assert (this_machine().vector_bytes, this_machine().vector_registers) == (32, 16)
    made_up("", triple="arm64-apple-darwin23")
    assert (this_machine().vector_bytes, this_machine().vector_registers) == (16, 32)


def test_a_target_is_taken_by_name_and_as_it_is() -> None:
    assert target_of() == default_target()
    assert target_of("native") == this_machine()
    assert target_of("znver3") == named("znver3", this_machine().system)
    assert target_of(named("haswell")) == named("haswell")
    with pytest.raises(ps.LanguageTypeError, match=r"a target is the name of one.*, not 3"):
        target_of(3)  # type: ignore[arg-type]


# what can be run ---------------------------------------------------------------------------------
def test_code_for_a_name_may_have_all_that_llvm_knows_of_it(made_up: Callable[..., None]) -> None:
    """Whatever the features say: of a processor that LLVM does not know it makes nothing at all."""
    made_up("native", *V3)
    v3, own = named("v3"), this_machine()
    assert cannot_run(replace(v3, cpu=own.cpu)) is None
    why = cannot_run(replace(v3, cpu="sapphirerapids"))
    assert why == "is for the processor sapphirerapids, and this one is made-up"
    why = cannot_run(replace(v3, cpu="x86-64-v4"))
    assert why == f"needs {', '.join(AVX512)}, which this CPU (made-up) lacks"


def test_code_for_another_system_is_not_run(made_up: Callable[..., None]) -> None:
    made_up("native", *V3)
    why = cannot_run(named("v3", "pc-windows-msvc"))
    assert why == "is for pc-windows-msvc, and this machine (x86_64-unknown-linux-gnu) is not"


# caches -------------------------------------------------------------------------------------------
def describe(folder: Path, index: int, **about: object) -> None:
    given = {"type": "Data", "level": 1, "size": "48K", "ways_of_associativity": 12,
             "coherency_line_size": 64, "shared_cpu_list": "0"} | about  # fmt: skip
    (folder / f"index{index}").mkdir()
    for name, value in given.items():
        if value is not None:
            (folder / f"index{index}" / name).write_text(f"{value}\n")


def test_caches_are_read_as_linux_describes_them(tmp_path: Path) -> None:
    describe(tmp_path, 0)
    describe(tmp_path, 1, type="Instruction")
    describe(tmp_path, 2, type="Unified", level=2, size="2M", ways_of_associativity=16)
    describe(tmp_path, 3, type="Unified", level=3, size="32768K", shared_cpu_list="0-3,8-11,15")
    assert caches(tmp_path) == (
        Cache(1, 48 << 10, 12),
        Cache(2, 2 << 20, 16),
        Cache(3, 32 << 20, 12, shared_by=9),
    )


def test_threads_of_a_core_share_a_cache_as_one(tmp_path: Path) -> None:
    """Sixteen CPUs of Linux, two on each core."""
    (tmp_path / "topology").mkdir()
    (tmp_path / "topology" / "thread_siblings_list").write_text("0,8\n")
    (tmp_path / "cache").mkdir()
    describe(tmp_path / "cache", 0, shared_cpu_list="0,8")
    describe(tmp_path / "cache", 1, level=3, shared_cpu_list="0-15")
    assert [x.shared_by for x in caches(tmp_path / "cache")] == [1, 8]


@pytest.mark.parametrize("said", ["", "many", "-"])
def test_where_it_is_not_known_each_thread_is_a_core(said: str, tmp_path: Path) -> None:
    (tmp_path / "topology").mkdir()
    (tmp_path / "topology" / "thread_siblings_list").write_text(said)
    (tmp_path / "cache").mkdir()
    describe(tmp_path / "cache", 0, shared_cpu_list="0-3")
    assert [x.shared_by for x in caches(tmp_path / "cache")] == [4]


@pytest.mark.parametrize(
    "about", [{"size": None}, {"size": "many"}, {"level": "one"}, {"ways_of_associativity": 0}]
)
def test_half_a_description_counts_as_none(about: dict[str, object], tmp_path: Path) -> None:
    describe(tmp_path, 0)
    describe(tmp_path, 1, **about)
    assert caches(tmp_path) == ()


def test_what_is_shipped_is_taken_where_the_system_says_nothing(tmp_path: Path) -> None:
    assert caches(tmp_path) == ()
    assert host.shipped_caches("znver5", "x86_64", True) == named("znver5").caches
    assert host.shipped_caches("made-up", "x86_64", True) == named("x86-64-v4").caches
    assert host.shipped_caches("made-up", "x86_64", False) == named("x86-64-v3").caches
    assert host.shipped_caches("made-up", "aarch64", False) == named("aarch64").caches
