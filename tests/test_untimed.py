"""No test is decided by a clock: what must not grow is counted (`counting.py`)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CLOCKS = "time|timeit|resource"
#: Of these folders only what pytest runs: the rest are programs that tell people what took long.
TOOLS = {"fuzz", "mutations"}
FILES = [
    p for p in sorted(TESTS.rglob("*.py")) if p.parent.name not in TOOLS or p.match("test_*.py")
]
#: Processes of these sleep between two looks at what they wait for; the others are about the times
#: of files, and what becomes of them where clocks go back or are coarse.
EXCEPT = {"processes.py", "test_forks.py", "test_interrupts.py"}
EXCEPT |= {"conftest.py", "test_keys.py", "test_others.py", "test_store.py"}


def is_timed(source: str) -> bool:
    """Whether a clock is imported, also in the text of another program."""
    return re.search(rf"^\s*(import .*\b({CLOCKS})\b|from ({CLOCKS}) )", source, re.M) is not None


def test_no_clocks() -> None:
    timed = {p.name for p in FILES if is_timed(p.read_text())}
    assert timed <= EXCEPT


@pytest.mark.parametrize(
    "text", ["import time", "def f():\n  from timeit import timeit", "import os, time as clock"]
)
def test_clocks_are_found_wherever_they_are(text: str) -> None:
    assert is_timed(text)


def test_other_modules_are_no_clocks() -> None:
    assert not is_timed("import timely\nfrom polysched.poly import times\n# import time")
