"""Formulas say what expressions mean: each is read again, by the conventions of mathematics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import polysched as ps
from polysched.lang.nodes.nodes import Const, Node, Op, literal
from polysched.lang.nodes.ops import OPS
from polysched.show.rich import formulas as fm

i, j = ps.vars("i j")
n = ps.sizes("n")

BINARY = {
    "\u2228": 20, "⊕": 25, "∧": 30, "≪": 40, "≫": 40, "+": 50, "\u2212": 50, "·": 60, "mod": 60,
    "<": 10, "≤": 10, ">": 10, "≥": 10, "=": 10, "≠": 10,
}  # fmt: skip
"""How tightly the signs bind, as Python has it."""
CLOSING = {"(": ")", "|": "|", "⌊": "⌋⌉", "⌈": "⌉"}

Read = tuple[Any, ...]
"""An operator, by its sign, and its operands."""


class Reader:
    """Reads the parts of a formula that stand beside each other."""

    def __init__(self, parts: Sequence[fm.Formula]) -> None:
        self.parts = list(parts)
        self.is_open = False  # what was read last ends with cases, which nothing closes

    def sign(self) -> str:
        """The next sign; nothing at the end, and before anything else."""
        match self.parts[:1]:
            case [fm.Word(kind="mo", text=text)]:
                return text
        return ""

    def all(self) -> Read:
        found = self.sum(0)
        assert not self.parts
        return found

    def sum(self, least: int) -> Read:
        left = self.operand()
        while (binds := BINARY.get(self.sign(), -1)) >= least:
            assert not self.is_open, "does it belong to the last of the cases?"
            symbol = self.sign()
            self.parts.pop(0)
            left = symbol, left, self.sum(binds + 1)
        return left

    def operand(self) -> Read:
        symbol = self.sign()
        part = self.parts.pop(0)
        if symbol in ("\u2212", "¬"):
            return symbol, self.sum(70)
        if symbol in CLOSING:
            inside = self.sum(0)
            end = self.sign()
            assert end in CLOSING[symbol]
            self.parts.pop(0)
            self.is_open = False
            return inside if symbol == "(" else (symbol + end, inside)
        self.is_open = isinstance(part, fm.Cases)
        match part:
            case fm.Fraction(above=above, below=below):
                return "/", read(above), read(below)
            case fm.Root(inside=inside_):
                return "√", read(inside_)
            case fm.Big(symbol=symbol):
                return symbol, self.sum(60)
            case fm.Cases(rows=rows):
                return "cases", *[(read(v), None if c is None else read(c)) for v, c in rows]
            case fm.Word(text=text) if self.sign() == "(":
                self.parts.pop(0)
                arguments = [self.sum(0)]
                while self.sign() == ",":
                    self.parts.pop(0)
                    arguments.append(self.sum(0))
                self.parts.pop(0)
                self.is_open = False
                return text, *arguments
            case fm.Word(text=text):
                return (text,)
        raise AssertionError(part)


def flat(shown: fm.Formula) -> list[fm.Formula]:
    """Rows in rows look as one."""
    if isinstance(shown, fm.Row):
        return [x for part in shown.parts for x in flat(part)]
    return [shown]


def read(shown: fm.Formula) -> Read:
    return Reader(flat(shown)).all()


def meant(node: Node) -> Read:
    """What a formula is to say."""
    below = tuple(meant(a) for a in node.args)
    match node:
        case Const(value=value):
            return ("\u2212", (str(-value),)) if value < 0 else (str(value),)
        case Op(op="fma"):
            return "+", ("·", *below[:2]), below[2]
        case Op(op="floordiv"):
            return "⌊⌋", ("/", *below)
        case Op(op="select"):
            rest = below[2]
            rows = rest[1:] if rest[0] == "cases" else ((rest, None),)
            return "cases", (below[1], below[0]), *rows
        case Op(op=op):
            named = {"div": "/", "sqrt": "√", "abs": "||", "floor": "⌊⌋", "ceil": "⌈⌉",
                     "round": "⌊⌉"}  # fmt: skip
            return named.get(op) or fm._SYMBOLS.get(op) or OPS[op].symbol or op, *below
        case _:
            return (node.name,)


leaves = st.sampled_from([i.node, j.node, n.node, literal(2), literal(-3)])
operators = st.sampled_from([op for op in OPS if op not in ("cast", "bitcast")])


def applied(below: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return operators.flatmap(
        lambda op: st.tuples(*[below] * OPS[op].arity).map(lambda args: Op(op, args, None))
    )


def negated(found: Read) -> Read:
    """What was read, with the minus of a number as an operator."""
    if len(found) == 1 and isinstance(found[0], str) and found[0].startswith("\u2212"):
        return "\u2212", (found[0][1:],)
    return tuple(negated(x) if isinstance(x, tuple) else x for x in found)


@settings(max_examples=300)
@given(st.recursive(leaves, applied, max_leaves=12))
def test_what_a_formula_says_is_what_the_expression_means(node: Node) -> None:
    shown = fm.formula(node)
    assert shown is not None
    assert negated(read(shown)) == meant(node)


def test_a_sum_keeps_its_condition_and_what_it_starts_from() -> None:
    x = ps.Input("x", ps.float32, (n,))
    k = ps.RVar("k", 0, n, where=lambda k: k < i)
    total = ps.sum(x[k], k, initial=3.0) + x[i]
    shown = fm.formula(total.node)
    assert shown is not None
    below = r"0\le k<n,\, k<i,\, \mathrm{initial}=3.0"
    assert fm.latex(shown) == rf"\sum_{{{below}}} x[k]+x[i]"


def test_sums_in_sums_are_as_they_were_written() -> None:
    A = ps.Input("A", ps.float32, (n, n))
    k, l = ps.RVar("k", 0, n), ps.RVar("l", 0, n)
    f = ps.Func("f", (n,))
    f[i] = ps.sum(A[i, k] * ps.sum(A[k, l], l), k)
    assert "sum0" not in f._repr_mimebundle_()["text/latex"]


@pytest.mark.parametrize(
    ("value", "tex"),
    [(1e-05, r"\mathrm{1e{-}05}"), (math.nan, r"\mathrm{nan}"), (-math.inf, r"-\mathrm{inf}"),
     (-2.5, "-2.5"), (7, "7")],
)  # fmt: skip
def test_numbers_are_no_products_of_letters(value: float, tex: str) -> None:
    shown = fm.formula(literal(value))
    assert shown is not None
    assert fm.latex(shown) == tex


def test_bits_are_taken_for_a_type() -> None:
    shown = fm.formula(ps.bitcast(ps.float32, ps.cast(ps.int32, i)).node)
    assert shown is not None
    assert fm.latex(shown).startswith(r"\mathrm{bitcast}(\mathrm{float32},\, ")
