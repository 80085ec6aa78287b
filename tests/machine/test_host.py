"""Machines: the host, the oldest one, and those that are refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import pytest
from codegen.llvm.harness import buffer, i, load, loop, module, op, size, store

import polysched as ps
from polysched.codegen.llvm import (
    Target,
    TargetError,
    binding,
    compile_module,
    emit_module,
    host,
    native,
    target,
    x86_64_v3,
)
from polysched.codegen.llvm.target import check
from polysched.lang.errors.errors import InternalError, PolyschedError
from polysched.lang.nodes.dtypes import float32


def test_host_is_a_value() -> None:
    assert host() == host()
    assert hash(host()) == hash(host())
    assert host().arch in ("x86_64", "aarch64")
    with pytest.raises(dataclasses.FrozenInstanceError):
        host().cpu = "other"  # type: ignore[misc]


def test_v3_has_fused_multiply_add_and_no_avx512() -> None:
    if host().arch != "x86_64":
        pytest.skip("compiles for x86-64")
    n = size("n")
    x, out = buffer("x", float32, n), buffer("out", float32, n, kind="output")
    body = store(out, i, op("fma", load(x, i), load(x, i), load(x, i)))
    kernel = module([x, out], [n], loop(i, 0, n, body))
    assembly = compile_module(emit_module(kernel, x86_64_v3()), x86_64_v3()).assembly()
    assert "vfmadd" in assembly
    assert "fmaf" not in assembly


def test_a_machine_without_fma_is_refused() -> None:
    old = Target("x86_64-unknown-linux-gnu", "westmere", "+sse4.2,+popcnt")
    with pytest.raises(TargetError) as caught:
        check(old, {"sse4.2": True, "popcnt": True, "fma": False})
    assert str(caught.value) == (
        "this CPU (westmere) lacks avx, avx2, bmi, bmi2, f16c, fma, lzcnt, movbe\n"
        "  hint: fused multiply-add is part of the arithmetic: x86-64-v3 or above is needed "
        "(Intel since Haswell, AMD since Excavator)"
    )
    assert isinstance(caught.value, PolyschedError)


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(TargetError, match=r"\(riscv64-unknown-linux-gnu\) is not supported"):
        check(Target("riscv64-unknown-linux-gnu", "generic", ""), {"fma": True})


def test_every_aarch64_is_accepted() -> None:
    check(Target("arm64-apple-darwin23", "apple-m1", ""), {})
    assert Target("arm64-apple-darwin23", "apple-m1", "").arch == "aarch64"


def test_host_refuses_by_what_the_machine_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding, "process_triple", lambda: "x86_64-unknown-linux-gnu")
    monkeypatch.setattr(binding, "host_features", lambda: {"fma": False})
    with pytest.raises(TargetError, match="lacks avx, "):
        target.native.__wrapped__()


# POLYSCHED_TARGET --------------------------------------------------------------------------------
AVX512 = ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
needs_x86 = pytest.mark.skipif(native().arch != "x86_64", reason="a level of x86-64")


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Pretends to be a machine with some features, where a target is asked for."""

    def pretend(asked: str, *features: str, triple: str = "x86_64-unknown-linux-gnu") -> None:
        monkeypatch.setenv("POLYSCHED_TARGET", asked)
        monkeypatch.setattr(binding, "process_triple", lambda: triple)
        monkeypatch.setattr(binding, "host_cpu", lambda: "made-up")
        monkeypatch.setattr(binding, "host_features", lambda: dict.fromkeys(features, True))
        _forget()

    yield pretend
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    target.native.cache_clear()
    target._level.cache_clear()


@pytest.mark.parametrize("asked", ["", " ", "native"])
def test_without_a_wish_it_is_this_machine(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_TARGET", asked)
    assert host() == native()


@pytest.mark.parametrize("asked", ["v3", "x86-64-v3"])
def test_less_than_the_machine_has(asked: str, made_up: Callable[..., None]) -> None:
    made_up(asked, *target._V3, *AVX512)
    assert host() == x86_64_v3()
    assert native().cpu == "made-up"


def test_what_is_asked_for_may_be_all_there_is(made_up: Callable[..., None]) -> None:
    made_up("v4", *target._V3, *AVX512)
    assert host().cpu == "x86-64-v4"
    assert "+avx512vl" in host().features.split(",")


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
    made_up("v5", *target._V3)
    with pytest.raises(TargetError) as caught:
        host()
    assert str(caught.value) == (
        "POLYSCHED_TARGET=v5 is no machine that code is made for here\n"
        "  hint: it may be v3, v4 (levels of x86-64), native, or not set"
    )


def test_a_target_that_this_cpu_is_not_is_refused(made_up: Callable[..., None]) -> None:
    made_up("x86-64-v4", *target._V3, "avx512f", "avx512vl")
    with pytest.raises(TargetError) as caught:
        host()
    assert str(caught.value) == (
        "POLYSCHED_TARGET=x86-64-v4 needs avx512bw, avx512cd, avx512dq, which this CPU (made-up) "
        "lacks\n  hint: without POLYSCHED_TARGET code is made for what this CPU has"
    )


def test_a_target_of_another_architecture_is_refused(made_up: Callable[..., None]) -> None:
    made_up("v3", triple="arm64-apple-darwin23")
    with pytest.raises(TargetError) as caught:
        host()
    assert str(caught.value) == (
        "POLYSCHED_TARGET=v3 is a level of x86-64, and this machine (arm64-apple-darwin23) is not "
        "one\n  hint: without POLYSCHED_TARGET code is made for this machine"
    )


def test_a_machine_that_is_too_old_is_refused_whatever_is_asked_for(
    made_up: Callable[..., None],
) -> None:
    made_up("v3", "fma")
    with pytest.raises(TargetError, match=r"this CPU \(made-up\) lacks avx, "):
        host()


# LLVM ---------------------------------------------------------------------------------------------
def test_a_triple_without_a_code_generator() -> None:
    with pytest.raises(InternalError, match="LLVM has no code generator for pdp11-dec-unix"):
        compile_module("", Target("pdp11-dec-unix", "", ""))
