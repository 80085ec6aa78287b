"""From a program that fails to smaller ones that may fail in the same way, by editing its text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from polysched.testing.shrink import simpler, without

from .programs import Case

#: Declarations that the data of the calls depend on: they are dropped or kept as they are.
_FIXED = ("ps.Input(", "ps.Param(", "ps.sizes(", "ps.size(", "ps.vars(")


def _calls(case: Case) -> Iterator[Case]:
    """One call alone."""
    if len(case.sizes) > 1:
        for sizes in case.sizes:
            yield replace(case, sizes=(sizes,))


def _outputs(case: Case) -> Iterator[Case]:
    """One output alone, perhaps another one."""
    lines = [w for w in case.source.splitlines() if not w.startswith(" ")]
    names = [w.split(" = ")[0] for w in lines if " = ps.Func(" in w]
    for name in (*case.outputs, *reversed(names)):
        if len(case.outputs) > 1 or (name in names and names.index(name) < _last(case, names)):
            yield replace(case, outputs=(name,), shapes=_shapes(case, name))


def _last(case: Case, names: list[str]) -> int:
    return max((names.index(o) for o in case.outputs if o in names), default=0)


def _shapes(case: Case, name: str) -> dict[str, tuple[str, ...]]:
    """Those of the outputs; one for the Func `name` if it is none yet and declares none."""
    if name in case.shapes:
        return case.shapes
    lines = case.source.splitlines()
    declared = next((w for w in lines if w.startswith(f"{name} = ps.Func(")), None)
    if declared is None:  # an array in place
        return case.shapes
    call = ast.parse(declared).body[0].value  # type: ignore[attr-defined]
    if len(call.args) > 1:
        return case.shapes
    uses = [w.split("]")[0] for w in lines if w.startswith(f"{name}[")]
    rank = 0 if not uses or uses[0].endswith("[()") else uses[0].count(",") + 1
    return {**case.shapes, name: ("3",) * rank}


def _lines(case: Case) -> Iterator[Case]:
    for kept in without(tuple(case.source.splitlines()), first=1):
        yield replace(case, source="\n".join(kept))


def _sizes(case: Case) -> Iterator[Case]:
    """Smaller sizes, if there is one call."""
    for given in case.sizes[:1] if len(case.sizes) == 1 else ():
        for name, value in given.items():
            for smaller in range(value):
                yield replace(case, sizes=({**given, name: smaller},))


def _expressions(case: Case) -> Iterator[Case]:
    for source in simpler(case.source, _FIXED):
        yield replace(case, source=source)


#: What makes a case a little smaller.
EDITS: tuple[Callable[[Case], Iterator[Case]], ...] = (
    _calls, _outputs, _lines, _expressions, _sizes
)  # fmt: skip
