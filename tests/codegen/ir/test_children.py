"""Statements of the loop IR with what stands directly in them, and with other ones there."""

from __future__ import annotations

import pytest

from polysched.codegen.ir.ir import Alloc, Count, For, If, Seq, Stmt, children, map_children
from polysched.codegen.ir.rewrite import map_statements
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import bool_
from polysched.lang.nodes.nodes import Const, Var, integer

TRUE = Const(True, bool_)
A, B, C = (Count(TRUE, k) for k in range(3))
AROUND = [
    For(Var("i"), ix.ZERO, integer(4), 2, "parallel", A, "i"),
    Alloc((), ((Var("o"), integer(3)),), A),
    If(TRUE, A),
    If(TRUE, A, B, choice=True),
    Seq((A, B, A)),
    Seq(()),
]


@pytest.mark.parametrize("stmt", AROUND, ids=lambda s: type(s).__name__)
def test_children_are_changed_and_nothing_else(stmt: Stmt) -> None:
    def change(child: Stmt) -> Stmt:
        return C if child is A else child

    made = map_children(stmt, change)
    assert type(made) is type(stmt)
    assert children(made) == tuple(map(change, children(stmt)))
    assert map_children(made, lambda child: A if child is C else child) == stmt


def test_what_has_no_children_stays() -> None:
    assert map_children(A, lambda _: C) is A


def test_all_of_a_tree_is_mapped_inner_ones_first() -> None:
    seen: list[str] = []

    def note(stmt: Stmt) -> Stmt:
        seen.append(type(stmt).__name__)
        return Seq(()) if stmt is A else stmt

    inner = For(Var("i"), ix.ZERO, integer(4), 1, "serial", A, "i")
    assert map_statements(Seq((inner, B)), note) == Seq(
        (For(Var("i"), ix.ZERO, integer(4), 1, "serial", Seq(()), "i"), B)
    )
    assert seen == ["Count", "For", "Count", "Seq"]
