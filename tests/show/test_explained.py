"""What is said of the codes of errors."""

from __future__ import annotations

import pytest
from show.test_parts import Seen

import polysched as ps
from polysched.__main__ import main
from polysched.lang.errors.kinds import CODES
from polysched.show.explained import explained, listed


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


def test_python_gives_what_the_command_line_prints() -> None:
    for code in ("ps0402", " PS0402 "):
        found = ps.explain(code)
        assert found.code == "PS0402"
        assert str(found) == repr(found) == explained("PS0402")
    assert ps.explain().text == listed()


def test_an_error_is_explained_by_itself_and_by_its_answer() -> None:
    i, f = ps.vars("i"), ps.Func("f", (4,))
    f[i] = i
    s = ps.Schedule(f)
    with pytest.raises(ps.ScheduleError) as info:
        s[f].split("j", 4)
    assert ps.explain(info.value).code == "PS0402"
    assert ps.explain(s[f].why_not("split", "i", 0)).code == "PS0403"


@pytest.mark.parametrize("given", [3, ValueError("secret"), OSError])
def test_what_has_no_code_is_refused(given: object) -> None:
    with pytest.raises(ps.LanguageTypeError, match="has no code that could be explained") as info:
        ps.explain(given)
    assert "secret" not in str(info.value)


@pytest.mark.parametrize("code", CODES)
def test_a_notebook_shows_the_whole_page(code: str) -> None:
    """Nothing of Markdown stays, and nothing is lost but its marks."""
    found = ps.explain(code)
    seen = Seen(found._repr_mimebundle_()["text/html"])
    shown = "".join(seen.words.partition(f"{code}: ")[1:])
    assert "".join(shown.split()) == "".join(found.text.split())


def test_a_notebook_lists_all_codes() -> None:
    words = Seen(ps.explain()._repr_mimebundle_()["text/html"]).words
    assert [kind.title for kind in CODES.values() if kind.title not in words] == []


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PS0302"]) == 0
    assert "PS0302: iterations of a parallel loop" in capsys.readouterr().out
    assert main(["explain", "PS9999"]) == 1
