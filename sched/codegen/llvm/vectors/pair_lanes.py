"""Lanes in pairs: statements of bfloat16 that compute the even lanes first, then the odd ones.

A word of 32 bits has two bfloat16s. The even one is a float32 once it is shifted up, and the odd
one once the lower half is cleared; the other way round, two words of float32 are put into one. So
a vector is widened and rounded without a shuffle, where its float32 are not in the order of
memory. That is of no matter to operators, which work on each lane alone.

    memory     bfloat16                 x0 x1 x2 x3 x4 x5 x6 x7
    registers  float32, int32, bool     x0 x2 x4 x6 x1 x3 x5 x7

Values of 16 bits stay in the order of memory. float32 on the stack lie in memory as always: where
registers hold them all the same, LLVM finds that what is sorted on the way in comes back out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....lang.nodes.dtypes import DType, bfloat16, bool_, float32, int32, uint32
from ....lang.nodes.nodes import Node, Op, leaves_below, postorder
from ....targets.target import Target
from ...ir import ir
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import shuffled
from ..text.values import Value

_WORDS = frozenset({float32, int32, uint32, bool_})
"""What is in pairs."""


def are_in_pairs(stmt: ir.Stores, target: Target | None) -> bool:
    """Whether the lanes of a statement are computed in pairs: where it fills whole registers with
    float32s, of which memory has all as bfloat16s."""
    lanes = stmt.lanes
    if lanes is None or target is None or target.arch != "x86_64" or not target.has("avx2"):
        return False
    if lanes.folds or lanes.count % (2 * target.lanes(uint32)):
        return False
    if not all(_is_held(s.buffer) and not _has_loads(s.guard) for s in stmt.stores):
        return False
    nodes = list(_varying(stmt, lanes))
    dtypes = {s.buffer.dtype for s in stmt.stores} | {ir.dtype_of(n) for n in nodes}
    return bfloat16 in dtypes and all(map(_keeps_order, nodes))


def evens_first(b: FunctionBuilder, x: Value) -> Value:
    """Lanes in the order of memory as pairs."""
    return shuffled(b, x, x, [*range(0, x.lanes, 2), *range(1, x.lanes, 2)])


def in_order(b: FunctionBuilder, x: Value) -> Value:
    """Lanes in pairs in the order of memory."""
    half = x.lanes // 2
    order = [k // 2 + k % 2 * half for k in range(x.lanes)]
    return shuffled(b, x, x, order)


def _varying(stmt: ir.Stores, lanes: ir.Lanes) -> Iterator[Node]:
    """What is computed or loaded in each lane, without what says where."""
    seen: set[Node] = set()
    waiting = [s.value for s in stmt.stores]
    while waiting:
        node = waiting.pop()
        if node in seen or lanes.var not in leaves_below(node):
            continue
        seen.add(node)
        yield node
        waiting += () if isinstance(node, ir.Load) else node.args


def _keeps_order(node: Node) -> bool:
    """Whether a value is in its order if those that it is made of are in theirs."""
    match node:
        case ir.Load(buffer=buffer, index=index, guard=guard):
            return _is_held(buffer) and not any(map(_has_loads, (*index, guard)))
        case Op(op=op, operands=operands):
            dtypes = {ir.dtype_of(node), *map(ir.dtype_of, operands)}
            if op == "cast":
                return dtypes <= _WORDS | {bfloat16}
            # What chooses among halves has conditions, which are in pairs.
            return dtypes <= _WORDS or dtypes == {bfloat16}
        case _:
            return False


def _is_held(buffer: ir.Buffer) -> bool:
    """Whether it has bfloat16s, or float32s that registers may hold."""
    dtype: DType = buffer.dtype
    return dtype == bfloat16 or (dtype == float32 and buffer.kind == "stack")


def _has_loads(node: Node | None) -> bool:
    return node is not None and any(isinstance(n, ir.Load) for n in postorder(node))
