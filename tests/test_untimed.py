"""No test is decided by a clock: what must not grow is counted (`counting.py`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CLOCKS = {"time", "timeit", "resource"}
#: Of these folders only what pytest runs: the rest are programs that tell people what took long.
TOOLS = {"fuzz", "mutations"}
FILES = [
    p for p in sorted(TESTS.rglob("*.py")) if p.parent.name not in TOOLS or p.match("test_*.py")
]
#: These are about how late a signal is heard.
EXCEPT = {"test_interrupts.py"}


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield module


def test_no_clocks() -> None:
    timed = {p.name for p in FILES if CLOCKS.intersection(imported(p.read_text()))}
    assert timed <= EXCEPT


@pytest.mark.parametrize("text", ["import time", "def f():\n  from timeit import timeit"])
def test_clocks_are_found_wherever_they_are(text: str) -> None:
    assert CLOCKS.intersection(imported(text))
