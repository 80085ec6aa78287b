"""Each case says what it is to say."""

from __future__ import annotations

import traceback

import pytest
from replay.refusals import plain

from . import codegen, drawn, lang, pieces, poly, tune
from .case import CASES, Case

ROOMS = (codegen, drawn, lang, pieces, poly, tune)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_message_is_as_it_stands(case: Case) -> None:
    with pytest.raises(case.error) as info:
        case.provoke()
    assert type(info.value) is case.error
    assert plain(str(info.value)) == case.text


@pytest.mark.parametrize("case", [c for c in CASES if c.file], ids=lambda case: case.name)
def test_the_message_is_that_of_the_file(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_FULL_TRACEBACK", "1")
    with pytest.raises(case.error) as info:
        case.provoke()
    last = traceback.extract_tb(info.value.__traceback__)[-1]
    assert last.filename.endswith(case.file)
