"""Shrinking: a failing case is reduced, by edits of its text, to a smaller one that fails in the
same way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from .cases import Case

C = TypeVar("C")


def shrink(case: Case, fails: Callable[[Case], bool], limit: int = 300) -> Case:
    """The smallest case found with at most `limit` attempts. `fails(case)` holds already."""
    return smallest(case, (_directives, _outputs, _lines, _expressions), fails, limit)


def smallest(
    case: C,
    edits: Sequence[Callable[[C], Iterator[C]]],
    fails: Callable[[C], bool],
    limit: int,
) -> C:
    """The smallest case found with at most `limit` attempts.

    Args:
        edits: functions that give slightly smaller variants of a case.
        fails: whether a case fails in the same way; it holds for `case`.
    """
    left, progress = limit, True
    while progress:
        progress = False
        for edit in edits:
            candidates = edit(case)
            while left > 0 and (candidate := next(candidates, None)) is not None:
                left -= 1
                if fails(candidate):
                    case, progress = candidate, True
                    candidates = edit(case)
    return case


def without(items: tuple[str, ...], first: int = 0, last: int = 0) -> Iterator[tuple[str, ...]]:
    """The items without some of them, which are taken from the end first. The given numbers of
    items at the beginning and the end are always kept."""
    for size in (8, 4, 2, 1):
        for at in range(len(items) - size - last, first - 1, -1):
            yield items[:at] + items[at + size :]


def _directives(case: Case) -> Iterator[Case]:
    for kept in without(case.directives, last=1):
        yield replace(case, directives=kept)
    if case.default:
        yield replace(case, default=False)


def _outputs(case: Case) -> Iterator[Case]:
    for kept in without(case.outputs) if len(case.outputs) > 1 else ():
        yield replace(case, outputs=kept)


def _lines(case: Case) -> Iterator[Case]:
    for kept in without(tuple(case.source.splitlines())):
        yield replace(case, source="\n".join(kept))


def _expressions(case: Case) -> Iterator[Case]:
    for source in simpler(case.source, ("ps.Input(", "ps.Func(", "with ")):
        yield replace(case, source=source)


# expressions ------------------------------------------------------------------------------------
def simpler(source: str, fixed: Sequence[str]) -> Iterator[str]:
    """Variants of a text in which one expression is replaced by a part of it or by a number, the
    largest expressions first.

    Args:
        fixed: strings; lines that contain one of them are not changed.
    """
    lines = source.splitlines()
    for at, line in reversed(list(enumerate(lines))):
        if any(text in line for text in fixed):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        for text in _simpler(line.strip()):
            yield "\n".join([*lines[:at], indent + text, *lines[at + 1 :]])


def _simpler(line: str) -> Iterator[str]:
    """Variants of one line in which one expression is simplified."""
    try:
        whole = ast.parse(line)
    except SyntaxError:
        return  # the head of a block
    longest = len(ast.unparse(whole))
    for k, part in enumerate(_parts(whole)):
        for choice in range(len(_options(part))):
            tree = ast.parse(line)
            old = _parts(tree)[k]
            text = ast.unparse(_Replace(old, _options(old)[choice]).visit(tree))
            if len(text) < longest:
                yield text


def _parts(tree: ast.AST) -> list[ast.expr]:
    """The expressions that may be replaced, outer ones before inner ones."""
    kept: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func):
                kept.add(func)
            case ast.Subscript(value=value, slice=index):
                kept |= {value, index} if isinstance(index, ast.Tuple) else {value}
            case ast.Assign(targets=targets):
                kept.update(targets)
            case ast.AugAssign(target=target):
                kept.add(target)
            case ast.Attribute(value=value):
                kept.add(value)
    return [n for n in ast.walk(tree) if isinstance(n, ast.expr) and n not in kept]


def _options(node: ast.expr) -> list[ast.expr]:
    """Simpler expressions that may take the place of one."""
    parts: list[ast.expr] = []
    match node:
        case ast.Call(args=args, keywords=keywords):
            parts += args
            if keywords:
                parts.append(ast.Call(node.func, args, keywords[:-1]))
        case ast.BinOp(left=a, right=b) | ast.Compare(left=a, comparators=[b]):
            parts += [a, b]
        case ast.UnaryOp(operand=a):
            parts.append(a)
        case ast.Subscript(value=ast.Subscript() as inner):
            parts.append(inner)
    numbers = [] if isinstance(node, ast.Constant) else [ast.Constant(0), ast.Constant(1)]
    return [*numbers, *(p for p in parts if not isinstance(p, ast.Starred))]


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Returns the new node for the old one, and visits others."""
        return self.new if node is self.old else super().visit(node)
