"""What `ps.explain` gives and `python -m polysched explain` prints: the kinds of mistakes, by their
codes.

The pages about them are the files of `sched/show/codes/`, one for each family, which are installed
with the package: they are read without a network, and the documentation includes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..lang.errors.errors import LanguageTypeError, PolyschedError
from ..lang.errors.frames import bounded
from ..lang.errors.kinds import CODES, FAMILIES, RETIRED
from ..lang.nodes.shown import Shown
from ..records import dataclass

PAGES = Path(__file__).with_name("codes")
_HEAD = re.compile(r"^## ", re.M)
_FENCE = re.compile(r"^```.*\n", re.M)
_MARKS = re.compile(r"\*\*|`")
_COMMENT = re.compile(r"^<!--.*-->\n", re.M)


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """What is said of a kind of mistake, or the list of all kinds.

    Attributes:
        code: such as PS0402; None for the list.
        text: as `python -m polysched explain` prints it.
    """

    code: str | None
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


@bounded
def explain(what: str | BaseException | Any = None) -> Explanation:
    """What an error means, with an example and how to mend it.

    Args:
        what: the code of the error, such as "PS0402", in letters of any case; the error itself; or
            what `why_not` has answered. Without it all codes are listed.

    Returns:
        What prints as text, and has a display in notebooks.

    Raises:
        PolyschedError: there is no such code; it says which ones are near.
        LanguageTypeError: it has no code.
    """
    if what is None:
        return Explanation(None, listed())
    code = what if isinstance(what, str) else getattr(what, "code", None)
    if not isinstance(code, str):
        raise LanguageTypeError(
            f"{_named(what)} has no code that could be explained",
            hint='explain takes a code, as in explain("PS0402"), or an error of polysched',
        )
    return Explanation(code.strip().upper(), explained(code))


def _named(what: object) -> str:
    """What somebody gave, for a message: an error by its class, whatever its text is."""
    is_error = isinstance(what, BaseException)
    return f"this {type(what).__name__}" if is_error else repr(what)


def explained(code: str, *, bold: bool = False) -> str:
    """The kind of mistake that a code names: what it means, an example, and how to mend it.

    Args:
        code: such as PS0402, in letters of any case.
        bold: headings are bold, by the sequences of terminals.

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
    return _plain(section(asked), bold)


def section(code: str) -> str:
    """The section of a page about a code, as Markdown without its heading's signs, and without
    marks for whoever runs its example."""
    family = (PAGES / f"{code[:4].lower()}.md").read_text(encoding="utf-8")
    found = next(part for part in _HEAD.split(family) if part.startswith(f"{code}: "))
    return _COMMENT.sub("", found).rstrip()


def _plain(text: str, bold: bool) -> str:
    """Markdown as text: code and what it prints are set in, and other marks left out."""
    head, _, rest = text.partition("\n")
    parts = _FENCE.split(rest)
    for k, part in enumerate(parts):
        parts[k] = _indented(part) if k % 2 else _MARKS.sub("", part)
    return (f"\033[1m{head}\033[0m" if bold else head) + "\n" + "".join(parts)


def _indented(block: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in block.splitlines(True))


def listed() -> str:
    """All codes with their titles, by families."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for family, name in FAMILIES.items():
        yield f"{name}:"
        for code, kind in CODES.items():
            if code.startswith(family):
                yield f"  {code}  {kind.title}"
