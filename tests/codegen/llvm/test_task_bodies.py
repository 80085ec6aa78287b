"""Writing the body of a parallel loop takes as many looks at it as it does for a small one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from codegen.llvm.harness import add, buffer, i, load, module, size, store

from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import integer
from polysched.targets.host import default_target

n, out = size("n"), buffer("out", int64, 8, kind="output")


def walks(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often statements are walked through where a loop reads so many buffers."""
    sources = [buffer(f"x{k}", int64, 8, kind="input") for k in range(count)]
    value = load(sources[0], i)
    for source in sources[1:]:
        value = add(value, load(source, i))
    nest = ir.For(i, integer(0), n, 1, "parallel", store(out, i, value), "i")
    program = module([*sources, out], [n], nest)
    found = 0
    walk = ir.walk

    def counted(stmt: ir.Stmt) -> Iterator[ir.Stmt]:
        nonlocal found
        found += 1
        return walk(stmt)

    with monkeypatch.context() as patched:
        patched.setattr(ir, "walk", counted)
        emit_module(program, default_target())
    return found


def test_a_body_is_walked_as_often_however_many_buffers_it_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert walks(12, monkeypatch) == walks(1, monkeypatch)
