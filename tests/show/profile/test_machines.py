"""The code with marks for other machines: which instruction reads the clock."""

from __future__ import annotations

import re
from typing import Any

import pytest

import polysched as ps
from polysched.codegen.llvm import assembly_of
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.show.profile.instrumented import plain
from polysched.show.profile.marking import Limits, mark_stages
from polysched.targets.host import target_of

n, i = ps.size("n"), ps.Var("i")


@pytest.mark.parametrize(
    ("machine", "clock"), [("aarch64", r"mrs\tx\d+, CNTVCT_EL0"), ("x86-64-v3", r"\trdtsc\n")]
)
def test_marks_read_the_clock_of_the_machine(machine: str, clock: str) -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] + 1
    s = ps.Schedule(f)
    s[f].parallel(i)
    kernel: Any = s.compile()
    loops, target = plain(kernel, False), target_of(machine)
    marked = mark_stages(loops.flat, loops.names, loops.counts, {"n": 10**6}, Limits(), 2)
    assert not re.search(clock, assembly_of(emit_module(loops.flat, target), target))
    text = assembly_of(emit_module(marked.module, target), target)
    assert len(re.findall(clock, text)) == 1
