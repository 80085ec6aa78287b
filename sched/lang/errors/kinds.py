"""The kinds of mistakes that have codes, and the places that make errors of each.

Each family of mistakes has a table in a file of its own (`program_kinds.py`, `call_kinds.py`,
`schedule_kinds.py`, `other_kinds.py`); this file puts them together. A code is never used for
another kind. One that is not needed any more moves to `RETIRED`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .call_kinds import CALLS
from .kind import Kind
from .other_kinds import OTHERS
from .program_kinds import PROGRAMS
from .schedule_kinds import SCHEDULES

#: Of refusals by a dependence: the code by its kind.
OF_KIND = {
    **dict.fromkeys(("flow", "anti", "output", "uninitialised"), "PS0301"),
    "race": "PS0302", "lane": "PS0303", "clobber": "PS0304",
}  # fmt: skip

FAMILIES = {
    "PS01": "programs",
    "PS02": "calls",
    "PS03": "schedules that are not legal",
    "PS04": "requests to schedules",
    "PS05": "what is written and read again",
    "PS06": "machines and packages",
    "PS07": "checks, pictures and reports",
    "PS08": "the command line",
    "PS09": "polysched itself",
}

CODES: Mapping[str, Kind] = {**PROGRAMS, **CALLS, **SCHEDULES, **OTHERS}

RETIRED: Mapping[str, str] = {}
"""Codes of kinds that are no more, with their last titles."""

#: Functions that pass messages on, or say what is said for many kinds.
PASSING = (
    "lang.nodes.infer:TypeInference._error "
    "poly.state.editing:Editing.malformed poly.state.record:Directive.refuse "
    "poly.state.record:Directive.mistyped checking.report:CheckError.__init__ "
    "poly.tree.edits:Shared.__init__"
)
