"""Rewrites of a program for a schedule: another Func that a consumer reads instead.

clone_in   g reads f'                    f' has the definitions of f
inline     g computes f'                 f' is gone
stage      C reads A'                    A'[l] = A[i(l)], with l loops of C
rfactor    C[i] op= v(i, k)     ->       C'[u, i] = neutral; C'[u(k), i] op= v(i, k)
                                         C[i] op= C'[u, i], over u

Each is a function from a program and its definitions to others of the same meaning: a clone and a
copy hold the very values, and a partial reduction is one of the orders that are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from ...cached import cached_property
from ...lang.errors.errors import LanguageError, Span
from ...lang.expr.expr import Expr
from ...lang.expr.functions import select
from ...lang.nodes.dtypes import DType
from ...lang.nodes.nodes import (
    Const,
    Node,
    Op,
    RDomain,
    Read,
    RVar,
    Var,
    next_serial,
    transform_all,
)
from ...lang.nodes.tensor import Tensor
from ...lang.program.added import added_func, close, exchanged, extended, typed
from ...lang.program.program import Program
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ...records import dataclass
from .accumulation import first_place, is_inline_place, keeps_first
from .inline import Definitions, stays_provable, substituted, uses_in


@dataclass(frozen=True, eq=False)
class Clone:
    """A Func of its own for one definition of a consumer."""

    func: Func
    of: Func
    consumer: int
    #: The serials of its definitions, the same in every rewritten program.
    serials: dict[int, int] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[Tensor | int, ...]:
        """What must stay stored: tensors, and the serials of definitions."""
        return (self.of, self.consumer)

    def __call__(self, program: Program, definitions: Definitions) -> tuple[Program, Definitions]:
        def own(node: Node) -> Node:
            if isinstance(node, Read) and node.tensor is self.of:
                return Read(self.func, node.index, node.component, node.type)
            return node

        copies = []
        for d in definitions[self.of]:
            serial = self.serials.setdefault(d.serial, next_serial())
            made = replace(
                _mapped(d, own),
                func=self.func,
                serial=serial,
                stands_for=d.origin,
                within=self.of.extents or d.within,
            )
            copies.append(made)
        reader = _by_serial(definitions, self.consumer)
        close(self.func, copies)
        program = extended(program, self.func, {reader.func}, reader.span)
        changed = _replaced(definitions, _mapped(reader, own))
        return program, {**changed, self.func: tuple(copies)}


@dataclass(frozen=True, eq=False)
class InlinedClone:
    """A clone computed where it is read, instead of being stored."""

    func: Func
    needs: tuple[Tensor | int, ...] = ()

    def __call__(self, program: Program, definitions: Definitions) -> tuple[Program, Definitions]:
        (value,) = definitions[self.func]
        uses = uses_in(definitions).get(self.func, {})
        if any(reader.opaque is not None for reader in uses):
            raise LanguageError(
                f"{self.func.name} is read by an extern stage, which is given all of it",
                where=value.span,
            )
        if not stays_provable(value, list(uses.items())):
            raise LanguageError(
                f"{self.func.name} is read at an index that depends on data: its conditions could "
                "not be proven",
                where=value.span,
            )
        for reader in uses:
            definitions = _replaced(definitions, substituted(reader, self.func, value))
        return program, {f: ds for f, ds in definitions.items() if f is not self.func}


@dataclass(frozen=True, eq=False)
class Staged:
    """A copy of what one definition reads of a tensor, by other coordinates.

    Attributes:
        dims: of the copy.
        source: where an element of the copy is in the tensor, over `dims`.
        read: where the definition reads the tensor, if there is only one such place.
        index: the index of the read in the copy, over the dimensions of the definition; None: the
            same as in the tensor.
        tiles: axes of the copy along which full tiles of so many elements are computed.
        valid: a condition over `dims` for elements that the tensor has, where elements beyond it
            are read, too: these are 0.
    """

    func: Func
    tensor: Tensor
    consumer: int
    dims: tuple[Var, ...]
    source: tuple[Node, ...]
    read: tuple[Node, ...]
    index: tuple[Node, ...] | None
    valid: Node | None
    tiles: tuple[tuple[int, int], ...]
    span: Span

    @property
    def needs(self) -> tuple[Tensor | int, ...]:
        """What must stay stored: tensors, and the serials of definitions."""
        return (self.tensor, self.consumer)

    @cached_property
    def definition(self) -> Definition:
        """The definition of the copy."""
        types = self.tensor.dtypes
        values: list[Node] = [Read(self.tensor, self.source, c, None) for c in range(len(types))]
        if self.valid is not None:
            zeros = [Const(_zero(t), t) for t in types]
            values = [
                Op("select", (self.valid, v, z), None) for v, z in zip(values, zeros, strict=True)
            ]
        made = typed(self.func, self.dims, values, "=", self.span, None)
        if self.valid is not None:
            return replace(made, is_padded=True, tiles=self.tiles)
        return replace(made, copies=self.tensor)

    def __call__(self, program: Program, definitions: Definitions) -> tuple[Program, Definitions]:
        close(self.func, [self.definition])
        reader = _by_serial(definitions, self.consumer)

        def moved(node: Node) -> Node:
            if isinstance(node, Read) and node.tensor is self.tensor:
                if self.index is not None and node.index != self.read:
                    raise LanguageError(
                        f"{reader.name} would read {self.tensor.name} at more than the place that "
                        f"the layout of {self.func.name} describes",
                        where=self.span,
                    )
                at = node.index if self.index is None else self.index
                return Read(self.func, at, node.component, node.type)
            return node

        program = extended(program, self.func, {reader.func}, self.span)
        changed = _replaced(definitions, _mapped(reader, moved))
        return program, {**changed, self.func: (self.definition,)}


@dataclass(frozen=True, eq=False)
class Factored:
    """A reduction in two steps: one for each value `of` a coordinate, then over these.

    Attributes:
        update: the serial of the definition that accumulates.
        loop: what the dimension of the partial results is called; it runs in [lo, hi).
    """

    func: Func
    update: int
    of: Node
    loop: str
    lo: Node
    hi: Node
    #: The definitions that it adds, the same in every rewritten program.
    made: list[Definition] = field(default_factory=list)

    @property
    def needs(self) -> tuple[Tensor | int, ...]:
        """What must stay stored: tensors, and the serials of definitions."""
        return (self.update,)

    def __call__(self, program: Program, definitions: Definitions) -> tuple[Program, Definitions]:
        d = _by_serial(definitions, self.update)
        target = d.func
        if not self.made:
            self.made.extend(self._made(d, _axes(target, definitions, self.loop)))
        pure, merged = self.made
        count = len(self.func.dtypes)

        def partial(node: Node) -> Node:
            if isinstance(node, Read) and node.tensor is target:
                if node.component >= count:
                    return Const(True, target.dtypes[node.component])  # found from the beginning
                return Read(self.func, (self.of, *node.index), node.component, node.type)
            return node

        step = replace(_mapped(d, partial, left=False), func=self.func, number=0)
        step = replace(step, lhs=(self.of, *d.lhs), values=step.values[:count])
        close(self.func, [pure, step])
        program = extended(exchanged(program, d, merged), self.func, {target}, d.span)
        changed = tuple(merged if x is d else x for x in definitions[target])
        return program, {**definitions, target: changed, self.func: (pure, step)}

    def _made(self, d: Definition, axes: tuple[Var, ...]) -> list[Definition]:
        """What partial results begin with, and the update that accumulates them."""
        target, count = d.func, len(self.func.dtypes)
        start = [Const(_neutral(d, t), t) for t in target.dtypes] if count == 1 else _nothing(d)
        start = start[:count]
        pure = typed(self.func, (Var(self.loop), *axes), start, "=", d.span, None)
        over = RVar(self.loop, self.lo, self.hi, RDomain(), next_serial())
        old = [Read(target, axes, c, None) for c in range(len(target.dtypes))]
        new: list[Node] = [Read(self.func, (over, *axes), c, None) for c in range(count)]
        new += [Const(True, t) for t in target.dtypes[count:]]
        if count > 1:
            chosen = _better(d, list(map(Expr, old)), list(map(Expr, new)))
            values, op = [x.node for x in chosen], "="
        else:
            op = {"sub": "add"}.get(d.op, d.op)
            values = [Op(op, (old[0], new[0]), None)]
        return [pure, typed(target, axes, values, op, d.span, d.number)]


def _better(d: Definition, old: list[Expr], new: list[Expr]) -> tuple[Expr, ...]:
    """The better of two results of argmax or argmin, each (value, index) or (value, index, found):
    of equal ones the one with the lowest index; NaN before all where a NaN is better at all."""
    value, at, *found = new
    best, where, *known = old
    even = value == best
    if d.func.dtypes[0].is_float and is_inline_place(d):
        worse = value <= best if is_argmax(d) else value >= best
        better = (best == best) & ~worse
        even = even | ((value != value) & (best != best))
    else:
        better = value > best if is_argmax(d) else value < best
    better = better | (even & (at < where))
    if found:
        better = found[0] & (~known[0] | better)
    chosen: tuple[Expr, ...] = select(better, tuple(new), tuple(old))
    return chosen


def _nothing(d: Definition) -> list[Const]:
    """What partial results of argmax or argmin begin with. If none of their values is better than
    the worst of all, another one is, or what all results are put together with, which begins with
    a place before theirs: so they need not know where they begin."""
    t, place, *found = d.func.dtypes
    if found:
        first = first_place(d)
        if first is None:
            return [Const(_zero(x), x) for x in d.func.dtypes]
        return [Const(_worst(t, is_argmax(d)), t), Const(first, place)]
    return [Const(_worst(t, is_argmax(d)), t), Const(place.max, place)]


def is_argmax(d: Definition) -> bool:
    """Whether a reduction to a value and its place looks for the largest value."""
    return ".argmax" in d.func.name if is_inline_place(d) else keeps_first(d) == "argmax"


def _neutral(d: Definition, t: DType) -> bool | int | float:
    """The neutral element of an accumulation: of float sums -0.0."""
    lowest, highest = _worst(t, largest=True), _worst(t, largest=False)
    table: dict[str, bool | int | float] = {
        "add": -0.0 if t.is_float else 0, "sub": -0.0 if t.is_float else 0, "mul": 1,
        "max": lowest, "min": highest, "or": 0, "xor": 0, "and": -1,
    }  # fmt: skip
    value = table[d.op]
    if t.is_bool:
        return d.op in ("and", "min", "mul")
    if d.op == "and":
        return -1 if t.min < 0 else t.max
    return float(value) if t.is_float else value


def _worst(t: DType, largest: bool) -> bool | int | float:
    """What a search for the largest value, or for the least one, begins with."""
    if t.is_float:
        return float("-inf") if largest else float("inf")
    return not largest if t.is_bool else t.min if largest else t.max


def _zero(t: DType) -> bool | int | float:
    return False if t.is_bool else 0.0 if t.is_float else 0


def _axes(func: Func, definitions: Definitions, taken: str) -> tuple[Var, ...]:
    """Vars for the axes of a Func, as its pure definition calls them where it can."""
    names: list[str] = []
    for k in range(func.ndim):
        given = [d.lhs[k] for d in definitions[func] if not d.is_update]
        plain = [x.name for x in given if isinstance(x, Var)]
        name = plain[0] if plain else f"x{k}"
        while name in (taken, *names):
            name += "_"
        names.append(name)
    return tuple(map(Var, names))


def _by_serial(definitions: Definitions, serial: int) -> Definition:
    return next(d for ds in definitions.values() for d in ds if d.serial == serial)


def _mapped(d: Definition, rule: Callable[[Node], Node], left: bool = True) -> Definition:
    """A definition with its expressions rewritten."""
    lhs = d.lhs if left else ()
    made = transform_all((*lhs, *d.where, *d.values), rule)
    a, b = len(lhs), len(lhs) + len(d.where)
    return replace(d, lhs=made[:a] if left else d.lhs, where=made[a:b], values=made[b:])


def _replaced(definitions: Definitions, new: Definition) -> Definitions:
    """The definitions with another one of the same serial."""
    found = tuple(new if d.serial == new.serial else d for d in definitions[new.func])
    return {**definitions, new.func: found}


def fresh(name: str, dtypes: Sequence[DType]) -> Func:
    """A Func for a rewrite to define."""
    return added_func(name, tuple(dtypes))
