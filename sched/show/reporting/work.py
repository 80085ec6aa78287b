"""Operations and bytes of a kernel, and where it stands below the roofs of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from ...cached import cached_property
from ...codegen.ir.counts import WEIGHTS, Counts, Numbers, counts, stage_names
from ...codegen.ir.ir import Buffer
from ...codegen.ir.totals import Total
from ...lang.arithmetic.evaluate import size_value
from ...lang.nodes.dtypes import FLOATS, DType
from ...records import dataclass
from ...targets.facts import machine
from ..parts.markup import Content, Markup, tag
from .measure import Timed
from .roofline import Point, Roofs, roofline
from .sections import section, table
from .subject import Subject

CUT = 160
"""Characters of a total that are shown; the rest is shown when the pointer rests on it."""

FOLDED = 24
"""Stages up to which the table is unfolded."""


@dataclass
class Work:
    """What a kernel does.

    Attributes:
        stages: by name, as totals over sizes.
        values: sizes and Params by name; empty where none are given.
    """

    subject: Subject
    values: Mapping[str, Any]

    @cached_property
    def stages(self) -> dict[str, Counts]:
        """What each stage does, as totals over sizes."""
        program = self.subject.chosen._schedule.loop_program
        return counts(self.subject.lowered.module, stage_names(program))

    @cached_property
    def numbers(self) -> dict[str, Numbers]:
        """The same at the sizes; empty without sizes."""
        if not self.values:
            return {}
        return {name: found.at(self.values) for name, found in self.stages.items()}

    def whole(self, what: str) -> int | None:
        """The sum over all stages of an attribute of `Numbers`; None where one is not known."""
        found = [getattr(n, what) for n in self.numbers.values()]
        return None if not found or None in found else sum(found)

    @cached_property
    def once(self) -> int:
        """Bytes of each array of a call, once; those of InOuts twice, as they are read and
        written."""
        buffers = self.subject.lowered.module.buffers
        inouts = {self.subject.program.names[f] for f in self.subject.program.inouts}
        return sum(
            self._bytes(b) * (2 if b.name in inouts else 1)
            for b in buffers
            if b.kind in ("input", "output")
        )

    def _bytes(self, buffer: Buffer) -> int:
        extents = (int(size_value(n, self.values, self.values)) for n in buffer.extents)
        return buffer.dtype.itemsize * prod(max(n, 0) for n in extents)

    @property
    def dtype(self) -> DType:
        """The type of float of most operations; float32 where there are none."""
        counts = {t: sum(self._of(found, t.name) for found in self.stages.values()) for t in FLOATS}
        return max(FLOATS, key=lambda t: counts[t])

    def _of(self, found: Counts, dtype: str) -> int:
        each = [t for k, t in found.operations.items() if k.split()[-1] == dtype and _weight(k)]
        return sum(t.at(self.values) or 0 for t in each) if self.values else len(each)


def _weight(kind: str) -> int:
    return WEIGHTS.get(kind.split()[0], 0)


def work(x: Subject, values: Mapping[str, Any], times: Sequence[Timed]) -> Markup:
    """Operations and bytes of each stage, and the roofline."""
    found = Work(x, values)
    return section(
        "Work",
        tag(
            "p",
            "Operations are those on numbers, a multiply-add counts as two; comparisons, choices, "
            "conversions and indices are none, and functions such as tanh have those of their "
            "formulas. Bytes are those of loads and stores as the loops before any pass say them, "
            "wherever the elements come from: what stays in registers is loaded less often by the "
            "code.",
        ),
        _numbers(found) if found.numbers else None,
        _folded("as formulas over sizes", _formulas(found), bool(found.numbers)),
        list(_notes(found)),
        tag("h3", "Roofline"),
        _roofline(found, times),
        name="work",
    )


def _folded(title: str, content: Markup, folded: bool) -> Markup:
    """Content that is shown when somebody asks, if it is long or said already."""
    return tag("details", tag("summary", title), content, open=not folded)


_KINDS = (("arithmetic", "operations"), ("loaded", "bytes loaded"), ("stored", "bytes stored"))


def _numbers(found: Work) -> Markup:
    """What stages do at the sizes."""
    kinds = (*_KINDS, ("held", "bytes on the stack"))
    rows: list[list[Content]] = []
    for name, n in found.numbers.items():
        at_most = tag("span", " at most", class_="faint") if found.stages[name].at_most else None
        cells = [_number(getattr(n, what)) for what, _ in kinds]
        rows.append([[tag("code", name), at_most], *cells])
    if len(rows) > 1:
        rows.append(["all stages", *(_number(found.whole(what)) for what, _ in kinds)])
    made = table(("stage", *(title for _, title in kinds)), rows)
    if len(rows) <= FOLDED:
        return made
    head = table(("stage", *(title for _, title in kinds)), rows[-1:])
    return tag("div", head, _folded(f"{len(rows) - 1} stages", made, folded=True))


def _formulas(found: Work) -> Markup:
    """What stages do, over sizes."""
    rows: list[list[Content]] = []
    for name, counted in found.stages.items():
        at_most = tag("span", " at most", class_="faint") if counted.at_most else None
        totals = (_total(getattr(counted, what)) for what, _ in _KINDS)
        rows.append([[tag("code", name), at_most], *totals])
    made = table(("stage", *(title for _, title in _KINDS)), rows, numbers=99)
    return made if len(rows) <= FOLDED else _folded(f"{len(rows)} stages", made, folded=True)


def _total(total: Total) -> Markup:
    whole = str(total)
    if len(whole) <= CUT:
        return tag("code", whole)
    return tag("code", f"{whole[:CUT]}...", title=whole[:4000])


def _number(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"


def _notes(found: Work) -> Iterator[Markup]:
    kinds: dict[str, None] = {}
    for counted in found.stages.values():
        kinds.update(dict.fromkeys(counted.operations))
    free = sorted(k for k in kinds if not _weight(k))
    if free:
        names = ", ".join(free)
        yield tag("p", f"Not counted as operations: {names}.", class_="faint")


# the roofline -------------------------------------------------------------------------------------
def _roofline(found: Work, times: Sequence[Timed]) -> Content:
    if not found.values:
        return tag("p", "It needs sizes: report(path, n=512), or args=, for a measured point.")
    operations, moved = found.whole("arithmetic"), found.whole("bytes")
    if operations is None or moved is None:
        return tag("p", "Data decide how much is done, so there is none.")
    if not operations or not moved:
        return tag("p", f"There are {operations:,} operations and {moved:,} bytes: there is none.")
    roofs = roofs_of(found)
    points = [Point("as loaded and stored", operations / moved)]
    if found.once:
        points.append(Point("each array once", operations / found.once))
    # However much is kept in registers and caches, no more can be.
    ends = [p.intensity for p in points]
    points += [
        Point(_on(t), max(ends), operations / t.seconds, min(ends)) for t in times if t.seconds > 0
    ]
    cores = max((t.threads for t in times), default=1)
    return [
        tag("p", _said(found, roofs, operations, moved)),
        tag("div", roofline(roofs, points, cores), class_="wide"),
        _times(found, roofs, operations, times),
    ]


def _on(t: Timed) -> str:
    return "measured" if t.threads == 1 else f"measured, {t.threads} threads"


def roofs_of(found: Work) -> Roofs:
    """What one core of the machine of a kernel can do."""
    known = machine(found.subject.target)
    caches = len(found.subject.target.caches)
    names = [*(f"L{k}" for k in range(1, caches + 1)), "memory"]
    bandwidths = tuple((name, known.bandwidth(k)) for k, name in enumerate(names, 1))
    return Roofs(known.peak(found.dtype), bandwidths, known.source)


def _said(found: Work, roofs: Roofs, operations: int, moved: int) -> str:
    once = f"{operations / found.once:.3g}" if found.once else "no"
    how = "" if "measured" in roofs.how else "; python -m polysched calibrate measures them"
    return (
        f"{operations:,} operations: {operations / moved:.3g} for each byte that the loops load "
        f"and store, and {once} for each byte of arrays that are read and written once. What "
        "registers and caches keep decides where in between the kernel is. Solid roofs are those "
        f"of one core, {roofs.how}{how}."
    )


def _times(found: Work, roofs: Roofs, operations: int, times: Sequence[Timed]) -> Markup:
    if not times:
        return tag(
            "p",
            "Nothing was run: the dashed lines say how far up the kernel may come, and not where "
            "it is. report(path, args=...) measures it.",
        )
    rows = [
        (
            str(t.threads),
            f"{t.seconds * 1e6:,.1f} us",
            f"{t.least * 1e6:,.1f} to {t.most * 1e6:,.1f} us, {t.runs} runs",
            f"{operations / t.seconds / 1e9:.3g}",
            f"{operations / t.seconds / (roofs.peak * t.threads):.1%}",
        )
        for t in times
        if t.seconds > 0
    ]
    heads = ("threads", "median of a call", "shortest and longest", "GFLOP/s", "of the peak")
    return table(heads, rows, numbers=0)
