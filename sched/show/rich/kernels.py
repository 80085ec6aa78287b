"""Kernels: how they are called, for what they are made, and the loops that they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...codegen.runtime.kernel import Kernel
from ...codegen.runtime.threads import get_num_threads
from ...lang.nodes.printer import expr_text
from ...poly.schedule.queries import ScheduleQueries
from ..parts.markup import Content, tag
from ..parts.theme import display
from .nests import STYLE
from .schedules import loops


def kernel(shown: Kernel) -> dict[str, str]:
    """A kernel."""
    rows = [tag("tr", tag("th", name), tag("td", value)) for name, value in _facts(shown)]
    html = display(
        tag("div", "Kernel ", tag("code", shown.signature), class_="head"),
        tag("table", rows),
        tag("details", tag("summary", "loops"), list(_loops(shown))),
        style=STYLE,
    )
    return {"text/html": str(html)}


def _facts(shown: Kernel) -> Iterator[tuple[str, Content]]:
    yield "target", shown._target.name
    made = [v for kernel in _kernels(shown) for v in list(kernel._variants.values())]
    if made:
        size = f"{sum(v._code.size for v in made):,} bytes of instructions"
        yield "code", f"{size}, {'found on disk' if shown.cached else 'compiled here'}"
        threaded = any(v.is_threaded for v in made)
        yield (
            "threads",
            f"up to {get_num_threads()}" if threaded else "one: no loop of this code is parallel",
        )
    else:
        yield "code", "compiled at the first call"
    conditions = shown.conditions
    if conditions:
        yield "requires", [tag("div", tag("code", c)) for c in conditions]
    if shown._special:
        texts = [f"where {c}" for c in _conditions_of(shown)]
        yield "variants", [tag("div", tag("code", t)) for t in texts]
    if shown._checks:
        yield "checks", "divisions by zero are counted"


def _kernels(shown: Kernel) -> Iterator[Kernel]:
    """A kernel and those of its variants."""
    yield shown
    for _, special in shown._special:
        yield from _kernels(special)


def _conditions_of(shown: Kernel) -> Iterator[str]:
    for condition, _ in shown._schedule.variants:
        yield expr_text(condition)


def _loops(shown: Kernel) -> Iterator[Content]:
    schedule: Any = shown._schedule
    if isinstance(schedule, ScheduleQueries) and schedule._builder._place.is_made:
        yield from loops(schedule)
    else:
        yield "print(kernel) lists them"
