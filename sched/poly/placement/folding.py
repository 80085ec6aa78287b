"""Storage that can be saved: folded planes of recurrences, and copies of arrays updated in place.

Folding: how many planes of a recurrence's Func must be kept along an axis, mostly that of time.
With W of them, plane x is kept at x mod W. That is right if no plane is overwritten between its
own writes and its last read: with r the reads and w the writes of the Func,

    { y - x : r reads [p, x], w writes [p, y], a write of [p, x] before w, w before r }

must contain no multiple of W but 0, in the order of the tree (a statement reads before it
writes). The smallest window for which isl proves that is taken, along the first axis that has
one. A read at an index that depends on data stands for all elements that it may touch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from ...lang.tensors.inout import InOut
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..model.model import Model
from ..model.statements import Statement
from ..sets.budget import BudgetExceeded, attempt
from ..sets.isl import Map, Set, isl, union_sets, val
from ..sets.memo import Memo, Same
from ..sets.projections import along
from ..tree.edits import stages
from ..tree.extents import span_of
from ..tree.looptree import Seq, loops_of, produced
from ..tree.memory import Window
from ..tree.times import scheduled_stages
from ..tree.uses import Uses
from .overwritten import Racing, line_along, overwritten_in
from .precedence import Before, precedence
from .storage_placement import stored_depth

LARGEST = 8
"""Windows up to this size are tried."""

LARGEST_OF_TILES = 4096
"""Beyond that the only window tried is one above the largest distance, up to this size."""

OPERATIONS = 2_500_000
"""So much work may isl put into one window."""

HINT = 300_000
"""So much work may isl put into finding how many planes would be enough."""


def windows(
    model: Model,
    tree: Seq,
    memo: Memo,
    given: Mapping[Func, Window],
    only: Collection[Func] | None = None,
) -> dict[Func, Window]:
    """The Funcs that need not be stored whole, and what is kept of each.

    Args:
        given: what is kept of some Funcs because a directive says so.
        only: the Funcs to find windows of; all if None.
    """
    found: dict[Func, Window] = {}
    for func in _candidates(model, tree):
        wanted = func not in given and (only is None or func in only)
        if wanted and foldable(model, func) is None:
            uses, known = Uses(tree, (func,)), model.context
            key = ("window", func, uses, Same(known))
            window = memo.of(key, partial(_window_in_time, known, func, uses.tree))
            if window is not None:
                found[func] = window
    return {**found, **given}


def _window_in_time(known: Set, func: Func, tree: Seq) -> Window | None:
    with suppress(BudgetExceeded), attempt(OPERATIONS):
        return _window(known, func, tree)
    return None  # it is stored whole


def _candidates(model: Model, tree: Seq) -> list[Func]:
    """The Funcs whose windows move: those of recurrences, and those that outlive the iteration in
    which they are computed."""
    program = model.program
    found = dict.fromkeys(f for group in program.recurrences for f in group)
    for path, node in produced(tree):
        for func in node.funcs:
            if stored_depth(path, func) < len(loops_of(path)):
                found[func] = None
    # Padding iterations would overwrite elements in whose place they are stored.
    padded = {s.statement.func for s in stages(tree) if s.padding}
    stored = [f for f in found if f not in program.outputs and f in model.regions]
    return [f for f in stored if f not in padded]


def _window(known: Set, func: Func, tree: Seq) -> Window | None:
    spans = _spans(known, tree, func)
    found: list[tuple[float, int, Window]] = []
    overwritten = overwritten_in(known, func, tree, joined=True)
    for axis, span in enumerate(spans):
        if span == 1:
            continue  # nothing along it can share storage
        planes = _planes(x.distances(axis) for x in overwritten)
        if planes is None or (span is not None and planes >= span):
            continue
        if span is None and planes <= LARGEST:
            return Window(axis, planes)  # one of however many
        found.append((planes / span if span else 0.0, axis, Window(axis, planes)))
    return min(found, key=lambda x: x[:2])[2] if found else None


def _spans(known: Set, tree: Seq, func: Func) -> list[int | None]:
    """How many elements along each axis are stored at a time; None: that depends on sizes."""
    depths = [stored_depth(path, func) for path, node in produced(tree) if func in node.funcs]
    depth = min(depths, default=0)
    touched = [
        p.at(list(range(depth))).flat_range_product(p.stage.statement.write.map).range()
        for p in scheduled_stages(tree)
        if p.stage.statement.func is func
    ]
    whole = union_sets(touched[1:], touched[0]).intersect_params(known)
    return [span_of(along(whole, axis, depth), depth) for axis in range(func.ndim)]


def _planes(each: Iterable[Set]) -> int | None:
    """How many planes are enough for all distances: the smallest number up to LARGEST none of whose
    multiples is a distance, else one more than the largest distance; None if there is neither.
    No more distances are found once both are ruled out."""
    fewest: Sequence[int] = range(1, LARGEST + 1)
    above: int | None = 1
    for d in each:
        fewest = [n for n in fewest if not _some_multiple(d, n)]
        own = None if above is None else _above(d)
        above = None if above is None or own is None else max(above, own)
        if not fewest and above is None:
            return None
    return fewest[0] if fewest else above


def _fewest(distances: Sequence[Set], least: int) -> int | None:
    """The smallest number of planes none of whose multiples is a distance; if not many do."""
    numbers = range(least, LARGEST + 1)
    return next((n for n in numbers if not any(_some_multiple(d, n) for d in distances)), None)


def _above(distances: Set) -> int | None:
    """One more than the largest distance, up or down, if that is a constant and not too large."""
    if distances.is_empty():
        return 1
    lo, hi = distances.dim_min_val(0), distances.dim_max_val(0)
    if not (lo.is_int() and hi.is_int()):
        return None
    found = max(-int(lo.to_python()), int(hi.to_python()))
    return found + 1 if found < LARGEST_OF_TILES else None


@dataclass(frozen=True, eq=False)
class Clobber:
    """{ r -> w : w overwrites what r still has to read }, where planes share storage; or, if it
    `races`, two writes of one plane that run concurrently."""

    func: Func
    read: Statement
    write: Statement
    pairs: Map
    races: bool

    @property
    def subject(self) -> object:
        """Clobbers of one subject are about the same instances."""
        return self.func, self.read, self.write, self.races

    @property
    def statements(self) -> tuple[Statement, Statement]:
        """The statements whose instances they are."""
        return self.read, self.write


class Clobbers(tuple[Clobber, ...]):
    """All that goes wrong with a Func."""

    def is_empty(self) -> bool:
        return not self


@dataclass(frozen=True)
class Fold:
    """The obligation of a folded Func: each plane is read before another one takes its place.

    Attributes:
        uses: the accesses of the Func, in the order of the tree.
        sizes: the sizes that the program accepts.
    """

    func: Func
    window: Window
    uses: Uses
    sizes: Same

    def broken(self, context: Set) -> Clobbers:
        """What goes wrong at sizes of a context."""
        assert isinstance(self.sizes.of, Set)
        return Clobbers(clobbers(self.sizes.of, self.func, self.window, self.uses.tree, context))


def fold_of(model: Model, tree: Seq, func: Func, window: Window) -> Fold:
    """The obligation of a window."""
    return Fold(func, window, Uses(tree, (func,)), Same(model.context))


def clobbers(known: Set, func: Func, window: Window, tree: Seq, context: Set) -> list[Clobber]:
    """What goes wrong, at some sizes of the context, if only so many planes of a Func are kept."""
    found = []
    for x in overwritten_in(known, func, tree):
        wanted, stored = x.wanted, x.stored
        shared = _sharing(line_along(stored, window.axis), window)
        pairs = x.pairs(window.axis)
        pairs = pairs.intersect(wanted.apply_range(shared).apply_range(stored.reverse()))
        pairs = pairs.intersect_params(context)
        if not pairs.is_empty():
            instances = pairs.apply_domain(x.read.map.domain_map())
            instances = instances.apply_range(x.write.map.domain_map())
            races = isinstance(x, Racing)
            found.append(Clobber(func, x.read.statement, x.write.statement, instances, races))
    return found


def enough(model: Model, func: Func, window: Window, tree: Seq, context: Set) -> int | None:
    """How many planes are enough where those of a window are too few; None if that are many, or it
    takes long to find."""
    with suppress(BudgetExceeded), attempt(HINT):
        overwritten = overwritten_in(model.context, func, tree, joined=True)
        found = [x.distances(window.axis) for x in overwritten]
        return _fewest([d.intersect_params(context) for d in found], window.planes + 1)
    return None


def _sharing(line: Map, window: Window) -> Map:
    """{ [p, x] -> [p, y] : x and y differ, and share storage }"""
    frame = isl.LocalSpace.from_space(line.deltas().get_space())
    distance = isl.Aff.var_on_domain(frame, isl.dim_type.set, window.axis)
    multiples = Set.from_basic_set(distance.mod_val(val(window.planes)).zero_basic_set())
    distances = multiples.subtract(Set.from_basic_set(distance.zero_basic_set()))
    return line.intersect(line.deltas_map().intersect_range(distances).domain().unwrap())


def foldable(model: Model, func: Func) -> str | None:
    """Why planes of a Func cannot share storage at all, if so."""
    accesses = [a for s in model.statements for a in s.accesses_of(func)]
    if func in model.program.outputs:
        return "it is an output, which the caller gets whole"
    if any(a.is_write and a.relation.may for a in accesses):
        return "data say where it is written"
    if any(a.statement.definition.opaque is not None for a in accesses):
        return "an extern stage is given all of it"
    return None


def _some_multiple(distances: Set, step: int) -> bool:
    """Whether a multiple of `step` other than 0 is among the distances."""
    frame = isl.LocalSpace.from_space(distances.get_space())
    distance = isl.Aff.var_on_domain(frame, isl.dim_type.set, 0)
    multiples = isl.Set.from_basic_set(distance.mod_val(val(step)).zero_basic_set())
    none = isl.Set.from_basic_set(distance.zero_basic_set())
    return not distances.intersect(multiples).subtract(none).is_empty()


def copied(model: Model, tree: Seq) -> tuple[InOut, ...]:
    """The InOuts whose initial values are read after they have been overwritten.

    With R the reads of A.initial and W the writes of A, A needs a copy unless

        { r -> w : R(r) = W(w), w before r }

    is empty. (An instance reads before it writes.)
    """
    inouts = model.program.inouts
    if not inouts:
        return ()
    before = precedence(tree)
    statements = dict.fromkeys(s.statement for s in stages(tree))
    return tuple(a for a in inouts if _may_be_clobbered(model, statements, a, before))


def _may_be_clobbered(
    model: Model, statements: Iterable[Statement], array: InOut, before: Before
) -> bool:
    """Whether an initial value may be read after it has been overwritten. True, too, where isl
    takes too long: an unnecessary copy does no harm."""
    with suppress(BudgetExceeded), attempt(OPERATIONS):
        return _clobbered(model, statements, array, before)
    return True


def _clobbered(model: Model, statements: Iterable[Statement], array: InOut, before: Before) -> bool:
    within = tuple(statements)
    writes = [a for s in within for a in s.writes_of(array)]
    for read in (a for s in within for a in s.accesses_of(array.initial)):
        for write in writes:
            touched = read.map.apply_range(write.map.reverse()).intersect_params(model.context)
            if not touched.intersect(before(write.statement, read.statement)).is_empty():
                return True
    return False
