"""Handles: names of stages and loops, resolved when they are used."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any, Self, Union

from ....lang.errors import absent
from ....lang.errors.errors import LanguageTypeError, PolyschedError, ScheduleError, user_span
from ....lang.errors.frames import bounded
from ....lang.errors.suggest import Suggesting, public
from ....lang.expr.expr import Expr
from ....lang.nodes.nodes import RVar, Var, postorder
from ....lang.nodes.shown import Shown
from ....lang.nodes.tensor import Tensor
from ....lang.tensors.inout import InOut
from ....lang.tensors.tensors import Func
from ....later import later
from ....records import dataclass
from ....targets.words import Word
from ...directives.kinds import Parallel
from ...directives.loops import Reorder
from ...report.finding import existing
from ...state.fields import LOOP_HINT, Meaning, check_number
from ...state.record import Directive
from ...tree.edits import loops_around, stages
from ..numbers import resolved
from .several import Loops

if TYPE_CHECKING:
    from ...report import facts
    from ...report.facts import AccessFact
    from ...tree.kinds import Kind
    from ..schedule import Schedule
    from ..stages import StageHandle
    from ..why_not import Verdict
else:
    facts = later("...report.facts", __package__)


@bounded
@dataclass(frozen=True)
class LoopHandle(Suggesting, Shown):
    """A loop of a stage, by name."""

    schedule: Schedule
    stage_name: str
    name: str
    _public = frozenset({"extent", "is_reduction", "kind", "name", "stage", "why_not"})

    #: The Func of which each piece has such a loop, if it is a loop of them all.
    func: str | None = field(default=None, compare=False)

    def __init__(self, schedule: Schedule, stage_name: str, name: str, func: str | None = None):
        # Written out, as directives give back very many.
        self.__dict__.update(schedule=schedule, stage_name=stage_name, name=name, func=func)

    def _called(self) -> str:
        return f"the loop {self.__dict__.get('name', '?')}"

    def _others(self) -> dict[str, str]:
        at = f's["{self.stage_name}"]'
        return {
            x: f'directives are of a stage: {at}.{x}("{self.name}", ...)'
            for x in public(type(self.stage))
            if callable(getattr(type(self.stage), x))
        }

    @property
    def stage(self) -> StageHandle:
        return self.schedule[self.func or self.stage_name]

    @property
    def kind(self) -> Kind:
        """ "serial", "parallel", "vector" or "unrolled"."""
        kind: Kind = self.schedule._builder.known(
            ("kind", self.stage_name, self.name), lambda: self._at.loop.kind
        )
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

    def why_not(self, directive: str, /, *args: Any, **options: Any) -> Verdict:
        """Whether a directive on this loop would be accepted, and if not, why; see that of a stage:
        `s[C][i].why_not("vectorize", 8)`."""
        return self.stage.why_not(directive, self, *args, **options)

    @property
    def _at(self) -> Any:
        return self.schedule._find(self.stage_name, self.name)

    def __repr__(self) -> str:
        return f"loop {self.name} of {self.func or self.stage_name}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """As IPython shows it: with what runs, as far as that is soon found."""
        printer.text(f"{self!r}{self._iterations()}")

    def _iterations(self) -> str:
        """How many iterations it has, if that is known or soon found, and of which kind; nothing if
        it is no longer there."""
        with suppress(PolyschedError):
            extent = self.schedule.analysis.extent_at_a_glance(self._at.loop)
            said = [] if extent is None else [f"{extent} iterations"]
            said += [] if self.kind == "serial" else [self.kind]
            return f": {', '.join(said)}" if said else ""
        return ""


Loop = LoopHandle | Expr | str
StageLike = Union["Handle", Func, str]


@bounded
class Handle(Suggesting, Shown):
    """A stage, by name."""

    _schedule: Schedule
    name: str

    def __init__(self, schedule: Schedule, name: str) -> None:
        self._schedule = schedule
        self.name = name

    def _called(self) -> str:
        return f"the stage {self.__dict__.get('name', '?')}"

    def _others(self) -> dict[str, str]:
        at = f's["{self.name}"]'
        loops: dict[str, str] = {}
        with suppress(PolyschedError):  # it may be gone
            loops = {x.name: f'{at}["{x.name}"] is its loop of that name' for x in self.loops}
        of_schedule = {x: f"that is of the Schedule: s.{x}" for x in public(self._schedule)}
        return absent.directives(at) | of_schedule | loops

    @property
    def _stage(self) -> Any:
        return self._schedule._stage(self.name)

    @property
    def loops(self) -> tuple[LoopHandle, ...]:
        """Its loops, outermost first; those that it shares with others too."""
        return tuple([LoopHandle(self._schedule, self.name, name) for name in self._loop_names])

    @property
    def _loop_names(self) -> list[str]:
        names: list[str] = self._schedule._builder.known(("loops", self.name), self._names_of_loops)
        return names

    def _names_of_loops(self) -> list[str]:
        existing(self._schedule.analysis, self.name)
        if self.is_inlined:
            return []
        return [a.loop.name for a in loops_around(self._schedule.tree, self.name)]

    @property
    def accesses(self) -> tuple[AccessFact, ...]:
        """The elements that it reads and writes in an iteration, and how they move along loops."""
        return facts.accesses(self._schedule.loop_program, self.name)

    @property
    def parallelizable(self) -> tuple[LoopHandle, ...]:
        """Its loops that are parallel, or that `parallel` would be accepted for."""
        return tuple(x for x in self.loops if x.kind == "parallel" or self._is_legal_alone(x))

    def _is_legal_alone(self, loop: LoopHandle) -> bool:
        return self._schedule.legal(Parallel(self.name, loop=loop.name))

    @property
    def permutable(self) -> tuple[tuple[LoopHandle, ...], ...]:
        """Its loops in bands: those next to each other that `reorder` accepts in any order."""
        bands: list[list[LoopHandle]] = []
        for loop in self.loops:
            if bands and self._may_join(loop, bands[-1]):
                bands[-1].append(loop)
            else:
                bands.append([loop])
        return tuple(map(tuple, bands))

    def _may_join(self, loop: LoopHandle, band: Sequence[LoopHandle]) -> bool:
        """Whether each loop of a band, with one more, may be the outermost: then no dependence goes
        backwards along any of them, and they may come in any order."""
        names = [*(x.name for x in band), loop.name]
        orders = ((x, *(y for y in names if y != x)) for x in reversed(names[1:]))
        return all(self._schedule.legal(Reorder(self.name, loops=order)) for order in orders)

    @property
    def _is_gone(self) -> bool:
        """Whether the schedule has no such stage any more: its parts have names of their own."""
        return all(s.name != self.name for s in stages(self._schedule.tree)) and not self.is_inlined

    @property
    def is_inlined(self) -> bool:
        """Whether it is computed wherever it is read, and has no loops."""
        program, regions = self._schedule.program, self._schedule.model.regions
        return any(program.names[f] == self.name for f in program.funcs if f not in regions)

    def _named(self, means: Meaning, value: Any) -> Any:
        """The value of a record's field for a user's argument. An argument of a wrong kind is left
        as it is, for the record to refuse."""
        if means == "loop":
            return name_of(value)
        if means == "plain":
            return tuple(value) if isinstance(value, list) else value
        match means:
            case "stage":
                return self._stage_name(value)
            case "tensor":
                return self._read(value)
            case "axis":
                return self._axis(value)
            case "loops" | "axes" if isinstance(value, (tuple, list)):
                one: Meaning = "loop" if means == "loops" else "axis"
                return tuple(self._named(one, x) for x in value)
        return value

    def _stage_name(self, stage: Any) -> Any:
        if isinstance(stage, (Func, str)):
            return self._schedule[stage].name
        return stage.name if isinstance(stage, Handle) else stage

    def _read(self, tensor: Any) -> Any:
        """The name of a tensor that the stage reads; an InOut that is only read is its initial
        value."""
        if not isinstance(tensor, Tensor):
            return tensor
        source = tensor.meant() if isinstance(tensor, InOut) else tensor
        name = self._schedule.base.names.get(source) or self._schedule.program.names.get(source)
        if name is None:
            raise ScheduleError(f"{self.name} does not read {tensor!r}")
        return name

    def _axis(self, axis: Any) -> Any:
        """An axis by number, or by its Var."""
        if not isinstance(axis, Expr):
            return axis
        if not isinstance(axis.node, Var):
            return self._axis_number(axis)
        return self._schedule._builder.known(
            ("axis", self.name, axis.node.name), lambda: self._axis_number(axis)
        )

    def _axis_number(self, axis: Expr) -> int:
        func = self._stage.statement.func
        for k, var in enumerate(func.vars):
            if var.node is axis.node:
                return k
        raise ScheduleError(f"{axis!r} is no axis of {func.name}", hint="a number, or its Var")

    def _together(
        self, name: str, loops: Sequence[str], /, *args: Any
    ) -> AbstractContextManager[None]:
        return self._schedule._builder.together(self.name, name, loops, *args)

    def _do(self, kind: type[Directive], /, **options: Any) -> tuple[LoopHandle, ...]:
        made = self._apply(kind, **options)
        return Loops([LoopHandle(self._schedule, self.name, n) for n in made])

    def _number(self, value: Any, loop: Any = None) -> Any:
        """What was given, with words for numbers of the machine resolved."""
        if not isinstance(value, (Word, tuple)):
            return value
        return resolved(self._schedule, value, self.name, name_of(loop))

    def _do_stages(self, kind: type[Directive], /, **options: Any) -> tuple[Self, ...]:
        made = self._apply(kind, **options)
        return tuple(type(self)(self._schedule, n) for n in made)

    def _apply(self, kind: type[Directive], /, **options: Any) -> tuple[str, ...]:
        """Gives a directive of the stage; the names of what it makes."""
        means = _meanings.get(kind)
        if means is None:
            means = _meanings[kind] = {f.name: f.metadata["means"] for f in kind.declared()}
        for k, v in options.items():
            meant = means[k]
            if meant == "loop":
                if type(v) is not str:
                    options[k] = name_of(v)
            elif meant != "plain" or isinstance(v, list):
                options[k] = self._named(meant, v)
        loop = options.get("loop")
        for k, v in options.items():
            if isinstance(v, Word) or (type(v) is tuple and not _TEXTS.issuperset(map(type, v))):
                options[k] = self._number(v, loop)
        builder = self._schedule._builder
        known = builder.given(kind, self.name, options)
        if known is not None:
            return known
        return builder.apply(kind(self.name, **options, span=user_span()))


_TEXTS = frozenset([str])
_meanings: dict[type[Directive], dict[str, Meaning]] = {}
"""What the fields of directives name."""


def name_of(loop: Any) -> Any:
    """The name of a loop that is given as a handle, a Var, an RVar or a name; anything else is
    returned as it is."""
    if isinstance(loop, str):
        return loop
    if isinstance(loop, LoopHandle):
        return loop.name
    if isinstance(loop, Expr) and isinstance(loop.node, (Var, RVar)):
        return loop.node.name
    return loop


def loop_name(directive: str, loop: Any) -> str:
    """The name of a loop that is an argument of a compound directive."""
    name = name_of(loop)
    if not isinstance(name, str):
        raise LanguageTypeError(
            f"the loop of {directive} is the name of a loop, not {loop!r}", hint=LOOP_HINT
        )
    return name


def loop_of(consumer: Any, loop: Loop | None) -> dict[str, Any]:
    """A loop of a stage, given as both or by its handle."""
    if loop is not None:
        return {"consumer": consumer, "loop": loop}
    if not isinstance(consumer, LoopHandle):
        raise LanguageTypeError(
            f"{consumer!r} is no loop", hint='compute_at(s[g]["y"]) or compute_at(g, "y")'
        )
    return {"consumer": consumer.stage_name, "loop": consumer.name}


def check_factor(
    directive: str, factor: Any, what: str = "factor", most: int | None = None
) -> None:
    check_number(directive, factor, what, 1)
    if most is not None and factor > most:
        raise ScheduleError(
            f"the {what} of {directive} is at most {most}, not {factor}",
            hint="so many iterations are laid out one by one",
        )
