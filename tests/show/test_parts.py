"""Markup, the look, and drawings: what users wrote never becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from polysched.show.parts.drawing import Drawing
from polysched.show.parts.markup import Markup, tag, text
from polysched.show.parts.theme import COLOURS, SERIES, display, page


class Seen(HTMLParser):
    """The elements, attributes and words of some markup."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


# Without the characters that HTML and XML read as others, or not at all.
words = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30)


@given(words, words)
def test_what_is_no_markup_is_read_back_as_it_was(content: str, attribute: str) -> None:
    seen = Seen(tag("p", content, title=attribute))
    assert seen.elements == [("p", {"title": attribute})]
    assert seen.words == content


@given(words)
def test_a_drawing_is_well_formed_whatever_it_says(said: str) -> None:
    drawing = Drawing(100, 50, said)
    drawing.rect(0, 0, 5, 5, hint=said)
    drawing.arrow(0, 0, 0, 0)
    drawing.text(1, 2, said)
    tree = ElementTree.fromstring(drawing.svg())
    assert "".join(tree.itertext()) == 3 * said


def test_only_markup_is_taken_as_it_is() -> None:
    assert text(["<b>", Markup("<b>"), 3, None, [1.5, ["&"]]]) == "&lt;b&gt;<b>31.5&amp;"


@pytest.mark.parametrize(
    ("attributes", "markup"),
    [
        ({"class_": "a"}, '<i class="a"></i>'),
        ({"data_loop": 3}, '<i data-loop="3"></i>'),
        ({"hidden": True, "title": None, "lang": False}, "<i hidden></i>"),
    ],
)
def test_attributes_have_the_names_of_html(attributes: dict[str, object], markup: str) -> None:
    assert tag("i", **attributes) == markup  # type: ignore[arg-type]


def test_displays_keep_their_style_to_themselves() -> None:
    shown = display("<x>", style=".polysched .mine{color:red}")
    style = shown.split("<style>")[1].split("</style>")[0]
    assert "&lt;x&gt;" in shown
    for selectors in style.replace("@media (prefers-color-scheme:dark){", "").split("}"):
        for selector in filter(None, selectors.split("{")[0].split(",")):
            assert ".polysched" in selector


def test_pages_stand_alone() -> None:
    whole = page("a <title>", "words", script="let a = 1;")
    assert whole.startswith("<!DOCTYPE html><html")
    assert "<title>a &lt;title&gt;</title>" in whole
    assert "http" not in whole.replace("http-equiv", "")


def luminance(hexadecimal: str) -> float:
    """The relative luminance of a colour, by WCAG 2."""
    parts = [int(hexadecimal[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """The contrast of two colours, by WCAG 2, which asks for 4.5 of words and for 3 of shapes."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("name", sorted(COLOURS.keys() - {"paper", "panel", "line"}))
def test_words_are_readable_in_both_themes(name: str, theme: int) -> None:
    for ground in ("paper", "panel"):
        assert contrast(COLOURS[name][theme], COLOURS[ground][theme]) >= 4.5, ground


@pytest.mark.parametrize("shade", SERIES)
def test_shapes_are_seen_in_both_themes_and_white_words_on_them(shade: str) -> None:
    grounds = (*COLOURS["paper"], *COLOURS["panel"])
    assert min(contrast(shade, ground) for ground in grounds) >= 3
    assert contrast(shade, "#ffffff") >= 4.5
