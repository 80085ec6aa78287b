"""What is said of the codes of errors."""

from __future__ import annotations

import pytest

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


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "PS0302"]) == 0
    assert "PS0302: iterations of a parallel loop" in capsys.readouterr().out
    assert main(["explain", "PS9999"]) == 1
