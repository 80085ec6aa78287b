"""Directives on a Func whose definition has several pieces: they are applied to each piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from ....lang.errors.errors import ScheduleError
from ....lang.errors.frames import bounded
from ....lang.expr.expr import Expr
from ....lang.nodes.nodes import RVar, Var
from ....lang.nodes.tensor import Tensor
from ...directives.pieces import are_joined
from ...report.finding import pieces_of
from ...state.record import KINDS
from ...tree.edits import loops_around, stages
from ..lookups import existing_stage
from ..stages import StageHandle
from .base import LoopHandle
from .loops import LoopDirectives

if TYPE_CHECKING:
    from ...tree.looptree import Loop
    from ..schedule import Schedule

MADE_OF_OTHERS = frozenset(x for x in vars(LoopDirectives) if x[0] != "_" and x not in KINDS)
"""Directives on loops that no record stands for: tile, wavefront, ..."""

ON_LOOPS = MADE_OF_OTHERS | {x for x, kind in KINDS.items() if kind.scope == "loops"}
"""Directives on loops: where pieces share these, they are given once."""

ON_NESTS = frozenset({"tile", "wavefront", "reorder", "fuse", "skew", "transform"})
"""Directives on several loops: pieces that do not share these are joined for them."""

ON_STAGES = frozenset(x for x, kind in KINDS.items() if kind.scope == "stage")
"""Directives on single stages. All others are about the Func, and given once."""


class PiecesHandle(StageHandle):
    """The pieces of a definition. A directive is given to each of them, to all or to none.

    Its name, and the loops that it returns, are those of the closing piece.
    """

    pieces: tuple[str, ...]

    def __init__(self, schedule: Schedule, func: str, pieces: tuple[str, ...]) -> None:
        super().__init__(schedule, pieces[-1])
        self._func = func
        self.pieces = pieces

    @property
    def loops(self) -> tuple[LoopHandle, ...]:
        """The loops of the closing piece that every piece has, outermost first."""
        names = [{x.name for x in self._piece(p).loops} for p in self.pieces]
        own = self._piece(self.name).loops
        return tuple(self._over(x) for x in own if all(x.name in have for have in names))

    def _piece(self, name: str) -> StageHandle:
        return StageHandle(self._schedule, name)

    def _over(self, made: Any) -> Any:
        """What a directive returned for the closing piece, for all of them."""
        match made:
            case LoopHandle(schedule=s, stage_name=stage, name=name):
                return LoopHandle(s, stage, name, self._func)
            case tuple():
                return tuple(self._over(x) for x in made)
        return self if isinstance(made, StageHandle) else made

    def _given(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A directive, for all pieces that it concerns."""
        shown = [_shown(a) for a in args] + [f"{k}={_shown(v)}" for k, v in options.items()]
        text = f's["{self._func}"].{name}({", ".join(shown)})'
        for piece in self.pieces:
            existing_stage(self._schedule, piece)
        concerned = self._concerned(name, (*args, *options.values()))
        if name in ON_NESTS and len(concerned) > 1:
            builder, question = self._schedule._builder, ("in one nest", text)
            if builder.was_answered(question):
                # Texts of functions do not tell these apart, so another one may be refused: then
                # the long way says why.
                with suppress(ScheduleError):
                    return self._in_one_nest(text, name, args, options)
            note = builder.noting(question)
            try:
                return self._given_each(text, name, args, options, concerned)
            except ScheduleError as error:
                if error.status != "malformed":
                    raise
                try:
                    made = self._in_one_nest(text, name, args, options)
                except ScheduleError as joined:
                    raise (error if joined.status == "malformed" else joined) from None
                note()
                return made
        return self._given_each(text, name, args, options, concerned)

    def _given_each(
        self,
        text: str,
        name: str,
        args: tuple[Any, ...],
        options: dict[str, Any],
        concerned: list[str],
    ) -> Any:
        """A directive, for some of the pieces."""
        found: list[Any] = []
        wanted = {*_names((*args, *options.values()))}
        have = {p: wanted & {x.name for x in self._piece(p).loops} for p in self.pieces}
        with self._schedule._builder.as_one(text):
            for piece in concerned:
                try:
                    found.append(getattr(self._piece(piece), name)(*args, **options))
                except ScheduleError as error:
                    raise self._with_pieces(error, have) from None
        return self._as_given(name, found)

    def _in_one_nest(
        self, text: str, name: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """A directive on several loops, once the pieces share them; so do those of other Funcs in
        the same loops, with which the Func is mutually recursive."""
        builder = self._schedule._builder
        with builder.as_one(text):
            for func in builder.known(("in its loops", self.name), self._in_its_loops):
                piece = builder.known(("to join", func), partial(self._to_join, func))
                if piece:
                    self._piece(piece).join()
            return self._as_given(name, [getattr(self._piece(self.name), name)(*args, **options)])

    def _in_its_loops(self) -> list[str]:
        """The Funcs with a stage in the outermost loop of these pieces."""
        s = self._schedule
        nest = loops_around(s.tree, self.name)
        inside = {x.statement.func for at in nest[:1] for x in stages(at.loop)}
        return [s.program.names[f] for f in s.program.funcs if f in inside]

    def _to_join(self, name: str) -> str:
        """The closing piece of a Func whose pieces do not share their loops; of others nothing."""
        s = self._schedule
        func = next(f for f in s.program.funcs if s.program.names[f] == name)
        pieces = pieces_of(s.analysis, func)
        return pieces[-1] if pieces and not are_joined(s.tree, pieces) else ""

    def _as_given(self, name: str, found: list[Any]) -> Any:
        """What a directive returned for each piece, as one."""
        if name == "partition":
            sides = zip(*found, strict=True)
            return tuple(
                PiecesHandle(self._schedule, f"{self._func}[{k}]", tuple(h.name for h in side))
                for k, side in enumerate(sides)
            )
        if isinstance(found[-1], Tensor) and len(found) > 1:
            return tuple(found)
        return self._over(found[-1])

    def _concerned(self, name: str, given: tuple[Any, ...]) -> list[str]:
        """The pieces to which a directive is given."""
        known = self._schedule._builder.known
        if name in ("stage", "prefetch"):
            tensor = self._read(given[0])
            question = ("reading", *self.pieces, tensor)
            return known(question, lambda: self._reading(tensor)) or [self.name]
        if name not in ON_LOOPS:
            return list(self.pieces)
        question = ("with loops of their own", self.pieces, *_names(given))
        return known(question, lambda: self._with_loops_of_their_own(given))

    def _reading(self, tensor: Any) -> list[str]:
        return [p for p in self.pieces if self._reads(p, tensor)]

    def _with_loops_of_their_own(self, given: tuple[Any, ...]) -> list[str]:
        """A piece for each set of loops that are named."""
        by_loops = {self._loops_named(p, given) or (p,): p for p in self.pieces}
        return list(by_loops.values())

    def _reads(self, piece: str, tensor: Any) -> bool:
        name = self._piece(piece)._read(tensor)
        names = self._schedule.program.names
        accesses = self._schedule._stage(piece).statement.accesses
        return any(not a.is_write and names.get(a.tensor) == name for a in accesses)

    def _loops_named(self, piece: str, given: tuple[Any, ...]) -> tuple[int, ...]:
        """The loops of a piece that are named, whichever they are."""
        around: dict[str, Loop] = {
            a.loop.name: a.loop for a in loops_around(self._schedule.tree, piece)
        }
        return tuple(id(around[x]) for x in _names(given) if x in around)

    def _with_pieces(self, error: ScheduleError, have: dict[str, set[str]]) -> ScheduleError:
        """A refusal of one piece, which says that others have the loops that it does not have."""
        most = max(have.values(), key=len)
        if error.status != "malformed" or all(x == most for x in have.values()):
            return error
        said = f"{error.hint}; " if error.hint else ""
        some = [f's["{p}"]' for p, x in have.items() if x == most]
        verb, names = "has" if len(some) == 1 else "have", ", ".join(sorted(most))
        hint = f"{said}of the pieces of {self._func}, only {' and '.join(some)} {verb} {names}"
        return error.reworded(error.what, hint, error.directive)

    def __getitem__(self, loop: Any) -> LoopHandle:
        for piece in self.pieces:
            found = self._piece(piece)[loop]
        over: LoopHandle = self._over(found)
        return over

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def __repr__(self) -> str:
        return f"stage {self._func} in {len(self.pieces)} pieces:" + "".join(
            f"\n  {self._piece(p)!r}" for p in self.pieces
        )


def _names(given: Any) -> Iterator[str]:
    """What may be names of loops among the arguments of a directive."""
    match given:
        case tuple() | list():
            for x in given:
                yield from _names(x)
        case str():
            yield given
        case LoopHandle():
            yield given.name
        case Expr(node=Var(name=name) | RVar(name=name)):
            yield name


def _shown(given: Any) -> str:
    """An argument as a user would write it."""
    match given:
        case tuple() | list():
            return f"({', '.join(map(_shown, given))}{',' if len(given) == 1 else ''})"
        case StageHandle() | LoopHandle():
            return repr(given.name)
        case Expr(node=Var(name=name) | RVar(name=name)):
            return repr(name)
        case Tensor():
            return given.name
        case Expr():
            return repr(given)
        case _ if callable(given):
            return getattr(given, "__name__", "function")
    return repr(given)


def _of_each(name: str) -> Callable[..., Any]:
    method = getattr(StageHandle, name)

    @wraps(method)
    def directive(self: PiecesHandle, *args: Any, **options: Any) -> Any:
        return self._given(name, args, options)

    return bounded(directive)


for _name in ON_LOOPS | ON_STAGES:
    setattr(PiecesHandle, _name, _of_each(_name))
