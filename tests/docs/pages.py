"""The code of the documentation: every Python block is run, and what it shows is compared.

    python -P tests/docs/pages.py --update    # makes what the pages show true again

A ```text block right behind a ```python block is its output: what it prints and, if its last line
raises, `SomeError: message`. Line numbers in messages count from the top of the block. A page runs
as one program; where sections are numbered, or have codes of errors, each of them is one, after
the blocks at the head of the page. `<!-- no-run -->` before a block leaves it alone, and
`<!-- needs this that -->` does so where one of these packages is missing; `around.py` has marks
of blocks that run elsewhere than in a script.
"""

from __future__ import annotations

import importlib.util
import io
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

if __package__:
    from .around import Compile, missing, notebook, script
else:  # run as a script, by a Python that may leave its folder out
    sys.path.insert(0, str(Path(__file__).parent))
    from around import Compile, missing, notebook, script

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/index.md",
    "docs/language.md",
    "docs/schedules.md",
    *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/directives/*.md")),
    "docs/auto.md",
    "docs/facts.md",
    "docs/arrays.md",
    "docs/threads.md",
    "docs/testing.md",
    "docs/show.md",
    "docs/legality.md",
    "docs/report.md",
    "docs/profile.md",
    "docs/diagnostics.md",
    "docs/architecture.md",
    "docs/targets.md",
    "docs/glossary.md",
    *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("sched/show/codes/*.md")),
)
NO_RUN = "<!-- no-run -->"

_NEEDS = re.compile(r"<!-- needs ([\w ]+) -->$")
_WITHOUT = re.compile(r"<!-- without ([\w ]+) -->$")
_CELL = "<!-- cell -->"
_FENCE = re.compile(r"^```(?P<language>[a-z]*)\n(?P<body>.*?)^```$", re.M | re.S)
_HEAD = re.compile(r"^#{2,3} (?:(?P<number>\d+(?:\.\d+)?|PS\d{4}(?=:)):? )?.*$", re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A Python block.

    Attributes:
        line: where it begins in the page.
        shown: the output that the page gives, or None.
        span: where that output stands in the page's text.
        is_cell: whether it is a cell of a notebook.
        without: packages that are missing where it runs.
    """

    code: str
    line: int
    shown: str | None = None
    span: tuple[int, int] = (0, 0)
    is_cell: bool = False
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks that run as one program, behind those of `head`. `name` is its number or the page."""

    name: str
    head: tuple[Block, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A block whose output is not what its page shows."""

    block: Block
    found: str


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def sections(page: str) -> list[Section]:
    """What of a page runs together."""
    text = read(page)
    every = tuple(_blocks(text))
    heads = [h for h in _HEAD.finditer(text) if h["number"]]
    if not heads:
        return [Section(page, (), every)]
    starts = [_line(text, h.start()) for h in heads] + [sys.maxsize]
    head = tuple(b for b in every if b.line < starts[0])
    return [
        Section(h["number"], head, tuple(b for b in every if first < b.line < last))
        for h, first, last in zip(heads, starts, starts[1:], strict=False)
    ]


def _blocks(text: str) -> Iterator[Block]:
    for fence, behind in pairwise([*_FENCE.finditer(text), None]):
        assert fence is not None
        before = text[: fence.start()].rstrip()
        needs, without = _NEEDS.search(before), _WITHOUT.search(before)
        is_cell = before.endswith(_CELL)
        packages = [*(needs[1].split() if needs else []), *(["IPython"] if is_cell else [])]
        left_alone = before.endswith(NO_RUN) or any(map(_is_missing, packages))
        if fence["language"] != "python" or left_alone:
            continue
        shown, span = None, (0, 0)
        if (
            behind is not None
            and behind["language"] == "text"
            and not text[fence.end() : behind.start()].strip()
        ):
            shown, span = behind["body"], behind.span("body")
        hidden = tuple(without[1].split()) if without else ()
        yield Block(fence["body"], _line(text, fence.start()), shown, span, is_cell, hidden)


def _is_missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


class Outcome(NamedTuple):
    """What a block printed, and the error of ours that its last line raised, if it did."""

    output: str
    error: Exception | None


def outcomes(section: Section) -> list[tuple[Block, Outcome]]:
    """Runs a section, with the blocks at the head of its page.

    Raises: what a block raises whose output the page does not show, and what is no error of ours.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    with ExitStack() as around:
        made = script
        if any(block.is_cell for block in section.blocks):
            made = around.enter_context(notebook())
        for block in section.head:
            _outcome(block, names, made)
        return [(block, _outcome(block, names, made)) for block in section.blocks]


def run(section: Section) -> list[Difference]:
    """Runs a section and gives the blocks that show something else than the page says."""
    return differences(outcomes(section))


def differences(found: list[tuple[Block, Outcome]]) -> list[Difference]:
    shown = [(block, outcome.output) for block, outcome in found if block.shown is not None]
    return [Difference(b, f) for b, f in shown if f != _stripped(b.shown or "")]


def _outcome(block: Block, names: dict[str, object], made: Compile) -> Outcome:
    stream, raised = io.StringIO(), None
    with redirect_stdout(stream), missing(block.without):
        try:
            exec(made(block.code), names)
        except Exception as error:
            ours = type(error).__module__.startswith("polysched.") or hasattr(error, "code")
            if block.shown is None or not ours:
                error.add_note(f"in the Python block at line {block.line} of the page")
                raise
            print(f"{type(error).__name__}: {error}")
            raised = error
    return Outcome(_stripped(stream.getvalue()), raised)


def _stripped(output: str) -> str:
    return "\n".join(line.rstrip() for line in output.rstrip().splitlines())


def explain(page: str, differences: list[Difference]) -> str:
    """Where a page is wrong, for a message."""
    return "\n".join(
        f"{page}, line {d.block.line}, shows\n{d.block.shown}\nbut it is\n{d.found}\n"
        for d in differences
    )


def update(page: str) -> int:
    """Rewrites what a page shows; gives the number of outputs that were wrong."""
    text = read(page)
    wrong = [d for section in sections(page) for d in run(section)]
    for d in sorted(wrong, key=lambda d: d.block.span, reverse=True):
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
