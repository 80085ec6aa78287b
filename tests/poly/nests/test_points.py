"""Which instance runs in an iteration; and that no two do."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.lang.errors.errors import InternalError
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.nodes import Node, Var
from polysched.lang.nodes.printer import expr_text
from polysched.lang.program.scalars import symbols_of
from polysched.poly.nests.points import point_of
from polysched.poly.sets.expressions import Translator
from polysched.poly.tree.stage import Stage

n = ps.size("n")
i = ps.Var("i")
outer, inner = Var("outer"), Var("inner")


def at(make: str, *loops: Var) -> dict[str, str]:
    """What the dimension of a Func is in loops with some coordinates."""
    f = ps.Func("f", (n,))
    f[i] = 1.0
    s = ps.Schedule(f)
    (statement,) = s.model.statements
    dim = statement.loops[0]
    coordinates: dict[str, tuple[Node, ...]] = {
        "tiles": (ix.floordiv(dim, 8), ix.mod(dim, 8)),
        "quotients": (ix.floordiv(dim, 8),),
        "remainders": (ix.mod(dim, 8),),
    }
    names = Translator(symbols_of(s.program), loops)
    found = point_of(Stage(statement, coordinates[make]), loops, names, s.model.context)
    return {expr_text(k): expr_text(v) for k, v in found.items()}


def test_the_instance_of_an_iteration() -> None:
    assert at("tiles", outer, inner) == {"i": "outer * 8 + inner"}


@pytest.mark.parametrize("make", ["quotients", "remainders"])
def test_loops_in_whose_iterations_several_instances_would_run_are_refused(make: str) -> None:
    with pytest.raises(InternalError, match="several instances of f share an iteration"):
        at(make, outer)
