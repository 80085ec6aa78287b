"""Each message that the package can raise is expected by some test."""

from __future__ import annotations

import json
from functools import cache

import pytest
from replay.run import KEPT

from polysched.garbage import uncollected

from . import codegen, drawn, lang, lists, pieces, places, poly, tune
from .case import CASES

pytestmark = pytest.mark.xdist_group("places")  # what is found is found once

ROOMS = (codegen, drawn, lang, pieces, poly, tune)


@cache
def found() -> list[places.Place]:
    with uncollected():  # all trees live at once
        return places.places()


@cache
def shown() -> set[str]:
    """The names of the places whose messages some test expects; places with one name count as one,
    as their messages do."""
    lines = map(json.loads, KEPT.read_text().splitlines())
    texts = [text for line in lines for text in line["texts"]]
    texts += [case.text for case in CASES if not case.file]
    own = [place for place in found() if not place.is_bare]
    made = places.covered(own, texts)
    for case in CASES:
        if case.file:
            made |= places.covered([p for p in own if p.file == case.file], [case.text])
    return {place.name for place in made}


def test_each_message_is_shown_by_a_test() -> None:
    """Write a case of what is missing, in `tests/errors/`."""
    known = lists.NEVER_REACHED.keys() | lists.NOT_YET
    missing = [p for p in found() if not p.is_bare and p.name not in shown() | known]
    assert not missing, "\n".join(f"{p.file}:{p.line}: {p.name}" for p in missing)


def test_what_only_passes_messages_on_is_listed() -> None:
    assert {p.name for p in found() if p.is_bare} == lists.PASSED_ON.keys()


@pytest.mark.parametrize("listed", [lists.NEVER_REACHED.keys(), lists.NOT_YET])
def test_lists_name_what_is_there_and_not_shown(listed: set[str]) -> None:
    assert listed <= {p.name for p in found()} - shown()


def test_the_list_of_what_is_missing_does_not_grow() -> None:
    assert len(lists.NOT_YET) <= lists.MOST_NOT_YET


def test_cases_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


# how places are found ---------------------------------------------------------------------------
ERRORS = """
class PolyschedError(Exception):
    def __init__(self, what, hint=None):
        super().__init__(what)

class LanguageError(PolyschedError):
    def __init__(self, what, hint=None):
        super().__init__(what, hint)

class InternalError(PolyschedError):
    pass

class NoLoops(LanguageError):
    def __init__(self, name):
        super().__init__(f"{name} has no loops")
"""


def names(source: str) -> list[str]:
    """Of the places of a file beside `ERRORS`."""
    package = places.Package({"errors.py": ERRORS, "a.py": source})
    return sorted(p.name.removeprefix("a.py: ") for p in package.all if p.file == "a.py")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("raise LanguageError('no')", ["no"]),
        ("raise errors.LanguageError(f'{x} is ' 'no' + ' size')", ["{} is no size"]),
        ("def f(x):\n  return LanguageError(what='a' if x else 'b')", ["a", "b"]),
        ("raise LanguageError('a' + ('b' if x else 'c'))", ["ab | ac"]),
        ("def f():\n  t = 'a'\n  t = f'b{x}'\n  raise LanguageError(t)", ["a", "b{}"]),
        ("T = 'end'\ndef f():\n  raise LanguageError(f'the {T}')", ["the end"]),
        ("def f(T):\n  raise LanguageError(f'the {T}')\nT = 'end'", ["the {}"]),
        ("raise InternalError('never')", []),
        ("raise NoLoops('f')", []),
        ("raise ValueError('not ours')", []),
        ("class E(LanguageError): pass\nraise E('mine')", ["mine"]),
        ("def g(what):\n  raise LanguageError(what)\ng('a')\ng(f'{b}')", ["a", "{}"]),
        ("class A:\n  def _g(self, n, what):\n    raise LanguageError(what)\n"
         "  def f(self):\n    self._g(1, 'a')", ["a"]),
        ("def g() -> Fault | None:\n  return 'wrong', 'hint'", ["wrong"]),
        ("def g() -> Other:\n  return 'wrong', 'hint'", []),
    ],
)  # fmt: skip
def test_places_are_found(source: str, expected: list[str]) -> None:
    assert names(source) == expected


def test_a_class_with_words_of_its_own_is_one_place() -> None:
    package = places.Package({"errors.py": ERRORS})
    assert [p.name for p in package.all] == ["errors.py: {} has no loops"]


def covered(source: str, text: str) -> list[str]:
    package = places.Package({"errors.py": ERRORS, "a.py": source})
    return sorted(p.name.removeprefix("a.py: ") for p in places.covered(package.all, [text]))


SOURCE = """
raise LanguageError(f"{a} has no loop called {b}")
raise LanguageError(f"{a} has no {b}")
raise LanguageError(f"{a} is refused: {b}")
"""
LOOP, ANY = "{} has no loop called {}", "{} has no {}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f has no loop called i", [LOOP]),
        ("f has no axis", [ANY]),
        ("s.split('i') is refused: f has no loop called i\n  hint: is refused: that", [LOOP]),
        ("f has no loop called ii (ii would be a part)\n  at FILE:LINE", [LOOP]),
        ("f had no loop called i", []),
        ("f\n  hint: g has no loop called i", []),
    ],
)
def test_a_text_is_of_the_place_that_says_most_of_it(text: str, expected: list[str]) -> None:
    assert covered(SOURCE, text) == expected
