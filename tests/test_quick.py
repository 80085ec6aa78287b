"""What `make quick` leaves out is not the only test of anything: see `choice.py`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import choice
import pytest
from gallery.registry import CASES
from polybench.registry import CASES as KERNELS

TABLES = [
    pytest.param("gallery/test_gallery.py", CASES, id="gallery"),
    pytest.param("polybench/test_polybench.py", KERNELS, id="PolyBench"),
]


@pytest.mark.parametrize(("file", "cases"), TABLES)
def test_every_program_runs_once(request: pytest.FixtureRequest, file: str, cases: tuple) -> None:
    rows = [item for item in request.session.items if file in item.nodeid]
    if len(rows) < len(cases):
        pytest.skip("not all tests were collected")
    quick = [
        row.callspec.params["case"]
        for row in rows
        if "test_native_equals_interpreter" in row.nodeid and not row.get_closest_marker("slow")
    ]
    assert quick == list(cases)


def test_each_name_is_that_of_a_test(request: pytest.FixtureRequest) -> None:
    """Of one that nothing else chooses: whoever renames a test says it there, too."""
    if any("::" in argument for argument in request.config.args):
        pytest.skip("not all tests of each file were collected")
    assert request.config.stash[choice.UNKNOWN] == set()


def test_several_rows_of_a_table_are_taken() -> None:
    rows = Counter(name.partition("[")[0] for name in choice.NAMED["only"])
    assert [table for table, count in rows.items() if count < choice.ROWS] == []


def test_what_a_page_promises_to_be_quick_is_taken() -> None:
    """Steps of work are checked by tests that it names."""
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    promised = set(re.findall("`(test_[a-z_]+)`", page))
    assert promised
    assert [name for name in choice.NAMED["not"] if name.rpartition("::")[2] in promised] == []


class Named:
    """As much of a test as `choice` looks at."""

    def __init__(self, nodeid: str, *marks: str) -> None:
        self.nodeid = nodeid
        self.marks = [getattr(pytest.mark, mark).mark for mark in marks]

    def iter_markers(self) -> list[pytest.Mark]:
        return self.marks


@pytest.mark.parametrize(
    "nodeid",
    [
        pytest.param("test_a.py::test_other", id="nobody"),
        pytest.param("test_a.py::test_one[row]", id="rows"),
    ],
)
def test_a_name_of_nobody_is_found(monkeypatch: pytest.MonkeyPatch, nodeid: str) -> None:
    monkeypatch.setattr(choice, "NAMED", choice.named(f"# of a file\nnot {nodeid}"))
    assert choice.unknown([Named("test_a.py::test_one[row]")]) == {nodeid}
    assert choice.unknown([Named("test_b.py::test_one")]) == set()


def test_a_mark_and_a_name_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where both choose, one of them is of no use."""
    monkeypatch.setattr(choice, "NAMED", choice.named("not test_a.py::test_one"))
    assert choice.unknown([Named("test_a.py::test_one")]) == set()
    assert choice.unknown([Named("test_a.py::test_one", "slow")]) == {"test_a.py::test_one"}


def test_groups_are_heeded(request: pytest.FixtureRequest) -> None:
    """Where tests are sent out by groups, xdist knows each by its name and that of its group. With
    a pytest that takes no such names, all pass, but what is shared is made in each process."""
    if request.config.getoption("loadgroup", False):
        assert request.node.nodeid.rpartition("@")[0]
