"""A definition that was typed for good when it was recorded is the one that is typed at the end."""

from __future__ import annotations

import pytest
from gallery.case import Case
from gallery.registry import some

import polysched as ps
from polysched.lang.program.program import Program
from polysched.lang.tensors.definitions import Definition
from polysched.lang.tensors.elaborate import typed_definition
from polysched.testing.programs import Sample
from polysched.testing.trials import random_case


def is_as_typed_anew(program: Program) -> None:
    for func in program.funcs:
        history, found = func.history, func.history.typed()
        for k, (recorded, definition) in enumerate(zip(history.recorded, found, strict=True)):
            number = None if k < history.pieces else k - history.pieces
            anew = typed_definition(func, recorded, number, func.dtypes)
            assert parts(anew) == parts(definition)


def parts(d: Definition) -> tuple[object, ...]:
    return d.number, d.lhs, d.values, d.op, d.vars, d.rvars, d.where


@pytest.mark.parametrize("case", some(12), ids=lambda case: case.name)
def test_the_gallery(case: Case) -> None:
    is_as_typed_anew(Program(case.build()))


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int) -> None:
    case, _ = random_case(9000 + seed)
    names = Sample(case.source, case.outputs).namespace()
    is_as_typed_anew(Program(tuple(names[name] for name in case.outputs)))


def test_an_inout_is_read_as_what_it_is_in_the_end() -> None:
    n, i = ps.size("n"), ps.vars("i")
    a = ps.InOut("a", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = a[i] * 2
    g[i] = f[i] + a.initial[i]
    is_as_typed_anew(Program(g))
