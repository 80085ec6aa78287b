"""Machines: the host, the oldest one, and those that are refused."""

from __future__ import annotations

import dataclasses

import pytest
from codegen.llvm.harness import buffer, i, load, loop, module, op, size, store

from polysched.codegen.llvm import (
    Target,
    TargetError,
    binding,
    compile_module,
    emit_module,
    host,
    x86_64_v3,
)
from polysched.codegen.llvm.target import check
from polysched.lang.dtypes import float32
from polysched.lang.errors import InternalError, PolyschedError


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
        host.__wrapped__()


def test_a_triple_without_a_code_generator() -> None:
    with pytest.raises(InternalError, match="LLVM has no code generator for pdp11-dec-unix"):
        compile_module("", Target("pdp11-dec-unix", "", ""))
