"""Expressions as trees, written by Python's operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import Unknown


class Tree:
    """An operator and its operands, which are Trees.

    Attributes:
        extra: a number, a name, a type, or what is read, as the operator has it.
    """

    __array_ufunc__ = None  # NumPy's scalars leave operators to us

    def __init__(self, op: str, *operands: Tree, extra: Any = None) -> None:
        self.op = op
        self.operands = operands
        self.extra = extra

    def __bool__(self) -> bool:
        raise Unknown("an expression has no truth value")

    def __pos__(self) -> Tree:
        return self

    def __pow__(self, exponent: Any) -> Tree:
        if exponent == 0.5:
            return Tree("sqrt", self)
        if exponent < 0:
            return 1 / self.__pow__(-exponent)
        if exponent == 1:
            return self
        if exponent == 0:
            raise Unknown("a power of 0")
        half = self ** (exponent // 2)
        return half * half * self if exponent % 2 else half * half

    def walk(self) -> Iterator[Tree]:
        """Itself and all that it is made of, each once."""
        stack, seen = [self], set()
        while stack:
            tree = stack.pop()
            if id(tree) not in seen:
                seen.add(id(tree))
                yield tree
                stack += tree.operands


def tree(x: Any) -> Tree:
    """A number or an expression."""
    if isinstance(x, Tree):
        return x
    if isinstance(x, (bool, np.bool_)):
        return Tree("number", extra=(bool(x), "bool"))
    if isinstance(x, np.generic):
        value = x if x.dtype.kind in "fV" else x.item()
        return Tree("number", extra=(value, x.dtype.name))
    if isinstance(x, int):
        return Tree("number", extra=(x, "weak int"))
    if isinstance(x, float):
        return Tree("number", extra=(np.float64(x), "weak float"))
    raise Unknown(f"{type(x).__name__} in an expression")


def _binary(op: str, flipped: bool) -> Any:
    def method(self: Tree, other: Any) -> Tree:
        a, b = (other, self) if flipped else (self, other)
        return Tree(op, tree(a), tree(b))

    return method


_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
for _name, _op in _BINARY.items():
    setattr(Tree, f"__{_name}__", _binary(_op, flipped=False))
    setattr(Tree, f"__r{_name}__", _binary(_op, flipped=True))
for _name, _op in _COMPARE.items():
    setattr(Tree, f"__{_name}__", _binary(_op, flipped=False))
for _name, _op in {"neg": "neg", "abs": "abs", "invert": "not"}.items():
    setattr(Tree, f"__{_name}__", lambda self, op=_op: Tree(op, self))
Tree.__hash__ = object.__hash__  # type: ignore[method-assign]
