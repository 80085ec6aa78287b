"""Functions of integers are the instructions that a machine has for them: looked for in the code
that is made for it, which need not run here."""

from __future__ import annotations

import re

import pytest

import polysched as ps
from polysched.codegen.lower import assembly
from polysched.targets.host import target_of

n = ps.sizes("n")
i = ps.vars("i")


def code(target: str, t: ps.DType, names: str, lanes: int = 0) -> str:
    """The code of functions of elements of one type, a register of them at a time unless the number
    is given."""
    a, b = (ps.Input(name, t, (n,))[i] for name in "ab")
    funcs = []
    for name in names.split():
        f = ps.Func(f"of_{name}", (n,))
        match name:
            case "high":
                f[i] = ps.mul_shift_right(a, b, t.bits)
            case "rounded":
                f[i] = ps.rounding_mul_shift_right(a, b, t.bits - 1)
            case "narrowed":
                f[i] = ps.saturating_cast(ps.uint8, a)
            case "abs" | "popcount" | "clz" | "ctz" | "bit_reverse" | "byte_swap":
                f[i] = (abs if name == "abs" else getattr(ps, name))(a)
            case _:
                f[i] = getattr(ps, name)(a, b)
        funcs.append(f)
    s = ps.Schedule(tuple(funcs))
    machine = target_of(target)
    for f in funcs:
        s[f].vectorize(i, lanes or machine.lanes(t))
    text = assembly(s.loop_program, machine)
    # Nothing is left to a routine of a library of compilers.
    assert not re.search(r"\b(call\w*|bl)\s+__\w+", text)
    return text


BOTH = [
    (ps.uint8, "saturating_add saturating_sub rounding_halving_add absd popcount",
     "vpaddusb vpsubusb vpavgb vpminub vpshufb"),
    (ps.int8, "saturating_add saturating_sub rounding_halving_add abs",
     "vpaddsb vpsubsb vpavgb vpabsb"),
    (ps.uint16, "saturating_add saturating_sub rounding_halving_add high",
     "vpaddusw vpsubusw vpavgw vpmulhuw"),
    (ps.int16, "saturating_add saturating_sub high rounded abs",
     "vpaddsw vpsubsw vpmulhw vpmulhrsw vpabsw"),
    (ps.int32, "abs byte_swap", "vpabsd vpshufb"),
]  # fmt: skip
FOR_V3 = [
    (ps.uint8, "saturating_mul", "vpackuswb"),
    (ps.int8, "saturating_mul", "vpacksswb"),
    (ps.uint16, "saturating_mul", "vpackusdw"),
    (ps.int16, "saturating_mul narrowed", "vpackssdw vpackuswb"),
]
FOR_V4 = [
    (ps.uint8, "saturating_mul", "vpmovuswb"),
    (ps.int8, "saturating_mul", "vpmovswb"),
    (ps.uint16, "saturating_mul", "vpmovusdw"),
    (ps.int16, "saturating_mul narrowed", "vpmovsdw vpmovuswb"),
    (ps.uint32, "clz rotate_left", "vplzcntd vprolvd"),
    (ps.uint64, "clz rotate_right", "vplzcntq vprorvq"),
]


@pytest.mark.parametrize(
    ("target", "t", "names", "wanted"),
    [(f"x86-64-{v}", *x) for v, more in (("v3", FOR_V3), ("v4", FOR_V4)) for x in BOTH + more],
    ids=str,
)
def test_instructions(target: str, t: ps.DType, names: str, wanted: str) -> None:
    text = code(target, t, names)
    register = "[xy]mm" if target == "x86-64-v3" else "zmm"
    for name in wanted.split():
        assert re.search(rf"\t{name}\s.*{register}", text), name


def test_rounded_products_are_instructions_of_any_power_of_two_of_lanes() -> None:
    for target, names in (("x86-64-v3", "xmm ymm"), ("x86-64-v4", "xmm ymm zmm")):
        for register, lanes in zip(names.split(), (8, 16, 32), strict=False):
            text = code(target, ps.int16, "rounded", lanes)
            assert re.search(rf"\tvpmulhrsw\s.*{register}", text)
    assert re.search(r"\tsqrdmulh\s+v\d", code("aarch64", ps.int16, "rounded"))


def test_instructions_of_aarch64() -> None:
    text = code("aarch64", ps.uint8, "saturating_add halving_add rounding_halving_add absd clz")
    for name in ("uqadd", "uhadd", "urhadd", "uabd", "clz"):
        assert re.search(rf"\t{name}\s+v\d", text), name


@pytest.mark.parametrize("target", ["x86-64-v3", "aarch64"])
def test_64_bits_need_no_routine(target: str) -> None:
    names = "saturating_mul halving_add rounding_halving_add high popcount clz ctz bit_reverse"
    for t in (ps.int64, ps.uint64):
        assert code(target, t, names)
