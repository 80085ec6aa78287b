"""Every notebook runs from top to bottom, and what it says it shows is what it shows.

The outputs that are kept in a notebook are those of its sources, and of a run today.
"""

from __future__ import annotations

import re
import socket
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from notebook_runs import (
    METADATA,
    NOTEBOOKS,
    VARIES,
    differences,
    digest,
    is_stale,
    read,
    run,
    shown,
)

#: Bytes of a notebook with its outputs.
LARGEST = 400_000
#: What only the machine has on which a notebook ran: paths, and names of processors.
MACHINE = re.compile(r"/(home|root|tmp|Users|work)/|site-packages|znver|skylake|lake-avx|EPYC|Xeon")

#: What a cell's output must contain, by notebook and cell id.
EXPECTED = {
    "01-first-steps": {
        "call": "array([1., 2., 3., 5., 7.], dtype=float32)",
        "wrong-type": "x has the dtype int64, not float32",
        "interpret": "True",
        "fma": "fma(2.5, x[i], y[i])",
        "schedule": "for i in [0, n - 2):",
        "blur": "for v in [0, h):",
        "seconds": "'llvm'",
        "boundary": "in [-1, n + 1):",
        "histogram": "for row in [0, h), column in [0, w)",
        "running-sum": "upto[k] = upto[k] + upto[k - 1]  for k in [1, 256)",
        "picture": "image/png",
        "check": "True",
        "out-of-bounds": "steps[i=0] touches x[1], at n=1",
        "no-order": "make i an RVar",
        "no-truth": "ps.select",
        "select": "array([0., 3.], dtype=float32)",
        "lazy": "array([0., 0., 0., 3., 3., 3., 9.], dtype=float32)",
        "filter": "x[i + t]",
        "too-many-taps": "out of bounds at ",
        "llvm": "@llvm.fma.f32",
        "assembly": "axpy.0.nest0:",
    },
    "02-schedules": {
        "root": "across: 192 elements, computed 192 times, kept in 768 bytes",
        "inline": "image/png",
        "rows": "across: 192 elements, computed 480 times, kept in 192 bytes",
        "sliding": "across: 192 elements, computed 192 times, kept in 192 bytes",
        "two-rows": "across[y=2, x=0] in iteration blur.y=0 overwrites what blur[y=0, x=0] still",
        "trusted": "trusted: [[38.666668]]",
        "tiles": "across: 192 elements, computed 256 times, kept in 192 bytes",
        "race": "across[y=0, x=0] writes across[0, 0], blur[y=0, x=0] reads it, at h=3, w=3",
        "parallel-rows": "across: 192 elements, computed 480 times",
        "strips": "across: 192 elements, computed 224 times, kept in 192 bytes",
        "vectors": "(vector)",
        "same": "'vectors': True",
        "times": "vectors ",
    },
    "03-automatic-schedules": {
        "product": "True",
        "found": "in registers while sums run, panels of B copied, threads share jo",
        "kept": "True",
        "edited": """s["C.update(0)"].unroll('ki2')""",
        "same-bits": "[True, True]",
        "refused": "C.update(0)[i=0, j=0, k=0] reads C[0, 0]",
        "blur": "where its window slides",
        "memory": "3 kept along axis 0",
        "small": "# across: computed in loop yo of blurred",
        "heat": "{'i': {'t': 1}}",
        "steps": """s["u"].vectorize(""",
        "no-tile": "u[t=0, i=256] writes u[0, 256], u[t=1, i=255] reads it",
        "skewed": "for ti in ",
        "equal": "[True, True]",
    },
    "04-why-not": {
        "parallel": "[t=0, r=1] writes g[1], g.update(0)[t=0, r=2] reads it, at n=4, T=1",
        "witnesses": "violation",
        "malformed": "its loops are t, r",
        "others": """skew("t", "r", 1) first makes the distance along r go forward""",
        "raised": "True",
        "skew": "reorder('d', 't') would be accepted",
        "almost": "parallel('t') is refused",
        "steeper": "parallel('t') would be accepted",
        "diagonals": "text/html",
        "rows-of-tiles": "parallel('ro') is refused",
        "waves": "<picture: Iterations of g.update(0), at n=10, T=6",
        "same": "[True, True, True]",
        "times": "diagonals ",
        "trusted": "only to see what is said",
    },
    "05-a-product": {
        "clock": "True",
        "naive": "times NumPy's time",
        "naive-footprint": "B: 32 bytes in 8 cache lines",
        "order": "for k in [0, l):",
        "lanes": "text/html",
        "tiles": "keep C[4, 16]:",
        "tiles-footprint": "B: 512 bytes",
        "packed": "store B.jo[1, l, 16]:",
        "packed-footprint": "One iteration of io",
        "threads": "text/html",
        "threads-time": "Gflop/s",
        "all": "panels ",
        "auto": "True",
    },
    "06-property-tests": {
        "program": "array([ 4,  5,  7, 10], dtype=int32)",
        "mirror": "passed\nAssertionError: {'x': array([",
        "oracle": "ValueError: can't extend empty axis 0",
        "assume": "passed",
        "blur": "passed",
        "tried": "s = ps.Schedule(blur)",
        "own": "{1}",
        "trusted": "total[2] is 2 instead of 3",
        "refused": "parallel('r') is refused",
    },
}


each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(EXPECTED)


@each_notebook
def test_shows_what_its_sources_gave(path: Path) -> None:
    """Each cell has its number: it was run, from top to bottom, as it stands."""
    notebook = read(path)
    assert not is_stale(notebook), "make notebooks"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))


@each_notebook
def test_is_small(path: Path) -> None:
    assert path.stat().st_size <= LARGEST


@each_notebook
def test_keeps_no_widgets(path: Path) -> None:
    """On a page of a code host they show nothing, and their state is long."""
    notebook = read(path)
    assert "widgets" not in notebook.metadata
    kinds = {
        k for cell in notebook.cells for x in cell.get("outputs", ()) for k in x.get("data", ())
    }
    assert not [kind for kind in kinds if "widget" in kind]


@each_notebook
def test_shows_nothing_of_the_machine(path: Path) -> None:
    for cell in read(path).cells:
        found = "" if cell.cell_type == "markdown" else _readable(cell)
        assert not MACHINE.search(found), cell.id
        assert socket.gethostname() not in found or len(socket.gethostname()) < 6, cell.id
        assert "0x7f" not in found, f"cell {cell.id} shows an address"


def _readable(cell: Any) -> str:
    """All text of a cell's outputs, also HTML."""
    return "\n".join(
        output.text if output.output_type == "stream" else str(output.get("data", {}).get(kind, ""))
        for output in cell.outputs
        for kind in ("text/plain", "text/html", "text/latex", "image/svg+xml")
    )


@each_notebook
def test_shows_no_warning(path: Path) -> None:
    for cell in read(path).cells:
        for output in cell.get("outputs", ()):
            assert output.get("name") != "stderr", cell.id


@each_notebook
def test_prose_comes_first(path: Path) -> None:
    kinds = [cell.cell_type for cell in read(path).cells]
    assert kinds[0] == "markdown"
    assert kinds.count("markdown") >= 0.7 * kinds.count("code")


@pytest.mark.slow
@each_notebook
@pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq", "ignore::ResourceWarning")
def test_runs(path: Path) -> None:
    notebook = run(path)
    cells = {cell.id: cell for cell in notebook.cells}
    for name, text in EXPECTED[path.stem].items():
        assert text in shown(cells[name]), f"cell {name}: {shown(cells[name])}"
    differ = differences(read(path), notebook)
    assert not differ, "make notebooks, if this is right: " + "\n".join(differ)


# the tests can fail --------------------------------------------------------------------------


@pytest.fixture
def notebook() -> Any:
    return read(NOTEBOOKS[0])


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_a_changed_cell_is_stale(notebook: Any) -> None:
    _code(notebook)[2].source += "\n"
    assert is_stale(notebook)


def test_cells_in_another_order_are_stale(notebook: Any) -> None:
    cells = notebook.cells
    first, second = (cells.index(cell) for cell in _code(notebook)[:2])
    cells[first], cells[second] = cells[second], cells[first]
    assert is_stale(notebook)


def test_outputs_of_nothing_are_stale(notebook: Any) -> None:
    del notebook.metadata[METADATA]
    assert is_stale(notebook)


def test_other_prose_is_not_stale(notebook: Any) -> None:
    before = digest(notebook)
    notebook.cells[0].source += " More words."
    assert digest(notebook) == before
    assert not is_stale(notebook)


def test_another_text_differs_unless_its_cell_says_that_it_varies(notebook: Any) -> None:
    now = deepcopy(notebook)
    assert not differences(notebook, now)
    cell = next(cell for cell in _code(now) if cell.id == "fma")
    cell.outputs[0].text += "more"
    (found,) = differences(notebook, now)
    assert found.startswith("cell fma shows")
    varies = next(cell for cell in _code(notebook) if cell.id == "seconds")
    assert VARIES in varies.metadata.tags
    next(cell for cell in _code(now) if cell.id == "seconds").outputs = []
    assert len(differences(notebook, now)) == 1
