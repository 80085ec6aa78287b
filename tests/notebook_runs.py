"""Notebooks and what they show: run, written with their outputs, compared with what was written.

python -P tests/notebook_runs.py            # all anew, which is `make notebooks`
python -P tests/notebook_runs.py why-not    # those with one of these words in their names

What differs between two runs or two machines (times, machine code) is shown by cells that have the
tag `varies`; of the others, what they print must be what was written. Pictures and HTML are written
and not compared: those are tested where they are made.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PIL import Image  # which matplotlib requires

# nbformat imports jsonschema, which makes two parsers of Unicode's URIs when it can. No notebook
# has any, and in each process that imports this they would take seconds.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
try:
    import nbformat
    from nbclient import NotebookClient
finally:
    del sys.modules["rfc3987_syntax"]

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: Seconds after which a cell hangs.
LIMIT = 600
#: The tag of cells whose output is another one in each run, or on each machine.
VARIES = "varies"
#: The metadata of a notebook that say from which sources its outputs are.
METADATA = "polysched"


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def digest(notebook: Any) -> str:
    """Of all that decides what a notebook shows: its code, in its order."""
    code = [(cell.id, cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()


def is_stale(notebook: Any) -> bool:
    """Whether outputs are those of other sources, or there are none."""
    return bool(notebook.metadata.get(METADATA, {}).get("sources") != digest(notebook))


def run(path: Path) -> Any:
    """The notebook of a file after a run from top to bottom, with the outputs of that run.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raises an error.
    """
    notebook = read(path)
    info = dict(notebook.metadata.get("language_info", {}))
    NotebookClient(
        notebook,
        timeout=LIMIT,
        kernel_name="python3",  # of this interpreter
        record_timing=False,
        store_widget_state=False,  # of bars that are gone when their cells end
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    notebook.metadata["language_info"] = info  # not this Python's version
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_kept(x) for x in _joined(cell.outputs)]
    return notebook


def executed(cells: Iterable[str]) -> Any:
    """A new notebook of these cells after a run, in which some of them may have raised errors."""
    made = [nbformat.v4.new_code_cell(text) for text in cells]  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=made)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
    return notebook


def write(path: Path, notebook: Any) -> None:
    notebook.metadata[METADATA] = {"sources": digest(notebook)}
    notebook.metadata.pop("widgets", None)
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def _joined(outputs: list[Any]) -> list[Any]:
    """Outputs in which what is printed in several pieces, as by chance, is one piece."""
    found: list[Any] = []
    for output in outputs:
        before = found[-1] if found else None
        if before and output.output_type == "stream" and before.get("name") == output.name:
            before.text += output.text
        else:
            found.append(output)
    return found


def _kept(output: Any) -> Any:
    """An output without addresses, and with small pictures."""
    if output.output_type == "stream":
        output.text = _text(output.text)
    data = output.get("data", {})
    if "text/plain" in data:
        data["text/plain"] = _text(data["text/plain"])
    if "image/png" in data:
        data["image/png"] = _small(data["image/png"])
    return output


def _small(png: str) -> str:
    """A picture in 256 colours, which is a third of its size: history keeps each that ever was."""
    found = io.BytesIO()
    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(found, "PNG", optimize=True)
    return base64.b64encode(found.getvalue()).decode("ascii")


def _text(text: str) -> str:
    """A text without the addresses of objects, which differ from run to run."""
    return re.sub(r" at 0x[0-9a-f]+>", " at 0x...>", text)


def shown(cell: Any) -> str:
    """The text of a cell's outputs, and the kinds of those that are no text."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(output.text)
        else:
            found += [output.data.get("text/plain", ""), *sorted(output.data)]
    return "\n".join(found)


def differences(written: Any, now: Any) -> list[str]:
    """The cells that show something else than was written, with both."""
    cells = {cell.id: cell for cell in now.cells}
    return [
        f"cell {cell.id} shows\n{shown(cells[cell.id])}\nand not\n{shown(cell)}"
        for cell in written.cells
        if cell.cell_type == "code" and VARIES not in cell.metadata.get("tags", ())
        if shown(cell) != shown(cells[cell.id])
    ]


def main(words: list[str]) -> None:
    for path in NOTEBOOKS:
        if not words or any(word in path.stem for word in words):
            write(path, run(path))
            print(f"{path.name}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main(sys.argv[1:])
