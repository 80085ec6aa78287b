"""Types of trees, and their values at a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .arithmetic import applied, bitcast, converted, fused, scaled
from .integers import COUNTED, OF_INTEGERS, saturated
from .trees import Tree
from .types import NARROW, WEAK, bits, concrete, float_of, join, kind

Types = Callable[[Tree], str | None]
"""The type of a read; None where it is not known yet."""

Known = dict[int, tuple[Tree, str | None]]
"""Types of trees by identity, each with its tree: the next one could have the identity of one that
is gone."""


# types ------------------------------------------------------------------------------------------
def type_of(root: Tree, read: Types, known: Known) -> str | None:
    """The type of a tree; `known` keeps what was found."""
    if root.op == "held":  # the result of a reduction so far
        return type_of(root.extra, read, known)
    if id(root) not in known:
        operands = [type_of(a, read, known) for a in root.operands]
        known[id(root)] = root, _type(root, operands, read)
    return known[id(root)][1]


def _type(tree: Tree, operands: list[str | None], read: Types) -> str | None:
    match tree.op:
        case "number":
            return str(tree.extra[1])
        case "symbol":
            return str(tree.extra[1])
        case "read":
            return read(tree)
        case "cast" | "bitcast" | "saturating_cast":
            return str(tree.extra)
        case "<" | "<=" | ">" | ">=" | "==" | "!=":
            return "bool"
        case "strict" | "trace":
            return operands[0]
        case "reduce":
            found: str | None = tree.extra.type(operands)
            return found
        case "select":
            return join(operands[1:])
        case "ldexp":
            return operands[0] and float_of(operands[0])
        case op if op in COUNTED:
            return join(operands[:-1])
    t = join(operands)
    if t is None or (None in operands and kind(t) != "f"):
        return _of_known(tree.op, t)
    return _working(tree.op, t)


def _of_known(op: str, t: str | None) -> str | None:
    """The type as far as it follows from the operands that are known, of the common type `t`: what
    is divided may turn out to be a float, and what is shifted an integer."""
    if t is None or op == "/":
        return None
    return t if t == "bool" and op in ("<<", ">>") else _working(op, t)


def _working(op: str, t: str) -> str:
    """The type in which operands of the common type `t` are combined."""
    if op == "/" and kind(t) != "f":
        return "weak float" if t in WEAK else "float64"
    if op == "sqrt":
        return float_of(t)
    if op in ("<<", ">>") and t == "bool":
        return "int64"
    if op.startswith("widening"):
        return f"{np.dtype(concrete(t)).name.rstrip('0123456789')}{2 * bits(t)}"
    return f"uint{bits(t)}" if op == "absd" and kind(t) != "f" else t


# values -----------------------------------------------------------------------------------------
class Point:
    """Values at one point: what is shared is computed once.

    Args:
        values: of sizes, Params, Vars and RVars by name.
        types: those of all trees.
        load: the value of a read of something at an index.
        reduce: the value of a reduction.
    """

    def __init__(
        self, values: Mapping[Any, Any], types: Callable[[Tree], str],
        load: Callable[[Tree, tuple[int, ...]], Any], reduce: Callable[[Tree], Any],
    ) -> None:  # fmt: skip
        self.values = values
        self.types = types
        self.load = load
        self.reduce = reduce
        #: Each value with its tree, as another tree could have the identity of one that is gone.
        self.known: dict[tuple[int, bool], tuple[Tree, Any]] = {}

    def value(self, tree: Tree, to: str | None = None, strict: bool = False) -> Any:
        """In its own type, or converted."""
        own = self.types(tree)
        if to is not None and to != own:
            return self._adapted(tree, own, to, strict)
        if (id(tree), strict) not in self.known:
            self.known[id(tree), strict] = tree, self._compute(tree, concrete(own), strict)
        return self.known[id(tree), strict][1]

    def _adapted(self, tree: Tree, own: str, to: str, strict: bool) -> Any:
        """A literal, or a choice between such, takes the type of its neighbours."""
        if own in WEAK and tree.op == "number":
            return converted(tree.extra[0], concrete(own), to)
        if own in WEAK and tree.op == "select" and concrete(own) != to:
            chosen = tree.operands[1 if self.value(tree.operands[0], None, strict) else 2]
            return self.value(chosen, to, strict)
        return converted(self.value(tree, None, strict), concrete(own), to)

    def _compute(self, tree: Tree, t: str, strict: bool) -> Any:
        operands = tree.operands
        match tree.op:
            case "number":
                return converted(tree.extra[0], concrete(tree.extra[1]), t)
            case "symbol":
                return self.values[tree.extra[0]]
            case "read":
                return self.load(tree, tuple(self.index(a) for a in operands))
            case "strict" | "trace":
                return self.value(operands[0], None, strict or tree.op == "strict")
            case "cast" | "bitcast":
                source = concrete(self.types(operands[0]))
                change = converted if tree.op == "cast" else bitcast
                return change(self.value(operands[0], source, strict), source, t)
            case "<" | "<=" | ">" | ">=" | "==" | "!=":
                return self._compared(tree, strict)
            case "absd":
                return self._distance(tree, strict)
            case "saturating_cast":
                source = concrete(self.types(operands[0]))
                return saturated(self.value(operands[0], source, strict), t)
            case op if op in OF_INTEGERS:
                return self._of_integers(tree, t, strict)
            case "+" | "-" if kind(t) == "f" and t not in NARROW and not strict:
                return self._sum(tree, t)
        return self._operator(tree, t, strict)

    def _operator(self, tree: Tree, t: str, strict: bool) -> Any:
        """Of what is computed in the type of its result."""
        operands = tree.operands
        match tree.op:
            case "held":
                return self.values[tree]
            case "reduce":
                return self.reduce(tree)
            case "select":
                chosen = operands[1 if self.value(operands[0], None, strict) else 2]
                return self.value(chosen, t, strict)
            case "fma":
                return fused(*(self.value(a, t, strict) for a in operands), t)
            case "ldexp":
                exponent = self.value(operands[1], None, strict)
                return scaled(self.value(operands[0], t, strict), exponent, t)
            case "floor" | "ceil" | "round" | "trunc" if kind(t) != "f":
                return self.value(operands[0], t, strict)
        return applied(tree.op, t, *(self.value(a, t, strict) for a in operands))

    def index(self, tree: Tree) -> int:
        """A value first, in its own type; then it is widened."""
        return int(self.value(tree))

    def _compared(self, tree: Tree, strict: bool) -> bool:
        """Integers exactly, whatever their types; others in their common type."""
        types = [self.types(a) for a in tree.operands]
        common = join(types)
        assert common is not None
        if any(kind(x) == "f" for x in types):
            pair = [self.value(a, concrete(common), strict) for a in tree.operands]
        else:
            pair = [self.value(a, None, strict) for a in tree.operands]
        return bool(applied(tree.op, "int64", *pair))

    def _of_integers(self, tree: Tree, t: str, strict: bool) -> int:
        """A count is a value by itself; the other operands have the common type of these."""
        count = [self.value(tree.operands[-1], None, strict)] if tree.op in COUNTED else []
        values = tree.operands[: len(tree.operands) - len(count)]
        common = join(self.types(a) for a in values)
        assert common is not None
        given = [self.value(a, concrete(common), strict) for a in values]
        return OF_INTEGERS[tree.op](t, *given, *count)

    def _distance(self, tree: Tree, strict: bool) -> Any:
        """In the common type of the operands; of floats it is that of their difference."""
        common = join(self.types(a) for a in tree.operands)
        assert common is not None
        t = concrete(common)
        if kind(t) == "f" and t not in NARROW and not strict:
            return abs(self._sum(Tree("-", *tree.operands), t))
        x, y = (self.value(a, t, strict) for a in tree.operands)
        return abs(applied("-", t, x, y)) if kind(t) == "f" else abs(x - y)

    # sums -----------------------------------------------------------------------------------
    def _sum(self, tree: Tree, t: str) -> Any:
        """One of two terms may be a product, which is fused: the right one first."""
        x, y = tree.operands
        minus = tree.op == "-"
        right, left = self._product(y, t), self._product(x, t)
        if right is not None:
            a, b = right
            return fused(-a if minus else a, b, self.value(x, t), t)
        if left is not None:
            a, b = left
            other = self.value(y, t)
            return fused(a, b, -other if minus else other, t)
        return applied(tree.op, t, self.value(x, t), self.value(y, t))

    def _product(self, tree: Tree, t: str) -> tuple[Any, Any] | None:
        """The factors, the first one with the sign of all negations; None if it is no product, or
        one of another type, which is rounded before it is converted."""
        sign = 1
        while (tree.op == "neg" and concrete(self.types(tree)) == t) or self._changes_nothing(tree):
            (tree,), sign = tree.operands, -sign if tree.op == "neg" else sign
        if tree.op != "*" or concrete(self.types(tree)) != t:
            return None
        a, b = (self.value(x, t) for x in tree.operands)
        return (-a if sign < 0 else a), b

    def _changes_nothing(self, tree: Tree) -> bool:
        """Whether it is a cast to the type that there is."""
        return tree.op == "cast" and self.types(tree.operands[0]) == tree.extra
