"""What `python -m polysched explain` prints: the kinds of mistakes, by their codes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from importlib.resources import files
from textwrap import fill, indent

from ..lang.errors.errors import PolyschedError
from ..lang.errors.kinds import CODES, FAMILIES, RETIRED


def explained(code: str) -> str:
    """The kind of mistake that a code names, the family that it is of, and its section if it has
    one: what it means, an example, and how to mend it.

    Raises:
        PolyschedError: there is no such code; it says which ones are near.
    """
    asked = code.strip().upper()
    if asked in RETIRED:
        return f"{asked}: {RETIRED[asked]} (no error has this code any more)"
    if asked not in CODES:
        near = get_close_matches(asked, CODES, 3, 0.6)
        hint = f"near are {', '.join(near)}" if near else "explain without a code lists all"
        raise PolyschedError(f"there is no code {code}", hint=hint)
    short = f"{asked}: {CODES[asked].title}\n  among errors of {FAMILIES[asked[:4]]}"
    found = sections().get(asked)
    return short if found is None else f"{short}\n\n{_plain(found)}"


def sections() -> dict[str, str]:
    """What is written about codes in `sched/show/codes/*.md`, as Markdown without headings."""
    pages = (files(__package__) / "codes").iterdir()
    texts = [page.read_text(encoding="utf-8") for page in pages if page.name.endswith(".md")]
    parts = [part for text in texts for part in text.split("\n## ")[1:]]
    return {part[:6]: part.partition("\n")[2].strip() for part in parts}


def _plain(markdown: str) -> str:
    """Markdown as it reads in a terminal: paragraphs are wrapped, code is indented."""
    prose_and_code = markdown.split("```")
    return "\n\n".join(
        indent(part.removeprefix("python\n").rstrip(), "    ") if k % 2 else _wrapped(part)
        for k, part in enumerate(prose_and_code)
    )


def _wrapped(prose: str) -> str:
    return "\n\n".join(fill(paragraph, 80) for paragraph in prose.strip().split("\n\n"))


def listed() -> str:
    """All codes with their titles, by families."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for family, name in FAMILIES.items():
        yield f"{name}:"
        for code, kind in CODES.items():
            if code.startswith(family):
                yield f"  {code}  {kind.title}"
