"""Every notebook runs from top to bottom, and what it says it shows is what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: Seconds after which a cell hangs.
LIMIT = 600

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
        "edited": """s["C.update(0)"].unroll('ki')""",
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
}


def _read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def _shown(cell: Any) -> str:
    """The text of a cell's outputs, and the kinds of those that are no text."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(output.text)
        else:
            found += [output.data.get("text/plain", ""), *output.data]
    return "\n".join(found)


each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(EXPECTED)


@each_notebook
def test_is_kept_without_outputs(path: Path) -> None:
    """Outputs would hold one machine's times and instructions, and age unseen."""
    for cell in _read(path).cells:
        if cell.cell_type == "code":
            assert not cell.outputs, cell.id
            assert cell.execution_count is None, cell.id


@each_notebook
def test_prose_comes_first(path: Path) -> None:
    kinds = [cell.cell_type for cell in _read(path).cells]
    assert kinds[0] == "markdown"
    assert kinds.count("markdown") >= 0.7 * kinds.count("code")


@pytest.mark.slow
@each_notebook
@pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq", "ignore::ResourceWarning")
def test_runs(path: Path) -> None:
    notebook = _read(path)
    NotebookClient(
        notebook,
        timeout=LIMIT,
        kernel_name="python3",  # of this interpreter
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    cells = {cell.id: cell for cell in notebook.cells}
    for name, text in EXPECTED[path.stem].items():
        assert text in _shown(cells[name]), f"cell {name}: {_shown(cells[name])}"
