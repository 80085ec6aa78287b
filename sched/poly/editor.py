"""Directives by name, on the state of a schedule: names to loops, trees to trees."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ..lang.errors import ScheduleError, Span
from ..lang.nodes import Node, Param, RVar, Size, Var, postorder, substitute
from ..lang.printer import expr_text
from ..lang.records import Directive
from ..lang.tensors import Func
from .affine import condition, condition as sizes_condition
from .directives import bodies, loops, mapping, placing, tails
from .edits import At, Place, loops_around, nest_of, place_of, stages
from .folding import Window, foldable
from .isl import Frame, Set
from .looptree import Produce, Seq, Stage, Tree, leaves, loops_of
from .model import Model
from .placement import at_root, placed, produced
from .proof import accumulates
from .state import Assumption, Edit, State
from .statements import Statement

Symbols = Mapping[str, Node]


DIRECTIVES = frozenset(
    {
        *("split", "fuse", "rename", "reorder", "parallel", "vectorize", "unroll"),
        *("skew", "shift", "transform", "fission", "compute_with", "partition", "peel"),
        *("compute_at", "compute_root", "store_at", "store_root"),
        *("assume", "align_bounds", "bound", "fold_storage", "reassociate"),
    }
)
"""What an Editor carries out; all others are made of these."""

KINDS = ("parallel", "vector", "unrolled")
"""What loops are said to be."""


class Editor:
    """Carries out one directive."""

    def __init__(
        self, state: State, symbols: Symbols, context: Set, model: Model, directive: Directive
    ) -> None:
        self.model = model
        self.state = state
        self.tree = state.tree
        self.symbols = symbols
        self.context = context
        self.directive = directive
        self.stage = directive.stage
        self.span: Span | None = directive.span
        self.edited: set[Statement] = set()

    def run(self) -> Edit:
        """The state after the directive.

        Raises:
            ScheduleError: it means nothing here.
        """
        if self.directive.name not in DIRECTIVES:
            raise self._malformed(
                f"there is no directive {self.directive.name}",
                "directives are " + ", ".join(sorted(DIRECTIVES)),
            )
        method: Callable[..., tuple[str, ...]] = getattr(self, self.directive.name)
        before = self._loop_names()
        made = method(**dict(self.directive.options))
        if produced(self.tree):
            self.tree, changed = placed(self.model, self.tree)
            self.edited |= changed
        self._check_kinds()
        self._check_lanes()
        gone = dict(self.state.gone)
        after = self._loop_names()
        for stage, names in before.items():
            for name in names:
                if name not in after.get(stage, ()):
                    gone[stage, name] = self.directive
        for stage, names in after.items():
            for name in names:
                gone.pop((stage, name), None)
        edited = frozenset(s.base for s in self.edited)
        return Edit(replace(self.state, tree=self.tree, gone=gone), made, edited)

    def _loop_names(self) -> dict[str, list[str]]:
        return {
            stage.name: [loop.name for loop in loops_of(path)] for path, stage in leaves(self.tree)
        }

    # finding ----------------------------------------------------------------------------------
    def at(self, name: str, stage: str | None = None) -> At:
        """The loop of that name around a stage."""
        stage = stage or self.stage
        try:
            around = loops_around(self.tree, stage)
        except KeyError:
            raise self._no_stage(stage) from None
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

    def _no_stage(self, name: str) -> ScheduleError:
        have = ", ".join(stage.name for _, stage in leaves(self.tree))
        return ScheduleError(
            f"there is no stage {name}",
            where=self.span,
            hint=f"stages are {have}",
            directive=self.directive.text(),
        )

    def _in_order(self, names: Iterable[str]) -> tuple[list[At], list[At]]:
        """Loops in the order given, and as they are in the tree."""
        wanted = [self.at(n) for n in names]
        if len({a.place for a in wanted}) < len(wanted):
            raise self._malformed("a loop is named twice")
        return wanted, sorted(wanted, key=lambda a: a.depth)

    def _malformed(self, what: str, hint: str | None = None) -> ScheduleError:
        return ScheduleError(what, where=self.span, hint=hint, directive=self.directive.text())

    def _touch(self, *below: At) -> None:
        for a in below:
            self.edited.update(s.statement for s in stages(a.loop))

    def _touch_lanes(self, at: At) -> None:
        """A directive that keeps the order of each lane may change how lanes meet."""
        for stage in stages(at.loop):
            if any(a.loop.kind == "vector" for a in loops_around(self.tree, stage.name)):
                self.edited.add(stage.statement)

    def _fresh(self, at: At, names: Sequence[str], replaced: Sequence[str]) -> None:
        """Refuses names that another loop around one of the stages has."""
        for stage in stages(at.loop):
            have = {x.name for x in nest_of(self.tree, stage, at)} - set(replaced)
            taken = next((n for n in names if n in have), None)
            if taken is not None or len(set(names)) < len(names):
                raise self._malformed(
                    f"{stage.name} has a loop {taken or names[0]} already",
                    "give other names: names=...",
                )

    # loops ------------------------------------------------------------------------------------
    def split(
        self, loop: str, factor: int, tail: str = "auto", names: tuple[str, str] | None = None
    ) -> tuple[str, ...]:
        at = self.at(loop)
        self._check_free(at, "split first, then say what it is", ("vector", "unrolled"))
        chosen = names or (f"{loop}o", f"{loop}i")
        self._fresh(at, chosen, [loop])
        if tail == "round_up":
            self._assume(at, loops.multiples(at, factor), f"{loop} is a multiple of {factor}")
        self.tree = loops.split(self.tree, at, factor, chosen, self.span)
        outer = self.at(chosen[0])
        if tail in ("guard", "mask"):
            self.tree = tails.full(self.tree, outer, factor)
        elif tail in ("peel", "shift"):
            self._touch(outer)
            cut = tails.peel if tail == "peel" else tails.shift
            self.tree = cut(self.tree, outer, factor, self.context)
        return chosen

    def rename(self, loop: str, name: str) -> tuple[str, ...]:
        at = self.at(loop)
        self._fresh(at, [name], [loop])
        self.tree = loops.rename(self.tree, at, name)
        return ()

    def reorder(self, loops: tuple[str, ...]) -> tuple[str, ...]:
        wanted, order = self._in_order(loops)
        self._touch(order[0])
        self.tree = _reorder(self.tree, order, wanted)
        return ()

    def fuse(self, outer: str, inner: str, name: str | None = None) -> tuple[str, ...]:
        a, b = self.at(outer), self.at(inner)
        chosen = name or f"{outer}{inner}"
        self._fresh(a, [chosen], [outer, inner])
        for x in (a, b):
            self._check_free(x, "fuse first, then say what the loop is", ("vector", "unrolled"))
        if a.loop.kind == "parallel":
            self._touch(a)  # iterations of the inner loop would run at once, too
        self.tree = _fuse(self.tree, a, b, chosen, self.symbols, self.context)
        return (chosen,)

    def parallel(self, loop: str) -> tuple[str, ...]:
        return self._kind(loop, "parallel")

    def vectorize(self, loop: str) -> tuple[str, ...]:
        at = self.at(loop)
        for stage in stages(at.loop):
            if stage.statement.definition.opaque is not None:
                raise self._malformed(
                    f"the extern stage {stage.name} is inside of the loop {loop}",
                    "a function over arrays has no lanes: vectorise another loop",
                )
        return self._kind(loop, "vector")

    def unroll(self, loop: str) -> tuple[str, ...]:
        return self._kind(loop, "unrolled")

    def _kind(self, loop: str, kind: Any) -> tuple[str, ...]:
        at = self.at(loop)
        if kind != "unrolled":
            self._touch(at)
        self.tree = loops.set_kind(self.tree, at, kind, self.span)
        self._check_count(self.at(loop))
        return ()

    def _check_free(self, at: At, hint: str, taken: Sequence[str] = KINDS) -> None:
        """Refuses a loop of one of some kinds, of which nothing could be kept."""
        if at.loop.kind in taken:
            raise self._malformed(f"the loop {at.loop.name} is {at.loop.kind} already", hint)

    def _check_kinds(self) -> None:
        """Whether the loops around what was edited can be of the kinds that they are."""
        for stage in leaves_of(self.tree, {s.base for s in self.edited}):
            around = loops_around(self.tree, stage.name)
            for at in around:
                self._check_count(at)
            lanes = [a for a in around if a.loop.kind == "vector"]
            below = [a for a in around if lanes and a.depth > lanes[0].depth]
            wrong = next((a for a in below if a.loop.kind in ("vector", "parallel")), None)
            if wrong is not None:
                raise self._malformed(
                    f"the {wrong.loop.kind} loop {wrong.loop.name} would be inside of the vector "
                    f"loop {lanes[0].loop.name}",
                    "reorder, so that the vector loop is inside",
                )

    def _check_lanes(self) -> None:
        """Whether lanes would compute Funcs: they share storage."""
        for path, node in produced(self.tree):
            loop = next((x for x in loops_of(path) if x.kind == "vector"), None)
            if loop is not None:
                names = " and ".join(f.name for f in node.funcs)
                raise self._malformed(
                    f"{names} would be computed inside of the vector loop {loop.name}: its lanes "
                    "run together",
                    f"compute {names} at a loop outside of {loop.name} first",
                )

    def _check_count(self, at: At) -> None:
        """A loop whose iterations are laid out has a constant number of them, and few."""
        name, most = at.loop.name, loops.MOST_COPIES.get(at.loop.kind)
        if most is None:
            return
        count = loops.count_of(at, self.context)
        if count is None or count > most:
            how = "no constant extent" if count is None else f"{count} iterations"
            verb = "vectorize" if at.loop.kind == "vector" else "unroll"
            own = self.directive.name == verb
            raise self._malformed(
                f"the loop {name} {'has' if own else 'would have'} {how}, and at most {most} "
                + ("are lanes of a vector" if verb == "vectorize" else "are unrolled"),
                f'{verb}("{name}", 8) splits first' if own else f"{verb} it afterwards",
            )

    # coordinates ------------------------------------------------------------------------------
    def skew(self, outer: str, inner: str, factor: int, name: str | None = None) -> tuple[str, ...]:
        a, b = self.at(outer), self.at(inner)
        if a.depth >= b.depth:
            raise self._malformed(f"{inner} is not inside of {outer}", "reorder first")
        chosen = name or inner
        self._fresh(b, [chosen], [inner])
        self._touch_lanes(b)
        self.tree = mapping.skew(self.tree, a, b, factor, chosen, self.span)
        return (chosen,)

    def shift(self, loop: str, by: int) -> tuple[str, ...]:
        at = self.at(loop)
        self._touch(at)
        self.tree = mapping.shift(self.tree, at, self.stage, by)
        return (loop,)

    def transform(
        self, loops: tuple[str, ...], values: tuple[Node, ...], names: tuple[str, ...]
    ) -> tuple[str, ...]:
        wanted, order = self._in_order(loops)
        for a in order:
            self._check_free(a, "change coordinates first, then say what the loop is")
        old = mapping.placeholders(len(order))
        new: dict[Node, Node] = {old[k]: old[order.index(a)] for k, a in enumerate(wanted)}
        moved = [substitute(v, new) for v in values]
        self._fresh(order[0], names, loops)
        self._touch(order[0])
        self.tree = mapping.transform(self.tree, order, names, moved, self.span)
        return names

    # bodies -----------------------------------------------------------------------------------
    def fission(self, loop: str, after: str) -> tuple[str, ...]:
        at = self.at(loop)
        self.at(loop, after)
        self._touch(at)
        self.tree = bodies.fission(self.tree, at, after)
        return ()

    def compute_with(self, other: str, loop: str, shift: int = 0) -> tuple[str, ...]:
        at = self.at(loop, other)
        if any(s.name == self.stage for s in stages(at.loop)):
            raise self._malformed(f"{self.stage} is inside of the loop {loop} of {other} already")
        own = place_of(self.tree, self.stage)
        if _producer_at(self.tree, own) is not _producer_at(self.tree, at.place):
            raise self._malformed(
                f"{self.stage} and {other} are computed at different places",
                "compute_at puts a Func into the loops of what reads it, and store_at outside "
                "of them lets it slide",
            )
        self._touch(at)
        self.edited.update(s.statement for s in stages(self.tree) if s.name == self.stage)
        self.tree = bodies.compute_with(self.tree, self.stage, at, shift)
        return ()

    def partition(self, condition: Node) -> tuple[str, ...]:
        stage = self._own()
        where = self._condition(stage, condition)
        names = (f"{stage.part}[0]", f"{stage.part}[1]")
        self.edited.add(stage.statement)
        self.tree = bodies.partition(self.tree, self.stage, where, names)
        return tuple(stage.statement.name + n for n in names)

    def peel(self, loop: str, first: int = 0, last: int = 0) -> tuple[str, ...]:
        at = self.at(loop)
        if at.loop.kind == "vector":
            raise self._malformed(
                f"the lanes of the vector loop {loop} run together",
                "peel first, then vectorize what is between",
            )
        self._touch_lanes(at)
        self.tree = bodies.peel(self.tree, at, first, last)
        return ()

    def _own(self) -> Stage:
        for _, stage in leaves(self.tree):
            if stage.name == self.stage:
                return stage
        raise self._no_stage(self.stage)

    def _condition(self, stage: Stage, node: Node) -> Set:
        """Where a condition over the stage's own Vars and RVars holds."""
        statement = stage.statement
        known = {x.name: x for x in statement.loops}
        given: dict[Node, Node] = {}
        for n in postorder(node):
            if isinstance(n, (Var, RVar)):
                if n.name not in known:
                    raise self._malformed(
                        f"{self.stage} has no Var or RVar {n.name}",
                        "a condition is over " + ", ".join(known),
                    )
                given[n] = known[n.name]
        self._check_symbols(node)
        found = condition(statement.frame, substitute(node, given))
        if not found.exact:
            raise self._malformed("the condition is not affine", "compare sums of loops and sizes")
        return found.set

    def _check_symbols(self, node: Node) -> None:
        """Refuses a condition on sizes and Params that the program does not have."""
        for n in postorder(node):
            if isinstance(n, (Size, Param)) and n.name not in self.symbols:
                raise self._malformed(
                    f"the program has no size or Param {n.name}",
                    "its sizes and Params are " + (", ".join(self.symbols) or "none"),
                )

    # placement --------------------------------------------------------------------------------
    def compute_at(self, consumer: str, loop: str) -> tuple[str, ...]:
        at = self.at(loop, consumer)
        funcs = self._placeable(self._own().statement.func)
        if any(s.statement.func in funcs for s in stages(self.tree) if s.name == consumer):
            raise self._malformed(
                f"{consumer} belongs to {self.stage} itself",
                "a Func is computed at a loop of what reads it",
            )
        self._check_serial(at, consumer)
        self._compute_at(funcs, at, consumer)
        for func in funcs:
            for made in func.history.reductions:
                if self._only_read_by(made, funcs):
                    self._compute_at((made,), self.at(loop, consumer), consumer)
        return ()

    def _compute_at(self, funcs: Sequence[Func], at: At, consumer: str) -> None:
        names: dict[str, None] = {}
        for a in (*loops_around(self.tree, consumer)[: at.depth], at):
            name = f"{consumer}.{a.loop.name}"
            while name in names:
                name += "'"
            names[name] = None
        around = tuple(map(Var, names))
        self.tree = placing.compute_at(self.tree, funcs, at, around)
        self._edit(funcs)

    def compute_root(self) -> tuple[str, ...]:
        funcs = self._placeable(self._own().statement.func)
        self.tree = placing.compute_root(self.tree, funcs)
        self.tree = cast(Seq, at_root(self.model, self.tree, funcs))
        self._edit(funcs)
        return ()

    def store_root(self) -> tuple[str, ...]:
        funcs = self._placeable(self._own().statement.func)
        self.tree = placing.store_at(self.tree, funcs, None)
        self._edit(funcs)
        return ()

    def store_at(self, consumer: str, loop: str) -> tuple[str, ...]:
        funcs = self._placeable(self._own().statement.func)
        at = self.at(loop, consumer)
        self._check_serial(at, consumer)
        inside = list(stages(at.loop))
        for stage in stages(self.tree):
            used = any(a.tensor in funcs for a in stage.statement.accesses)
            if used and not any(stage is s for s in inside):
                raise self._malformed(
                    f"{stage.name} uses {self.stage} outside of the loop {loop}",
                    "store it at a loop around all that reads and writes it",
                )
        self.tree = placing.store_at(self.tree, funcs, at)
        self._edit(funcs)
        return ()

    def _edit(self, funcs: Collection[Func]) -> None:
        self.edited.update(s for s in self.model.statements if s.func in funcs)

    def _check_serial(self, at: At, consumer: str) -> None:
        for a in (*loops_around(self.tree, consumer)[: at.depth], at):
            if a.loop.kind == "vector":
                raise self._malformed(
                    f"{a.loop.name} is a vector loop: its lanes run together",
                    f"a loop outside of {a.loop.name}",
                )

    def _placeable(self, func: Func) -> tuple[Func, ...]:
        """The Funcs that are computed together with one.

        Raises:
            ScheduleError: it stays where it is.
        """
        program = self.model.program
        why = None
        if func in program.outputs:
            why = "it is an output, which is computed once and whole"
        elif func.history.home is not None or any(
            r.block is not None for r in func.history.recorded
        ):
            why = "a sequential says when it is computed"
        elif any(d.opaque is not None for d in self.model.definitions[func]):
            why = "an extern stage computes all of it at once"
        if why is not None:
            raise self._malformed(f"{func.name} cannot be computed or stored elsewhere: {why}")
        group = next((g for g in program.recurrences if func in g), (func,))
        members = tuple(f for f in group if f in self.model.regions)
        if any(f in program.outputs for f in members):
            names = ", ".join(f.name for f in members)
            raise self._malformed(
                f"{func.name} shares its loops with an output: {names} need each other",
                "they are computed together",
            )
        return members

    def _only_read_by(self, func: Func, readers: Collection[Func]) -> bool:
        """Whether a Func is stored and nothing else reads it."""
        found = {
            s.func for s in self.model.statements for a in s.reads if a.tensor is func
        }  # fmt: skip
        return func in self.model.regions and found <= {*readers, func}

    # assumptions ------------------------------------------------------------------------------
    def _assume(self, at: At, allowed: Set, text: str) -> None:
        """From now on only sizes that are allowed count; each call checks them.

        Refuses what holds only where the loop does not run at all.
        """
        known = allowed.intersect(self.context).coalesce()
        allowed = known.gist(self.context)
        if all(s.instances.intersect_params(known).is_empty() for s in stages(at.loop)):
            raise self._malformed(
                f"no sizes at which the loop {at.loop.name} runs meet the assumption that {text}",
                "look at where it begins and ends in the listing",
            )
        made = Assumption(allowed, text, None, self.span)
        self.state = replace(self.state, assumptions=(*self.state.assumptions, made))

    def assume(self, condition: Node) -> tuple[str, ...]:
        self._check_symbols(condition)
        found = sizes_condition(Frame(tuple(self.symbols), ()), condition)
        allowed = found.set.params() if found.exact else self.context
        made = Assumption(allowed, expr_text(condition), condition, self.span)
        if allowed.intersect(self.context).is_empty():
            raise self._malformed(f"no sizes meet the assumption {expr_text(condition)}")
        self.state = replace(self.state, assumptions=(*self.state.assumptions, made))
        return ()

    def align_bounds(self, loop: str, factor: int) -> tuple[str, ...]:
        at = self.at(loop)
        self._assume(at, loops.multiples(at, factor), f"{loop} is a multiple of {factor}")
        return ()

    def bound(self, loop: str, extent: int) -> tuple[str, ...]:
        at = self.at(loop)
        self._assume(at, loops.spans(at, extent), f"{loop} has {extent} iterations")
        return ()

    # storage ----------------------------------------------------------------------------------
    def fold_storage(self, axis: int, planes: int) -> tuple[str, ...]:
        func = self._own().statement.func
        if not 0 <= axis < func.ndim:
            raise self._malformed(f"{func.name} has {func.ndim} axes, and no axis {axis}")
        why = foldable(self.model, func)
        if why is not None:
            raise self._malformed(f"the storage of {func.name} cannot be folded: {why}")
        others = tuple((f, w) for f, w in self.state.folds if f is not func)
        self.state = replace(self.state, folds=(*others, (func, Window(axis, planes))))
        self.edited.update(s for s in self.model.statements if s.func is func)
        return ()

    # permissions ------------------------------------------------------------------------------
    def reassociate(self) -> tuple[str, ...]:
        stage = self._own()
        if not accumulates(stage.statement.definition):
            raise self._malformed(
                f"{self.stage} is no sum: it does not add to what an element was before",
                "an update does, C[i] += ..., also that of an inline reduction",
            )
        names = self.state.reassociated | {stage.statement.name}
        self.state = replace(self.state, reassociated=names)
        return ()


def _producer_at(tree: Seq, place: Place) -> Produce | None:
    """The innermost node around a place that computes Funcs for what stands behind it."""
    found: Produce | None = None
    node: Tree = tree
    for position in place:
        assert not isinstance(node, Stage)
        node = node.body[position]
        found = node if isinstance(node, Produce) else found
    return found


def leaves_of(tree: Seq, statements: Collection[Statement]) -> Iterator[Stage]:
    """The stages of some statements."""
    for _, stage in leaves(tree):
        if stage.statement.base in statements:
            yield stage


_reorder, _fuse = loops.reorder, loops.fuse
