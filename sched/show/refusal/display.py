"""The display of a refusal: the message, short, and its picture."""

from __future__ import annotations

import re
from typing import cast

from ...lang.errors.drawn import Drawn
from ...lang.errors.errors import PolyschedError
from ...lang.errors.kinds import CODES
from ..parts.markup import Content, Markup, tag
from ..parts.theme import display
from ..rich import codes
from ..spaces.picture import Picture
from .pictures import picture

STYLE = (
    ".polysched .refused{border-left:3px solid var(--ps-bad);padding:2px 0 2px 10px}"
    ".polysched .accepted{border-left:3px solid var(--ps-good);padding:2px 0 2px 10px}"
    ".polysched .hint{margin-top:4px}"
)


def bundle(thing: Drawn) -> dict[str, str]:
    """A refusal or an answer, by the types of its representations."""
    return {"text/plain": repr(thing), "text/html": str(html(thing))}


def html(thing: Drawn) -> Markup:
    """A refusal or an answer for a page. It is never an error that it cannot be drawn."""
    given: object = thing
    error = cast("PolyschedError | None", getattr(thing, "error", given))
    if error is None:
        return display(tag("div", tag("code", str(thing)), class_="accepted"), style=STYLE)
    drawn = _drawn(thing)
    where = None if error.where is None else tag("div", f"at {error.where}", class_="faint")
    body: list[Content] = [
        tag("div", _words(str(getattr(thing, "directive", None) or ""), error)),
        where,
        None if error.hint is None else tag("div", "Hint: ", _code(error.hint), class_="hint"),
        _explained(getattr(error, "code", None)),
    ]
    if drawn is not None:
        body.append(drawn.drawing.svg())
        body += [tag("div", note, class_="faint") for note in drawn.notes]
    return display(tag("div", body, class_="refused"), style=STYLE + codes.STYLE)


def _explained(code: str | None) -> Content:
    """The code, which unfolds to its page: there needs to be no network to follow it."""
    if code is None or code not in CODES:
        return None
    title = tag("span", f" {CODES[code].title}", class_="faint")
    return tag(
        "details",
        tag("summary", tag("code", f'ps.explain("{code}")'), title),
        tag("div", codes.page(code), class_="explained"),
    )


def _drawn(thing: Drawn) -> Picture | None:
    """The picture, if there is one."""
    try:
        return picture(thing)
    except PolyschedError:
        return None


def _words(directive: str, error: PolyschedError) -> Content:
    """The message, with the directive as code."""
    before, it_is, rest = error.what.partition(" is refused: ")
    if it_is:
        return [tag("code", before), tag("b", it_is), rest]
    return [tag("code", directive), ": ", error.what] if directive else error.what


def _code(words: str) -> Content:
    """Words, with what looks like a call as code."""
    parts = re.split(r"(\b[\w.]+\([^()]*\))", words)
    return [tag("code", x) if k % 2 else x for k, x in enumerate(parts)]
