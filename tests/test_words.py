"""One word for one thing: words that the project has given up for a term of its field, listed in
one table, stand nowhere any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("sched", "docs", "tests")
SUFFIXES = {".py", ".md", ".txt"}


@dataclass(frozen=True)
class Word:
    """A word that is not used.

    Attributes:
        pattern: what it looks like: a regular expression, searched for in each line.
        term: the field's words for what it stood for, separated by semicolons; each is explained
            in `docs/glossary.md`.
        ordinary: its other uses: what matches is no such word.
        files: files and folders in which it has another meaning, which the comment beside it says.
    """

    pattern: str
    term: str
    ordinary: str = r"(?!)"
    files: tuple[str, ...] = ()


WORDS = (
    Word(
        r"\bscan(s|ned|ning|nable|ner)?\b|_scan(s|ned)?\b|\bScan([A-Z]\w*)?\b|\bscantree\b",
        "loop nest; index check",
        # The program of these tests is a prefix sum, which is called a scan.
        files=("tests/testing/", "tests/lang/test_3_10_region.py"),
    ),
    Word(
        r"\bTold\b|\.told\b|\b_?told\(|\bis_told\b|\bothers tell\b|\btells? which element\b",
        "determined coordinate",
        files=("tests/threads/",),  # Threads are told to stop.
    ),
    Word(
        r"\bApart\b|\bapart( =|=|\(|: [a-zA-Z]+ =|: [a-zA-Z]+[,)])|\.apart\b|`apart`"
        r"|\b_?(is|loops|iterations|taken|check|budget)_apart\b",
        "depth of fresh values; lane offsets",
    ),
    Word(
        r"\b(Nest)?Keep\b|\bKept[A-Z]\w*|\bis_kept\b|\b_?kept_in\b|\bkept_storage\b"
        r"|(placement|directives)[./]kept\b|(placement|directives)[./]keeping\b"
        r"|\bimport kept\b|\bimport keeping\b",
        "private accumulator; copy-in, copy-out",
    ),
    Word(
        r"\bPlaced\b|\bPLACED\b|\b_?placed\(|\.placed\b|\b[./]placed\b|\bimport placed\b",
        "placement; demand; scheduled stage",
    ),
    Word(r"\bstrays?\b|\w_strays?\b", "dead stage"),
    Word(r"\b[Ss]inking\b|\bsunk\b|\bmoved inside\b|Alloc\.moved", "storage placement"),
    Word(r"\bJudge\b|[./]judge\b", "legality checker; instance checker"),
    Word(
        r"\bclass _?(Builder|Pair|Repeats?)\b|(runtime|report)[./]repeats\b",
        "instance pair; recomputation",
    ),
    Word(r"[Ii]ndivisib|\bis_divided\b", "atomic; non-atomic copies"),
    Word(r"\bruns? at once\b|\"at once\"|\bor at once\b", "concurrent iterations"),
    Word(
        r"\bForm\b|\bform_of\b|\.form\b|[./]forms\b|\bforms? of the program\b",
        "rewritten program",
    ),
    Word(
        r"\basks? (something |nothing )?of (its |the )?sizes\b|\basked of sizes\b", "precondition"
    ),
    Word(
        r"\b[Ww]hole (tiles?|vectors?)\b|\bwhole_(tile|bounds)|\bpads\b|sets[./]ends\b"
        r"|\b(exact|rounded|far|has|between|constant)_ends\b|\bends_(of|along|read)\b",
        "full tile; padding; bounds",
    ),
    Word(r"iterations for nothing|\bempty_shares\b|report[./]visits\b", "idle iterations"),
)


@cache
def parts(pattern: str) -> tuple[str, ...]:
    """Texts of which each match of a pattern contains one: of each alternative its longest letters
    in a row that are neither in a group nor in a class, nor optional."""
    plain, before = pattern, ""
    while plain != before:
        before = plain
        plain = re.sub(r"\\.|\[[^\]]*\]|\([^()]*\)|[^)]?[?*]|[^)]?\{[^}]*\}", "\n", plain)
    rows = [re.findall(r"[\w ]+", alternative) for alternative in plain.split("|")]
    return tuple(max(row, key=len, default="") for row in rows)


def found(text: str, word: Word) -> Iterator[int]:
    """The lines in which a word is used."""
    if not any(part in text for part in parts(word.pattern)):
        return  # texts are searched for letters in a tenth of the time
    if not re.search(word.pattern, re.sub(word.ordinary, "", text)):
        return  # as in nearly all texts: their lines are not looked at one by one
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(word.pattern, re.sub(word.ordinary, "", line)):
            yield number


def texts() -> dict[str, str]:
    """The sources and the pages, by their paths; a path is a line of its text."""
    paths = [p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*"))]
    shown = (p for p in (*paths, ROOT / "README.md") if p.suffix in SUFFIXES)
    names = {str(p.relative_to(ROOT)): p for p in shown if p != Path(__file__).resolve()}
    return {name: f"{p.read_text(encoding='utf-8')}\n{name}" for name, p in names.items()}


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return texts()


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.term)
def test_words_that_were_given_up_stand_nowhere(word: Word, sources: dict[str, str]) -> None:
    used = [
        f"{name}:{line}"
        for name, text in sources.items()
        if not name.startswith(word.files)
        for line in found(text, word)
    ]
    assert not used, f"say {word.term}: {', '.join(used)}"


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.term)
def test_each_exception_is_still_needed(word: Word, sources: dict[str, str]) -> None:
    """A file in which a word has another meaning uses it."""
    for start in word.files:
        assert any(
            any(found(text, word)) for name, text in sources.items() if name.startswith(start)
        ), start


def terms() -> list[str]:
    """The terms of the glossary, as it lists them."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    return [term.lower() for term in re.findall(r"^\*\*(.+?)\.\*\* ", text, re.M)]


def test_the_glossary_is_in_order() -> None:
    assert terms() == sorted(set(terms()))


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.term)
def test_each_term_is_in_the_glossary(word: Word) -> None:
    missing = {term.lower() for term in word.term.split("; ")} - set(terms())
    assert not missing


def test_ordinary_uses_of_a_word_are_none() -> None:
    word = Word(r"\btold\b", "determined coordinate", r"told apart")
    assert list(found("told apart\nit is told\nuntold", word)) == [2]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\bscan(s|ned)?\b|_scan(s|ned)?\b", ("scan", "_scan")),
        (r"\b[Ss]inking\b|Alloc\.moved", ("inking", "Alloc")),
        (r"\b_?(is|loops)_apart\b|asks? (some (few )?)?of", ("_apart", "ask")),
        (r"\bat +once|\(.*\)|[ab]{2}cd{2,}e", ("once", "", "c")),
    ],
)
def test_parts_of_matches(pattern: str, expected: tuple[str, ...]) -> None:
    assert parts(pattern) == expected
