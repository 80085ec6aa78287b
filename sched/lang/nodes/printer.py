"""Expressions as text, in the spelling that a user would write."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .dtypes import DType, bool_, int64
from .nodes import Const, Node, Op, Param, Read, RVar, Size, Var, postorder, substitute, transform
from .ops import OPS

if TYPE_CHECKING:
    from .tensor import Tensor

Names = Mapping["Tensor", str]
"""The names to print for tensors; a tensor without an entry is printed by its own name."""

Texts = dict[Node, tuple[str, int]]
"""The text of each node and how tightly it binds."""

_LIMIT = 20_000  # characters that a subexpression may have
_LINE = 100  # from here on, repeated parts are named
_REPEATED = 16  # characters of a part that is worth a name


def expr_text(root: Node, names: Names | None = None) -> str:
    """The expression in Python's syntax; a subexpression too long to repeat is elided."""
    text: Texts = {}
    for node in postorder(root):
        text[node] = _one(node, text, names or {})
    return text[root][0]


def written_text(root: Node) -> str:
    """The expression in Python's syntax, with inline reductions as the user wrote them in place of
    reads of the Funcs made of them."""

    def rule(node: Node) -> Node:
        if isinstance(node, Read) and node.tensor.made_of is not None:
            reduction, index = node.tensor.made_of
            # Its body reads the Funcs made of reductions inside of it.
            whole = transform(reduction, rule)
            return substitute(whole, dict(zip(index, node.index, strict=True)))
        return node

    return expr_text(transform(root, rule))


def code_text(root: Node) -> str:
    """Python code that builds the expression, where its symbols and `ps` are defined."""
    text: Texts = {}
    for node in postorder(root):
        text[node] = _code(node, text)
    return text[root][0]


_PUBLIC = {"min": "minimum", "max": "maximum", "round": "rint"}
"""The public names of functions whose operators have other names."""


def _code(node: Node, text: Texts) -> tuple[str, int]:
    match node:
        case Op(op="cast" | "bitcast" | "saturating_cast" as op, operands=(a,), type=t):
            return f"ps.{op}(ps.{'bool_' if t is bool_ else t}, {text[a][0]})", 100
        case Op(op=op, operands=operands) if OPS[op].symbol is None:
            return f"ps.{_PUBLIC.get(op, op)}({', '.join(text[a][0] for a in operands)})", 100
        case _:
            return _one(node, text, {})


def index_text(index: Sequence[Node], names: Names | None = None) -> str:
    """The text between the brackets of a read; casts of an index to 64 bits are left out."""
    return ", ".join(expr_text(_unwidened(x), names) for x in index) or "()"


def written_index(index: Sequence[Node]) -> str:
    """The text between the brackets of a read, with inline reductions as the user wrote them."""
    return ", ".join(written_text(_unwidened(x)) for x in index) or "()"


def region_text(first: Sequence[Node], highs: Sequence[Node]) -> str:
    """The text between the brackets of a region."""
    axes = zip(first, highs, strict=True)
    return ", ".join(f"{written_index((lo,))}:{written_index((hi,))}" for lo, hi in axes) or "()"


def _unwidened(index: Node) -> Node:
    match index:
        case Op(op="cast", operands=(value,), type=dtype) if dtype is int64 and _is_int(value):
            return value
    return index


def _is_int(node: Node) -> bool:
    return isinstance(node.type, DType) and node.type.is_int


def shared_texts(roots: Sequence[Node], names: Names | None = None) -> tuple[list[str], list[str]]:
    """The expressions, and equations for their repeated parts: `t0 = ...`, each before its use.

    A part has a name only where the plain text would not fit on a line.
    """
    plain = [expr_text(root, names) for root in roots]
    if sum(map(len, plain)) <= _LINE:
        return plain, []
    nodes = list(postorder(*roots))
    uses = Counter(arg for node in nodes for arg in node.args)
    taken = {getattr(n, "name", "") for n in nodes}
    fresh = (name for k in itertools.count() if (name := f"t{k}") not in taken)
    text: Texts = {}
    equations = []
    for node in nodes:
        text[node] = _one(node, text, names or {})
        written = text[node][0]
        if isinstance(node, Op) and uses[node] > 1 and len(written) >= _REPEATED:
            name = next(fresh)
            equations.append(f"{name} = {written}")
            text[node] = name, 100
    return [text[root][0] for root in roots], equations


def _number(value: bool | int | float, dtype: object) -> str:
    """The shortest decimal that gives the value in its type."""
    if isinstance(value, float) and isinstance(dtype, DType) and dtype.is_float:
        return str(dtype.scalar(value))
    return repr(value)


def _one(node: Node, text: Texts, names: Names) -> tuple[str, int]:
    """The text of one node and how tightly it binds, from those of its operands."""

    def arg(a: Node, at_least: int = 0) -> str:
        string, precedence = text[a]
        if len(string) > _LIMIT:
            string, precedence = "...", 100
        return f"({string})" if precedence < at_least else string

    match node:
        case Const(value=value, type=dtype):
            number = _number(value, dtype)
            return number, 65 if number.startswith("-") else 100
        case Var() | RVar() | Size() | Param():
            return node.name, 100
        case Read(tensor=tensor, index=index, component=component):
            suffix = f"[{component}]" if len(tensor.dtypes) > 1 else ""
            name = names.get(tensor, tensor.name)
            inside = ", ".join(arg(_unwidened(x)) for x in index) or "()"
            return f"{name}[{inside}]{suffix}", 100
        case Op(op="cast", operands=(a,), type=t):
            return f"{t}({arg(a)})", 100
        case Op(op="bitcast" | "saturating_cast" as op, operands=(a,), type=t):
            return f"{op}({t}, {arg(a)})", 100
        case Op(op=op, operands=operands):
            info = OPS[op]
            p = info.precedence
            if info.symbol is None:
                return f"{op}({', '.join(map(arg, operands))})", 100
            if len(operands) == 1:
                return f"{info.symbol}{arg(operands[0], p)}", p
            # Comparisons do not associate, so both sides are bracketed at equal strength.
            left = p + 1 if info.rule == "compare" else p
            return f"{arg(operands[0], left)} {info.symbol} {arg(operands[1], p + 1)}", p
        case _ if hasattr(node, "written"):
            return node.written(arg), 100
        case _:
            raise TypeError(type(node).__name__)


def html_text(text: str, tag: str = "pre") -> str:
    """Text as HTML, for notebooks."""
    from html import escape  # loaded on demand, since it loads a table of entities

    return f"<{tag}>{escape(text)}</{tag}>"
