"""Entries become programs: what users have written is written again, with all checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors.errors import LanguageError, Span, user_span
from ..expr import symbols
from ..expr.expr import Expr
from ..nodes import nodes
from ..nodes.dtypes import Array, DType
from ..nodes.node_json import constant, operator, type_of, typed_operator
from ..nodes.nodes import Node, Op, Param, RDomain, Read, RVar
from ..nodes.serials import numbered
from ..nodes.tensor import Tensor
from ..nodes.typing import infer_condition
from ..program.requirements import Requirement, unadopted
from ..tensors import reductions
from ..tensors.blocks import Sequential, outside_blocks, sequential
from ..tensors.extern import define_by, region_of
from ..tensors.indexable import Indexable
from ..tensors.inout import InOut
from ..tensors.tensors import Const as Table, Func, Input
from ..tensors.trace import trace
from .fields import Fields

_REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
_LIMIT = 1 << 64


class Reader:
    """Reads entries.

    Args:
        given: the things that entries may ask for by number.
        serial: the serial of what had this one, None where that is none of its own.
        data: the elements of a table, from what is written of them, its dtype and its shape.
        function: the function of an extern stage, from what is written of it.

    Raises:
        LanguageError: from `read`: the entries are none that a `Writer` wrote.
    """

    def __init__(
        self,
        given: Sequence[object],
        serial: Callable[[int], int | None],
        data: Callable[[Any, DType, tuple[int, ...]], Array],
        function: Callable[[Any], Any],
    ) -> None:
        self.table: list[object] = []
        self._given = given
        self._serial = serial
        self._data = data
        self._function = function
        self._taken: set[int] = set()
        self._blocks: list[Sequential] = []
        self._unclosed: dict[RDomain, list[RVar]] = {}

    def read(self, entries: Sequence[Any]) -> None:
        """Reads all entries; `table` has what each of them is, None where that is nothing."""
        with outside_blocks(), unadopted():
            for number, entry in enumerate(entries):
                f = Fields(entry, number, self.table)
                read = _READ.get(f.kind)
                if read is None:
                    f.refuse(f"it is a {f.kind!r}, which this version does not know")
                made = read(self, f)
                f.done()
                self.table.append(made)
            if self._blocks or self._unclosed:
                raise LanguageError("the program ends inside of a sequential or of a domain")

    def _serials(self, f: Fields) -> list[int]:
        found = f.serials()
        made: list[int] = []
        for serial in found:
            new = self._serial(serial)
            if new is None or serial in self._taken:
                f.refuse(f"it has the serial {serial}, which is not its own")
            self._taken.add(serial)
            made.append(new)
        return made

    def _place(self, f: Fields) -> Span:
        return f.place() or user_span()

    # symbols ----------------------------------------------------------------------------------
    def _param(self, f: Fields) -> Node:
        limits = {k: f.number_or_none(k) for k in ("default", "min", "max")}
        return symbols.Param(f.text("name"), f.dtype("dtype"), **limits).node

    def _var(self, f: Fields) -> Node:
        return symbols.Var(f.text("name")).node

    def _size(self, f: Fields) -> Node:
        default = f.optional_node("default")
        if default is None:
            return symbols.size(f.text("name")).node
        made = symbols.size(f.text("name"), Expr(default))
        return nodes.Size(made.name, _typed_already(default, made.node.default))  # type: ignore[attr-defined]

    def _rvar(self, f: Fields) -> Node:
        domain = f.item("beside", RVar).domain if f.has("beside") else RDomain()
        if f.kind == "rvar" and domain not in self._unclosed and domain.members:
            f.refuse("it is an RVar of a domain that is complete")
        bounds = Expr(f.node("lo")), Expr(f.node("hi"))
        with numbered(self._serials(f)):
            made = symbols.rvar_node(f.text("name"), *bounds, domain)
        self._unclosed.setdefault(domain, []).append(made)
        return made

    def _domain(self, f: Fields) -> RDomain:
        members, where = f.items("of", RVar), f.optional_node("where")
        domain = members[0].domain if members else RDomain()
        if not members or list(members) != self._unclosed.pop(domain, None):
            f.refuse("it lists other RVars than were made together")
        domain.where, domain.members = where, members
        return domain

    def _member(self, f: Fields) -> Node:
        domain, number = f.item("of", RDomain), f.integer("number")
        if not 0 <= number < len(domain.members):
            f.refuse(f"it is member {number} of a domain of {len(domain.members)}")
        return domain.members[number]

    def _loop(self, f: Fields) -> Node:
        block = f.item("of", Sequential)
        if block.rvar is None:
            f.refuse("it is the loop of a sequential that has none")
        return block.rvar.node

    # tensors ----------------------------------------------------------------------------------
    def _named(self, f: Fields, make: Callable[[str, tuple[Expr, ...] | None], Any]) -> Any:
        """A tensor that `make` makes of its name and shape."""
        extents = f.nodes("shape") if f.has("shape") else None
        name, place = f.text("name"), self._place(f)
        with numbered(self._serials(f)):
            made = make(name, None if extents is None else tuple(map(Expr, extents)))
        made.span = place
        if extents is not None:
            made.extents = tuple(map(_typed_already, extents, made.extents))
        return made

    def _input(self, f: Fields) -> Input:
        dtype = f.dtype("dtype")
        limits = f.nodes("range") if f.has("range") else None
        given: Any = None if limits is None else tuple(map(Expr, limits))
        made: Input = self._named(f, lambda name, shape: Input(name, dtype, shape or (), given))
        if limits is not None and made.range is not None:
            lo, hi = map(_typed_already, limits, made.range)
            made.range = lo, hi
        return made

    def _inout(self, f: Fields) -> InOut:
        dtype = f.dtype("dtype")
        made: InOut = self._named(f, lambda name, shape: InOut(name, dtype, shape or ()))
        made.initial.span = made.final.span = made.span
        return made

    def _table(self, f: Fields) -> Table:
        dtype = f.dtype("dtype")
        shape = tuple(f.of("shape", int, x) for x in f.listed("shape"))
        if any(not 0 <= x < _LIMIT for x in shape):
            f.refuse(f"it has the shape {list(shape)}")
        array = self._data(f.value("data"), dtype, shape)
        name, place = f.text("name"), self._place(f)
        with numbered(self._serials(f)):
            made = Table(name, array)
        made.span = place
        return made

    def _func(self, f: Fields) -> Func:
        dtypes = None
        if f.has("dtypes"):
            dtypes = tuple(f.as_dtype("dtypes", x) for x in f.listed("dtypes"))
        return self._named(f, lambda name, shape: Func(name, shape, dtypes))  # type: ignore[no-any-return]

    def _value(self, f: Fields) -> Tensor:
        array, which = f.item("of", InOut), f.text("which")
        if which not in ("initial", "final"):
            f.refuse(f"it is a value {which!r} of {array.name}")
        return array.initial if which == "initial" else array.final

    # expressions ------------------------------------------------------------------------------
    def _literal(self, f: Fields) -> Node:
        value, name = f.as_number("value", f.value("value")), f.text("type")
        if type_of(name) is type_of("int") and not -(1 << 63) <= value < _LIMIT:
            f.refuse(f"it is the integer {value}, which does not fit in 64 bits")
        return constant(value, name)

    def _op(self, f: Fields) -> Node:
        op, args, name = f.text("op"), f.nodes("of"), f.optional_text("type")
        if op in ("cast", "bitcast", "saturating_cast"):
            to = None if name is None else type_of(name)
            if not isinstance(to, DType):
                f.refuse(f"it is a {op} to {name}, which is no element type")
            return Op(op, operator(op, args).operands, to)
        return operator(op, args) if name is None else typed_operator(op, args, name)

    def _read(self, f: Fields) -> Node:
        tensor = f.item("of", Indexable)
        index = tensor._index(tuple(map(Expr, f.nodes("at"))))
        component = f.integer("component") if f.has("component") else 0
        if not 0 <= component < tensor._components():
            f.refuse(f"it reads component {component} of {tensor.name}, which has fewer")
        return Read(tensor, index, component, None)

    def _reduce(self, f: Fields) -> Node:
        op, over = f.text("op"), tuple(map(_as_rvar, f.items("over", RVar)))
        if op not in _REDUCTIONS:
            f.refuse(f"it is a reduction {op!r}, and there is none of that name")
        start = f.optional_node("initial")
        made: Expr = getattr(reductions, op)(
            Expr(f.node("of")),
            over,
            initial=None if start is None else Expr(start),
            dtype=f.dtype("dtype") if f.has("dtype") else None,
        )
        return made.node

    def _trace(self, f: Fields) -> Node:
        return trace(Expr(f.node("of")), f.text("label")).node

    # definitions ------------------------------------------------------------------------------
    def _sequential(self, f: Fields) -> Sequential:
        place = self._place(f)
        if f.has("name"):
            bounds = Expr(f.node("lo")), Expr(f.node("hi"))
            with numbered(self._serials(f)):
                made = sequential(f.text("name"), *bounds, f.integer("step"))
        else:
            made = sequential()
        made.span = place
        return made

    def _begin(self, f: Fields) -> None:
        block = f.item("of", Sequential)
        block.__enter__()
        self._blocks.append(block)

    def _end(self, f: Fields) -> None:
        block = f.item("of", Sequential)
        if not self._blocks or self._blocks.pop() is not block:
            f.refuse("it ends a sequential that is not the innermost one")
        block.__exit__(None, None, None)

    def _own_func(self, f: Fields) -> Func:
        """A Func that the entries define themselves: those that are given are as they are."""
        func = f.item("of", Func)
        if any(func is x for x in self._given):
            f.refuse(f"it defines {func.name}, which is given")
        if self._unclosed:
            f.refuse("it stands inside of a domain")
        return func

    def _define(self, f: Fields) -> None:
        func, index = self._own_func(f), tuple(map(Expr, f.nodes("at")))
        to, op = f.nodes("to"), f.optional_text("op") or "="
        values = tuple(map(Expr, to))
        if op not in ("=", "min", "max"):
            match to:
                case (Op(op=found, operands=(here, new)),) if found == op:
                    values = (Expr(to[0], (op, here, new)),)
                case _:
                    f.refuse(f"it is no update by {op}")
        place = self._place(f)
        with numbered(self._serials(f)):
            func.history.record(index, values if len(values) != 1 else values[0], place)
        if func.history.recorded[-1].op != op:
            f.refuse(f"it is no update by {op}")

    def _extern(self, f: Fields) -> None:
        func, function = self._own_func(f), self._function(f.value("function"))
        if func.declared_dtypes is None or func.extents is None:
            f.refuse(f"it computes {func.name}, which has no shape or no dtype")
        regions = [(t, tuple((Expr(lo), Expr(hi)) for lo, hi in p)) for t, p in f.regions("reads")]
        operands = tuple(x for r in regions for x in region_of(func.name, r))
        place = self._place(f)
        with numbered(self._serials(f)):
            define_by(func, function, operands, place)

    def _complete(self, f: Fields) -> None:
        self._own_func(f).complete(self._place(f))

    def _requirement(self, f: Fields) -> Requirement:
        that, place = f.node("that"), self._place(f)
        for node in nodes.postorder(that):
            if not isinstance(node, (nodes.Const, nodes.Size, Param, Op)):
                f.refuse("it is a requirement that is not about sizes and Params")
        condition = _typed_already(that, infer_condition(that, place))
        return Requirement(condition, f.text("message"), place, f.flag("addressed"))

    def _requires(self, f: Fields) -> None:
        self._own_func(f).requirements.append(f.item("that", Requirement))

    def _known(self, f: Fields) -> object:
        number = f.integer("number")
        if not 0 <= number < len(self._given):
            f.refuse(f"it asks for thing {number}, and {len(self._given)} are given")
        return self._given[number]


def _typed_already(given: Node, checked: Node) -> Node:
    """An expression over sizes as it was given, if that is typed: typing it again, as its check has
    done, may make indices of other integers. Else as it was checked."""
    return given if all(n.type is not None for n in nodes.postorder(given)) else checked


def _as_rvar(node: RVar) -> symbols.RVar:
    made = symbols.RVar.__new__(symbols.RVar)
    Expr.__init__(made, node)
    return made


_READ: dict[str, Callable[[Reader, Fields], object]] = {
    "param": Reader._param, "var": Reader._var, "size": Reader._size, "rvar": Reader._rvar,
    "domain": Reader._domain, "member": Reader._member, "loop": Reader._loop,
    "input": Reader._input, "inout": Reader._inout, "const": Reader._table, "func": Reader._func,
    "value": Reader._value, "literal": Reader._literal, "op": Reader._op, "read": Reader._read,
    "reduce": Reader._reduce, "trace": Reader._trace, "sequential": Reader._sequential,
    "begin": Reader._begin, "end": Reader._end, "define": Reader._define,
    "extern": Reader._extern, "complete": Reader._complete,
    "requirement": Reader._requirement, "requires": Reader._requires, "given": Reader._known,
}  # fmt: skip
