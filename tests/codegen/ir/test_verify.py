"""What a pass makes of the loop IR is verified, also in production: of small programs after each
pass, of others after the last one."""

from __future__ import annotations

from dataclasses import replace

import pytest

import polysched as ps
from polysched.codegen import lower
from polysched.codegen.build.build import build
from polysched.codegen.ir.ir import For, Module, Stmt
from polysched.codegen.ir.rewrite import map_expressions
from polysched.codegen.ir.verify import verify
from polysched.lang.nodes.dtypes import int8, int64
from polysched.lang.nodes.nodes import Const, Node, Op
from polysched.steps import Log


def schedule() -> ps.Schedule:
    n, i = ps.size("n"), ps.Var("i")
    f = ps.Func("f", (n,))
    f[i] = i * i
    return ps.Schedule(f)


def with_step(module: Module, step: int) -> Module:
    """With another step of its one loop, which may be none."""

    def change(stmt: Stmt) -> Stmt:
        assert isinstance(stmt, For)
        return replace(stmt, step=step)

    functions = tuple(replace(f, body=change(f.body)) for f in module.functions)
    return replace(module, functions=functions)


def breaks(module: Module) -> Module:
    return with_step(module, 0)


def mends(module: Module) -> Module:
    return with_step(module, 1)


def test_statements_are_counted() -> None:
    module = build(schedule().loop_program)
    assert verify(module, flat=False) == 2
    with pytest.raises(ps.InternalError, match="step 0 of loop i"):
        verify(breaks(module), flat=False)


def test_each_pass_of_a_small_program_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower, "PASSES", (breaks, mends, *lower.PASSES))
    monkeypatch.setattr(lower, "SMALL", 2)
    with pytest.raises(ps.InternalError, match=r"malformed loop IR in f.*: step 0 of loop i"):
        lower.passed(build(schedule().loop_program), Log())


def test_of_a_large_program_the_last_pass_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower, "SMALL", 1)
    monkeypatch.setattr(lower, "PASSES", (breaks, mends, *lower.PASSES))
    lower.passed(build(schedule().loop_program), Log())
    monkeypatch.setattr(lower, "PASSES", (*lower.PASSES, breaks))
    with pytest.raises(ps.InternalError, match="step 0 of loop i"):
        lower.passed(build(schedule().loop_program), Log())


def test_numbers_of_different_types_have_no_sum() -> None:
    module = build(schedule().loop_program)

    def mixed(node: Node) -> Node:
        return Op("mul", (node.operands[0], Const(2, int8)), int64) if is_product(node) else node

    def is_product(node: Node) -> bool:
        return isinstance(node, Op) and node.op == "mul"

    with pytest.raises(ps.InternalError, match="operands of mul of different types"):
        verify(map_expressions(module, mixed), flat=False)
