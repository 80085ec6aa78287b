"""Halos: how far the outputs of a program reach into its Inputs around a point.

The elements of an Input that a point of an output follows from, through all Funcs in between, are
an isl relation. With W(f) the instances that write each element of f and R(f, g) what these read of
g, the relations of one Func to the next are

    { x -> y : y in g, (x -> s) in W(f), (s -> y) in R(f, g) },

and they are chained from the outputs to the Inputs; where Funcs follow from themselves or from each
other, by isl's transitive closure, which may hold more than is read, and never less. An axis of an
Input follows an axis of the outputs if y - x is bounded by constants for all sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import combinations

from ...garbage import uncollected
from ...lang.errors.errors import LanguageError, Span
from ...lang.errors.frames import bounded
from ...lang.nodes.shown import Shown
from ...lang.program.program import Program
from ...lang.tensors.tensors import Func, Input
from ...records import dataclass
from ..model.model import Model
from ..model.proven import unproved
from ..model.reach import Leaf, Reached, reached
from ..sets.budget import BudgetExceeded, allowance, budget
from ..sets.isl import Map, Set
from ..sets.movement import coordinate, depends, near, pairs_of, width
from .schedule import Schedule

Reach = tuple[int, int]
"""How many elements before a point, and behind it, along an axis."""

MOST = 16
"""Strides that are told apart in messages."""


@dataclass(frozen=True)
class Halo(Shown, Mapping[str, tuple[Reach | None, ...]]):
    """By the name of each Input, how far the outputs reach into it: for each of its axes how many
    elements before and behind a point, or None where only the whole axis is enough.

    Attributes:
        axes: by Input, the axis of the outputs that each of its axes follows; None for none.
        reasons: by Input, why an axis is needed as a whole; None where it is not.
    """

    reaches: Mapping[str, tuple[Reach | None, ...]]
    axes: Mapping[str, tuple[int | None, ...]] = field(repr=False)
    reasons: Mapping[str, tuple[str | None, ...]] = field(repr=False)

    def __getitem__(self, name: str) -> tuple[Reach | None, ...]:
        return self.reaches[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reaches)

    def __len__(self) -> int:
        return len(self.reaches)

    def __str__(self) -> str:
        return "\n".join(
            f"{name}, axis {q}: " + _said(reach, self.axes[name][q], self.reasons[name][q])
            for name, reaches in self.reaches.items()
            for q, reach in enumerate(reaches)
        )


def _said(reach: Reach | None, axis: int | None, reason: str | None) -> str:
    if reach is None:
        return f"the whole of it: {reason}"
    return f"{reach[0]} before, {reach[1]} behind, along axis {axis} of the output"


@bounded
def halo(program: Func | Sequence[Func] | Program | Schedule) -> Halo:
    """How far the outputs of a program reach into each of its Inputs around a point, for all sizes.

    Args:
        program: outputs, a program, or a schedule, which changes nothing here.

    Returns:
        By Input, a pair for each axis: how many elements before a point, and how many behind it,
        are enough to compute the outputs at that point, also at the edges of what is between. None
        where that is the whole axis: where no axis of the outputs moves along it, data say which
        elements are read, or no constant is enough.

    Raises:
        LanguageError: the program is ill-formed; or an Input is read with a stride, backwards or
            along a diagonal, so that parts of it are no parts of the outputs; or outputs differ in
            what they follow.
    """
    if isinstance(program, Schedule):
        program = program.program
    whole = program if isinstance(program, Program) else Program(program)
    try:
        with uncollected(), budget(allowance(len(whole.definitions))):
            return _halo(whole)
    except BudgetExceeded:
        raise unproved(whole) from None


def _halo(program: Program) -> Halo:
    model = Model(program)
    found = [(f, reached(model, f)) for f in program.outputs]
    reaches, axes, reasons = {}, {}, {}
    for x, name in program.argument_names.items():
        each = [_follow(f, x, r) for f, r in found if r.leaves.get(x)]
        columns = [_together(x, q, [e[q] for e in each]) for q in range(x.ndim)]
        reaches[name] = tuple(c.reach for c in columns)
        axes[name] = tuple(c.axis for c in columns)
        reasons[name] = tuple(c.reason for c in columns)
    return Halo(reaches, axes, reasons)


@dataclass(frozen=True, slots=True)
class _Axis:
    """How an axis of an Input follows the axes of an output."""

    reach: Reach | None
    axis: int | None = None
    reason: str | None = None
    func: str = ""
    span: Span | None = None


def _together(x: Input, axis: int, each: Sequence[_Axis]) -> _Axis:
    """What holds for an axis of an Input and all outputs."""
    if not each:
        return _Axis((0, 0))
    for one in each:
        if one.reach is None:
            return one
        if one.axis != each[0].axis:
            raise LanguageError(
                f"axis {axis} of {x.name} follows axis {each[0].axis} of {each[0].func}, and "
                f"axis {one.axis} of {one.func}: outputs in parts need other parts of it",
                where=one.span,
                hint=f"ask for them one by one: ps.halo({one.func})",
            )
    before, behind = (max(e.reach[k] for e in each if e.reach) for k in (0, 1))
    return _Axis((before, behind), each[0].axis)


def _follow(func: Func, x: Input, found: Reached) -> list[_Axis]:
    """For each axis of an Input, how it follows the axes of an output."""
    leaves = found.leaves[x]
    elements = found.elements(x)
    between = found.between(x)
    return [
        _Question(func, x, q, coordinate(elements, q), leaves, between).answer()
        for q in range(x.ndim)
    ]


@dataclass(frozen=True, slots=True)
class _Question:
    """How an axis of an Input follows the axes of an output.

    Attributes:
        coordinates: { x -> y along the axis }
        between: the Funcs on the way, { x -> element } of each.
    """

    func: Func
    input: Input
    axis: int
    coordinates: Map
    leaves: Sequence[Leaf]
    between: Mapping[Func, Map]

    def answer(self) -> _Axis:
        axes = range(self.func.ndim)
        found = {p: s for p in axes if (s := near(self.coordinates, p)) is not None}
        if not found:
            return _Axis(None, None, self._why_whole(pairs_of(self.coordinates)))
        least = min(hi - lo for lo, hi in found.values())
        best = [p for p, (lo, hi) in found.items() if hi - lo == least]
        if len(best) > 1:
            raise self._refused(f"moves with the axes {best[0]} and {best[1]} of {{f}}")
        return self._widened(best[0], found[best[0]])

    def _widened(self, p: int, found: tuple[int, int]) -> _Axis:
        """How far the Input and the Funcs on the way to it are read: their edges are where those of
        a part are, so none may be read beyond."""
        lo, hi = found
        for g, elements in self.between.items():
            for k in range(g.ndim):
                coordinates = coordinate(elements, k)
                at = near(coordinates, p)
                if at is not None:
                    lo, hi = min(lo, at[0]), max(hi, at[1])
                elif depends(coordinates, p) and not self._is_near_another(coordinates, p):
                    return _Axis(
                        None, None, f"no constant says how far from a point {g.name} is read"
                    )
        return _Axis((max(0, -lo), max(0, hi)), p, None, self.func.name, self.leaves[0].span)

    def _is_near_another(self, coordinates: Map, p: int) -> bool:
        """Whether a coordinate follows another axis than `p`, which then decides at most which of
        the elements nearby are read, as at an edge that is met aslant."""
        others = (q for q in range(self.func.ndim) if q != p)
        return any(near(coordinates, q) is not None for q in others)

    def _why_whole(self, pairs: Set) -> str:
        """Why no axis of the output is followed.

        Raises:
            LanguageError: one is, but not by one element at a time.
        """
        read = ", ".join(dict.fromkeys(leaf.text for leaf in self.leaves))
        moving = [p for p in range(self.func.ndim) if depends(self.coordinates, p)]
        data = next((leaf.data for leaf in self.leaves if leaf.data is not None), None)
        if data is not None:
            return f"data say which elements are read ({data})"
        if not moving:
            return f"each point reads the same of it ({read})"
        self._check_steps(pairs, moving)
        around = next((leaf.around for leaf in self.leaves if leaf.around is not None), None)
        if around is not None:
            return f"values of {around} follow from others of {around}, as far as these go back"
        return f"no constant says how far from a point it is read ({read})"

    def _check_steps(self, pairs: Set, moving: Sequence[int]) -> None:
        """Refuses an axis that moves regularly, but not element by element along one axis."""
        y, ways = self.func.ndim, dict[str, Mapping[int, int]]()
        for p in moving:
            ways[f"runs backwards along axis {p} of {{f}}"] = {p: 1, y: 1}
            for c in range(2, MOST + 1):
                ways[f"moves by {c} elements for one along axis {p} of {{f}}"] = {p: -c, y: 1}
                ways[f"moves by one element for {c} along axis {p} of {{f}}"] = {p: -1, y: c}
        for p, q in combinations(moving, 2):
            ways[f"moves with the axes {p} and {q} of {{f}}"] = {p: -1, q: -1, y: 1}
        extents = [width(pairs, {p: 1}) for p in moving]
        least = min((e for e in extents if e is not None), default=None)
        widths = {how: width(pairs, factors) for how, factors in ways.items()}
        # With constant extents every sum is bounded: then it must vary less than they do.
        steady = {h: w for h, w in widths.items() if w is not None and (least is None or w < least)}
        if steady:
            raise self._refused(min(steady, key=lambda how: steady[how]))

    def _refused(self, how: str) -> LanguageError:
        read = ", ".join(dict.fromkeys(leaf.text for leaf in self.leaves))
        f, x = self.func.name, self.input.name
        return LanguageError(
            f"{read}: axis {self.axis} of {x} {how.format(f=f)}. So a part of {f} does not need "
            f"the same part of {x} with some elements around it",
            where=self.leaves[0].span,
            hint=f"pass all of {x}, and ask for parts of {f}: region=((lo, hi), ...)",
        )
