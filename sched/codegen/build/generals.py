"""What the copies of an instance have in common: its expressions, with loads in the place of reads,
before they are at a point of the loops. They are made for the first copy of an unrolled loop, and
serve all others."""

from __future__ import annotations

from typing import NamedTuple

from ...lang.nodes import index as ix
from ...lang.nodes.guards import conjunction
from ...lang.nodes.nodes import Node
from ...poly.nests import loop_program as lp
from ..ir.buffers import Buffer
from .divisions import faults
from .loads import Converter
from .storage import Storage

NOWHERE: Storage = {}


class General(NamedTuple):
    """An instance at no point: `roots` are its index, its values and, if it `is_tested`, its
    condition; `nodes` are these with loads, and behind them the conditions that are counted."""

    roots: tuple[Node, ...]
    convert: Converter
    nodes: tuple[Node, ...]
    is_tested: bool


class Generals:
    """Instances at no point, each made once.

    Args:
        checks: whether to count integer divisions by zero and negative powers.
    """

    def __init__(self, checks: bool) -> None:
        self.checks = checks
        #: What is compared by its id stands beside the answer, which keeps the id.
        self._known: dict[tuple[object, ...], tuple[General, tuple[object, ...]]] = {}

    def of(
        self,
        instance: lp.Instance,
        covered: frozenset[Node],
        sources: Storage,
        own: Storage,
        absent: frozenset[Buffer],
    ) -> General:
        """An instance where some loops run within the bounds that they read from data.

        Args:
            covered: the RVars of these loops.
            sources: where tensors are read.
            own: where it accumulates, if not where its Func is stored.
            absent: the buffers without storage there.
        """
        key = id(instance), covered, id(sources), id(own), absent
        known = self._known.get(key)
        if known is not None:
            return known[0]
        d = instance.definition
        guard = conjunction(ix.conjunction(instance.tests(covered)), instance.guard)
        test = () if guard is None else (guard,)
        written = (*d.lhs, *d.values, *test)
        roots = instance.simplified(written)
        given = roots[: len(d.lhs)], own
        convert = Converter(sources, instance.safe, roots, given, absent)
        nodes = tuple(map(convert, roots))
        if self.checks:  # a comparison that is decided still divides
            count = Converter(sources, instance.safe, written, given, absent)
            nodes = (*nodes, *map(count, faults(written, count.needed)))
        made = General(roots, convert, nodes, guard is not None)
        self._known[key] = made, (instance, sources, own)
        return made
