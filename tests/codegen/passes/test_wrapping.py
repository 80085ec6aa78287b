"""Indices are int64 and wrap, also where loops are unrolled and sizes are known: what is computed
before the code is made is what the code would compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.lang.nodes import index as ix

n = ps.sizes("n")
i = ps.vars("i")
BIG = 6364136223846793005
VALUES: dict[str, Callable[[ps.Expr], ps.Expr]] = {
    "mod": lambda x: (x * BIG) % 1000,
    "floordiv": lambda x: x * 2**62 // 4,
    "add": lambda x: ps.where(x + (2**63 - 4) < 5, 1, 0),
    "sub": lambda x: ps.where(x - (2**63 - 4) - 9 < 0, 1, 0),
    "eq": lambda x: ps.where(x * 2**62 == 0, 1, 0),
    "ge": lambda x: ps.where(x * 2**62 >= 0, 1, 0),
    "sum of sums": lambda x: (x + (2**63 - 1)) + (2**63 - 1),
    "neg": lambda x: -(x - (2**63 - 1)) - 9,
}


@pytest.mark.parametrize("name", VALUES)
def test_unrolled(name: str) -> None:
    f = ps.Func("f", (8,), ps.int64)
    f[i] = VALUES[name](i)
    s = ps.Schedule(f)
    s["f"].unroll(i)
    np.testing.assert_array_equal(s.compile()(), ps.interpret(f))


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("how", ["compile", "assume", "specialize"])
def test_known_sizes(name: str, how: str) -> None:
    f = ps.Func("f", (n,), ps.int64)
    f[i] = VALUES[name](n) + i
    s = ps.Schedule(f)
    for size in (3, 6):
        if how == "assume":
            s = ps.Schedule(f)
            s.assume(n == size)
        elif how == "specialize":
            s.specialize(n == size)
        kernel = s.compile(n=size) if how == "compile" else s.compile()
        np.testing.assert_array_equal(kernel(n=size), ps.interpret(f, n=size))


def test_constant_indices_wrap() -> None:
    most, least = ix.integer(2**63 - 1), ix.integer(-(2**63))
    assert ix.constant(ix.add(most, ix.ONE)) == -(2**63)
    assert ix.constant(ix.sub(least, ix.ONE)) == 2**63 - 1
    assert ix.constant(ix.mul(most, ix.integer(2))) == -2
    assert ix.constant(ix.sub(ix.ZERO, least)) == -(2**63)
    moved = ix.add(ix.add(i.node, most), most)
    assert moved is ix.sub(i.node, ix.integer(2))
