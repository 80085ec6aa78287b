"""The listings that are kept: one file a directive, a program under it and what `print(s)` shows.

    python -P tests/golden/listings.py --update    # makes them what is printed now

A file `split.txt` holds Python source, which defines the schedule `s` and whose last statement is
the directive that it is called after; then a line, and the listing.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import polysched as ps
from polysched.poly.state.record import KINDS

HERE = Path(__file__).resolve().parent
PAGES = HERE.parents[1] / "docs" / "directives"
LINE = "\n--- print(s)\n\n"
#: The directives that are recorded, and those that are made of them, which have a page.
DIRECTIVES = sorted({*KINDS, *(page.stem for page in PAGES.glob("*.md"))})


@dataclass(frozen=True, slots=True)
class Golden:
    """One file: the source of a schedule, and its listing."""

    source: str
    listing: str

    def text(self) -> str:
        return f"{self.source}{LINE}{self.listing}\n"


def names() -> list[str]:
    """The directives that have a file."""
    return sorted(path.stem for path in HERE.glob("*.txt"))


def read(name: str) -> Golden:
    source, _, listing = (HERE / f"{name}.txt").read_text(encoding="utf-8").partition(LINE)
    return Golden(source, listing.removesuffix("\n"))


def write(name: str, golden: Golden) -> None:
    (HERE / f"{name}.txt").write_text(golden.text(), encoding="utf-8")


def schedule(source: str | ast.Module) -> ps.Schedule:
    """What the source calls `s`."""
    found: dict[str, ps.Schedule] = {}
    exec(compile(source, "example.py", "exec"), {"ps": ps}, found)
    return found["s"]


def without_the_last_statement(source: str) -> ast.Module:
    return ast.Module(ast.parse(source).body[:-1], type_ignores=[])


def methods_of_the_last_statement(source: str) -> set[str]:
    """The names of what the last statement calls."""
    last = ast.parse(source).body[-1]
    return {node.attr for node in ast.walk(last) if isinstance(node, ast.Attribute)}


def update() -> None:
    """Rewrites the files whose listing is not what is printed now."""
    for name in names():
        kept = read(name)
        printed = replace(kept, listing=str(schedule(kept.source)))
        if printed != kept:
            write(name, printed)
            print(f"{name}: rewritten")


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    update()
