"""What a statement computes in one instance, by class of operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ...lang.arithmetic.math import expansion_of
from ...lang.nodes.dtypes import concrete
from ...lang.nodes.nodes import (
    Const,
    Node,
    Op,
    Param,
    Read,
    RVar,
    Size,
    Var,
    postorder,
    replaced_all,
)
from ...lang.nodes.ops import COMPARISONS, FUNCTIONS
from ...lang.nodes.rare import usually_computed
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.definitions import Definition
from ...poly.sets.linear import expanded
from ...poly.sets.simplify import reads_memory
from ...records import dataclass

CLASSES = {
    "add": "add", "sub": "add", "neg": "add", "absd": "add",
    "mul": "multiply", "fma": "multiply-add", "div": "divide", "sqrt": "root",
    "floordiv": "divide", "mod": "divide",
    "min": "select", "max": "select", "select": "select", "abs": "bits",
    "and": "bits", "or": "bits", "xor": "bits", "not": "bits", "shl": "bits", "shr": "bits",
    **dict.fromkeys(
        ("saturating_add", "saturating_sub", "halving_add", "rounding_halving_add"), "add",
    ),
    **dict.fromkeys(("saturating_mul", "mul_shift_right", "rounding_mul_shift_right"), "multiply"),
    **dict.fromkeys(
        ("rounding_shift_right", "popcount", "clz", "ctz", "rotate_left", "rotate_right",
         "bit_reverse", "byte_swap"), "bits",
    ),
    "floor": "round", "ceil": "round", "round": "round", "trunc": "round",
    "cast": "convert",
}  # fmt: skip
"""The class of each operator that a processor is asked for. Comparisons are selects; what only
says how bits are read is none."""

NAN = 3
"""Operators of a minimum of floats, which is NaN where either is."""

_FREE = frozenset({"bitcast", "strict"})


def operations(d: Definition) -> dict[str, int]:
    """How many operators of each class, with the type that it works in, one instance asks for:
    `{"multiply-add float32": 1}`. Functions such as exp count as the operators that they are made
    of, what occurs several times once, and the arithmetic of an index as far as it reads data."""
    if d.opaque is not None:
        return {}
    found: Counter[str] = Counter()
    for node in _computed((*d.values, *d.where)):
        found.update(_counted(node))
    return dict(sorted(found.items()))


Operations = tuple[tuple[str, int], ...]
"""Operators by class and type, and how many."""

Varying = tuple[tuple[str, tuple[bool, ...], int], ...]
"""Operators by class and type, apart for the loops that change their operands, and how many."""


def operations_by_loops(d: Definition, loops: Sequence[Node]) -> Varying:
    """The same, apart for the loops whose iterations change their operands: what none inside
    changes is computed outside of them.

    Args:
        loops: the dimensions of the statement in the order of its loops.
    """
    return operations_of(computed_of(d), loops)


def waiting_operations(d: Definition, names: Collection[Tensor]) -> Operations:
    """Those operators of an instance that need an element of some Funcs."""
    found: Counter[str] = Counter()
    needing: dict[Node, bool] = {}
    roots = (*d.values, *d.where)
    for node in postorder(*roots):
        own = isinstance(node, Read) and node.tensor in names
        needing[node] = own or any(needing[x] for x in node.args)
    for node in _computed(roots) if any(needing.values()) else ():
        if needing[node]:
            found.update(_counted(node))
    return tuple(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class Computed:
    """What a definition computes.

    Attributes:
        roots: its values and conditions.
        computed: the operators of these, each once.
    """

    roots: tuple[Node, ...]
    computed: frozenset[Node]


def computed_of(d: Definition, renamed: Mapping[Node, Node] = {}) -> Computed:
    """What a definition computes, where some of its dimensions have other names."""
    if d.opaque is not None:
        return Computed((), frozenset())
    roots = tuple(replaced_all((*d.values, *d.where), renamed)) if renamed else None
    roots = (*d.values, *d.where) if roots is None else roots
    return Computed(roots, frozenset(_computed(roots)))


def operations_of(values: Computed, loops: Sequence[Node], known: Collection[Node] = ()) -> Varying:
    """The operators of values, but for those that are known anyway, apart for the loops that change
    their operands."""
    found: Counter[tuple[str, tuple[bool, ...]]] = Counter()
    varies: dict[Node, frozenset[Node]] = {}
    inside = frozenset(loops)
    for node in postorder(*values.roots):
        own = frozenset((node,)) & inside
        varies[node] = own.union(*(varies[x] for x in node.args))
    for node in values.computed:
        if node in known:
            continue
        by = tuple(x in varies[node] for x in loops)
        for name, count in _counted(node).items():
            found[name, by] += count
    return tuple((name, by, count) for (name, by), count in sorted(found.items()))


def _computed(roots: Iterable[Node]) -> Iterable[Node]:
    """The operators of expressions, each once; those of an index only where data are in it."""
    pending = list(roots)
    done: set[Node] = set()
    while pending:
        node = pending.pop()
        if node in done:
            continue
        done.add(node)
        match node:
            case Read(index=index):
                pending += filter(reads_memory, index)
                yield from (x for x in postorder(*index) if _is_division(x) and not _wraps(x))
            case Op(op="select", operands=(condition, *_)) if _is_of_one_index(condition):
                # Each instance takes one of them: iterations of a short loop are unrolled.
                pending.append(max(_alternatives(node), key=_size))
            case Op(op="select", operands=(condition, *values)) if not reads_memory(condition):
                pending += values  # there are loops of their own for borders
            case Op(operands=operands):
                if _is_division(node) or not _is_index(node):
                    yield node
                pending += operands
            case _:
                pending += node.args


def _is_of_one_index(condition: Node) -> bool:
    """Whether a condition holds in one iteration of a loop, as those of a choice by channels do."""
    match condition:
        case Op(op="eq", operands=(Var() | RVar(), Const())):
            return True
    return False


def _alternatives(node: Node) -> list[Node]:
    """What a value may be, by the iteration of a loop."""
    found: list[Node] = []
    while isinstance(node, Op) and node.op == "select" and _is_of_one_index(node.operands[0]):
        _, one, node = node.operands
        found.append(one)
    return [*found, node]


def _size(node: Node) -> int:
    return sum(1 for _ in postorder(node))


def _is_index(node: Node) -> bool:
    """Whether a value is made of loops and sizes alone, which is kept in registers of its own."""
    return node.type is not None and not concrete(node.type).is_float and not reads_memory(node)


def _is_division(node: Node) -> bool:
    """Whether a processor has to divide integers for it."""
    return (
        isinstance(node, Op)
        and node.op in ("floordiv", "mod")
        and not isinstance(node.operands[1], Const)
    )


def _wraps(node: Node) -> bool:
    """Whether an index goes round an axis, as (x + 1) % n: it is itself but at an end, for which
    there are loops of their own."""
    if not isinstance(node, Op) or node.op != "mod" or reads_memory(node):
        return False
    terms, _ = expanded(node.operands[0])
    moving = [k for x, k in terms.items() if isinstance(x, Var | RVar)]
    rest = [x for x in terms if not isinstance(x, Var | RVar | Size | Param)]
    return not rest and len(moving) == 1 and abs(moving[0]) == 1


def _counted(node: Node) -> Counter[str]:
    assert isinstance(node, Op)
    if node.op in _FREE:
        return Counter()
    if node.op not in FUNCTIONS:
        operand = node.operands[-1] if node.op in COMPARISONS else node
        kind = CLASSES.get(node.op, "select")
        if node.op in ("floordiv", "mod") and not _is_division(node):
            kind = "multiply"  # by the reciprocal, and then shifted
        name = _type_name(operand)
        several = node.op in ("min", "max") and name.startswith("float")
        return Counter({f"{kind} {name}": NAN if several else 1})
    params, body = expansion_of(node)
    (value,) = replaced_all((body,), dict(zip(params, node.operands, strict=True)))
    known = set(postorder(*node.operands))
    found: Counter[str] = Counter()
    for inner in usually_computed(value):
        if isinstance(inner, Op) and inner not in known:
            found.update(_counted(inner))
    return found


def _type_name(node: Node) -> str:
    assert node.type is not None
    return concrete(node.type).name
