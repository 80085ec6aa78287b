"""Range analysis: bounds of the integers that a Func may hold, over sizes and Params. The result of
argmin over [0, n) is an index below n, so `c[lab[r]]` needs no clamp.

A bound follows from all definitions of a Func, wherever they run. Where an update passes on the
value that was there, as `select(better, k, best)` does, that adds nothing to the range. Arithmetic
that may overflow its type has no bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from ..arguments.value_bounds import CHOOSE, KEPT, RULES, UNKNOWN, Range, fits, hull, short, typed
from ..nodes import index as ix
from ..nodes.dtypes import DType, concrete
from ..nodes.nodes import Const, Node, Op, Param, Read, RVar, Size, Var, integer, postorder
from ..tensors.definitions import Definition
from ..tensors.inout import InOut
from ..tensors.tensors import Const as Table, Func, Input
from ..tensors.trace import Trace

Key = tuple[Func, int]
"""A component of a Func."""


_found: WeakKeyDictionary[Func, dict[int, Range]] = WeakKeyDictionary()


def value_range(func: Func, component: int) -> Range:
    """The range of the values of a complete Func."""
    path: list[Key] = [(func, component)] if _is_open(func, component) else []
    while path:
        needed = next((k for k in _needs(*path[-1]) if k not in path), None)
        if needed is None:
            last, number = path.pop()
            _found.setdefault(last, {})[number] = _range_of(last, number)
        else:
            path.append(needed)
    return _found.get(func, {}).get(component, UNKNOWN)


def _is_open(func: Func, component: int) -> bool:
    """Whether a Func is complete and its range has not been computed yet."""
    return func.history.completed_by is not None and component not in _found.get(func, ())


def _needs(func: Func, component: int) -> Iterator[Key]:
    """The ranges on which that of a Func depends. In a cycle of Funcs, one of them counts as
    unknown."""
    for d in _definitions(func):
        bounds = (b for r in (*d.loops, *d.rvars) for b in (r.lo, r.hi))
        for n in postorder(d.values[component], *bounds):
            match n:
                case Read(tensor=Func() as other, component=c) if _type(n).is_int:
                    if _is_open(other, c):
                        yield other, c


def _definitions(func: Func) -> tuple[Definition, ...]:
    """The definitions whose values a read may see; none where it may also see values that no
    definition describes: those of an InOut or of an extern stage."""
    definitions = func.history.typed()
    if isinstance(func, InOut) or any(d.opaque is not None for d in definitions):
        return ()
    # A read never sees the initial value of a reduction whose domain is checked to be not empty.
    return tuple(d for d in definitions if d.is_update or not func.nonempty)


def _range_of(func: Func, component: int) -> Range:
    parts = [_of_definition(d, component) for d in _definitions(func)]
    parts = [p for p in parts if p.adds]
    return typed(hull(parts), func.dtypes[component]) if parts else UNKNOWN


def _of_definition(d: Definition, component: int) -> Range:
    """The range of the values of one definition."""
    own, value = (d.func, component), d.values[component]
    around: dict[str, Range] = {}
    if d.func.extents is not None:
        for x, extent in zip(d.lhs, d.func.extents, strict=True):
            if isinstance(x, Var):
                around[x.name] = Range(ix.ZERO, ix.sub(extent, ix.ONE))
    for r in (*d.loops, *d.rvars):
        lo, hi = (_of_node(bound, around, None) for bound in (r.lo, r.hi))
        around[r.name] = Range(lo.lo, None if hi.hi is None else ix.sub(hi.hi, ix.ONE))
    return _of_node(value, around, own)


def _of_node(root: Node, around: dict[str, Range], own: Key | None) -> Range:
    known: dict[Node, Range] = {}
    for node in postorder(root):
        found = _step(node, known, around, own)
        known[node] = found if not found.adds else typed(short(found), _type(node))
    return known[root]


def _step(node: Node, known: dict[Node, Range], around: dict[str, Range], own: Key | None) -> Range:
    if _type(node).is_float:
        return UNKNOWN
    match node:
        case Const(value=value):
            return Range(integer(int(value)), integer(int(value)))
        case Size() | Param():
            return Range(node, node) if _type(node).is_int else UNKNOWN
        case Var(name=name) | RVar(name=name):
            return around.get(name, UNKNOWN)
        case Read():
            return _of_read(node, own)
        case Trace(value=value):
            return known[value]
        case Op(op="cast", operands=(a,)):
            source, target = _type(a), _type(node)
            widens = target.is_int and target.min <= source.min and source.max <= target.max
            found = UNKNOWN if source.is_float else known[a]
            return found if widens or (found.adds and fits(found, target)) else UNKNOWN
        case Op(op=op, operands=operands) if op in RULES:
            if not all(_type(a).is_int or _type(a).is_bool for a in operands):
                return UNKNOWN
            found = RULES[op](*(known[a] for a in operands))
            return found if op in CHOOSE or fits(found, _type(node)) else UNKNOWN
        case _:
            return UNKNOWN


def _of_read(node: Read, own: Key | None) -> Range:
    match node.tensor:
        case Input(range=(lo, hi)):
            return Range(lo, ix.sub(hi, ix.ONE))
        case Table(data=data) if data.size:
            return Range(integer(int(data.min())), integer(int(data.max())))
        case Func() as func:
            key = func, node.component
            return KEPT if key == own else _found.get(func, {}).get(node.component, UNKNOWN)
        case _:
            return UNKNOWN


def _type(node: Node) -> DType:
    assert node.type is not None
    return concrete(node.type)
