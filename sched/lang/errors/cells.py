"""Cells of notebooks: their numbers, and which execution of which cell is under way.

Only IPython knows of cells. Where it is not loaded, nothing here finds any.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any

from ...records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One execution of a statement of a cell.

    IPython compiles a cell anew at each execution, statement by statement, so equal code objects
    that are not identical come from two executions of the same line.

    Attributes:
        cell: the front end's id of the cell, if it sends one.
        message: the front end's id of this execution.
    """

    code: CodeType
    cell: str | None
    message: str | None

    def is_again(self, before: Run) -> bool:
        """Whether it is another execution of the same cell."""
        if self.cell is not None and before.cell is not None:  # also where the cell has been edited
            return self.cell == before.cell and self.message != before.message
        return self.code is not before.code and self.code == before.code


def number_of(file: str) -> int | None:
    """The execution count of the cell that was compiled under the name `file`."""
    return _numbers(_shell()).get(file) if "IPython" in sys.modules else None


def current_run() -> Run | None:
    """The execution of a cell that is under way, if the code of one is on the call stack.

    All code that the cell calls counts as part of it: its own functions, those of other cells,
    libraries.
    """
    shell = _shell()
    frame = None if shell is None else _outermost(_numbers(shell), sys._getframe(1))
    if frame is None:
        return None
    asked: Any = getattr(shell, "get_parent", dict)()  # the front end's request to execute the cell
    message = asked if isinstance(asked, dict) else {}
    cell = message.get("metadata", {}).get("cellId")
    return Run(frame.f_code, cell, message.get("header", {}).get("msg_id"))


def _shell() -> Any:
    """The running shell of IPython, if there is one."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _numbers(shell: Any) -> dict[str, int]:
    """The execution counts of cells by the names of their code."""
    found = getattr(getattr(shell, "compile", None), "_filename_map", None)
    return found if isinstance(found, dict) else {}


def _outermost(numbers: dict[str, int], frame: FrameType | None) -> FrameType | None:
    """The frame that runs a statement of a cell, outside of all functions that it has called."""
    found = None
    while frame is not None:
        if frame.f_code.co_filename in numbers and frame.f_locals is frame.f_globals:
            found = frame
        frame = frame.f_back
    return found
