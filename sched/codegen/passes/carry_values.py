"""Values that an iteration reads from earlier iterations are carried in registers.

for v in [lo, hi): A[v] = A[v - 1] + B[v]   ->   for v in [lo, lo + 1): A[v] = A[v - 1] + B[v]
                                                                        c[0] = A[v]
                                                 for v in [lo + 1, hi): A[v] = c[0] + B[v]
                                                                        c[0] = A[v]

`c` is on the stack, with constant indices: LLVM keeps it in a register, so that an iteration does
not wait for memory. The first iterations, which have none before them, read A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, Op, Var, integer, postorder, replaced_all
from ...lang.nodes.ops import COMPARISONS
from ...poly.sets.linear import coefficient, expanded
from ...poly.sets.simplify import TRUE
from ...records import dataclass, replace
from ..ir.inequalities import as_sums
from ..ir.ir import (
    Alloc,
    Buffer,
    For,
    Load,
    Module,
    Prefetch,
    Seq,
    Stmt,
    Store,
    Stores,
    expressions,
    map_children,
    walk,
)
from ..ir.rewrite import map_tree_expressions
from ..ir.simplify import assuming

FARTHEST = 3
"""How many iterations back values are carried."""

Parts = tuple[tuple[Stmt, Store | None], ...]
"""The statements of a body, each with its store; None for what fetches early."""


def carry_values(module: Module) -> Module:
    """Innermost loops of single elements that read what they have stored before."""
    carrier = _Carrier()
    functions = tuple(replace(f, body=carrier.stmt(f.body)) for f in module.functions)
    if functions == module.functions:
        return module
    return replace(module, functions=functions, buffers=(*module.buffers, *carrier.buffers))


@dataclass
class _Carrier:
    buffers: list[Buffer] = field(default_factory=list)

    def stmt(self, stmt: Stmt) -> Stmt:
        """All loops of a statement."""
        match stmt:
            case For(body=body, kind="serial", step=1) if parts := _only_stores(body):
                return self._carried(stmt, parts)
            case _:
                return map_children(stmt, self.stmt)

    def _carried(self, loop: For, parts: Parts) -> Stmt:
        stores = tuple(s for _, s in parts if s is not None)
        nodes = postorder(*expressions(Stores(stores)))
        loads = [n for n in nodes if isinstance(n, Load)]
        # Where an element is may depend on what the loop changes, and then it is another one.
        steady = _steady(frozenset(s.buffer for s in stores))
        bounds = (loop.lo, loop.hi)
        if not all(map(steady, (*bounds, *(x for s in stores for x in s.index)))):
            return loop
        loads = [n for n in loads if all(map(steady, n.index))]
        kept: dict[Store, int] = {}
        values: dict[Load, tuple[Store, int]] = {}
        for load in loads:
            found = _stored_before(load, stores, loop.var)
            if found is not None:
                values[load] = found
                store, back = found
                kept[store] = max(kept.get(store, 0), back)
        if not kept:
            return loop
        most = max(kept.values())
        names = {s: self._buffer(s.buffer, back) for s, back in kept.items()}
        noted = [x for part, s in parts for x in _noted(part, s, names)]
        body = Seq((*noted, *(_shift(names[s], back) for s, back in kept.items())))
        known: dict[Node, Node] = {}
        for load, (store, back) in values.items():
            held = Load(names[store], (integer(back - 1),), None, load.type)
            known[load] = _under(load.guard, held)
        start = ix.minimum((ix.add(loop.lo, integer(most)), loop.hi))
        first = _renamed(replace(loop, hi=start, body=body), len(self.buffers))
        inside = map_tree_expressions(body, lambda n: known.get(n, n))
        begin = ix.add(loop.lo, integer(most))
        always = dict.fromkeys(_always(inside, loop.var, begin), TRUE)
        rest = replace(loop, lo=start, body=assuming(inside, always) if always else inside)
        return Alloc(tuple(names.values()), (), Seq((first, rest)))

    def _buffer(self, of: Buffer, count: int) -> Buffer:
        name = f"{of.name}.carried{len(self.buffers)}"
        made = Buffer(name, of.dtype, (integer(count + 1),), (ix.ZERO,), "stack")
        self.buffers.append(made)
        return made


def _only_stores(body: Stmt) -> Parts:
    """The stores of a body that does nothing else but to fetch early, one element at a time, and
    all of them always; none if it is no such body."""
    found: list[tuple[Stmt, Store | None]] = []
    for part in body.parts if isinstance(body, Seq) else (body,):
        if isinstance(part, Prefetch):
            found.append((part, None))
            continue
        if not isinstance(part, Stores) or part.lanes is not None or len(part.stores) != 1:
            return ()
        (store,) = part.stores
        if store.guard is not None or store.atomic or store.buffer.strided:
            return ()
        found.append((part, store))
    return tuple(found)


def _steady(changed: frozenset[Buffer]) -> Callable[[Node], bool]:
    """Whether an expression does not read what is stored in some buffers."""
    return lambda root: (
        not any(isinstance(n, Load) and n.buffer in changed for n in postorder(root))
    )


def _stored_before(load: Load, stores: tuple[Store, ...], var: Var) -> tuple[Store, int] | None:
    """Which store has stored what is loaded, and how many iterations ago, if none since did."""
    own = [s for s in stores if s.buffer is load.buffer]
    for s in own:
        for back in range(1, FARTHEST + 1):
            if _is_ahead(load.index, s.index, var, back):
                others = (o for o in own if o is not s)
                return (s, back) if all(_is_disjoint(s, o, var) for o in others) else None
    return None


def _is_ahead(load: tuple[Node, ...], store: tuple[Node, ...], var: Var, back: int) -> bool:
    """Whether a load is, some iterations later, where a store was, which is elsewhere each time."""
    steps = [coefficient(x, var) for x in store]
    numbers = [None if x is None else ix.constant(x) for x in steps]
    if None in numbers or not any(numbers):
        return False
    later: dict[Node, Node] = {var: ix.add(var, integer(back))}
    moved = replaced_all(load, later)
    return all(expanded(a) == expanded(b) for a, b in zip(moved, store, strict=True))


def _is_disjoint(s: Store, other: Store, var: Var) -> bool:
    """Whether two stores write different elements, in whichever iterations: other rows, or, where
    an iteration writes several of one, others of them."""
    if s.buffer.fold is not None:
        return False
    for x, y in zip(s.index, other.index, strict=True):
        (terms, first), (others, second) = expanded(x), expanded(y)
        step = terms.get(var, 0)
        alone = not any(var in postorder(n) for n in terms if n is not var)
        distance = (first - second) % step if step else first - second
        if terms == others and alone and distance:
            return True
    return False


def _noted(part: Stmt, s: Store | None, names: Mapping[Store, Buffer]) -> Iterator[Stmt]:
    """A store, and at once its value beside those that are carried: behind another store, LLVM
    could not tell any more what the element is."""
    yield part
    if s is not None and s in names:
        new = integer(_count(names[s]))
        yield Stores((Store(names[s], (new,), Load(s.buffer, s.index, None, s.buffer.dtype)),))


def _shift(carried: Buffer, count: int) -> Stmt:
    """Each value one iteration older, and the new one."""
    before = [count, *range(count - 1)]
    return Stores(
        tuple(
            Store(carried, (integer(k),), Load(carried, (integer(old),), None, carried.dtype))
            for k, old in enumerate(before)
        )
    )


def _count(carried: Buffer) -> int:
    """How many values are carried; the new one stands behind them."""
    extent = ix.constant(carried.extents[0])
    assert extent is not None
    return extent - 1


def _under(guard: Node | None, held: Load) -> Node:
    """What a load gives: 0 where it does not happen."""
    if guard is None:
        return held
    return Op("select", (guard, held, Const(0, held.type)), held.type)


def _always(body: Stmt, var: Var, begin: Node) -> Iterator[Node]:
    """The comparisons that hold from an iteration on."""
    nodes = (n for s in walk(body) for n in postorder(*expressions(s)))
    for n in dict.fromkeys(nodes):
        if isinstance(n, Op) and n.op in COMPARISONS and var in postorder(n):
            found = as_sums(n)
            if found is not None and all(_rises(*s, var, begin) for s in found):
                yield n


def _rises(terms: frozenset[tuple[Node, int]], constant: int, var: Var, begin: Node) -> bool:
    """Whether a sum is >= 0 from an iteration on."""
    step = dict(terms).get(var, 0)
    rest = [(x, k) for x, k in terms if x is not var]
    if step <= 0 or any(var in postorder(x) for x, _ in rest):
        return False
    total = ix.mul(begin, integer(step))
    for x, k in rest:
        total = ix.add(total, ix.mul(x, integer(k)))
    left, number = expanded(total)
    return not left and number + constant >= 0


def _renamed(loop: For, number: int) -> For:
    """A loop over the same iterations with a new variable."""
    var = Var(f"{loop.var.name}.{number}c")
    body = map_tree_expressions(loop.body, lambda n: var if n is loop.var else n)
    return replace(loop, var=var, body=body)
