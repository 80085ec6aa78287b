"""The code of the documentation: every Python block is run, and what it shows is compared.

    python tests/docs/pages.py --update    # rewrite what the pages show by what is so

A ```python block runs unless it is marked `no-run`. A ```text block right behind it is its output:
what it prints and, if its last line raises, `SomeError: message`. Line numbers in messages count
from the top of the block. README.md and the pages with `SHARED` names run as one program each; in
docs/language.md each numbered rule runs by itself, after the blocks at the head of the page.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/index.md", "docs/language.md", "docs/architecture.md")
BY_RULE = frozenset({"docs/language.md"})
FILE_NAME = "example.py"

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S)
_RULE = re.compile(r"^#{2,3} (?P<number>\d+\.\d+)?.*$", re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A Python block. `shown` is the output that the page gives, or None; `span` is its place."""

    code: str
    line: int
    shown: str | None
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks that run as one program, after those of `before`. `name` is a rule or a page."""

    name: str
    before: tuple[Block, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A block whose output is not what its page shows."""

    block: Block
    found: str


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text: str) -> Iterator[Block]:
    """The Python blocks that run, in order."""
    fences = list(_FENCE.finditer(text))
    for k, fence in enumerate(fences):
        language, *marks = fence["info"].split() or [""]
        if language != "python" or "no-run" in marks:
            continue
        line = text.count("\n", 0, fence.start()) + 1
        end = fence.end()
        output = fences[k + 1] if k + 1 < len(fences) else None
        if output is not None and output["info"].strip() == "text":
            if not text[end : output.start()].strip():
                yield Block(fence["body"], line, output["body"], output.span("body"))
                continue
        yield Block(fence["body"], line, None, (end, end))


def sections(page: str) -> list[Section]:
    """What of a page runs together."""
    text = read(page)
    every = tuple(blocks(text))
    if page not in BY_RULE:
        return [Section(page, (), every)]
    heads = list(_RULE.finditer(text))
    starts = [text.count("\n", 0, h.start()) + 1 for h in heads] + [sys.maxsize]
    head = tuple(b for b in every if b.line < starts[0])
    return [
        Section(h["number"], head, tuple(b for b in every if starts[k] < b.line < starts[k + 1]))
        for k, h in enumerate(heads)
        if h["number"]
    ]


def run(section: Section) -> list[Difference]:
    """Runs a section and gives the blocks that show something else.

    Raises: what a block raises that shows no output.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    for block in section.before:
        _output(block, names)
    found = [(block, _output(block, names)) for block in section.blocks]
    return [Difference(b, f) for b, f in found if b.shown is not None and f != _stripped(b.shown)]


def _output(block: Block, names: dict[str, object]) -> str:
    """What the block prints, and the error that its last line raises."""
    stream = io.StringIO()
    with redirect_stdout(stream):
        try:
            exec(compile(block.code, FILE_NAME, "exec"), names)
        except Exception as error:
            if block.shown is None:
                error.add_note(f"in the Python block at line {block.line}")
                raise
            print(f"{type(error).__name__}: {error}")
    return _stripped(stream.getvalue())


def _stripped(output: str) -> str:
    return "\n".join(line.rstrip() for line in output.rstrip().splitlines())


def explain(page: str, differences: list[Difference]) -> str:
    """Where a page is wrong, for a message."""
    return "\n".join(
        f"{page}, line {d.block.line}, shows\n{d.block.shown}\nbut it is\n{d.found}\n"
        for d in differences
    )


def update(page: str) -> int:
    """Rewrites what a page shows; gives the number of blocks that were wrong."""
    text = read(page)
    wrong = [d for section in sections(page) for d in run(section)]
    for d in sorted(wrong, key=lambda d: -d.block.span[0]):
        start, end = d.block.span
        text = f"{text[:start]}{d.found}\n{text[end:]}"
    if wrong:
        (ROOT / page).write_text(text, encoding="utf-8")
    return len(wrong)


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    for name in PAGES:
        print(f"{name}: {update(name)} rewritten")
