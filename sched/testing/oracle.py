"""isl's own code generator as an oracle: its loops must execute the same instances as those of
polysched, in the same order.

Used by tests only. The finished AST is executed with plain integers. Callbacks while the AST is
built are not used: they swallow exceptions, and crash when their handle is dropped.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..poly.model.model import Model
from ..poly.sets.isl import Set, UnionMap, isl
from ..poly.tree.looptree import Tree
from ..poly.tree.time_maps import time_maps

Instance = tuple[str, tuple[int, ...]]
"""A statement's name and the coordinates of one instance."""


def instances(model: Model, tree: Tree, sizes: Mapping[str, int]) -> list[Instance]:
    """Every instance in the order of isl's generated loops, at concrete sizes."""
    fixed = model.context
    for name, value in sizes.items():
        frame = model.parameters
        fixed = fixed.intersect(frame.param(name).eq_set(frame.constant(value)).params())
    names = {}
    schedule = UnionMap.empty(model.parameters.space.params())
    for k, (statement, time) in enumerate(time_maps(tree).items()):
        label = f"S{k}"
        names[label] = statement.name
        named = time.set_tuple_name(isl.dim_type.in_, label).intersect_params(fixed)
        schedule = schedule.union(UnionMap.from_map(named))
    if schedule.is_empty():
        return []
    build = isl.AstBuild.from_context(fixed)
    ast = build.node_from_schedule_map(schedule)
    runner = _Runner(dict(sizes))
    return [(names[label], point) for label, point in runner.run(ast)]


class _Runner:
    """Executes an isl AST."""

    def __init__(self, values: dict[str, int]) -> None:
        self.values = values

    def run(self, node: isl.AstNode) -> Iterator[Instance]:
        kind = _node_kind(node)
        if kind == "for":
            yield from self._for(node)
        elif kind == "if":
            if self.value(node.if_get_cond()):
                yield from self.run(node.if_get_then_node())
            elif node.if_has_else_node():
                yield from self.run(node.if_get_else_node())
        elif kind == "block":
            children = node.block_get_children()
            for k in range(children.n_ast_node()):
                yield from self.run(children.get_at(k))
        elif kind == "user":
            call = node.user_get_expr()
            label = call.get_op_arg(0).get_id().get_name()
            coordinates = range(1, call.get_op_n_arg())
            yield label, tuple(self.value(call.get_op_arg(k)) for k in coordinates)

    def _for(self, node: isl.AstNode) -> Iterator[Instance]:
        name = node.for_get_iterator().get_id().get_name()
        self.values[name] = self.value(node.for_get_init())
        if node.for_is_degenerate():
            yield from self.run(node.for_get_body())
            return
        step = self.value(node.for_get_inc())
        while self.value(node.for_get_cond()):
            yield from self.run(node.for_get_body())
            self.values[name] += step

    def value(self, expr: isl.AstExpr) -> int:
        kind = _name(isl.ast_expr_type, expr.get_type())
        if kind == "int":
            return int(expr.get_val().to_python())
        if kind == "id":
            return self.values[expr.get_id().get_name()]
        return self._operator(expr)

    def _operator(self, expr: isl.AstExpr) -> int:
        kind = _name(isl.ast_expr_op_type, expr.get_op_type())
        operands = [expr.get_op_arg(k) for k in range(expr.get_op_n_arg())]
        if kind in ("cond", "select"):
            return self.value(operands[1] if self.value(operands[0]) else operands[2])
        if kind in ("and", "and_then"):
            return int(all(self.value(a) for a in operands))
        if kind in ("or", "or_else"):
            return int(any(self.value(a) for a in operands))
        return int(_OPERATORS[kind](*(self.value(a) for a in operands)))


_OPERATORS: dict[str, Callable[..., int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "minus": operator.neg,
    "div": operator.floordiv, "fdiv_q": operator.floordiv, "pdiv_q": operator.floordiv,
    "pdiv_r": operator.mod, "zdiv_r": operator.mod, "max": max, "min": min, "eq": operator.eq,
    "le": operator.le, "lt": operator.lt, "ge": operator.ge, "gt": operator.gt,
}  # fmt: skip


def _name(kinds: Any, value: Any) -> str:
    """The name of an isl enumerator, given as one or as a plain number."""
    return str((value if isinstance(value, kinds) else kinds(value)).name).rstrip("_")


def _node_kind(node: isl.AstNode) -> str:
    return _name(isl.ast_node_type, node.get_type())


def domain_points(where: Set) -> list[tuple[int, ...]]:
    """The points of a set without free sizes, in lexicographic order."""
    found: list[tuple[int, ...]] = []
    count = int(where.dim(isl.dim_type.set))

    def visit(point: isl.Point) -> None:
        found.append(
            tuple(
                int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(count)
            )
        )

    where.foreach_point(visit)
    return sorted(found)


__all__ = ["Instance", "domain_points", "instances"]
