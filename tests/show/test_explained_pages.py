"""The pages about codes of errors say what is so of the codes."""

from __future__ import annotations

import re

import pytest
from docs.pages import Section, differences, explain, outcomes, sections

from polysched.lang.errors.kinds import CODES, FAMILIES
from polysched.show import explained

HEADS = [
    (page.stem, head)
    for page in sorted(explained.PAGES.glob("*.md"))
    for head in re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), re.M)
]
FILES = [f"sched/show/codes/{family.lower()}.md" for family in FAMILIES]
EXAMPLES = [
    pytest.param(page, section, id=section.name)
    for page in FILES
    for section in sections(page)
    if section.blocks
]


def test_each_code_has_a_section_in_the_page_of_its_family_and_in_order() -> None:
    wanted = [(code[:4].lower(), f"{code}: {kind.title}") for code, kind in CODES.items()]
    assert wanted == HEADS


def test_each_section_has_an_example() -> None:
    """Also those that run only where a package is installed."""
    text = {code: explained.section(code) for code in CODES}
    assert [code for code, section in text.items() if "```python" not in section] == []


@pytest.mark.parametrize("code", CODES)
def test_each_section_says_what_it_means_and_how_to_mend_it(code: str) -> None:
    meaning, _, mending = explained.section(code).partition("**How to mend it.** ")
    assert len(meaning.splitlines()[2]) > 20
    assert len(mending) > 10


@pytest.mark.parametrize(("page", "section"), EXAMPLES)
def test_the_example_shows_the_error_and_raises_exactly_this_code(
    page: str, section: Section
) -> None:
    found = outcomes(section)
    assert not differences(found), explain(page, differences(found))
    assert [getattr(o.error, "code", None) for _, o in found][-1:] == [section.name]
    assert [o.error for _, o in found[:-1]] == [None] * (len(found) - 1)


def test_a_section_is_printed_as_text() -> None:
    text = explained.explained("ps0402")
    assert text.splitlines()[0] == "PS0402: there is no such loop"
    assert '    ps.Schedule(f)[f].split("j", 4)' in text.splitlines()
    assert "How to mend it." in text
    assert not re.search(r"```|\*\*|\033", text)
    assert explained.explained("PS0402", bold=True).startswith("\033[1mPS0402: ")
