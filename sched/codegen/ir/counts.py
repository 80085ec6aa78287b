"""What the stages of a kernel do: operations, and bytes that they load and store, as totals over
sizes.

    found = counts(module, stage_names(program))
    found["C.update(0)"].operations            # {"fma float32": n * m * p}
    found["C.update(0)"].at({"n": 512, ...})   # numbers

What is counted is what the loop IR says, before a pass has made copies of loops: recomputation and
padding count, values of lanes that are switched off do not. The operators of one statement count
once each, however often their value is used; those of indices do not count, but loads in them do.
A function such as tanh counts as the operators of its formula, without what that computes seldom.
Bytes are those of loads and stores as they are written, wherever the elements come from: what
caches and registers keep is not known here. `held` is what lives on the stack, in registers mostly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from ...lang.arithmetic.integers import INTEGER
from ...lang.arithmetic.math import formula
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import bool_
from ...lang.nodes.nodes import Node, Op, Param, integer, postorder, replaced_all, transform_all
from ...lang.nodes.rare import needed_first
from ...poly.nests import loop_program as lp
from ...records import dataclass
from .ir import (
    Alloc,
    Buffer,
    For,
    If,
    Load,
    Module,
    Seq,
    Stmt,
    Store,
    Stores,
    dtype_of,
)
from .totals import UNKNOWN, Total

WEIGHTS = {
    "add": 1, "sub": 1, "mul": 1, "div": 1, "floordiv": 1, "mod": 1, "fma": 2, "sqrt": 1,
    "min": 1, "max": 1, "abs": 1, "absd": 1, "neg": 1, "floor": 1, "ceil": 1, "round": 1,
    "trunc": 1,
    "and": 1, "or": 1, "xor": 1, "shl": 1, "shr": 1, **dict.fromkeys(INTEGER, 1),
}  # fmt: skip
"""How many operations of arithmetic an operator is; comparisons, choices and conversions are
none."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a stage does at some sizes; None where data decide, or it takes too long to add up.

    Attributes:
        instances: stores of elements.
        arithmetic: operations of numbers, of which a multiply-add is two.
        loaded, stored: bytes.
        held: bytes that are loaded from the stack or stored there.
    """

    instances: int | None
    arithmetic: int | None
    loaded: int | None
    stored: int | None
    held: int | None

    @property
    def bytes(self) -> int | None:
        """Bytes that are loaded and stored."""
        if self.loaded is None or self.stored is None:
            return None
        return self.loaded + self.stored


@dataclass(slots=True)
class Counts:
    """What a stage does.

    Attributes:
        instances: stores of elements; those of copies do not count.
        operations: by kind and type, as "fma float32".
        loads, stores: bytes, by buffer.
        at_most: whether data decide what happens: then all of it is counted.
    """

    instances: Total = field(default_factory=lambda: Total({}))
    operations: dict[str, Total] = field(default_factory=dict)
    loads: dict[Buffer, Total] = field(default_factory=dict)
    stores: dict[Buffer, Total] = field(default_factory=dict)
    at_most: bool = False

    @property
    def arithmetic(self) -> Total:
        """Operations of numbers, of which a multiply-add is two."""
        return _sum(t.times(WEIGHTS.get(k.split()[0], 0)) for k, t in self.operations.items())

    @property
    def loaded(self) -> Total:
        """Bytes that are loaded from memory, not from the stack."""
        return _sum(total for b, total in self.loads.items() if b.kind != "stack")

    @property
    def stored(self) -> Total:
        """Bytes that are stored to memory, not to the stack."""
        return _sum(total for b, total in self.stores.items() if b.kind != "stack")

    @property
    def held(self) -> Total:
        """Bytes that are loaded from the stack and stored there, which registers hold mostly."""
        both = (*self.loads.items(), *self.stores.items())
        return _sum(total for b, total in both if b.kind == "stack")

    def at(self, sizes: Mapping[str, int]) -> Numbers:
        """The numbers at sizes and integer Params, by name."""
        totals = (self.instances, self.arithmetic, self.loaded, self.stored, self.held)
        return Numbers(*Total.at_all(totals, sizes))


def counts(module: Module, names: Mapping[int, str]) -> dict[str, Counts]:
    """What each stage does, in the order in which stages come first.

    Args:
        module: the loop IR before passes that flatten indices or move values.
        names: what the definitions are called, by their serials; see `stage_names`.
    """
    found: dict[str, Counts] = {}
    counter = _Counter(module, names, found)
    for function in module.functions:
        for what, total in counter.of(function.body, {}).items():
            counter.add(what, total)
    return found


def stage_names(program: lp.LoopProgram) -> dict[int, str]:
    """The names of statements, by the serials that stores say they belong to."""
    runs = [x.instance for x in lp.walk(*program.nests) if isinstance(x, lp.Run)]
    return {x.definition.origin: x.statement for x in runs if not x.definition.is_added}


def stage_of(s: Store, names: Mapping[int, str]) -> str:
    """The stage that a store belongs to; of copies that a schedule has added, what they copy."""
    if s.origin is not None and s.origin.serial in names:
        return names[s.origin.serial]
    loads = [n.buffer for n in postorder(s.value) if isinstance(n, Load)]
    for b in (s.buffer, *loads):
        stage, kept, _ = (b.original or b).name.partition(".kept")
        if kept:
            return stage
    return (s.buffer.original or s.buffer).name.partition(".promoted")[0]


def _sum(totals: Iterable[Total]) -> Total:
    return sum(totals, Total({}))


@dataclass(frozen=True, slots=True)
class _What:
    """What is counted: of a stage, `kind` and what it is about."""

    stage: str
    kind: str
    about: str | Buffer | None = None


_Found = dict[_What, Total]


class _Counter:
    """Counts the work of statements, inner ones first."""

    def __init__(self, module: Module, names: Mapping[int, str], found: dict[str, Counts]) -> None:
        self.module, self.names, self.found = module, names, found
        self._formulas: dict[Node, Node] = {}

    def add(self, what: _What, total: Total) -> None:
        """Enters what was counted of a whole function."""
        counts = self.found[what.stage]
        match what.kind, what.about:
            case "instance", _:
                counts.instances += total
            case "operation", str(name):
                counts.operations[name] = counts.operations.get(name, Total({})) + total
            case kind, Buffer() as buffer:
                those = counts.loads if kind == "load" else counts.stores
                those[buffer] = those.get(buffer, Total({})) + total

    def of(self, stmt: Stmt, at: Mapping[Node, Node]) -> _Found:
        """The work of one execution. `at`: what stands for the variables of origins."""
        match stmt:
            case Seq(parts=parts):
                return _together(self.of(p, at) for p in parts)
            case Alloc(origin=origin, body=body):
                values = replaced_all(tuple(value for _, value in origin), at)
                named = zip((var for var, _ in origin), values, strict=True)
                return self.of(body, {**at, **dict(named)})
            case If(condition=condition, body=body, otherwise=otherwise):
                (c,) = replaced_all((condition,), at)
                found = self._where(self.of(body, at), c)
                if otherwise is None:
                    return found
                return _together(
                    (found, self._where(self.of(otherwise, at), Op("not", (c,), bool_)))
                )
            case For(var=var, lo=lo, hi=hi, step=step, body=body):
                lo, hi = replaced_all((lo, hi), at)
                inside = self.of(body, at)
                if _reads(lo, hi):
                    return dict.fromkeys(inside, UNKNOWN)
                return {what: total.over(var, lo, hi, step) for what, total in inside.items()}
            case Stores():
                return self._stores(stmt, at)
            case _:
                return {}

    def _stores(self, stmt: Stores, at: Mapping[Node, Node]) -> _Found:
        found = _together(self._store(s, at) for s in stmt.stores)
        lanes = stmt.lanes
        if lanes is None:
            return found
        (lo,) = replaced_all((lanes.lo,), at)
        hi = ix.add(lo, integer(lanes.count * lanes.step))
        return {w: each.over(lanes.var, lo, hi, lanes.step) for w, each in found.items()}

    def _store(self, s: Store, at: Mapping[Node, Node]) -> _Found:
        stage = stage_of(s, self.names)
        self.found.setdefault(stage, Counts())
        one, found = Total.of(1), {}
        if s.origin is not None:
            found[_What(stage, "instance")] = one
        found[_What(stage, "store", s.buffer)] = Total.of(s.buffer.dtype.itemsize)
        needed = list(postorder(s.value, *s.index))
        for node in needed:
            if isinstance(node, Load):
                self._load(stage, node, at, found)
        (value,) = transform_all((s.value,), formula, self._formulas)
        for name in _operations(value):
            what = _What(stage, "operation", name)
            found[what] = found.get(what, Total({})) + one
        if s.guard is None:
            return found
        (guard,) = replaced_all((s.guard,), at)
        return self._where(found, guard)

    def _load(self, stage: str, node: Load, at: Mapping[Node, Node], found: _Found) -> None:
        what = _What(stage, "load", node.buffer)
        total = {what: Total.of(node.buffer.dtype.itemsize)}
        if node.guard is not None:
            (guard,) = replaced_all((node.guard,), at)
            total = self._where(total, guard)
        found[what] = found.get(what, Total({})) + total[what]

    def _where(self, found: _Found, condition: Node) -> _Found:
        """What is done where a condition holds; all of it, where data decide."""
        if _reads(condition):
            for what in found:
                self.found[what.stage].at_most = True
            return found
        return {what: total.where(condition) for what, total in found.items()}


def _together(parts: Iterable[_Found]) -> _Found:
    total: _Found = {}
    for part in parts:
        for what, each in part.items():
            total[what] = total[what] + each if what in total else each
    return {what: each.merged() for what, each in total.items()}


def _operations(value: Node) -> Iterator[str]:
    """The operators of a value, as "fma float32"; those of loops and sizes alone are an index."""
    outside = set(_outside_loads(value))
    data: set[Node] = set()
    for node in postorder(value):
        own = isinstance(node, Load | Param) or any(x in data for x in node.args)
        if own or (isinstance(node, Op) and dtype_of(node).is_float):
            data.add(node)
            if isinstance(node, Op) and node in outside and node.op not in _FREE:
                yield f"{node.op} {dtype_of(node.operands[-1]).name}"


_FREE = ("strict", "bitcast", "rarely")
"""Operators for which nothing is computed."""


def _outside_loads(value: Node) -> Iterator[Node]:
    """The nodes that are usually computed for a value, without the indices of loads."""
    waiting, seen = [value], {value}
    while waiting:
        node = waiting.pop()
        yield node
        for x in () if isinstance(node, Load) else needed_first(node):
            if x not in seen:
                seen.add(x)
                waiting.append(x)


def _reads(*nodes: Node) -> bool:
    return any(isinstance(n, Load) for n in postorder(*nodes))
