"""Code for 16-bit floats calls no routine of a compiler's library, on any target."""

from __future__ import annotations

import re

import pytest

import polysched as ps
from polysched.codegen.build.build import build
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.codegen.llvm.machine.archive import objects_of
from polysched.codegen.llvm.machine.binding import object_code
from polysched.codegen.llvm.machine.imports import undefined
from polysched.codegen.lower import passed
from polysched.lang.nodes.dtypes import ALL
from polysched.steps import Log
from polysched.targets.host import target_of

n, i = ps.size("n"), ps.vars("i")
TYPES = pytest.mark.parametrize("dtype", [ps.float16, ps.bfloat16], ids=str)
TARGETS = pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4", "aarch64"])
#: What C's library has on every system, which LLVM makes of loops.
MEMORY = {"memset", "memcpy", "memmove"}


def needed(target: str, lanes: int, *values: ps.Expr) -> set[str]:
    """The symbols that code of some values needs and has not."""
    funcs = []
    for number, value in enumerate(values):
        f = ps.Func(f"f{number}", (n,))
        f[i] = value
        funcs.append(f)
    s = ps.Schedule(tuple(funcs))
    for f in funcs:
        if lanes > 1:
            s[f].vectorize(i, lanes)
    machine = target_of(target)
    text = emit_module(passed(build(s.loop_program), Log()), machine)
    # One half of the code may call functions of the other one.
    own = set(re.findall(r'^define [^@]*@"?([\w.]+)', text, re.MULTILINE))
    names = {x for code in objects_of(object_code(text, machine)) for x in undefined(code)}
    return names - own - MEMORY


@TYPES
@TARGETS
@pytest.mark.parametrize("lanes", [1, 8])
def test_of_conversions(dtype: ps.DType, target: str, lanes: int) -> None:
    """From each type and to each, or from the widest ones in lanes."""
    types = (ps.float64, ps.int64) if lanes > 1 else ALL
    x = ps.Input("x", dtype, (n,))[i]
    given = [ps.Input(f"of_{t.name}", t, (n,))[i] for t in types]
    values = [ps.cast(t, x) for t in types] + [ps.cast(dtype, y) for y in given]
    assert needed(target, lanes, *values) == set()


@TYPES
@pytest.mark.parametrize("target", ["x86-64-v3", "aarch64"])
def test_of_operators(dtype: ps.DType, target: str) -> None:
    x, y = (ps.Input(name, dtype, (n,))[i] for name in "xy")
    values = [x + y, x * y - 1, x / y, ps.fma(x, y, x), ps.sqrt(x), ps.minimum(x, y), abs(-x)]
    values += [ps.rint(x), ps.floor(y), ps.exp(x), x < y, ps.select(x > 0, x, y)]
    assert needed(target, 8, *values) == set()


def test_a_routine_is_noticed() -> None:
    """LLVM converts float64 to float16 by a call; ours never says so."""
    text = """
target triple = "x86_64-unknown-linux-gnu"
define i16 @f(double %x) {
  %half = fptrunc double %x to half
  %bits = bitcast half %half to i16
  ret i16 %bits
}
"""
    assert undefined(object_code(text, target_of("x86-64-v3"))) == ["__truncdfhf2"]
