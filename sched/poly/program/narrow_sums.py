"""Which definitions add up in floats of 16 bits, whose digits a sum soon exceeds, and along which
dimensions their terms come."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.nodes.dtypes import DType
from ...lang.nodes.nodes import Node, Op, Read, RVar, Var, postorder
from ...lang.tensors.definitions import Definition

#: The operands that an operator leaves as they are, or chooses from.
_PASSED = {"cast": (0,), "strict": (0,), "select": (1, 2), "min": (0, 1), "max": (0, 1)}
#: The operands that it adds to, or multiplies, and which of the two it does.
_TERMS = {
    "add": ((0, 1), "sum"), "sub": ((0,), "sum"), "fma": ((2,), "sum"), "mul": ((0, 1), "product"),
}  # fmt: skip

Found = frozenset[tuple[Read, str]]
"""Reads of an older element, each with what was done to it: "" if nothing was."""


def sums_in_16_bits(d: Definition) -> dict[DType, frozenset[Var | RVar]]:
    """The 16-bit floats in which a definition accumulates sums or products, each with the
    dimensions along which terms come: loops and RVars whose iterations write one element, and
    dimensions whose element depends on those before it."""
    found: dict[DType, frozenset[Var | RVar]] = {}
    for component, dtype in enumerate(d.func.dtypes):
        if not dtype.is_narrow or d.opaque is not None:
            continue
        for read in _accumulated(d, component):
            if along := frozenset(_along(d, read)):
                found[dtype] = found.get(dtype, frozenset()) | along
    return found


def _accumulated(d: Definition, component: int) -> Iterator[Read]:
    """The reads of other elements, or of older ones, that are summands or factors of a value."""
    root = d.values[component]
    known: dict[Node, Found] = {}
    for n in postorder(root):
        if isinstance(n, Read) and n.tensor is d.func and n.component == component:
            known[n] = frozenset({(n, "")})
        elif isinstance(n, Op):
            known[n] = _through(n, known)
    for read, done in known.get(root, frozenset()):
        if done:
            yield read


def _through(n: Op, known: dict[Node, Found]) -> Found:
    """What an operator makes of reads in its operands. A sum of products, as of a filter, is no
    sum of the reads in these."""
    none: Found = frozenset()
    places, does = (_PASSED.get(n.op, ()), "") if n.op not in _TERMS else _TERMS[n.op]
    operands = [known.get(n.operands[k], none) for k in places]
    if does == "product" and all(operands):  # a square has no other factor
        return none
    reads = (pair for operand in operands for pair in operand)
    return frozenset((read, does or done) for read, done in reads if done in ("", does or done))


def _along(d: Definition, read: Read) -> Iterator[Var | RVar]:
    if read.index == d.lhs:
        yield from (x for x in (*d.loops, *d.rvars) if x not in d.lhs)
        return
    for own, index in zip(d.lhs, read.index, strict=True):
        if own != index and isinstance(own, Var | RVar) and own in postorder(index):
            yield own
