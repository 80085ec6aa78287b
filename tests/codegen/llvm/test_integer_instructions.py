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


def code(target: str, t: ps.DType, names: str) -> str:
    """The code of functions of elements of one type, a register of them at a time."""
    a, b = (ps.Input(name, t, (n,))[i] for name in "ab")
    funcs = []
    for name in names.split():
        f = ps.Func(f"of_{name}", (n,))
        match name:
            case "high":
                f[i] = ps.mul_shift_right(a, b, t.bits)
            case "narrowed":
                f[i] = ps.saturating_cast(ps.uint8, a)
            case "popcount" | "clz" | "ctz" | "bit_reverse" | "byte_swap":
                f[i] = getattr(ps, name)(a)
            case _:
                f[i] = getattr(ps, name)(a, b)
        funcs.append(f)
    s = ps.Schedule(tuple(funcs))
    machine = target_of(target)
    for f in funcs:
        s[f].vectorize(i, 8 * machine.vector_bytes // t.bits)
    text = assembly(s.loop_program, machine)
    # Nothing is left to a routine of a library of compilers.
    assert not re.search(r"\b(call\w*|bl)\s+__\w+", text)
    return text


@pytest.mark.parametrize(
    ("t", "names", "wanted"),
    [
        (ps.uint8, "saturating_add saturating_sub rounding_halving_add saturating_mul absd",
         "vpaddusb vpsubusb vpavgb vpackuswb vpminub"),
        (ps.int8, "saturating_add saturating_sub rounding_halving_add saturating_mul popcount",
         "vpaddsb vpsubsb vpavgb vpacksswb vpshufb"),
        (ps.uint16, "saturating_add saturating_sub rounding_halving_add saturating_mul high",
         "vpaddusw vpsubusw vpavgw vpackusdw vpmulhuw"),
        (ps.int16, "saturating_add saturating_sub narrowed saturating_mul high",
         "vpaddsw vpsubsw vpackuswb vpackssdw vpmulhw"),
    ],
    ids=str,
)  # fmt: skip
def test_instructions_of_v3(t: ps.DType, names: str, wanted: str) -> None:
    text = code("x86-64-v3", t, names)
    for name in wanted.split():
        assert re.search(rf"\t{name}\s.*[xy]mm", text), name


def test_instructions_of_v4() -> None:
    text = code("x86-64-v4", ps.uint32, "clz rotate_left byte_swap")
    for name in ("vplzcntd", "vprolvd", "vpshufb"):
        assert re.search(rf"\t{name}\s.*zmm", text), name


def test_instructions_of_aarch64() -> None:
    text = code("aarch64", ps.uint8, "saturating_add halving_add rounding_halving_add absd clz")
    for name in ("uqadd", "uhadd", "urhadd", "uabd", "clz"):
        assert re.search(rf"\t{name}\s+v\d", text), name


@pytest.mark.parametrize("target", ["x86-64-v3", "aarch64"])
def test_64_bits_need_no_routine(target: str) -> None:
    names = "saturating_mul halving_add rounding_halving_add high popcount clz ctz bit_reverse"
    for t in (ps.int64, ps.uint64):
        assert code(target, t, names)
