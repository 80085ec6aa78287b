"""Digests of programs: equal, in any process, for programs with the same definitions and names.

A digest covers typed expressions, definitions in their order, blocks, shapes, ranges,
preconditions, the data of constants, and the Inputs in the order of a call. It does not depend on
source lines, on when objects were made otherwise, or on Python's hashes. Without names it is the
same for programs that differ only in the names of Funcs, Inputs, sizes, Params and loops.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ..nodes.dtypes import DType, Weak
from ..nodes.nodes import Const, Node, Op, Param, Read, RVar, Size, Var, postorder
from ..nodes.tensor import Tensor
from ..tensors.definitions import Definition
from ..tensors.extern import Extern
from ..tensors.inout import Final, Initial
from ..tensors.opaque import Opaque, opaque_of
from ..tensors.tensors import Const as Table, Func, Input
from ..tensors.trace import Trace
from .steps import Block, Recurrence, Step

if TYPE_CHECKING:
    from .program import Program

VERSION = 3
"""The version of the digests, which changes when equal programs get other digests than before."""


def program_digest(program: Program, named: bool = True) -> str | None:
    """The digest of a program, 64 hexadecimal digits; None where the program calls a function that
    another process could not find by its module and name.

    Args:
        named: whether programs that differ in names have different digests.
    """
    stages = (opaque_of(d.values) for d in program.definitions)
    if any(s is not None and _place(s.stage) is None for s in stages):
        return None
    return _Digester(program, named).digest()


def combined(*parts: object) -> str:
    """The digest of texts, numbers, None and tuples of these."""
    return sha256(repr(parts).encode()).hexdigest()


class _Digester:
    """Digests the parts of one program."""

    def __init__(self, program: Program, named: bool) -> None:
        self.program = program
        self.named = named
        tensors: tuple[Tensor, ...] = (*program.inputs, *program.consts, *program.funcs)
        self.tensors = {t: self._called(program.names[t], "t", k) for k, t in enumerate(tensors)}
        symbols = (*program.sizes, *program.params)
        self.symbols = {name: self._called(name, "s", k) for k, name in enumerate(symbols)}

    def _called(self, name: str, kind: str, number: int) -> str:
        return name if self.named else f"{kind}{number}"

    def digest(self) -> str:
        """The digest of the whole program."""
        p, known = self.program, self._loops(())
        return combined(
            VERSION,
            self.named,
            tuple(map(self._size, p.sizes.values())),
            tuple(map(self._param, p.params.values())),
            tuple(self._tensor(t) for t in (*p.inputs, *p.consts, *p.funcs)),
            tuple(self.tensors[f] for f in p.outputs),
            tuple(f in p.outputs or p.is_fixed(f) for f in p.funcs),
            tuple((self._nodes([r.condition], known), r.message) for r in p.requirements),
            tuple(self._step(step) for step in p.steps),
        )

    # symbols and tensors ----------------------------------------------------------------------
    def _size(self, node: Size) -> object:
        return self.symbols[node.name], self._nodes([node.default], self._loops(()))

    def _param(self, node: Param) -> object:
        info, called = node.info, self.symbols[node.name]
        return called, info.dtype.name, *map(_number, (info.default, info.min, info.max))

    def _tensor(self, t: Tensor) -> object:
        outside = self._loops(())
        kind = type(t).__name__
        dtypes = tuple(d.name for d in t.dtypes or ())
        shape = None if t.extents is None else self._nodes(t.extents, outside)
        found: list[object] = [self.tensors[t], kind, dtypes, t.ndim, shape]
        if isinstance(t, Table):
            found.append(sha256(t.data.tobytes()).hexdigest())
        if isinstance(t, Input):
            found.append(self._nodes(t.range or (), outside))
        if isinstance(t, Initial | Final):
            found.append(self.tensors.get(t.array))
        if isinstance(t, Func):
            found.append(t.nonempty)
        return tuple(found)

    # definitions ------------------------------------------------------------------------------
    def _step(self, step: Step) -> object:
        if isinstance(step, Block):
            s = step.sequential
            known = self._loops(s.loops)
            phase = self._nodes([s.phase], known)
            bounds = self._nodes([s.start, s.stop], known)
            loop = None if s.loop is None else known[s.loop]
            return "block", loop, bounds, s.step, phase, tuple(map(self._step, step.body))
        kind = "together" if isinstance(step, Recurrence) else "alone"
        return kind, tuple(self._definition(d) for d in step.definitions)

    def _definition(self, d: Definition) -> object:
        known = self._loops(d.dims)
        rvars = tuple((known[r], self._nodes([r.lo, r.hi], known)) for r in d.rvars)
        return (
            self.tensors[d.func],
            d.number,
            d.op,
            tuple(known[v] for v in d.vars),
            rvars,
            self._nodes(d.lhs, known),
            self._nodes(d.where, known),
            self._nodes(d.values, known),
        )

    def _loops(self, dims: Iterable[Var | RVar]) -> Mapping[Node, str]:
        """The text for each loop: its name, or its number in a digest without names."""
        return {x: self._called(x.name, "i", k) for k, x in enumerate(dims)}

    # expressions ------------------------------------------------------------------------------
    def _nodes(self, roots: Iterable[Node | None], loops: Mapping[Node, str]) -> tuple[object, ...]:
        """Expressions over some loops: each distinct node once, operands by their numbers; then the
        numbers of the expressions."""
        given = tuple(roots)
        done: dict[Node, int] = {}
        rows: list[object] = []
        for node in postorder(*(x for x in given if x is not None)):
            rows.append(self._node(node, loops, done))
            done[node] = len(done)
        return tuple(rows), tuple(None if x is None else done[x] for x in given)

    def _node(
        self, node: Node, loops: Mapping[Node, str], done: Mapping[Node, int]
    ) -> tuple[object, ...]:
        below = tuple(done[x] for x in node.args)
        match node:
            case Op(op=op, type=t):  # of which there are most
                return "op", op, _type(t), below
            case Const(value=value, type=t):
                return "const", _number(value), _type(t)
            case Read(tensor=tensor, component=component, type=t):
                return "read", self.tensors[_known(tensor)], component, _type(t), below
            case Var(name=name) | RVar(name=name):
                return "loop", loops.get(node, name)
            case Size(name=name):
                return "symbol", self.symbols.get(name, name)
            case Param():
                return "symbol", self.symbols.get(node.name, node.name)
            case Trace(label=label):
                return "trace", label, below
            case Opaque(stage=stage, component=component):
                return "extern", _place(stage), stage.takes_out, component, below
        raise TypeError(f"{type(node).__name__} has no digest")


def _known(tensor: Tensor) -> Tensor:
    """The tensor that is digested for a read: the InOut itself for a read of its final values."""
    return tensor.meant() if isinstance(tensor, Final) else tensor


def _number(value: Any) -> object:
    """A number as text that tells 0.0 from -0.0, and 1 from True."""
    if value is None or isinstance(value, bool | int):
        return repr(value)
    return float(value).hex()


def _type(t: DType | Weak | None) -> str:
    return str(t)


def _place(stage: Extern) -> tuple[str, str] | None:
    """The module and the name by which another process finds the function of an extern stage."""
    function = stage.function
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    found: Any = sys.modules.get(module) if isinstance(module, str) else None
    if module == "__main__" or not isinstance(name, str):
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is function and isinstance(module, str) else None
