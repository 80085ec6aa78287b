"""Which of the tests that are not marked slow `make quick` takes.

Of a table of rows it takes those that are marked quick, which were chosen for what they mean, or
those that quick.txt names, because the others take long; else two that are spread over the table
by their names, so that they stay the same where others are added. It leaves out the tests without
rows of which quick.txt says so, as they take long beside those of their file that stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from zlib import crc32

import pytest

ROWS = 2
"""Of a table, how many are quick."""

UNKNOWN = pytest.StashKey[set[str]]()
"""Where a run keeps what `unknown` finds."""
FILE = Path(__file__).with_name("quick.txt")


def named(text: str) -> Mapping[str, set[str]]:
    """The names behind each word of a text like quick.txt."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for line in text.splitlines():
        word, _, name = line.partition(" ")
        if word != "#":
            found[word].add(name)
    return found


NAMED = named(FILE.read_text(encoding="utf-8"))


def table(item: pytest.Item) -> str:
    """The name of a test without that of its row."""
    return item.nodeid.partition("[")[0]


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Marks all that `make quick` leaves out."""
    tables: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None:
            tables[table(item)].append(item)
    for rows in tables.values():
        chosen = _chosen(rows)
        for row in rows:
            if row not in chosen:
                row.add_marker(pytest.mark.slow)


def _chosen(rows: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
    """What is quick of the rows of a test, or of a test without."""
    return (
        [row for row in rows if row.get_closest_marker("quick")]
        or [row for row in rows if row.nodeid in NAMED["only"]]
        or [row for row in _spread(rows) if row.nodeid not in NAMED["not"]]
    )


def _spread(rows: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
    ordered = sorted(rows, key=lambda row: crc32(row.nodeid.encode()))
    return ordered[:ROWS]


def unknown(items: Iterable[pytest.Item]) -> set[str]:
    """What quick.txt says of no test of those files, or of one that is not told by it."""
    known: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        known[item.nodeid].append(item)
        known[item.nodeid.partition("::")[0]].append(item)
    wrong = set()
    for name in NAMED["not"] | NAMED["only"]:
        by_mark = any(
            mark.name in ("slow", "quick") for item in known[name] for mark in item.iter_markers()
        )
        rows = "[" in name
        if known[name.partition("::")[0]] and (
            not known[name] or by_mark or rows != (name in NAMED["only"])
        ):
            wrong.add(name)
    return wrong
