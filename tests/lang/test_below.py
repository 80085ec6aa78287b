"""What is below a node is what a walk finds, and nodes are freed as soon as nobody has them."""

from __future__ import annotations

import gc
import weakref

from hypothesis import given, strategies as st

from polysched.lang.nodes import index as ix
from polysched.lang.nodes.nodes import (
    Const,
    Node,
    Op,
    Size,
    Var,
    has_below,
    integer,
    leaves_below,
    postorder,
    replaced_all,
    transform_all,
)

leaves = st.sampled_from([Var("i"), Var("j"), Size("n", None), integer(3)])
expressions = st.recursive(
    leaves,
    lambda inner: st.builds(lambda a, b: Op("add", (a, b), integer(0).type), inner, inner),
    max_leaves=20,
)


@given(expressions, expressions)
def test_leaves_and_classes_are_those_of_a_walk(a: Node, b: Node) -> None:
    walked = list(postorder(a, b))
    assert leaves_below(a, b) == {x for x in walked if not x.args}
    assert leaves_below(a) == {x for x in postorder(a) if not x.args}
    for kind in (Const, Var, Size, Op):
        assert has_below(kind, a, b) == any(type(x) is kind for x in walked)


def walk(node: Node, seen: dict[Node, None]) -> dict[Node, None]:
    for a in node.args:
        walk(a, seen)
    seen[node] = None
    return seen


@given(expressions, expressions)
def test_operands_come_first_and_each_node_once(a: Node, b: Node) -> None:
    assert list(postorder(a)) == list(walk(a, {}))
    assert list(postorder(a, b)) == list(walk(b, walk(a, {})))


def test_chains_of_any_depth() -> None:
    """Of long ones no node keeps what is below it."""
    node: Node = Var("i")
    chain = [node, integer(3)]
    for _ in range(3000):
        node = Op("add", (node, integer(3)), integer(0).type)
        chain.append(node)
    assert list(postorder(node)) == chain
    assert list(postorder(chain[50], node)) == chain


@given(expressions, st.dictionaries(leaves, expressions, max_size=2))
def test_replacing_leaves_is_replacing_each(a: Node, by: dict[Node, Node]) -> None:
    (wanted,) = transform_all((a,), lambda x: x if x.args else by.get(x, x))
    assert replaced_all((a,), by) == (wanted,)


@given(expressions)
def test_a_rule_for_one_class_leaves_the_others(a: Node) -> None:
    def renamed(x: Node) -> Node:
        return Var("k") if isinstance(x, Size) else x

    assert transform_all((a,), renamed, only=Size) == transform_all((a,), renamed)


def test_nodes_are_freed_without_a_collector() -> None:
    gc.disable()
    try:
        var = Var("nobody else has it")
        whole = ix.add(var, integer(1234567))
        assert leaves_below(whole) == {var, integer(1234567)}
        assert leaves_below(var) == {var}
        gone = weakref.ref(var), weakref.ref(whole)
        del var, whole
        assert [ref() for ref in gone] == [None, None]
    finally:
        gc.enable()


def test_deep_expressions_are_no_recursion() -> None:
    node: Node = Var("i")
    for k in range(20_000):
        node = Op("add", (node, integer(k % 7)), integer(0).type)
    assert Var("i") in leaves_below(node)
