"""HTML and SVG as text in which everything that is not markup is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias

Content: TypeAlias = "str | int | float | Iterable[Content] | None"

# Elements of HTML that have no end tag. SVG's elements without children end with `/>`.
_VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta"})
_SVG = frozenset({"circle", "ellipse", "line", "path", "polygon", "polyline", "rect", "use"})


class Markup(str):
    """Text that is markup already: `tag` and `text` take it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def text(content: Content) -> Markup:
    """Content as markup: strings and numbers escaped, None left out, the rest joined in order."""
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str | int | float):
        return Markup(html.escape(str(content)))
    return Markup("".join(text(part) for part in content))


def tag(name: str, /, *content: Content, **attributes: str | float | bool | None) -> Markup:
    """An element of HTML or SVG.

    Args:
        name: the element's name, such as "div".
        content: what stands in it; see `text`.
        attributes: by name. A trailing underscore is dropped (`class_`), the other ones become
            dashes (`stroke_width`, `data_loop`). None and False leave an attribute out, True
            gives it no value.
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    if name in _SVG and not content:
        return Markup(f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{text(content)}</{name}>")


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(shown)}"'
