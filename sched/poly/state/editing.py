"""A state of a schedule while a directive is carried out: stages and loops are found by name,
and refusals are made."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ...lang.errors.errors import ScheduleError, Span
from ...lang.nodes.dtypes import DType
from ...lang.nodes.nodes import Node, Param, RVar, Size, Var, postorder, substitute
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ...records import replace
from ..model.model import Model
from ..model.statements import Statement
from ..program.rewrites import fresh
from ..sets.affine import why_not_affine
from ..sets.affine_conditions import condition
from ..sets.isl import Set, coalesced
from ..tree.edits import At, loops_around, nest_of, stages
from ..tree.looptree import Accumulator, Produce, Seq, Tree, leaves, loops_of
from ..tree.stage import Stage
from .record import Directive
from .rewritten import RewrittenProgram, transplanted
from .state import Assumption, NoLoops, State

Symbols = Mapping[str, Node]
"""The sizes and Params of a program, by name."""


class Editing:
    """What a directive edits.

    Attributes:
        tree, rewritten: as they become.
    """

    def __init__(self, state: State, symbols: Symbols, context: Set, directive: Directive) -> None:
        self.rewritten = state.rewritten
        self.state = state
        self.tree = state.tree
        self.symbols = symbols
        self.context = context
        self.directive = directive
        self.stage = directive.stage
        self.span: Span | None = directive.span
        #: Gives the Func of a name that the directive is known to add, if it has been handed out.
        self.promised: Callable[[str], Func | None] = lambda name: None
        #: The Funcs of which this directive and those behind it say whether they are inlined.
        self.ahead: Collection[Func] = ()

    @property
    def before(self) -> Seq:
        """The last tree in which all Funcs were placed."""
        return self.state.complete or self.state.tree

    @property
    def model(self) -> Model:
        return self.rewritten.model

    # finding ----------------------------------------------------------------------------------
    def at(self, name: str, stage: str | None = None) -> At:
        """The loop of that name around a stage."""
        stage = stage or self.stage
        try:
            around = loops_around(self.tree, stage)
        except KeyError:
            raise self.no_stage(stage) from None
        for found in reversed(around):  # its own before those of its consumers
            if found.loop.name == name:
                return found
        consumed = self.state.gone.get((stage, name))
        have = ", ".join(a.loop.name for a in around) or "none"
        if consumed is not None:
            raise ScheduleError(
                f"{stage} has no loop {name} any more: {consumed.text()} replaced it"
                + (f" ({consumed.span})" if consumed.span else ""),
                where=self.span,
                hint=f"its loops are {have}",
                directive=self.directive.text(),
            )
        raise ScheduleError(
            f"{stage} has no loop {name}",
            where=self.span,
            hint=f"its loops are {have}",
            directive=self.directive.text(),
        )

    def no_stage(self, name: str) -> ScheduleError:
        have = ", ".join(stage.name for _, stage in leaves(self.tree))
        inlined = [f for f in self.rewritten.program.funcs if f not in self.model.regions]
        if name in [self.rewritten.program.names[f] for f in inlined]:
            return NoLoops(name, where=self.span)
        return ScheduleError(
            f"there is no stage {name}",
            where=self.span,
            hint=f"stages are {have}",
            directive=self.directive.text(),
        )

    def in_order(self, names: Iterable[str]) -> tuple[list[At], list[At]]:
        """Loops in the order given, and as they are in the tree."""
        wanted = [self.at(n) for n in names]
        if len({a.place for a in wanted}) < len(wanted):
            raise self.malformed("a loop is named twice")
        return wanted, sorted(wanted, key=lambda a: a.depth)

    def malformed(self, what: str, hint: str | None = None) -> ScheduleError:
        return ScheduleError(what, where=self.span, hint=hint, directive=self.directive.text())

    def check_names(self, at: At, names: Sequence[str], replaced: Sequence[str]) -> None:
        """Refuses what is no name, and names that another loop around one of the stages has."""
        for name in names:
            if not isinstance(name, str) or not re.fullmatch(r"[^\W\d][\w.']*", name):
                raise self.malformed(f"{name!r} cannot name a loop", "a Python identifier")
        for stage in stages(at.loop):
            have = {x.name for x in nest_of(self.tree, stage, at)} - set(replaced)
            taken = next((n for n in names if n in have), None)
            if taken is not None or len(set(names)) < len(names):
                raise self.malformed(
                    f"{stage.name} has a loop {taken or names[0]} already",
                    f'rename("{taken or names[0]}", ...) first, or give other names: names=...',
                )

    def depth_of_consumer(self, stage: str) -> int:
        """How many loops are around a stage that belong to what it is computed for."""
        path, _ = self.tree.by_name[stage]
        inside = [k for k, (_, node) in enumerate(path) if isinstance(node, Produce)]
        return len(loops_of(path[: inside[-1]])) if inside else 0

    def own(self) -> Stage:
        found = self.tree.by_name.get(self.stage)
        if found is None:
            raise self.no_stage(self.stage)
        return found[1]

    def condition(self, stage: Stage, node: Node) -> Set:
        """Where a condition over the stage's own Vars and RVars holds."""
        statement = stage.statement
        known = {x.name: x for x in statement.loops}
        given: dict[Node, Node] = {}
        for n in postorder(node):
            if isinstance(n, (Var, RVar)):
                if n.name not in known:
                    raise self.malformed(
                        f"{self.stage} has no Var or RVar {n.name}",
                        "a condition is over " + (", ".join(known) or "sizes"),
                    )
                given[n] = known[n.name]
        self.check_symbols(node)
        found = condition(statement.frame, substitute(node, given))
        if not found.exact:
            why = why_not_affine((node,), "loops and sizes")
            raise self.malformed(f"the condition {why}", "compare sums of loops and sizes")
        return found.set

    def check_symbols(self, node: Node) -> None:
        """Refuses a condition on sizes and Params that the program does not have."""
        for n in postorder(node):
            if isinstance(n, (Size, Param)) and n.name not in self.symbols:
                raise self.malformed(
                    f"the program has no size or Param {n.name}",
                    "its sizes and Params are " + (", ".join(self.symbols) or "none"),
                )

    def check_serial(self, at: At, consumer: str) -> None:
        for a in (*loops_around(self.tree, consumer)[: at.depth], at):
            if a.loop.kind == "vector":
                raise self.malformed(
                    f"{a.loop.name} is a vector loop: its lanes run together",
                    f"a loop outside of {a.loop.name}",
                )

    def become(self, rewritten: RewrittenProgram) -> None:
        self.tree = transplanted(self.tree, rewritten)
        self.rewritten = rewritten

    def nodes(self) -> Iterator[Tree]:
        pending: list[Tree] = [self.tree]
        while pending:
            node = pending.pop()
            yield node
            if not isinstance(node, Stage):
                pending += node.body

    def has_accumulator(self, stage: Stage) -> bool:
        """Whether `accumulate_at` has been said of the stage."""
        return any(
            isinstance(node, Accumulator) and node.is_of(stage)
            for path in self.tree.paths_to(stage)
            for _, node in path
        )

    def fresh_func(self, name: str, like: Tensor, dtypes: tuple[DType, ...] | None = None) -> Func:
        """A Func that no other one, and no part of a stage, is called as.

        Args:
            dtypes: of its values, where they are not those of the other one.
        """
        program = self.rewritten.program
        taken = {*program.names.values(), *(f.name for f in program.funcs)}
        taken |= {s.name for s in stages(self.tree)}
        while name in taken:
            name += "'"
        promised = self.promised(name)
        return fresh(name, dtypes or like.dtypes) if promised is None else promised

    def statement(self, stage: str) -> Statement:
        found = self.tree.by_name.get(stage)
        if found is None:
            raise self.no_stage(stage)
        return found[1].statement

    def assume(self, at: At, allowed: Set, text: str) -> None:
        """From now on only sizes that are allowed count; each call checks them.

        Refuses what holds only where the loop does not run at all.
        """
        known = coalesced(allowed.intersect(self.context))
        allowed = known.gist(self.context)
        if all(s.instances.intersect_params(known).is_empty() for s in stages(at.loop)):
            raise self.malformed(
                f"no sizes at which the loop {at.loop.name} runs meet the assumption that {text}",
                "look at where it begins and ends in the listing",
            )
        made = Assumption(allowed, text, None, self.span)
        self.state = replace(self.state, assumptions=(*self.state.assumptions, made))
