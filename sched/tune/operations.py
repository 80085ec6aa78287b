"""What a statement computes in one instance, by class of operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..lang.arithmetic.math import expansion
from ..lang.nodes.dtypes import concrete
from ..lang.nodes.nodes import Node, Op, Read, postorder, replaced_all
from ..lang.nodes.ops import COMPARISONS, FUNCTIONS
from ..lang.tensors.definitions import Definition
from ..poly.sets.simplify import reads_memory

CLASSES = {
    "add": "add", "sub": "add", "neg": "add", "absd": "add",
    "mul": "multiply", "fma": "multiply-add", "div": "divide", "sqrt": "root",
    "floordiv": "divide", "mod": "divide",
    "min": "select", "max": "select", "select": "select", "abs": "bits",
    "and": "bits", "or": "bits", "xor": "bits", "not": "bits", "shl": "bits", "shr": "bits",
    "floor": "round", "ceil": "round", "round": "round", "cast": "convert",
}  # fmt: skip
"""The class of each operator that a processor is asked for. Comparisons are selects; what only
says how bits are read is none."""

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
            case Op(operands=operands):
                yield node
                pending += operands
            case _:
                pending += node.args


def _counted(node: Node) -> Counter[str]:
    assert isinstance(node, Op)
    if node.op in _FREE:
        return Counter()
    if node.op not in FUNCTIONS:
        operand = node.operands[-1] if node.op in COMPARISONS else node
        kind = CLASSES.get(node.op, "select")
        return Counter({f"{kind} {_type_name(operand)}": 1})
    assert node.type is not None
    params, body = expansion(node.op, concrete(node.type))
    (value,) = replaced_all((body,), dict(zip(params, node.operands, strict=True)))
    known = set(postorder(*node.operands))
    found: Counter[str] = Counter()
    for inner in postorder(value):
        if isinstance(inner, Op) and inner not in known:
            found.update(_counted(inner))
    return found


def _type_name(node: Node) -> str:
    assert node.type is not None
    return concrete(node.type).name
