"""From a program that fails to a smaller one that fails in the same way, by editing its text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from .programs import Case

Fails = Callable[[Case], bool]
#: Declarations that the data of the calls depend on: they are dropped or kept as they are.
_FIXED = ("ps.Input(", "ps.Param(", "ps.sizes(", "ps.vars(")


def shrink(case: Case, fails: Fails, limit: int = 600) -> Case:
    """The smallest case found with at most `limit` attempts. `fails(case)` holds already."""
    left = limit
    progress = True
    while progress:
        progress = False
        for edits in (_calls, _outputs, _lines, _expressions, _sizes):
            candidates = edits(case)
            while left > 0 and (candidate := next(candidates, None)) is not None:
                left -= 1
                if fails(candidate):
                    case, progress = candidate, True
                    candidates = edits(case)
    return case


def _calls(case: Case) -> Iterator[Case]:
    """One call alone."""
    if len(case.sizes) > 1:
        for sizes in case.sizes:
            yield replace(case, sizes=(sizes,))


def _outputs(case: Case) -> Iterator[Case]:
    """One output alone, perhaps another one."""
    names = [w.split(" = ")[0] for w in case.source.splitlines() if " = ps.Func(" in w]
    for name in (*case.outputs, *reversed(names)):
        if len(case.outputs) > 1 or (name in names and names.index(name) < _last(case, names)):
            yield replace(case, outputs=(name,), shapes=_shapes(case, name))


def _last(case: Case, names: list[str]) -> int:
    return max(names.index(o) for o in case.outputs)


def _shapes(case: Case, name: str) -> dict[str, tuple[str, ...]]:
    """Those of the outputs; one for the Func `name` if it is none yet and declares none."""
    if name in case.shapes:
        return case.shapes
    declared = next(w for w in case.source.splitlines() if w.startswith(f"{name} = ps.Func("))
    call = ast.parse(declared).body[0].value  # type: ignore[attr-defined]
    if len(call.args) > 1:
        return case.shapes
    uses = [w.split("]")[0] for w in case.source.splitlines() if w.startswith(f"{name}[")]
    rank = 0 if not uses or uses[0].endswith("[()") else uses[0].count(",") + 1
    return {**case.shapes, name: ("3",) * rank}


def _lines(case: Case) -> Iterator[Case]:
    """Fewer lines, the last ones first."""
    lines = case.source.splitlines()
    for size in (8, 4, 2, 1):
        for at in range(len(lines) - size, 0, -1):
            yield replace(case, source="\n".join(lines[:at] + lines[at + size :]))


def _sizes(case: Case) -> Iterator[Case]:
    """Smaller sizes, if there is one call."""
    for given in case.sizes[:1] if len(case.sizes) == 1 else ():
        for name, value in given.items():
            for smaller in range(value):
                yield replace(case, sizes=({**given, name: smaller},))


def _expressions(case: Case) -> Iterator[Case]:
    """A part of an expression in the place of the whole, or a number; the largest parts first."""
    lines = case.source.splitlines()
    for at in reversed(range(len(lines))):
        if any(fixed in lines[at] for fixed in _FIXED):
            continue
        for text in _simpler(lines[at]):
            yield replace(case, source="\n".join([*lines[:at], text, *lines[at + 1 :]]))


def _simpler(line: str) -> Iterator[str]:
    """One line with one part of it simplified."""
    count = len(_parts(ast.parse(line)))
    for k in range(count):
        for choice in range(8):
            tree = ast.parse(line)
            parts = _parts(tree)
            options = _options(parts[k])
            if choice >= len(options):
                break
            text = ast.unparse(_Replace(parts[k], options[choice]).visit(tree))
            if len(text) < len(ast.unparse(ast.parse(line))):
                yield text


def _parts(tree: ast.AST) -> list[ast.expr]:
    """The expressions that may be replaced, those around others before these."""
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
    """What is simpler than an expression and may do in its place."""
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
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)
