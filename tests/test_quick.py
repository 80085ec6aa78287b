"""What `make quick` leaves out is not the only test of anything: see `conftest.py`."""

from __future__ import annotations

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


def test_groups_are_heeded(request: pytest.FixtureRequest) -> None:
    """Where tests are sent out by groups, xdist knows each by its name and that of its group. With
    a pytest that takes no such names, all pass, but what is shared is made in each process."""
    if request.config.getoption("loadgroup", False):
        assert request.node.nodeid.rpartition("@")[0]
