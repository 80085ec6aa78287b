"""Code with colours, by Pygments where it is installed; plain without it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..extras import importable
from ..parts.markup import Markup, tag, text

# Short elements, of which a page has many: keywords and opcodes, comments, numbers, texts.
_TAGS = (("Keyword", "b"), ("Name.Function", "b"), ("Comment", "i"), ("Literal.String", "s"))

STYLE = (
    ".polysched .code b{font-weight:600;color:var(--ps-accent)}"
    ".polysched .code i{font-style:normal;color:var(--ps-faint)}"
    ".polysched .code s{text-decoration:none;color:var(--ps-good)}"
)

Coloured = Callable[[Sequence[str]], list[Markup]]


def coloured(language: str) -> Coloured:
    """What makes markup of lines of a language: `python`, `llvm` or `gas`.

    Lines stay lines, and their text is what it was; nothing is coloured without Pygments.
    """
    if not importable("pygments"):
        return lambda lines: [text(x) for x in lines]
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    return lambda lines: _lines(lexer, lines)


_OF_LOOPS = re.compile(
    r"^(?P<pad> *)(?P<word>for|if|else|store|keep|lanes|fold|prefetch|count|call|kernel|input|"
    r"output|scratch|stack|const|scalars)\b(?P<rest>.*?)(?P<comment>  # .*)?$"
)


def loops_coloured(lines: Sequence[str]) -> list[Markup]:
    """Markup of lines of a listing of loops, whose words no lexer knows."""
    return [_loop_line(x) for x in lines]


def _loop_line(line: str) -> Markup:
    found = _OF_LOOPS.match(line)
    if found is None:
        code, mark, comment = line.partition("  # ")
        return text([code, tag("i", mark + comment) if mark else None])
    comment = found["comment"]
    return text(
        [found["pad"], tag("b", found["word"]), found["rest"], tag("i", comment) if comment else ""]
    )


def _lines(lexer: Any, lines: Sequence[str]) -> list[Markup]:
    found: list[list[Markup]] = [[]]
    known: dict[Any, str | None] = {}
    for kind, value in lexer.get_tokens("\n".join(lines)):
        if kind not in known:
            name = str(kind).removeprefix("Token.")
            known[kind] = next((t for prefix, t in _TAGS if name.startswith(prefix)), None)
        element = known[kind]
        for k, part in enumerate(value.split("\n")):
            if k:
                found.append([])
            if part:
                blank = element is None or not part.strip()
                found[-1].append(text(part) if blank else tag(element or "", part))
    made = [text(parts) for parts in found]
    if len(made) != len(lines):  # a lexer that changes lines colours nothing
        return [text(x) for x in lines]
    return made
