"""The pages about codes of errors say what is so of the codes."""

from __future__ import annotations

import re

import pytest
from docs.pages import FILE_NAME, Section, sections

from polysched.lang.errors.kinds import CODES, FAMILIES
from polysched.show import explained

NO_EXAMPLE = {
    "PS0112": "it needs a notebook",
    "PS0125": "it needs a program that takes long",
    "PS0305": "it needs a schedule that takes long",
    "PS0315": "earlier checks refuse what is known to lead there",
    "PS0602": "it needs a package that is missing",
}
"""Codes whose sections have no example, and why."""

HEADS = [
    (page.stem, head)
    for page in sorted(explained.PAGES.glob("*.md"))
    for head in re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.M)
]
EXAMPLES = [
    pytest.param(section, id=section.name)
    for family in FAMILIES
    for section in sections(f"sched/show/codes/{family.lower()}.md")
    if section.blocks
]


def test_each_code_has_a_section_in_the_page_of_its_family_and_in_order() -> None:
    wanted = [(code[:4].lower(), f"{code}: {kind.title}") for code, kind in CODES.items()]
    assert wanted == HEADS


def test_each_section_has_an_example_or_a_reason() -> None:
    assert {s.values[0].name for s in EXAMPLES} == CODES.keys() - NO_EXAMPLE.keys()  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", CODES)
def test_each_section_says_what_it_means_and_how_to_mend_it(code: str) -> None:
    meaning, _, mending = explained.section(code).partition("**How to mend it.** ")
    assert len(meaning.splitlines()[2]) > 20
    assert len(mending) > 10


@pytest.mark.parametrize("section", EXAMPLES)
def test_the_example_raises_exactly_this_code(section: Section) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for block in section.head:
        exec(compile(block.code, FILE_NAME, "exec"), names)
    (block,) = section.blocks
    with pytest.raises(Exception) as info:  # noqa: PT011 (its code is compared)
        exec(compile(block.code, FILE_NAME, "exec"), names)
    assert getattr(info.value, "code", None) == section.name


def test_a_section_is_printed_as_text() -> None:
    text = explained.explained("ps0402")
    assert text.splitlines()[0] == "PS0402: there is no such loop"
    assert '    ps.Schedule(f)[f].split("j", 4)' in text.splitlines()
    assert "How to mend it." in text
    assert not re.search(r"```|\*\*|\033", text)
    assert explained.explained("PS0402", bold=True).startswith("\033[1mPS0402: ")
