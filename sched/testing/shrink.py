"""From a case that fails to a smaller one that fails in the same way, by editing its text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from .trials import Case

Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails, limit: int = 300) -> Case:
    """The smallest case found with at most `limit` attempts. `fails(case)` holds already."""
    left, progress = limit, True
    while progress:
        progress = False
        for edits in (_directives, _outputs, _lines, _expressions):
            candidates = edits(case)
            while left > 0 and (candidate := next(candidates, None)) is not None:
                left -= 1
                if fails(candidate):
                    case, progress = candidate, True
                    candidates = edits(case)
    return case


def _without(items: tuple[str, ...], keep: int) -> Iterator[tuple[str, ...]]:
    """Fewer items, none of the last `keep` of which is dropped."""
    for size in (8, 4, 2, 1):
        for at in range(len(items) - size - keep, -1, -1):
            yield items[:at] + items[at + size :]


def _directives(case: Case) -> Iterator[Case]:
    for kept in _without(case.directives, 1):
        yield replace(case, directives=kept)
    if case.default:
        yield replace(case, default=False)


def _outputs(case: Case) -> Iterator[Case]:
    for kept in _without(case.outputs, 0) if len(case.outputs) > 1 else ():
        yield replace(case, outputs=kept)


def _lines(case: Case) -> Iterator[Case]:
    for kept in _without(tuple(case.source.splitlines()), 0):
        yield replace(case, source="\n".join(kept))


def _expressions(case: Case) -> Iterator[Case]:
    """A part of a right side in the place of the whole."""
    lines = case.source.splitlines()
    for at, line in reversed(list(enumerate(lines))):
        if "ps.Input(" in line or "ps.Func(" in line or line.startswith("with "):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        for simpler in _simpler(line.strip()):
            yield replace(case, source="\n".join([*lines[:at], indent + simpler, *lines[at + 1 :]]))


def _simpler(line: str) -> Iterator[str]:
    try:
        tree = ast.parse(line)
    except SyntaxError:
        return
    statement = tree.body[0]
    if not isinstance(statement, (ast.Assign, ast.AugAssign)):
        return
    for number, node in enumerate(ast.walk(statement.value)):
        if isinstance(node, (ast.BinOp, ast.Call)):
            for part in _parts(node):
                copy = ast.parse(line)
                again = copy.body[0]
                assert isinstance(again, (ast.Assign, ast.AugAssign))
                target = list(ast.walk(again.value))[number]
                text = ast.unparse(_Swap(target, part).visit(copy))
                if len(text) < len(ast.unparse(tree)):
                    yield text


def _parts(node: ast.BinOp | ast.Call) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right, ast.Constant(0)]
    return [*node.args, ast.Constant(0)]


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """The new node in the place of the old one."""
        return self.new if node is self.old else super().visit(node)
