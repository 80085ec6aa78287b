"""The rewritten program: the definitions that are scheduled, after inlining and other rewrites.

Most directives change loops only. One that changes the definitions (inlining, a copy of an operand,
a partial reduction) makes another rewritten program: its model, preconditions and dependences are
derived anew from the new definitions. Loops are carried over by `transplanted`, since a statement
has the same dimensions in every rewritten program in which it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from ...cached import cached_property
from ...lang.nodes.nodes import Read
from ...lang.nodes.tensor import Tensor
from ...lang.program.program import Program
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ...records import dataclass, replace
from ...steps import Log
from ..model.conditions import Conditions
from ..model.model import Model
from ..model.proven import proven
from ..program.inline import Definitions, Uses, inlined
from ..program.rule import Rule
from ..proof.obligations import Proofs
from ..proof.proof import Prover, Settled
from ..recurrence import recurrence
from ..sets.memo import Memo
from ..tree.edits import map_nodes, map_stages, with_storage, without_storage
from ..tree.looptree import Alloc, Seq, Tree, leaves
from ..tree.relocation import inserted, without
from ..tree.stage import Stage
from ..tree.written import as_written


class Rewrite(Protocol):
    """A rewrite of a program into another one with the same meaning.

    Attributes:
        func: what it has added.
        needs: the tensors that it reads and the serials of definitions that it changes: they must
            stay stored.
    """

    @property
    def func(self) -> Func: ...
    @property
    def needs(self) -> tuple[Tensor | int, ...]: ...
    def __call__(
        self, program: Program, definitions: Definitions, /
    ) -> tuple[Program, Definitions]: ...


@dataclass(frozen=True, eq=False)
class RewrittenProgram:
    """A program after inlining and other rewrites, with all that follows from its definitions.

    Attributes:
        base: as the user wrote it.
        rule: which Funcs are inlined, if no directive says otherwise.
        choices: by name, whether a Func is inlined, where one does.
        rewrites: what happened to the definitions since, in order.
        program: with the Funcs that rewriting has added.
        written: the loops before any directive.
    """

    base: Program
    rule: Rule
    choices: Mapping[str, bool]
    rewrites: tuple[Rewrite, ...]
    program: Program
    model: Model
    proven: Conditions
    written: Seq
    #: The preconditions of the program before any rewrite.
    preconditions_as_written: Conditions
    #: Where the Funcs that are inlined were read when they were.
    uses: Uses
    #: What all rewritten programs of one program have found.
    memo: Memo
    proofs: Proofs
    settled: Settled

    @cached_property
    def prover(self) -> Prover:
        return Prover(self.model, self.written, self.proofs, self.settled)


def rewritten_program(
    base: Program,
    rule: Rule,
    log: Log,
    choices: Mapping[str, bool] | None = None,
    rewrites: tuple[Rewrite, ...] = (),
    earlier: RewrittenProgram | None = None,
) -> RewrittenProgram:
    """The rewritten program of a program; see `RewrittenProgram` for the arguments.

    Args:
        earlier: another one of the same program, whose parts may be parts of this one.

    Raises:
        LanguageError: the program is ill-formed.
        BudgetExceeded: it is too intricate to be proven right.
    """
    chosen, memo = dict(choices or {}), earlier.memo if earlier else Memo()

    def decided(func: Func, uses: list[tuple[Definition, list[Read]]]) -> bool:
        return chosen.get(base.names[func], rule(func, uses))

    program = base
    definitions, uses = log.step("inline", lambda: inlined(base, decided, memo))
    for rewrite in rewrites:
        program, definitions = rewrite(program, definitions)
    first = earlier.preconditions_as_written if earlier else None
    model, conditions = proven(program, definitions, log, first, memo)
    written: Seq = log.step("order", lambda: as_written(model, recurrence.nest))
    known = (earlier.proofs, earlier.settled) if earlier else (Proofs(), Settled())
    return RewrittenProgram(
        base, rule, chosen, rewrites, program, model, conditions, written, first or conditions,
        uses, memo, *known,
    )  # fmt: skip


def with_choices(rewritten: RewrittenProgram, chosen: Mapping[Func, bool]) -> RewrittenProgram:
    """The rewritten program in which some Funcs are inlined, or are not."""
    # All others stay as they are, whatever the rule would say of them now.
    stored = {f: f not in rewritten.model.regions for f in rewritten.base.funcs}
    choices = {rewritten.base.names[f]: given for f, given in {**stored, **chosen}.items()}
    return _other(rewritten, choices, rewritten.rewrites)


def with_rewrite(rewritten: RewrittenProgram, rewrite: Rewrite) -> RewrittenProgram:
    """The rewritten program with one more rewrite."""
    return _other(rewritten, rewritten.choices, (*rewritten.rewrites, rewrite))


def without_rewrite(rewritten: RewrittenProgram, rewrite: Rewrite) -> RewrittenProgram:
    """The rewritten program without one of its rewrites."""
    return _other(
        rewritten, rewritten.choices, tuple(x for x in rewritten.rewrites if x is not rewrite)
    )


def _other(
    rewritten: RewrittenProgram, choices: Mapping[str, bool], rewrites: tuple[Rewrite, ...]
) -> RewrittenProgram:
    return rewritten_program(rewritten.base, rewritten.rule, Log(), choices, rewrites, rewritten)


# loops ------------------------------------------------------------------------------------------
def transplanted(tree: Seq, rewritten: RewrittenProgram) -> Seq:
    """The loops of one rewritten program as those of another: statements that are new stand in
    loops of their own, before what reads them; those that are gone leave theirs."""
    known = {s.definition.serial: s for s in rewritten.model.statements}
    kept = [s for _, s in leaves(tree)]
    gone = {s.statement.func for s in kept if s.statement.definition.serial not in known}
    tree = without(tree, [s for s in kept if s.statement.definition.serial not in known])

    def change(stage: Stage) -> Stage:
        base = known[stage.statement.definition.serial]
        # What is computed at a loop is found anew where anything that it is made of has changed.
        return stage if base is stage.statement.base else replace(stage, statement=base)

    moved = map_stages(tree, change)
    assert isinstance(moved, Seq)
    tree = _without_storage(moved, {f for f in gone if f not in rewritten.model.regions})
    tree = _with_new(tree, rewritten.written)
    stored = {*_stored(tree), *rewritten.program.outputs}
    missing = [f for f in rewritten.model.regions if f not in stored and f.history.home is None]
    return Seq(with_storage(reversed(missing), tree.body))


def _with_new(tree: Seq, written: Seq) -> Seq:
    """The tree with the nests whose statements it does not have: each in front of the first one
    there that is written later, and uses what it computes."""
    have = {s.statement.definition.serial for _, s in leaves(tree)}
    order = {s.statement: k for k, (_, s) in enumerate(leaves(written))}
    using: dict[Tensor, list[tuple[int, int]]] = {}

    def note(nest: Tree) -> None:
        """By tensor the statements that use it: when they are written, and in which nest."""
        for s in (stage.statement for _, stage in leaves(nest)):
            for tensor in s.tensors if s in order else ():
                using.setdefault(tensor, []).append((order[s], id(nest)))

    nests = list(tree.nests)
    for nest in nests:
        note(nest)
    for nest in written.nests:
        new = [s.statement for _, s in leaves(nest)]
        if have.isdisjoint(s.definition.serial for s in new):
            last = order[new[-1]]
            later = {at for s in new for k, at in using.get(s.func, ()) if k > last}
            place = next((k for k, x in enumerate(nests) if id(x) in later), len(nests))
            nests.insert(place, nest)
            note(nest)
    return inserted(tree, nests) if len(nests) > len(tree.nests) else tree


def _without_storage(tree: Seq, gone: Collection[Func]) -> Seq:
    return map_nodes(tree, lambda node, body: without_storage(node, body, gone))


def _stored(tree: Tree) -> set[Func]:
    own = set(tree.funcs) if isinstance(tree, Alloc) else set()
    if not isinstance(tree, Stage):
        for child in tree.body:
            own |= _stored(child)
    return own
