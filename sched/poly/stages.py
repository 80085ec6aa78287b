"""Handles: the stages and loops of a Schedule, by name.

A handle holds names, not nodes: it is resolved when it is used, so it survives `copy()` and every
directive that leaves its loop alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..lang.dtypes import bool_
from ..lang.elaborate import infer_condition
from ..lang.errors import LanguageTypeError, ScheduleError, user_span
from ..lang.expr import Expr, as_node
from ..lang.inout import InOut
from ..lang.nodes import Node, RVar, Var, postorder, substitute
from ..lang.records import Plain
from ..lang.tensors import Func, Tensor
from .directives.mapping import mapped
from .directives.tails import TAILS
from .edits import loops_around
from .finding import existing

if TYPE_CHECKING:
    from .looptree import Kind
    from .schedule import Schedule


@dataclass(frozen=True)
class LoopHandle:
    """A loop of a stage, by name."""

    schedule: Schedule
    stage_name: str
    name: str

    @property
    def stage(self) -> StageHandle:
        return StageHandle(self.schedule, self.stage_name)

    @property
    def kind(self) -> Kind:
        """ "serial", "parallel", "vector" or "unrolled"."""
        kind: Kind = self._at.loop.kind
        return kind

    @property
    def is_reduction(self) -> bool:
        """Whether it runs over RVars of its stage."""
        coordinate = self.stage._stage.coordinates[self._at.depth]
        return any(isinstance(n, RVar) for n in postorder(coordinate))

    @property
    def extent(self) -> str:
        """The number of its iterations, as text over sizes and outer loops."""
        return self.schedule.extent(self._at.loop)

    @property
    def _at(self) -> Any:
        return self.schedule._find(self.stage_name, self.name)

    def __repr__(self) -> str:
        return f"loop {self.name} of {self.stage_name}"


Loop = LoopHandle | Expr | str


class StageHandle:
    """A stage of a Schedule. Its methods are the directives.

    A loop is named by its handle, by a Var or RVar, or by a string. Directives that make loops
    return them; all others return the stage. A refused one leaves the schedule as it was.
    """

    def __init__(self, schedule: Schedule, name: str) -> None:
        self._schedule = schedule
        self.name = name

    # looking ----------------------------------------------------------------------------------
    @property
    def loops(self) -> tuple[LoopHandle, ...]:
        """Its loops, outermost first; those that it shares with others too."""
        if self.is_inlined:
            return ()
        found = loops_around(self._schedule.tree, self.name)
        return tuple(LoopHandle(self._schedule, self.name, a.loop.name) for a in found)

    @property
    def is_inlined(self) -> bool:
        """Whether it is computed wherever it is read, and has no loops."""
        s = self._schedule
        return any(s.program.names[f] == self.name for f in s.program.funcs if f not in s.funcs)

    @property
    def _stage(self) -> Any:
        return self._schedule._stage(self.name)

    def __getitem__(self, loop: Loop) -> LoopHandle:
        name = _name(loop)
        self._schedule._find(self.name, name)
        return LoopHandle(self._schedule, self.name, name)

    def update(self, number: int = 0) -> StageHandle:
        """The stage of an update, counted from 0."""
        return self._other(f"{self._func_name}.update({number})")

    def piece(self, number: int) -> StageHandle:
        """The stage of a piece of a pure definition, in the order written."""
        return self._other(f"{self._func_name}.piece({number})")

    def reduction(self, number: int = 0) -> StageHandle:
        """The update of an inline reduction, `C.sum0` and so on."""
        made = self._stage.statement.func.history.reductions
        if not 0 <= number < len(made):
            raise ScheduleError(
                f"{self._func_name} has {len(made)} inline reductions, and no number {number}"
            )
        return self._other(f"{self._schedule.program.names[made[number]]}.update(0)")

    def _other(self, name: str) -> StageHandle:
        return StageHandle(self._schedule, existing(self._schedule, name))

    @property
    def _func_name(self) -> str:
        name: str = self._schedule.program.names[self._stage.statement.func]
        return name

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self)} - {n for n in object.__dir__(self) if n[0] == "_"})

    def __repr__(self) -> str:
        if self.is_inlined:
            return f"stage {self.name}, inlined"
        names = ", ".join(x.name for x in self.loops) or "none"
        return f"stage {self.name}, loops {names}"

    # loops ------------------------------------------------------------------------------------
    def split(
        self,
        loop: Loop,
        factor: int,
        tail: str = "auto",
        names: tuple[str, str] | None = None,
    ) -> tuple[LoopHandle, LoopHandle]:
        """Splits a loop in two: `for io: for ii in [0, factor)`.

        Args:
            factor: a Python integer, at least 1.
            tail: what happens where the extent is no multiple of the factor.
                "auto": the last inner loop is shorter.
                "guard", "mask": every inner loop is whole, its body under a condition.
                "peel": whole tiles, and the others in loops of their own (`C.head`, `C.tail`).
                "shift": whole tiles, and one more that ends where the loop does (`C.tail`):
                some iterations run twice.
                "round_up": there is no rest; each call checks that.
                "pad": all tiles are whole; what is beyond the end nobody reads.
            names: of the outer and the inner loop.

        Tiles are counted from index 0, wherever the loop begins.

        Legal: always, and "shift" where running twice changes nothing: for pure definitions that
        do not read themselves.
        """
        _check_factor("split", factor)
        if tail not in TAILS:
            raise ScheduleError(f"tail={tail!r} is not known", hint=f"tails are {', '.join(TAILS)}")
        options = {"loop": _name(loop), "factor": int(factor), "names": names}
        if tail != "auto":
            options["tail"] = tail
        outer, inner = self._do("split", **options)
        return outer, inner

    def fuse(self, outer: Loop, inner: Loop, name: str | None = None) -> LoopHandle:
        """Makes one loop of two that stand directly inside each other.

        The extent of the inner one must be a constant.

        Legal: always; the order of iterations stays the same.
        """
        (made,) = self._do("fuse", outer=_name(outer), inner=_name(inner), name=name)
        return made

    def rename(self, loop: Loop, name: str) -> StageHandle:
        """Gives a loop another name."""
        self._do("rename", loop=_name(loop), name=name)
        return self

    def reorder(self, *loops: Loop) -> StageHandle:
        """Puts loops in another order, outermost first (Halide: innermost first).

        Loops between them keep their places; nothing else may stand between them.

        Legal: where no dependence between iterations turns round.
        """
        self._do("reorder", loops=tuple(map(_name, loops)))
        return self

    def tile(self, *loops_and_factors: Any) -> tuple[LoopHandle, ...]:
        """Splits loops and brings the inner ones inside: `tile(i, j, 8, 32)`.

        Returns:
            The outer loops, then the inner ones.

        Legal: where the loops may be permuted (skew helps).
        """
        count = len(loops_and_factors) // 2
        if not count or len(loops_and_factors) % 2:
            raise LanguageTypeError("tile takes loops, then as many factors: tile(i, j, 8, 32)")
        loops, factors = loops_and_factors[:count], loops_and_factors[count:]
        for factor in factors:
            _check_factor("tile", factor)
        names = [_name(x) for x in loops]
        with self._together("tile", tuple(names), tuple(map(int, factors))):
            made = [self.split(n, f) for n, f in zip(names, factors, strict=True)]
            outer, inner = [a for a, _ in made], [b for _, b in made]
            self.reorder(*outer, *inner)
        return (*outer, *inner)

    def parallel(self, loop: Loop, chunk: int | None = None) -> StageHandle:
        """Runs the iterations of a loop on several threads.

        Args:
            chunk: splits first; the loop over chunks keeps the name.

        Legal: where no two iterations touch one element, one of them writing it.
        """
        return self._of_kind("parallel", loop, chunk)

    def vectorize(self, loop: Loop, lanes: int | None = None) -> StageHandle:
        """Runs the iterations of a loop as lanes of vectors.

        Args:
            lanes: splits first; the outer loop keeps the name. Without it, the extent of the loop
                must be a constant.

        Legal: where every dependence between lanes goes from one statement, or one iteration of
        the loops inside, to a later one; a lane may overwrite what another lane has read.
        """
        return self._of_kind("vectorize", loop, lanes)

    def unroll(self, loop: Loop, factor: int | None = None) -> StageHandle:
        """Repeats the body of a loop instead of looping.

        Args:
            factor: splits first; the outer loop keeps the name. Without it, the extent of the
                loop must be a constant.

        Legal: always.
        """
        return self._of_kind("unroll", loop, factor)

    def _of_kind(self, directive: str, loop: Loop, factor: int | None) -> StageHandle:
        name = _name(loop)
        if factor is None:
            self._do(directive, loop=name)
            return self
        _check_factor(directive, factor)
        with self._together(directive, name, factor):
            if directive == "parallel":
                self.split(name, factor, names=(name, f"{name}i"))
                self._do(directive, loop=name)
            else:
                inner = f"{name}i"
                self.split(name, factor, names=(name, inner))
                self._do(directive, loop=inner)
        return self

    def unroll_and_jam(self, loop: Loop, factor: int) -> StageHandle:
        """Splits a loop and unrolls the inner part innermost, below all loops inside.

        Legal: as tiling with the loops inside.
        """
        name = _name(loop)
        _check_factor("unroll_and_jam", factor)
        with self._together("unroll_and_jam", name, factor):
            inside = [x.name for x in self.loops]
            below = inside[inside.index(name) + 1 :] if name in inside else []
            _, inner = self.split(name, factor, names=(name, f"{name}i"))
            if below:
                self.reorder(*below, inner)
            self.unroll(inner)
        return self

    # coordinates ------------------------------------------------------------------------------
    def skew(
        self, outer: Loop, inner: Loop, factor: int = 1, name: str | None = None
    ) -> LoopHandle:
        """The inner loop counts i + factor * t instead of i. Makes tiling and reordering legal.

        Legal: always; the order of iterations stays the same.
        """
        given = {"outer": _name(outer), "inner": _name(inner), "factor": int(factor)}
        (made,) = self._do("skew", **given, name=name)
        return made

    def shift(self, loop: Loop, by: int) -> LoopHandle:
        """This stage runs `by` iterations of the loop later than the others in it.

        Legal: where no dependence between the stages of the loop turns round.
        """
        (made,) = self._do("shift", loop=_name(loop), by=int(by))
        return made

    def transform(
        self,
        loops: tuple[Loop, ...] | list[Loop],
        map: Callable[..., Any],
        names: tuple[str, ...] | None = None,
    ) -> tuple[LoopHandle, ...]:
        """Gives loops that stand inside each other new coordinates.

        Args:
            loops: outermost first.
            map: from the old coordinates to as many new ones: `lambda t, i: (t, t + i)`.
            names: of the new loops; as the old ones without it.

        Legal: where the map is one-to-one and no dependence turns round.
        """
        old = tuple(_name(x) for x in loops)
        values = tuple(mapped(map, len(old), user_span()))
        chosen = tuple(names) if names is not None else old
        if not len(values) == len(chosen) == len(old):
            raise ScheduleError(
                f"transform of {len(old)} loops gives {len(values)} coordinates and "
                f"{len(chosen)} names",
                hint="as many as there are loops",
            )
        return self._do("transform", loops=old, values=values, names=chosen)

    def wavefront(self, *loops: Loop, name: str = "wave") -> tuple[LoopHandle, ...]:
        """Runs along diagonals: (a, b) becomes (a + b, b), of which the inner one is parallel.

        Returns:
            The loop over waves, then the rest.

        Legal: where no dependence goes backwards in any of the loops.
        """
        old = tuple(_name(x) for x in loops)
        if len(old) < 2:
            raise LanguageTypeError("wavefront takes two loops or more")

        def diagonal(*x: Any) -> tuple[Any, ...]:
            total = x[0]
            for y in x[1:]:
                total = total + y
            return (total, *x[1:])

        with self._together("wavefront", old):
            return self.transform(old, diagonal, (name, *old[1:]))

    # bodies -----------------------------------------------------------------------------------
    def fission(self, loop: Loop, after: StageHandle | str | None = None) -> StageHandle:
        """Takes a loop apart behind a stage of it (this one, or `after`).

        Legal: where nothing before the cut needs an earlier iteration of what comes after it.
        """
        cut = self.name if after is None else after if isinstance(after, str) else after.name
        self._do("fission", loop=_name(loop), after=cut)
        return self

    def compute_with(self, other: StageHandle | Any, loop: Loop, shift: int = 0) -> StageHandle:
        """Moves this stage into the loops of another one, down to `loop`.

        Args:
            shift: by how many iterations of that loop it comes later.

        Legal: where the other's later iterations need nothing of this stage's earlier ones, and
        the other way round.
        """
        target = other if isinstance(other, StageHandle) else self._schedule[other]
        self._do("compute_with", other=target.name, loop=_name(loop), shift=int(shift))
        return self

    # placement --------------------------------------------------------------------------------
    def compute_at(
        self, consumer: StageHandle | LoopHandle | Any, loop: Loop | None = None
    ) -> StageHandle:
        """Computes the Func in each iteration of a loop of a consumer, as far as it is read there.

        Args:
            consumer: a stage (or its Func), and `loop` one of its loops; or the handle of a loop.

        Its storage lives for one iteration of that loop, unless `store_at` says otherwise. The
        Funcs of a recurrence move together.

        Legal: where all that reads the Func is inside of the loop, or what it reads is computed
        before.
        """
        self._do("compute_at", **_loop_of(self._schedule, consumer, loop))
        return self

    def compute_inline(self) -> StageHandle:
        """Computes the Func wherever it is read, each time anew. It has no loops then.

        Legal: for one pure equation that is no output.
        """
        self._do("compute_inline")
        return self

    def compute_root(self) -> StageHandle:
        """Computes the Func once, before all that reads it, and stores all of it."""
        self._do("compute_root")
        return self

    def store_at(
        self, consumer: StageHandle | LoopHandle | Any, loop: Loop | None = None
    ) -> StageHandle:
        """Keeps the storage of the Func for one iteration of a loop around where it is computed.

        What an earlier iteration has computed is not computed again: the window slides, and no
        more of it is kept than is still read.

        Legal: where iterations that run at once do not share what they write.
        """
        self._do("store_at", **_loop_of(self._schedule, consumer, loop))
        return self

    def store_root(self) -> StageHandle:
        """Keeps the storage of the Func for the whole program."""
        self._do("store_root")
        return self

    def accumulate_at(self, loop: Loop) -> StageHandle:
        """Keeps what is being accumulated inside of a loop in storage of its own.

        In each iteration of the loop it is copied there first, as far as it has values already,
        and written back once, by copies of this stage's loops over its Vars.

        Legal: where nothing else inside of the loop uses these elements.
        """
        self._do("accumulate_at", loop=_name(loop))
        return self

    # other Funcs -------------------------------------------------------------------------------
    def clone_in(self, consumer: StageHandle | Any) -> Func:
        """Gives one consumer a Func of its own with the same definitions.

        Returns:
            The clone, to be scheduled apart: one Func, two placements.
        """
        reader = consumer if isinstance(consumer, StageHandle) else self._schedule[consumer]
        return self._made("clone_in", consumer=reader.name)

    def stage(
        self,
        tensor: Tensor | str,
        at: Loop,
        layout: Sequence[Loop] | None = None,
        pad: bool = False,
    ) -> Func:
        """Copies the part of an operand that is used inside of a loop, before it is used.

        Args:
            tensor: what this stage reads.
            at: the loop; the copy is made anew in each of its iterations.
            layout: loops inside of `at` whose coordinates index the copy, outermost first. As the
                tensor without it.
            pad: elements that the tensor does not have are 0, not read.

        Returns:
            The copy, a pure Func that can be scheduled.

        Legal: where the tensor does not change while the stage runs.
        """
        s = self._schedule
        name = tensor if isinstance(tensor, str) else s.program.names.get(_source(tensor))
        if name is None:
            raise ScheduleError(f"{self.name} does not read {tensor!r}")
        names = None if layout is None else tuple(map(_name, layout))
        return self._made("stage", tensor=name, at=_name(at), layout=names, pad=pad or None)

    def rfactor(self, loop: Loop) -> Func:
        """Takes a reduction apart: one partial result for each iteration of a loop, then those
        together.

        The loops and what was said of them stay with the partial results, of which the loop is the
        first dimension.

        Returns:
            The Func of the partial results.

        Legal: for integers, minima and maxima, argmin and argmax; for float sums and products
        after `reassociate()`.
        """
        return self._made("rfactor", loop=_name(loop))

    def _made(self, directive: str, **options: Any) -> Func:
        (name,) = self._schedule._builder.apply(self.name, directive, options)
        program = self._schedule.program
        return next(f for f in program.funcs if program.names[f] == name)

    def partition(self, condition: Any) -> tuple[StageHandle, StageHandle]:
        """Splits the stage in two by an affine condition over its Vars, RVars and sizes.

        Returns:
            The stage where the condition holds, and the one where it does not; they stand one
            after the other in the same loops. fission takes the loops apart.

        Legal: where, in one iteration of the loops, the order does not matter.
        """
        node = infer_condition(as_node(condition), user_span())
        if node.type != bool_:
            raise LanguageTypeError(f"{condition!r} is no condition")
        # Vars and RVars by name: a record is equal to the one that its text makes.
        names: dict[Node, Node] = {x: Var(x.name) for x in postorder(node) if isinstance(x, RVar)}
        made = self._do_stages("partition", condition=_plain(substitute(node, names)))
        return made[0], made[1]

    def peel(self, loop: Loop, first: int = 0, last: int = 0) -> StageHandle:
        """Gives the first and the last iterations of a loop loops of their own.

        The stages in them are called `C.first` and `C.last`.

        Legal: always; the order of iterations stays the same.
        """
        if first < 0 or last < 0 or not first + last:
            raise ScheduleError("peel takes at least one iteration: first=1, or last=1")
        self._do("peel", loop=_name(loop), first=int(first), last=int(last))
        return self

    def bound(self, loop: Loop, extent: int) -> StageHandle:
        """Says that a loop has a constant extent, which each call checks."""
        _check_factor("bound", extent, "extent")
        self._do("bound", loop=_name(loop), extent=int(extent))
        return self

    def align_bounds(self, loop: Loop, factor: int) -> StageHandle:
        """Says that a loop begins and ends at multiples of a factor, which each call checks."""
        _check_factor("align_bounds", factor)
        self._do("align_bounds", loop=_name(loop), factor=int(factor))
        return self

    def reorder_storage(self, *axes: Any) -> StageHandle:
        """Puts the axes of the Func in another order in memory, outermost first.

        Args:
            axes: numbers, or the Vars of its pure definition.
        """
        self._do("reorder_storage", axes=tuple(map(self._axis, axes)))
        return self

    def align_storage(self, axis: Any, multiple: int) -> StageHandle:
        """Makes the extent of an axis in memory a multiple of a number, for whole vectors."""
        _check_factor("align_storage", multiple, "multiple")
        self._do("align_storage", axis=self._axis(axis), multiple=multiple)
        return self

    def store_in(self, place: str) -> StageHandle:
        """Where the Func is stored: "stack" or "register", for constant extents; "heap"; "auto".

        Legal: "register" where every element is known when compiling: all loops inside of which
        it is stored are unrolled or vectors, or do not move its elements.
        """
        self._do("store_in", place=place)
        return self

    def stream(self) -> StageHandle:
        """Writes results past the caches, for what is not read soon. A hint."""
        self._do("stream")
        return self

    def prefetch(self, tensor: Tensor | str, loop: Loop, distance: int = 1) -> StageHandle:
        """Fetches what this stage reads of a tensor some iterations of a loop later. A hint."""
        s = self._schedule
        name = tensor if isinstance(tensor, str) else s.program.names.get(_source(tensor))
        if name is None:
            raise ScheduleError(f"{self.name} does not read {tensor!r}")
        _check_factor("prefetch", distance, "distance")
        self._do("prefetch", tensor=name, loop=_name(loop), distance=distance)
        return self

    def atomic(self) -> StageHandle:
        """Makes each accumulation indivisible, so that iterations which add to one element may run
        at once.

        Legal: for sums of integers, minima and maxima; for sums of floats after `reassociate()`.
        """
        self._do("atomic")
        return self

    def _axis(self, axis: Any) -> int:
        """An axis by number, or by its Var."""
        if isinstance(axis, int):
            return axis
        func = self._stage.statement.func
        for k, var in enumerate(func.vars):
            if var.node is as_node(axis):
                return k
        raise ScheduleError(f"{axis!r} is no axis of {func.name}", hint="a number, or its Var")

    def fold_storage(self, axis: int, planes: int) -> StageHandle:
        """Keeps so many planes of this Func along an axis: plane x lies where x % planes does.

        Recurrences are folded by themselves; this asks for more planes, or for other Funcs.

        Legal: where no plane is overwritten before its last read, also after later directives.
        """
        _check_integer("fold_storage", axis, "axis")
        _check_factor("fold_storage", planes, "number of planes")
        self._do("fold_storage", axis=axis, planes=planes)
        return self

    def reassociate(self) -> StageHandle:
        """The float sum or product of this update may be taken in any order.

        The result is no longer the same to the bit.
        """
        self._do("reassociate")
        return self

    def pipe(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Applies a directive of your own: `function(stage, ...)`."""
        return function(self, *args, **kwargs)

    def _together(self, name: str, /, *args: Any) -> AbstractContextManager[None]:
        return self._schedule._builder.together(self.name, name, *args)

    def _do(self, directive: str, /, **options: Any) -> tuple[LoopHandle, ...]:
        made = self._schedule._builder.apply(self.name, directive, options)
        return tuple(LoopHandle(self._schedule, self.name, n) for n in made)

    def _do_stages(self, directive: str, /, **options: Any) -> tuple[StageHandle, ...]:
        made = self._schedule._builder.apply(self.name, directive, options)
        return tuple(StageHandle(self._schedule, n) for n in made)


def _name(loop: Loop) -> str:
    if isinstance(loop, str):
        return loop
    if isinstance(loop, LoopHandle):
        return loop.name
    if isinstance(loop, Expr) and isinstance(loop.node, (Var, RVar)):
        return loop.node.name
    raise LanguageTypeError(
        f"{loop!r} is no loop", hint="name a loop by its handle, its Var or RVar, or a string"
    )


def _source(tensor: Tensor) -> Tensor:
    """An InOut that is only read is its initial value."""
    return tensor.meant() if isinstance(tensor, InOut) else tensor


def _loop_of(schedule: Schedule, consumer: Any, loop: Loop | None) -> dict[str, str]:
    """A loop of a stage, given as both or by its handle."""
    if loop is None:
        if not isinstance(consumer, LoopHandle):
            raise LanguageTypeError(
                f"{consumer!r} is no loop", hint='compute_at(s[g]["y"]) or compute_at(g, "y")'
            )
        return {"consumer": consumer.stage_name, "loop": consumer.name}
    stage = consumer if isinstance(consumer, StageHandle) else schedule[consumer]
    return {"consumer": stage.name, "loop": _name(loop)}


def _check_factor(directive: str, factor: Any, what: str = "factor") -> None:
    _check_integer(directive, factor, what)
    if factor < 1:
        raise ScheduleError(f"the {what} of {directive} is at least 1, not {factor}")


def _check_integer(directive: str, number: Any, what: str) -> None:
    if isinstance(number, bool) or not isinstance(number, int):
        raise LanguageTypeError(f"the {what} of {directive} is a Python integer, not {number!r}")


def _plain(node: Node) -> Plain:
    return node
