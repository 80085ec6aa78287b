"""What copies of an instance have in common is made for the first of them."""

from __future__ import annotations

from typing import Any

import pytest

import polysched as ps
from polysched.codegen.build import generals, loads
from polysched.codegen.build.build import build
from polysched.codegen.ir.buffers import Load
from polysched.codegen.ir.ir import Module, Stores, expressions, walk
from polysched.lang.nodes.nodes import postorder

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The expressions of each instance whose reads have become loads."""
    found: list[object] = []

    class Counted(loads.Converter):
        def __init__(self, storage: Any, safe: Any, roots: Any, *rest: Any) -> None:
            super().__init__(storage, safe, roots, *rest)
            found.append(roots)

    monkeypatch.setattr(generals, "Converter", Counted)
    return found


def unrolled(copies: int) -> Module:
    A = ps.Input("A", ps.int32, (n, m))
    f = ps.Func("f")
    f[i, j] = A[i, j] + 1
    s = ps.Schedule.default(f)
    s["f"].split("j", copies, names=("jo", "ji"))
    s["f"].unroll("ji")
    return build(s.loop_program, points=False)


def stored(module: Module) -> int:
    """How many statements store, each at an index that it loads at, too."""
    found = [s for f in module.functions for s in walk(f.body) if isinstance(s, Stores)]
    for s in found:
        (load,) = (x for x in postorder(*expressions(s)) if isinstance(x, Load))
        assert load.index == s.stores[0].index
    return len(found)


@pytest.mark.parametrize("copies", [2, 16])
def test_the_reads_of_an_unrolled_instance_become_loads_once(
    copies: int, converted: list[object]
) -> None:
    assert stored(unrolled(copies)) == copies
    assert len(converted) == 1
