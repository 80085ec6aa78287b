"""Explanations of codes of errors: their pages, which are Markdown, as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...lang.errors.kinds import CODES, FAMILIES
from ..explained import Explanation, section
from ..parts.markup import Content, tag
from ..parts.theme import display

STYLE = (
    ".polysched .explained p{margin:4px 0}"
    ".polysched .explained pre{margin:4px 0;padding:6px 10px;background:var(--ps-panel);"
    "white-space:pre-wrap;overflow-wrap:anywhere}"
)

_FENCED = re.compile(r"^```[a-z]*\n(.*?)^```$", re.M | re.S)
_MARKED = re.compile(r"(`[^`]+`|\*\*.+?\*\*)")


def explanation(shown: Explanation) -> dict[str, str]:
    """A kind of mistake, or the list of all."""
    if shown.code is None:
        body: Content = [_family(family, name) for family, name in FAMILIES.items()]
    elif shown.code in CODES:
        body = [tag("div", f"{shown.code}: {CODES[shown.code].title}", class_="head"),
                page(shown.code)]  # fmt: skip
    else:  # no error has it any more
        body = shown.text
    html = display(tag("div", body, class_="explained"), style=STYLE)
    return {"text/html": str(html)}


def _family(family: str, name: str) -> Content:
    own = [(code, kind) for code, kind in CODES.items() if code.startswith(family)]
    rows = [tag("tr", tag("td", tag("code", c)), tag("td", kind.title)) for c, kind in own]
    return tag("details", tag("summary", f"{family}: {name}"), tag("table", rows))


def page(code: str) -> Content:
    """What a code means, the example and how to mend it."""
    _, _, text = section(code).partition("\n")
    return [block for part in _parts(text) for block in part]


def _parts(text: str) -> Iterator[Iterator[Content]]:
    """Markdown by its blocks of code and what stands between them."""
    for k, part in enumerate(_FENCED.split(text)):
        yield iter([tag("pre", part.rstrip())]) if k % 2 else _paragraphs(part)


def _paragraphs(text: str) -> Iterator[Content]:
    for paragraph in filter(None, map(str.strip, text.split("\n\n"))):
        yield tag("p", [_marked(words) for words in _MARKED.split(paragraph)])


def _marked(words: str) -> Content:
    if words.startswith("`") and words.endswith("`") and len(words) > 2:
        return tag("code", words[1:-1])
    return tag("b", words[2:-2]) if words.startswith("**") else words
