"""No file of the package is longer than a reader takes in at once, and no function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "sched"
FILE_LIMIT = 350
FUNCTION_LIMIT = 45  # docstrings apart

_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
"""What holds the statements of a statement, or parts that hold them."""


def _too_long(name: str, source: str) -> Iterator[str]:
    """What is too long in a file, as `file:line: what`."""
    count = len(source.splitlines())
    if count > FILE_LIMIT:
        yield f"{name}:1: has {count} lines, above {FILE_LIMIT}: split it along a seam"
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = _length(node)
            if count > FUNCTION_LIMIT:
                yield f"{name}:{node.lineno}: {node.name} has {count} lines, above {FUNCTION_LIMIT}"


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node: no expression holds one."""
    below = [node]
    for of in below:
        parts = [part for name in _BODIES for part in getattr(of, name, ())]
        below.extend(parts)
        yield from parts


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function from its name on, without its docstring."""
    return _lines(function) - (
        0 if ast.get_docstring(function) is None else _lines(function.body[0])
    )


def _lines(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def test_files_and_functions_are_short() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert files
    assert not [
        x
        for f in files
        for x in _too_long(str(f.relative_to(PACKAGE.parent)), f.read_text(encoding="utf-8"))
    ]


def _function(lines: int, docstring: str = "") -> str:
    return f"def f():\n{docstring}" + "    pass\n" * (lines - 1)


LONG_DOCSTRING = '    """' + "\n" * 60 + '    """\n'


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("pass\n" * FILE_LIMIT, []),
        ("pass\n" * (FILE_LIMIT + 1), ["a.py:1: has 351 lines, above 350: split it along a seam"]),
        (_function(FUNCTION_LIMIT), []),
        (_function(FUNCTION_LIMIT, LONG_DOCSTRING), []),
        (_function(FUNCTION_LIMIT + 1), ["a.py:1: f has 46 lines, above 45"]),
        (
            "class C:\n    async " + _function(46).replace("\n", "\n    "),
            ["a.py:2: f has 46 lines, above 45"],
        ),
    ],
)
def test_what_is_too_long_is_found(source: str, found: list[str]) -> None:
    assert list(_too_long("a.py", source)) == found
