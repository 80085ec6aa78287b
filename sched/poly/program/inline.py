"""Inlining: a Func's value computed where it is read, instead of being stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import (
    Const,
    Node,
    Op,
    Read,
    RVar,
    Var,
    postorder,
    substitute,
    transform_all,
)
from ...lang.nodes.ops import FUNCTIONS
from ...lang.program.program import Program
from ...lang.program.steps import tensors_read
from ...lang.tensors.definitions import Definition
from ...lang.tensors.inout import Initial
from ...lang.tensors.tensors import Func
from ...lang.tensors.trace import has_trace
from ..sets.linear import coefficient
from ..sets.memo import Memo
from ..sets.simplify import reads_memory
from .rule import Rule, loops_of, once_a_consumer, without_recomputation

Definitions = dict[Func, tuple[Definition, ...]]
Uses = dict[Func, dict[Definition, list[Read]]]


def can_inline(func: Func, program: Program) -> bool:
    """Whether a Func is one equation over Vars that holds wherever it is read, and no output."""
    return why_not_inline(func, program) is None


def why_not_inline(func: Func, program: Program) -> str | None:
    """Why a Func is none that can be computed wherever it is read; None if it is."""
    definitions = program.definitions_of(func)
    if func in program.outputs:
        return "it is an output"
    if program.is_recurrence(func):
        return "it needs values of itself"
    if not definitions or definitions[0].opaque is not None:
        return "it is no equation"
    if any(d.is_update for d in definitions):
        return "it has updates"
    if len(definitions) > 1 or not all(isinstance(x, Var) for x in definitions[0].lhs):
        return "it has several pieces"
    if has_trace(*definitions[0].values):
        return "a trace in it prints values where it is computed"
    if _depends_on_time(definitions[0], program):
        return "what it reads may have changed where its value is read"
    return None


def _depends_on_time(d: Definition, program: Program) -> bool:
    """Whether what a definition reads may have changed where its value is read."""
    changed = set() if d.block is None else {f for f, _ in d.block.root.definitions()}
    return any(
        t in changed or (isinstance(t, Initial) and t.array in program.inouts)
        for t in tensors_read(d)
    )


def stays_provable(d: Definition, uses: list[tuple[Definition, list[Read]]]) -> bool:
    """Whether the conditions of a definition can still be proven where it is read: at an index
    that depends on data, or is a product, they say nothing of what they guard."""
    if not any(isinstance(n, Op) and n.op == "select" for n in postorder(*d.values)):
        return True
    return all(_is_plain(x) for _, reads in uses for r in reads for x in r.index)


def _is_plain(index: Node) -> bool:
    """Whether an index is made of loops and sizes by sums, limits and constant factors."""
    for n in postorder(index):
        match n:
            case Read():
                return False
            case Op(op="mul", operands=operands):
                if not any(isinstance(a, Const) for a in operands):
                    return False
            case Op(op="floordiv" | "mod", operands=(_, by)):
                if not isinstance(by, Const):
                    return False
            case Op(op=op) if op not in _AFFINE:
                return False
    return True


_AFFINE = frozenset(
    {
        *("add", "sub", "neg", "mul", "min", "max", "floordiv", "mod", "cast", "abs", "absd"),
        *("saturating_add", "saturating_sub", "halving_add", "rounding_halving_add"),
    }
)


def is_expensive(d: Definition) -> bool:
    """Whether a value takes a division or a function, other than in the arithmetic of indices."""
    return any(
        isinstance(n, Op) and n.op in _EXPENSIVE and (n.op not in _OF_INDICES or reads_memory(n))
        for n in postorder(*d.values)
    )


_OF_INDICES = frozenset({"floordiv", "mod"})
_EXPENSIVE = frozenset({"div", "sqrt"}) | FUNCTIONS | _OF_INDICES


def determines_instance(func: Func, consumer: Definition, reads: list[Read]) -> bool:
    """Whether each element is read by at most one instance of a consumer that reads one point."""
    return not undetermined(func, consumer, reads[0].index)


def undetermined(func: Func, consumer: Definition, at: tuple[Node, ...]) -> set[Var | RVar]:
    """The dimensions of a consumer that the element which it reads does not determine, each by an
    index and those that are known already, as i is by 2 * i + 1, and then k by i + k."""
    unknown = {*consumer.dims} - {*loops_of(func)}
    found = True
    while unknown and found:
        found = False
        for index in at:
            inside = unknown.intersection(postorder(index))
            if len(inside) == 1 and _is_multiple(index, *inside):
                unknown -= inside
                found = True
    return unknown


def _is_multiple(index: Node, dim: Var | RVar) -> bool:
    """Whether an index moves along a dimension by a constant."""
    step = coefficient(index, dim)
    return step is not None and bool(ix.constant(step)) and not reads_memory(index)


WHY: dict[Rule, str] = {
    once_a_consumer: "it is one equation that each of them reads at one point",
    without_recomputation: "it is one equation, read by one of them, at one point, once",
}
"""What a rule found of a Func that it has inlined."""


def inlined(program: Program, rule: Rule, memo: Memo) -> tuple[Definitions, Uses]:
    """The definitions of the Funcs that remain, with the others put in their place; and where
    these were read then.

    Consumers are decided before producers, so that a rule sees what a consumer has become: a
    chain of stages that each read two points cannot grow.

    Args:
        memo: what other rewritten programs have found.
    """

    def reads(d: Definition) -> Sequence[Read]:
        return memo.of(("reads of Funcs", d), partial(_reads_of_funcs, d))

    current: Definitions = {f: program.definitions_of(f) for f in program.funcs}
    uses: Uses = {}
    for d in (d for own in current.values() for d in own):
        _enter(d, reads(d), uses)
    gone: Uses = {}
    stored = {f for d in program.definitions for r in d.rvars for f in _funcs(r.lo, r.hi)}
    stored |= {f for d in program.definitions if d.opaque is not None for f in _funcs(*d.values)}
    for func in reversed(program.funcs):
        if func in stored:
            continue  # a loop reads its bounds from memory, and an extern stage all that it reads
        found = list(uses.get(func, {}).items())
        if (
            found
            and can_inline(func, program)
            and rule(func, found)
            and stays_provable(program.definitions_of(func)[0], found)
        ):
            gone[func] = dict(found)
            value = program.definitions_of(func)[0]
            _leave(value, reads(value), uses)
            for consumer, _ in found:
                _leave(consumer, reads(consumer), uses)
                key = ("substituted", consumer, func, value)
                merged = memo.of(key, partial(substituted, consumer, func, value))
                _enter(merged, reads(merged), uses)
                old = current[consumer.func]
                current[consumer.func] = tuple(merged if d is consumer else d for d in old)
            del current[func]
    return current, gone


def uses_in(definitions: Definitions) -> Uses:
    """Where each Func is read."""
    uses: Uses = {}
    for own in definitions.values():
        for d in own:
            _enter(d, _reads_of_funcs(d), uses)
    return uses


def _enter(d: Definition, reads: Sequence[Read], uses: Uses) -> None:
    """Records what a definition reads."""
    for node in reads:
        uses.setdefault(cast(Func, node.tensor), {}).setdefault(d, []).append(node)


def _leave(d: Definition, reads: Sequence[Read], uses: Uses) -> None:
    for node in reads:
        uses[cast(Func, node.tensor)].pop(d, None)


def _reads_of_funcs(d: Definition) -> Sequence[Read]:
    every = (n for n in postorder(*_roots(d)) if isinstance(n, Read))
    return tuple([n for n in every if isinstance(n.tensor, Func)])


def _funcs(*roots: Node) -> list[Func]:
    return [
        n.tensor for n in postorder(*roots) if isinstance(n, Read) and isinstance(n.tensor, Func)
    ]


def _roots(d: Definition) -> tuple[Node, ...]:
    return (*d.lhs, *d.where, *d.values)


def substituted(consumer: Definition, func: Func, definition: Definition) -> Definition:
    """The consumer with the Func's value at each read of it."""

    def rule(node: Node) -> Node:
        if isinstance(node, Read) and node.tensor is func:
            at: dict[Node, Node] = dict(zip(definition.lhs, node.index, strict=True))
            return substitute(definition.values[node.component], at)
        return node

    made: dict[Node, Node] = {}
    roots = transform_all(_roots(consumer), rule, made)
    a, b = len(consumer.lhs), len(consumer.lhs) + len(consumer.where)
    known = consumer.before_inlining
    written = {new: known.get(old, old) for old, new in made.items() if new is not old}
    return replace(
        consumer, lhs=roots[:a], where=roots[a:b], values=roots[b:],
        before_inlining={**known, **written},
    )  # fmt: skip
