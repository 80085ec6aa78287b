"""Directives that say where something is computed and stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from ...lang.definitions import Definition
from ...lang.errors import LanguageError
from ...lang.nodes import Read, RVar, Var, postorder
from ...lang.order import tensors_read
from ...lang.tensors import Func
from ..directives import keeping, placing
from ..edits import At, loops_around, own_stages, stages
from ..forms import Rewrite, with_choice, with_rewrite, without_rewrite
from ..inline import why_not_inline
from ..looptree import Seq, loops_as_vars, loops_of, produced
from ..placement import at_root
from ..rewrites import Clone, InlinedClone
from .base import BaseEditor


class PlacementEditor(BaseEditor):
    """compute_at and its like, store_at, accumulate_at."""

    def compute_inline(self) -> tuple[str, ...]:
        func = self._func()
        is_clone = any(isinstance(x, Clone) and x.func is func for x in self.form.rewrites)
        if func in self.form.base.funcs or is_clone:
            why = why_not_inline(func, self.form.program)
        else:
            why = "it is a copy, or a part of a sum"
        if why is not None:
            raise self._malformed(f"{func.name} cannot be inlined: {why}")
        own = {func, *(d.serial for d in self.form.program.definitions_of(func))}
        for rewrite in self.form.rewrites:
            if not own.isdisjoint(rewrite.needs):
                raise self._malformed(
                    f"{func.name} cannot be inlined: {self.form.program.names[rewrite.func]} was "
                    "made of it",
                )
        for path, node in produced(self.tree):
            if {s.statement.func for s in own_stages(loops_of(path)[-1])} == {func}:
                names = ", ".join(f.name for f in node.funcs)
                raise self._malformed(
                    f"{names} is computed at a loop of {func.name}", "compute it elsewhere first"
                )
        if is_clone:
            if func in self.model.regions:  # else it is inlined already
                self._rewrite(InlinedClone(func))
            return ()
        self._choose(func, True)
        if func in self.model.regions:
            readers = [s.definition for s in self.model.statements]
            whole = any(d.opaque is not None and func in tensors_read(d) for d in readers)
            why = (
                "an extern stage that reads it is given all of it" if whole
                else "at an index that depends on data, its conditions could not be proven"
            )  # fmt: skip
            raise self._malformed(f"{func.name} cannot be inlined: {why}")
        return ()

    def _choose(self, func: Func, is_inlined: bool) -> None:
        """Another form, in which a Func is inlined, or is not."""
        try:
            self._become(with_choice(self.form, func, is_inlined))
        except LanguageError as error:
            raise self._malformed(f"{self.directive.text()}: {error.args[0]}") from None

    def _rewrite(self, rewrite: Rewrite) -> tuple[str, ...]:
        """Another form, with one more rewrite."""
        try:
            self._become(with_rewrite(self.form, rewrite))
        except LanguageError as error:
            raise self._malformed(str(error.args[0])) from None
        return (self.form.program.names[rewrite.func],)

    def _func(self) -> Func:
        """The Func that the directive is about, also if it is inlined."""
        for stage in stages(self.tree):
            if stage.name == self.stage:
                return stage.statement.func
        names = self.form.program.names
        found = [f for f in self.form.program.funcs if names[f] == self.stage]
        if not found or found[0] in self.model.regions:
            raise self._no_stage(self.stage)
        return found[0]

    def _stored(self) -> Func:
        """The same, no longer inlined."""
        func = self._func()
        put = [x for x in self.form.rewrites if isinstance(x, InlinedClone) and x.func is func]
        if put:
            self._become(without_rewrite(self.form, put[0]))
        elif func not in self.model.regions:
            self._choose(func, False)
            self._check_read()
        return func

    def _check_read(self) -> None:
        """Whether what has been made of other Funcs is of use still."""
        read = {a.tensor for s in self.model.statements for a in s.reads if a.tensor is not s.func}
        for rewrite in self.form.rewrites:
            if rewrite.func in self.model.regions and rewrite.func not in read:
                raise self._malformed(
                    f"nothing would read {self.form.program.names[rewrite.func]} any more, which "
                    f"was made of what {self.stage} reads where it is inlined",
                    "say this first",
                )

    def compute_at(self, consumer: str, loop: str) -> tuple[str, ...]:
        own = self._stored()
        if self._statement(consumer).func is own:
            return self._begin_at(own, consumer, self.at(loop, consumer))
        funcs = self._placeable(own)
        at = self.at(loop, consumer)
        if self._statement(consumer).func in funcs:
            raise self._malformed(
                f"{consumer} and {self.stage} need each other",
                "they are computed together",
            )
        self._check_serial(at, consumer)
        self._compute_at(funcs, at, consumer)
        for func in funcs:
            for made in func.history.reductions:
                if made not in funcs and self._only_read_by(made, funcs):
                    self._compute_at((made,), self.at(loop, consumer), consumer)
        return ()

    def _begin_at(self, func: Func, update: str, at: At) -> tuple[str, ...]:
        """The pure definition inside of its own update."""
        to = next(s for s in stages(self.tree) if s.name == update)
        own = [s for s in stages(self.tree) if s.statement.func is func]
        pure = [s.name for s in own if not s.statement.definition.is_update]
        if not to.statement.definition.is_update and self.stage in pure:
            raise self._malformed(
                f"{update} belongs to {self.stage} itself",
                "a Func is computed at a loop of what reads it, or of an update of its own",
            )
        if self.stage not in pure or not to.statement.definition.is_update:
            raise self._malformed(
                f"{self.stage} is no pure definition of {func.name}, or {update} is no update",
                "a pure definition can be computed inside of an update of the same Func",
            )
        if at.depth < self._depth_of_consumer(update):
            raise self._malformed(
                f"{func.name} is computed inside of the loop {at.loop.name} already",
                f"it can begin at a loop that {update} has of its own",
            )
        self._check_serial(at, update)
        self.tree = keeping.begin_at(self.tree, pure, at, to)
        self._edit((func,))
        return ()

    def accumulate_at(self, loop: str) -> tuple[str, ...]:
        at, stage = self.at(loop), self._own()
        d = stage.statement.definition
        if not (d.is_update and _accumulates(d)):
            raise self._malformed(
                f"{self.stage} does not accumulate at the element of its Vars or RVars",
                "an update does whose left side is made of these: C[i, j] += ...",
            )
        self._check_serial(at, self.stage)
        if self._is_kept(stage):
            raise self._malformed(f"{self.stage} accumulates in storage of its own already")
        self.tree = keeping.accumulate_at(self.tree, stage, at)
        self._edit((d.func,))
        return ()

    def _compute_at(self, funcs: Sequence[Func], at: At, consumer: str) -> None:
        loops = (*loops_around(self.tree, consumer)[: at.depth], at)
        around = loops_as_vars(consumer, [a.loop for a in loops])
        self.tree = placing.compute_at(self.tree, funcs, at, around)
        self._edit(funcs)

    def compute_root(self) -> tuple[str, ...]:
        funcs = self._placeable(self._stored())
        self.tree = placing.compute_root(self.tree, funcs)
        self.tree = cast(Seq, at_root(self.model, self.tree, funcs))
        self._edit(funcs)
        return ()

    def store_root(self) -> tuple[str, ...]:
        funcs = self._placeable(self._stored())
        self.tree = placing.store_at(self.tree, funcs, None)
        self._edit(funcs)
        return ()

    def store_at(self, consumer: str, loop: str) -> tuple[str, ...]:
        funcs = self._placeable(self._stored())
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


def _accumulates(d: Definition) -> bool:
    """Whether an update changes an element that dimensions of its own tell, from its old value."""
    told = len(set(d.lhs)) == len(d.lhs) and all(isinstance(x, (Var, RVar)) for x in d.lhs)
    return told and any(
        isinstance(n, Read) and n.tensor is d.func and n.index == d.lhs
        for n in postorder(*d.values)
    )
