"""The documentation says what is so: its examples run, its outputs, paths and links are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import PAGES, ROOT, Section, explain, read, run, sections

SECTIONS = [
    pytest.param(page, section, id=f"{page}-{section.name}")
    for page in PAGES
    if page != "README.md" and "codes" not in page  # see test_readme.py, test_explained_pages.py
    for section in sections(page)
    if section.blocks
]
PARTS = ((1, 7), (2, 6), (3, 11), (4, 1))
RULES = [f"{part}.{k}" for part, count in PARTS for k in range(1, count + 1)]


@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_examples_show_what_is_so(page: str, section: Section) -> None:
    differences = run(section)
    assert not differences, explain(page, differences)


def test_every_rule_of_the_language_has_its_number() -> None:
    found = re.findall(r"^### (\d+\.\d+) ", read("docs/language.md"), re.M)
    assert found == RULES


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    folder = (ROOT / page).parent
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", read(page))
    missing = [t for t in targets if "://" not in t and not (folder / t).exists()]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_links_to_headings_lead_somewhere(page: str) -> None:
    folder = (ROOT / page).parent
    links = re.findall(r"\]\(((?:[^)#:]+\.md)?)#([^)]+)\)", read(page))
    missing = [f"{t}#{a}" for t, a in links if a not in anchors(folder / t if t else ROOT / page)]
    assert not missing


def anchors(page: Path) -> set[str]:
    """How the headings of a page are linked to."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    plain = (re.sub(r"[^\w\s-]", "", head).strip().lower() for head in heads)
    return {re.sub(r"[-\s]+", "-", head) for head in plain}


@pytest.mark.parametrize("page", PAGES)
def test_paths_exist(page: str) -> None:
    """What is written as a path in code: `sched/steps.py`, `tests/docs/`, `passes/*.py`."""
    paths = re.findall(r"`((?:sched|tests|docs|notebooks|benchmarks)/[\w./*-]*)`", read(page))
    missing = [p for p in paths if not list(ROOT.glob(p.rstrip("/")))]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_make_targets_exist(page: str) -> None:
    known = set(re.findall(r"^([a-z0-9-]+):", read("Makefile"), re.M))
    named = set(re.findall(r"(?:`|^)make ([a-z0-9-]+)", read(page), re.M))
    assert named <= known
