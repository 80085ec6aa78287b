"""Programs: outputs, and everything that they are computed from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from ...cached import cached_property
from ..arithmetic.extents import Extent
from ..errors.errors import LanguageError, Span, user_span
from ..errors.frames import bounded
from ..errors.words import axes_text
from ..nodes import nodes
from ..nodes.nodes import Node, Read, postorder
from ..nodes.printer import expr_text
from ..nodes.shown import Shown
from ..nodes.tensor import Tensor
from ..nodes.travelling import Travelling
from ..tensors.asked import check_scope, outputs_of
from ..tensors.definitions import Definition, Recorded
from ..tensors.inout import Final, InOut
from ..tensors.tensors import Const, Func, Input
from . import params
from .groups import check_recurrence, demand_order, follows_itself
from .order import order
from .requirements import Requirement, adopt, listed
from .signature import (
    argument_names,
    call_signature,
    check_call_names,
    ordered_inputs,
    shape_text,
    signature_text,
    tensor_names,
)
from .steps import Recurrence, Step, all_steps, in_order

Args = Sequence[Input | InOut]
"""The Inputs of a call, as users give their order."""

OF_KERNELS = ("advice", "profile", "report")
"""Methods of kernels that users look for on Funcs and schedules."""


@bounded
class Program(Travelling, Shown):
    """Outputs and all definitions that they need, in order. Making one completes every Func in it.

    Attributes:
        outputs: the Funcs asked for.
        funcs: every Func, producers before consumers.
        definitions: those of every Func, in the order of `funcs`, pure pieces first.
        inputs: in the order in which a call takes them by position: that of `args`, or else the
            one in which they were made.
        params, sizes: by name, in the order of their first use.
        names, argument_names: a unique name for each tensor; that by which a call passes an Input.
    """

    #: Set by the package: how a Schedule of a program is compiled, far above this room.
    _compile: ClassVar[Callable[..., Any]]
    #: The same: how a schedule of a program is found.
    _auto: ClassVar[Callable[..., Any]]
    #: The same: how a report on a kernel is written.
    _report: ClassVar[Callable[..., Any]]
    #: The same: how a call is profiled.
    _profile: ClassVar[Callable[..., Any]]
    #: The same: how advice on a kernel is found.
    _advice: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        outputs: Func | Sequence[Func],
        args: Args | None = None,
        *,
        complete: bool = True,
        partial: frozenset[Func] = frozenset(),
        requirements: Sequence[Requirement] = (),
    ) -> None:
        """
        Args:
            outputs: the Funcs to compute.
            args: the Inputs in the order of a call.
            complete: whether to complete the Funcs. If not, this is the program so far, and its
                Funcs may get more definitions.
            partial: Funcs of which only the part that consumers need is computed, although they
                have a shape.
            requirements: preconditions besides those of the Funcs.
        """
        span = user_span()
        self.outputs = outputs_of(outputs)
        self._partial = partial
        self._check_asked(span)
        #: Groups of definitions that are computed together, each after those it depends on.
        self.steps: tuple[Step, ...] = order(self.outputs, span if complete else None)
        self.recurrences: tuple[tuple[Func, ...], ...] = tuple(
            step.funcs for step in all_steps(self.steps) if isinstance(step, Recurrence)
        )
        self.funcs: tuple[Func, ...] = in_order(self.steps)
        self.definitions: tuple[Definition, ...] = tuple(
            d for f in self.funcs for d in f.history.typed()
        )
        self._check_outputs(span)
        self._check_ranks()
        for group in self.recurrences:
            check_recurrence(group)
        given = (r for f in self.funcs for r in f.requirements)
        self.requirements = tuple(dict.fromkeys((*listed(requirements), *given)))
        self.inputs = ordered_inputs(args, self.arguments(), span)
        self.consts = tuple(t for t in self._mentioned if isinstance(t, Const))
        self.sizes: dict[str, nodes.Size] = {}
        self.params: dict[str, nodes.Param] = {}
        for node in self._symbol_nodes():
            self._add_symbol(node)
        self._drop_requirements()
        self.names = tensor_names(self)
        self.argument_names = argument_names(self)
        check_call_names(self)

    def __copy__(self) -> Program:
        made = Program.__new__(Program)
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: object) -> Program:
        return self

    def _check_asked(self, span: Span) -> None:
        """Checks that the outputs are different, and have a value outside of every
        `sequential`."""
        if len(set(self.outputs)) < len(self.outputs):
            raise LanguageError(
                "an output is listed twice: " + ", ".join(f.name for f in self.outputs),
                hint="each result is returned once",
            )
        for output in self.outputs:
            check_scope(output, span)

    def _drop_requirements(self) -> None:
        """Drops requirements that belong to no Func and are about sizes of another program."""
        self.requirements = tuple(
            r
            for r in self.requirements
            if r.is_addressed or r.concerns(self.sizes, self.params.values())
        )
        for r in self.requirements:
            for node in postorder(r.condition):
                self._add_symbol(node)

    def _check_ranks(self) -> None:
        """Checks the rank of each read again: that of a Func which is read before it is defined was
        not known then."""
        for d in self.definitions:
            for node in postorder(*d.lhs, *d.values):
                if isinstance(node, Read) and len(node.index) != node.tensor.ndim:
                    raise LanguageError(
                        f"{node.tensor.name} has {axes_text(node.tensor.ndim)} but is indexed with "
                        f"{len(node.index)}: {expr_text(node)}",
                        where=d.span,
                    )

    @cached_property
    def near(self) -> frozenset[str]:
        """The integer Params that must be near to 0, as loops begin or end by them."""
        return params.near(self.definitions)

    @cached_property
    def far_bounds(self) -> tuple[tuple[str, Extent], ...]:
        """The bounds of loops that may be too large at some sizes, each with the loop's name."""
        return params.far_bounds(self.definitions)

    @cached_property
    def signed(self) -> frozenset[str]:
        """The uint64 Params that are used as int64."""
        return params.signed(self)

    @cached_property
    def digest(self) -> str | None:
        """64 hexadecimal digits, the same in any process for a program that means the same with the
        same names; None where it calls a function that another process could not find."""
        return self._digest(named=True)

    @cached_property
    def digest_without_names(self) -> str | None:
        """As `digest`, but equal for programs that differ in names alone."""
        return self._digest(named=False)

    def _digest(self, *, named: bool) -> str | None:
        from .digest import program_digest  # loaded on demand: `import polysched` does not need it

        return program_digest(self, named=named)

    def definitions_of(self, func: Func) -> tuple[Definition, ...]:
        return func.history.typed()

    def is_recurrence(self, func: Func) -> bool:
        """Whether values of a Func depend on other values of it, or of Funcs that need it."""
        return any(func in group for group in self.recurrences)

    @property
    def inouts(self) -> tuple[InOut, ...]:
        """The arrays of the caller's that the program updates."""
        return tuple(f for f in self.funcs if isinstance(f, InOut))

    def is_fixed(self, func: Func) -> bool:
        """Whether the region of a Func is given, and is not inferred from its consumers."""
        if func in self._partial and not self._is_whole(func):
            return False
        given = func.extents is not None or func in self.outputs
        return given or (func.ndim == 0 and updated_in_block(func))

    def _is_whole(self, func: Func) -> bool:
        """Whether a Func must be computed as a whole, as recurrences and extern stages are."""
        opaque = any(d.opaque is not None for d in func.history.typed())
        return opaque or self.is_recurrence(func) or updated_in_block(func)

    @cached_property
    def demand_order(self) -> tuple[tuple[Func, ...], ...]:
        """The Funcs in the order in which their regions are inferred: each after its consumers,
        unless its region is given. Funcs whose regions depend on each other form one group."""
        return demand_order(self)

    def follows_itself(self, group: Sequence[Func]) -> bool:
        """Whether the regions of several Funcs depend on each other, or that of one on itself."""
        return follows_itself(self, group)

    @cached_property
    def _mentioned(self) -> tuple[Tensor, ...]:
        """The tensors of the definitions in the order written: those read, then the one written."""
        found: dict[Tensor, None] = {}
        for definition, func in self._recorded():
            below = nodes.reachable(*definition.roots)
            found.update((node.tensor, None) for node in below if isinstance(node, Read))
            found[func] = None
        return tuple(found)

    def arguments(self) -> list[Input]:
        """The Inputs that a call passes, in the order in which they were made. How expressions are
        written has no part in it, so `A * B` may become `B * A`."""
        return sorted(self.first_read(), key=lambda argument: argument.serial)

    def first_read(self) -> list[Input]:
        """The Inputs that a call passes, in the order in which the program first mentions them."""
        found: dict[Input, None] = {}
        for tensor in self._mentioned:
            match tensor:
                case InOut(initial=argument) | Final(array=InOut(initial=argument)):
                    found[argument] = None
                case Input():
                    found[tensor] = None
        return list(found)

    def _recorded(self) -> list[tuple[Recorded, Func]]:
        recorded = [(r, f) for f in self.funcs for r in f.history.recorded]
        return sorted(recorded, key=lambda item: item[0].serial)

    def _check_outputs(self, span: Span) -> None:
        for func in self.outputs:
            if func not in self.funcs:
                raise LanguageError(
                    f"{func.name} is not updated by anything: there is nothing to compute",
                    where=span,
                    hint=f"{func.element} = ... updates it",
                )
        for func in self.funcs:
            if updated_in_block(func) and not self.is_fixed(func):
                raise LanguageError(
                    f"{func.name} is updated inside a sequential, so its region does not follow "
                    "from what is read of it at the end",
                    where=func.history.recorded[0].span,
                    hint=f"declare a shape: ps.Func({func.name!r}, (n, m))",
                )
        self.outputs = (*self.outputs, *(f for f in self.inouts if f not in self.outputs))

    def _as_written(self) -> Iterator[Node]:
        """Every node of every definition as the user wrote it, since typing reorders operands."""
        for definition, _ in self._recorded():
            loops = () if definition.block is None else definition.block.loops
            yield from nodes.reachable(*definition.roots, *loops)

    def _symbol_nodes(self) -> Iterator[Node]:
        for tensor in (*self.inputs, *self.consts, *self.funcs):
            yield from postorder(*(tensor.extents or ()))
            if isinstance(tensor, Input) and tensor.range is not None:
                yield from postorder(*tensor.range)
        yield from self._as_written()

    def _add_symbol(self, node: Node) -> None:
        match node:
            case nodes.Size(name=name, default=default):
                old = self.sizes.get(name)
                if old is None or old.default is None:
                    self.sizes[name] = node
                elif default is not None and default is not old.default:
                    raise LanguageError(
                        f"the size {name} has two defaults: {expr_text(old.default)} and "
                        f"{expr_text(default)}",
                        hint="make it once: nz = ps.size('nz', default=...)",
                    )
                for inner in postorder(default) if default is not None else ():
                    self._add_symbol(inner)
            case nodes.Param(info=info):
                other = self.params.setdefault(info.name, node)
                if other is not node:
                    raise LanguageError(
                        f"two different Params are called {info.name}: a call could not tell "
                        "them apart",
                        hint="make the Param once and use it in both places",
                    )

    def call_signature(self) -> inspect.Signature:
        """The keywords of a call, for `inspect.signature` and tab completion."""
        return call_signature(self)

    def signature(self) -> str:
        """The arguments and results of a call: `C(A: float32[n, l], ...) -> float32[n, m]`."""
        return signature_text(self)

    def __repr__(self) -> str:
        return f"Program {self.signature()}"

    def free_sizes(self) -> tuple[str, ...]:
        """The sizes that no Input's shape fixes: a call passes them by name."""
        extents = [e for i in self.inputs for e in i.extents or ()]
        fixed = {n.name for n in postorder(*extents) if isinstance(n, nodes.Size)}
        return tuple(name for name in self.sizes if name not in fixed)


def updated_in_block(func: Func) -> bool:
    """Whether a block that the Func outlives updates it."""
    home = func.history.home
    return any(r.block is not home and not func.history.is_piece(r) for r in func.history.recorded)


def _signature(func: Func) -> str:
    """The signature of the program that computes `func`, without completing anything."""
    try:
        return f"Func {Program((func,), complete=False).signature()}"
    except LanguageError:
        return f"Func {func.name}[{shape_text(func)}] {func.dtype}"


def _call_signature(func: Func) -> inspect.Signature:
    return Program((func,), complete=False).call_signature()


Func._made = staticmethod(adopt)
Func._signature = staticmethod(_signature)
Func._call_signature = staticmethod(_call_signature)
