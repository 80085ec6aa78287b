"""Programs become entries: a list of plain data, in which each entry names earlier ones by their
numbers.

    0 {"is": "size", "name": "n"}
    1 {"is": "input", "name": "A", "dtype": "float32", "shape": [0], "serials": [3]}
    2 {"is": "var", "name": "i"}
    3 {"is": "read", "of": 1, "at": [2]}
    4 {"is": "func", "name": "f", "shape": [0], "serials": [4]}
    5 {"is": "define", "of": 4, "at": [2], "to": [3], "serials": [5]}

Definitions are as users wrote them, in the order in which they did, so that reading is doing again
what they have done, with all checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors.errors import InternalError, LanguageError, Span
from ..nodes.dtypes import Array
from ..nodes.node_json import type_name_of
from ..nodes.nodes import Const, Node, Op, Param, RDomain, Read, RVar, Size, Var, postorder
from ..nodes.tensor import Tensor
from ..program.requirements import Requirement
from ..tensors.blocks import Sequential
from ..tensors.definitions import Recorded
from ..tensors.inout import Final, Initial, InOut
from ..tensors.opaque import Opaque, opaque_of
from ..tensors.reductions import Reduce
from ..tensors.tensors import Const as Table, Func, Input
from ..tensors.trace import Trace
from .things import Thing, as_written, check_open, serials_of

Entry = dict[str, Any]
Statement = tuple[Func, Recorded] | Sequential


class Writer:
    """Writes things and expressions as entries.

    Args:
        given: the number of a thing among those that the reader is given; None for others.
        data: how the elements of a table are written.
        function: how the function of an extern stage is written, given the name of the stage.
        places: whether to write where in the user's code things were made.
    """

    def __init__(
        self,
        given: Callable[[Thing], int | None],
        data: Callable[[Array], Any],
        function: Callable[[str, Any], Any],
        places: bool,
    ) -> None:
        self.entries: list[Entry] = []
        self._given = given
        self._data = data
        self._function = function
        self._places = places
        self._at: dict[object, int] = {}
        self._domains: list[RDomain] = []

    def things(self, things: Sequence[Thing]) -> list[int]:
        """The numbers of things. What is not given is written, with its definitions."""
        funcs = [t for t in things if isinstance(t, Func)]
        for func in funcs:
            check_open(func)
        for statement in _statements(funcs):
            self._statement(statement)
        found = [self._thing(t) for t in things]
        for func in funcs:
            for requirement in func.requirements:
                self._add("requires", of=self._thing(func), that=self._thing(requirement))
            by = func.history.completed_by
            if by is not None:
                self._add("complete", of=self._thing(func), **self._place(by))
        return found

    def declare(self, things: Sequence[Thing]) -> None:
        """Has tensors written before their definitions, and RVars in the order in which they were
        made: where serials are not read, this is the order in which RVars run."""
        for thing in things:
            if isinstance(thing, Tensor):
                self._thing(thing)
        domains = [t for t in things if isinstance(t, RDomain)]
        self._domains = sorted(domains, key=lambda d: d.members[0].serial, reverse=True)

    def node(self, root: Node) -> int:
        """The number of an expression."""
        written = as_written(root)
        for node in postorder(written):
            if node not in self._at:
                self._at[node] = self._node(node)
        return self._at[written]

    # entries ----------------------------------------------------------------------------------
    def _add(self, kind: str, **fields: Any) -> int:
        given = {k: v for k, v in fields.items() if v is not None}
        self.entries.append({"is": kind, **given})
        return len(self.entries) - 1

    def _place(self, span: Span) -> Entry:
        cell = [] if span.cell is None else [span.cell]
        return {"place": [span.file, span.line, *cell]} if self._places else {}

    def _nodes(self, roots: Sequence[Node] | None) -> list[int] | None:
        return None if roots is None else [self.node(x) for x in roots]

    # things -----------------------------------------------------------------------------------
    def _thing(self, thing: Thing) -> int:
        found = self._at.get(thing)
        if found is None:
            given = self._given(thing)
            found = self._made(thing) if given is None else self._add("given", number=given)
            self._at[thing] = found
        return found

    def _made(self, thing: Thing) -> int:
        match thing:
            case Param(info=info):
                numbers = {"default": info.default, "min": info.min, "max": info.max}
                written = {k: _number(x) for k, x in numbers.items()}
                return self._add("param", name=info.name, dtype=info.dtype.name, **written)
            case RDomain():
                return self._domain(thing)
            case Sequential():
                return self._block(thing)
            case Requirement():
                that, place = self.node(thing.condition), self._place(thing.span)
                said = {"message": thing.message, "addressed": thing.is_addressed}
                return self._add("requirement", that=that, **said, **place)
            case Tensor():
                return self._tensor(thing)
        raise InternalError(f"{type(thing).__name__} is no thing of a program")

    def _tensor(self, t: Tensor) -> int:
        shape = self._nodes(t.extents)
        rest = {"shape": shape, "serials": [t.serial], **self._place(t.span)}
        match t:
            case Initial() | Final():
                which = "initial" if isinstance(t, Initial) else "final"
                return self._add("value", of=self._thing(t.array), which=which)
            case InOut():
                rest["serials"] = [t.serial, t.initial.serial, t.final.serial]
                return self._add("inout", name=t.name, dtype=t.dtypes[0].name, **rest)
            case Input():
                limits = self._nodes(t.range)
                return self._add("input", name=t.name, dtype=t.dtypes[0].name, range=limits, **rest)
            case Table():
                rest["shape"] = list(t.data.shape)
                data = self._data(t.data)
                return self._add("const", name=t.name, dtype=t.dtypes[0].name, data=data, **rest)
            case Func():
                given = t.declared_dtypes
                dtypes = None if given is None else [d.name for d in given]
                return self._add("func", name=t.name, dtypes=dtypes, **rest)
        raise InternalError(f"{type(t).__name__} is no tensor that users make")

    def _domain(self, domain: RDomain) -> int:
        members: list[int] = []
        for r in domain.members:
            bounds = {"lo": self.node(r.lo), "hi": self.node(r.hi)}
            first = {"beside": members[0]} if members else {}
            made = self._add("rvar", name=r.name, **bounds, **first, serials=[r.serial])
            self._at[r] = made
            members.append(made)
        where = None if domain.where is None else self.node(domain.where)
        return self._add("domain", of=members, where=where)

    def _block(self, block: Sequential) -> int:
        if block.rvar is None:
            return self._add("sequential", **self._place(block.span))
        lo, hi = map(self.node, block._bounds)
        node = block.rvar.node
        assert isinstance(node, RVar)
        rest = {"step": block.step, "serials": [node.serial], **self._place(block.span)}
        return self._add("sequential", name=block.rvar.name, lo=lo, hi=hi, **rest)

    # expressions ------------------------------------------------------------------------------
    def _node(self, node: Node) -> int:
        match node:
            case Const(value=value):
                return self._add("literal", value=_number(value), type=type_name_of(node))
            case Var(name=name):
                return self._add("var", name=name)
            case Size(name=name, default=default):
                given = None if default is None else self.node(default)
                return self._add("size", name=name, default=given)
            case Param():
                return self._thing(node)
            case RVar():
                return self._rvar(node)
            case Op(op=op, operands=operands, type=t):
                of = [self._at[x] for x in operands]
                return self._add("op", op=op, of=of, type=None if t is None else type_name_of(node))
            case Read(tensor=tensor, index=index, component=c, type=None):
                at = [self._at[x] for x in index]
                return self._add("read", of=self._thing(tensor), at=at, component=c or None)
            case Reduce(op=op, body=body, rvars=rvars, initial=initial, dtype=dtype):
                start = None if initial is None else self._at[initial]
                over = [self.node(r) for r in rvars]
                rest = {"initial": start, "dtype": None if dtype is None else dtype.name}
                return self._add("reduce", op=op, of=self._at[body], over=over, **rest)
            case Trace(value=value, label=label):
                return self._add("trace", of=self._at[value], label=label)
        raise InternalError(f"{type(node).__name__} is no expression that users write")

    def _rvar(self, node: RVar) -> int:
        """An RVar of a domain: the domain is written first, with all of its members."""
        owner = node.domain.owner
        if isinstance(owner, Sequential):
            return self._add("loop", of=self._thing(owner))
        domain = self._thing(node.domain)
        if node in self._at:
            return self._at[node]
        if node not in node.domain.members:
            raise LanguageError(f"the RVar {node.name} is none that was made by ps.RVar or ps.rdom")
        return self._add("member", of=domain, number=node.domain.members.index(node))

    # definitions ------------------------------------------------------------------------------
    def _statement(self, statement: Statement) -> None:
        if isinstance(statement, Sequential):
            block = self._thing(statement)
            self._add("begin", of=block)
            for item in statement.items:
                if isinstance(item, Sequential) or not item[0].is_reduction:
                    self._statement(item)
            self._add("end", of=block)
            return
        func, recorded = statement
        while self._domains and self._domains[-1].members[0].serial < recorded.serial:
            self._thing(self._domains.pop())
        opaque = opaque_of(recorded.values)
        op = None if recorded.op == "=" else recorded.op
        rest = {"serials": serials_of(recorded), **self._place(recorded.span)}
        of = self._thing(func)
        if opaque is not None:
            called = self._function(func.name, opaque.stage.function)
            self._add("extern", of=of, function=called, reads=self._regions(opaque), **rest)
            return
        at, to = self._nodes(recorded.lhs), self._nodes(recorded.values)
        self._add("define", of=of, at=at, to=to, op=op, **rest)

    def _regions(self, opaque: Opaque) -> list[Any]:
        """The regions that a function reads: a tensor, and a pair of bounds along each axis."""
        return [
            [self._thing(first.tensor), [[self.node(lo), self.node(hi)] for lo, hi in axes]]
            for first, highs in opaque.regions
            for axes in [zip(first.index, highs, strict=True)]
        ]


def _statements(funcs: Sequence[Func]) -> list[Statement]:
    """The definitions of some Funcs, and the blocks around them, in the order in which they were
    written."""
    found: dict[Recorded | Sequential, tuple[int, Statement]] = {}
    for func in funcs:
        for recorded in func.history.recorded:
            if recorded.block is None:
                found[recorded] = recorded.serial, (func, recorded)
                continue
            root = recorded.block.root
            first = min(r.serial for _, r in root.definitions())
            found[root] = first, root
    return [statement for _, statement in sorted(found.values(), key=lambda item: item[0])]


def _number(value: bool | int | float | None) -> Any:
    """A number as JSON that gives the same bits; floats as hexadecimal text."""
    return value.hex() if isinstance(value, float) else value
