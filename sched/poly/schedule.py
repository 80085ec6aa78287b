"""`Schedule`: how a program is run, apart from what it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, NoReturn

from ..lang.errors import LanguageError
from ..lang.inout import InOut
from ..lang.nodes import Node, Param, Size
from ..lang.printer import expr_text, html_text
from ..lang.program import Program
from ..lang.tensors import Func, Input
from ..steps import Log
from . import recurrence
from .conditions import Conditions, conditions, together
from .dependences import Dependence, dependences
from .expressions import Translator
from .folding import copied, windows
from .inline import Definitions, Rule, inlined, once_a_consumer, without_recomputation
from .isl import BudgetExceeded, budget
from .legality import check_updates
from .looptree import Seq, as_written
from .model import Model, output_sizes
from .scan import Scan, scan, text

Outputs = Func | Sequence[Func]


_BUDGET = 50_000_000
"""isl operations for one proof: some five seconds, a hundred times what a long pipeline takes."""


class Schedule:
    """The program as written: each Func at root, in the order of the program, a Func inlined only
    where it is one equation that each consumer reads at one point.

    Args:
        outputs: the Func to compute, or several.
        args: the Inputs in the order of a call's positions; by default the order in which the
            program first reads them.

    Raises:
        LanguageError: the program is ill-formed; with the definition's line.
    """

    _compile: ClassVar[Callable[..., Any]]

    def __init__(self, outputs: Outputs, args: Sequence[Input] | None = None) -> None:
        self._build(outputs, args, once_a_consumer)

    def _build(self, outputs: Outputs, args: Sequence[Input] | None, rule: Rule) -> None:
        chosen = (outputs,) if isinstance(outputs, Func) else tuple(outputs)
        self.log = Log()
        self._prove(self.log.step("program", lambda: Program(chosen, args)), rule)

    def _prove(self, program: Program, rule: Rule) -> None:
        step = self.log.step
        self.program, self._rule = program, rule
        definitions = step("inline", lambda: inlined(self.program, rule))
        self.model, self.proven = self._proven(definitions)
        try:
            with budget(_BUDGET):
                self.tree: Seq = step("order", lambda: as_written(self.model, recurrence.nest))
                self.windows: dict[Func, int] = step(
                    "folding", lambda: windows(self.model, self.tree)
                )
                #: InOuts whose initial values are still read after they have been overwritten.
                self.copied: tuple[InOut, ...] = copied(self.model, self.tree)
        except BudgetExceeded:
            raise self._unproved() from None

    def _proven(self, definitions: Definitions) -> tuple[Model, Conditions]:
        """The model and what it asks of the sizes.

        Regions are filled up where that makes loops simpler; but what is computed beyond need
        may ask nothing more of the sizes, so where anything is asked they are exact.
        """
        proven: tuple[Model, Conditions] | None = None
        for exact in (False, True):
            try:
                proven = self._attempt(definitions, exact)
            except BudgetExceeded:
                continue  # what is asked of filled regions is sufficient, if not the weakest
            except LanguageError:
                if exact:
                    raise
                continue
            if not (proven[1].sizes or proven[1].scans):
                break
        if proven is None:
            raise self._unproved()
        model, found = proven
        if len(definitions) < len(self.program.funcs):
            # A Func that is inlined is not stored, but what its shape forbids stays forbidden.
            try:
                _, whole = self._attempt(None, exact=True)
            except BudgetExceeded:
                raise self._unproved() from None
            found = together(model, found, whole)
        return model, found

    def _unproved(self) -> LanguageError:
        return LanguageError(
            f"{', '.join(f.name for f in self.program.outputs)} could not be proven right: the "
            "regions and bounds of the program are too intricate for the time allowed",
            where=self.program.outputs[-1].history.recorded[-1].span,
            hint="declare the shapes of the Funcs in between, or clamp indices more simply",
        )

    def _attempt(self, definitions: Definitions | None, exact: bool) -> tuple[Model, Conditions]:
        step = self.log.step
        with budget(_BUDGET):
            model = step("model", lambda: Model(self.program, definitions, exact))
            step("updates", lambda: check_updates(model))
            return model, step("conditions", lambda: conditions(model))

    @classmethod
    def default(cls, outputs: Outputs, args: Sequence[Input] | None = None) -> Schedule:
        """What a bare call runs: nothing is computed twice, nothing is stored without need."""
        made = cls.__new__(cls)
        made._build(outputs, args, without_recomputation)
        return made

    def of(self, program: Program) -> Schedule:
        """The same for another program."""
        made = Schedule.__new__(Schedule)
        made.log = Log()
        made._prove(program, self._rule)
        return made

    @property
    def funcs(self) -> tuple[Func, ...]:
        """The Funcs that are stored, producers before consumers."""
        return tuple(f for f in self.program.funcs if f in self.model.regions)

    @cached_property
    def nests(self) -> tuple[Scan, ...]:
        """The loops with their bounds."""
        context = self.model.context
        for c in self.proven.sizes:
            context = context.intersect(c.allowed)
        try:
            with budget(_BUDGET):
                return self.log.step("bounds", lambda: scan(self.tree, self.parameters, context))
        except BudgetExceeded:
            raise self._unproved() from None

    @cached_property
    def parameters(self) -> dict[str, Node]:
        """The sizes and Params that bounds and conditions are made of, by name."""
        program = self.program
        extents = [s for f in program.outputs for s in output_sizes(program, f)]
        symbols: list[Size | Param] = [*program.sizes.values(), *extents, *program.params.values()]
        return {s.name: s for s in symbols}

    @property
    def conditions(self) -> tuple[str, ...]:
        """What a call requires of the sizes, each with the access that needs it."""
        names = Translator(self.parameters)
        found = []
        for c in self.proven.sizes:
            node = names.condition(c.allowed)
            if node is not None:
                found.append(f"{expr_text(node)}: {c.text}")
        found += [f"{expr_text(r.condition)}: {r.message}" for r in self.program.requirements]
        return tuple(found)

    def dependences(self) -> tuple[Dependence, ...]:
        """Every dependence between the instances of the program, in the order scheduled."""
        return dependences(self.model, self.tree)

    def compile(self, *, checks: bool = False) -> Any:
        """Machine code for this machine, as a callable Kernel.

        Args:
            checks: count integer divisions by zero, which give 0, and raise after the call.
        """
        return Schedule._compile(self, checks=checks)

    def __str__(self) -> str:
        head = f"Schedule of {self.program.signature()}"
        lines = [head, *(text(nest, 1, self.program.names) for nest in self.nests)]
        lines += [f"  keeps {k} of {self.program.names[f]}" for f, k in self.windows.items()]
        lines += [f"  copies {a.name} first" for a in self.copied]
        lines += [f"  requires {c}" for c in self.conditions]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Schedule of {self.program.signature()}"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __hash__(self) -> NoReturn:
        raise TypeError("a Schedule can change and has no hash")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("compile a schedule, then call the kernel: s.compile()(...)")
