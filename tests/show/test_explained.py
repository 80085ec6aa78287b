"""What is said of the codes of errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import polysched as ps
from polysched.__main__ import main
from polysched.lang.errors.kinds import CODES
from polysched.show.explained import explained, listed, sections


@pytest.mark.parametrize("code", ["PS0402", "ps0402", " PS0402 "])
def test_a_code_is_explained(code: str) -> None:
    assert explained(code).splitlines()[0] == "PS0402: there is no such loop"


def test_all_are_listed() -> None:
    assert [code for code in CODES if f"  {code}  " not in listed()] == []


def test_an_unknown_code_is_refused_with_those_near() -> None:
    with pytest.raises(ps.PolyschedError, match="there is no code PS0492\n  hint: near are PS04"):
        explained("PS0492")


def test_what_is_no_code_is_refused_with_how_to_list_all() -> None:
    with pytest.raises(ps.PolyschedError, match="explain without a code lists all"):
        explained("what")


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PS0302"]) == 0
    assert "PS0302: iterations of a parallel loop" in capsys.readouterr().out
    assert main(["explain", "PS9999"]) == 1


@pytest.mark.parametrize("code", sections())
def test_the_example_of_a_section_raises_its_error(code: str) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", sections()[code], re.M | re.S)
    with pytest.raises((ps.PolyschedError, ValueError, AttributeError)) as info:
        exec(compile(example, f"<{code}>", "exec"), {})
    assert info.value.code == code  # type: ignore[union-attr]


def test_headings_of_sections_are_the_titles_of_codes() -> None:
    folder = Path(ps.__file__).parent / "show" / "codes"
    texts = [page.read_text(encoding="utf-8") for page in folder.glob("*.md")]
    heads = [head for text in texts for head in re.findall(r"^## (.*)$", text, re.M)]
    assert len(heads) == len(set(heads)) == len(sections()) > 0
    assert [head for head in heads if head != f"{head[:6]}: {CODES[head[:6]].title}"] == []


def test_a_section_is_printed_without_marks_and_in_lines_of_a_terminal() -> None:
    text = explained("PS0302")
    assert "```" not in text
    assert "    ps.Schedule(x)[x].parallel(k)" in text.splitlines()
    assert max(map(len, text.splitlines())) <= 80


def test_a_code_without_a_section_has_its_title() -> None:
    code = next(code for code in CODES if code not in sections())
    assert explained(code).splitlines()[0] == f"{code}: {CODES[code].title}"
