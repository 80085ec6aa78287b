"""The elements that instances read from memory under a schedule, where Funcs that are not stored
are inlined into their consumers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from ..interp.evaluate import Env, Evaluator, Faults, Symbols
from ..interp.flow import Key
from ..interp.storage import Values
from ..lang.errors.errors import InternalError
from ..lang.nodes.nodes import Node, Read, postorder
from ..lang.nodes.tensor import Tensor
from ..lang.program.program import Program
from ..lang.tensors.definitions import Definition
from ..lang.tensors.tensors import Func

Element = tuple[str, tuple[int, ...]]
"""An element of a tensor, by the name of what keeps it."""
Axis = Callable[[Env], tuple[int, ...]] | None
"""Where an instance reads along an axis, as a tuple of one; None if data say so that may change."""


def original(written: Program, tensor: Tensor) -> Tensor:
    """What a clone is a clone of: its elements are the Func's."""
    if not isinstance(tensor, Func) or tensor in written.funcs:
        return tensor
    first = tensor.history.typed()[0].origin
    return next((d.func for d in written.definitions if d.serial == first), tensor)


def read_directly(definitions: Sequence[Definition], written: Program) -> dict[int, frozenset[int]]:
    """For each definition of the user the ones whose values it reads from memory. Copies and merged
    partial results stand for the definitions that they were made from."""
    own = {d.serial: d.func for d in written.definitions}
    of: dict[Tensor, list[Definition]] = {}
    for d in definitions:
        of.setdefault(d.func, []).append(d)

    def read(d: Definition, seen: set[Tensor]) -> set[int]:
        found = set()
        for tensor in {n.tensor for n in _reads(d)} - seen:
            seen.add(tensor)
            for x in of.get(tensor, ()):
                found |= read(x, seen) if x.is_added else {x.origin}
        return found

    direct: dict[int, set[int]] = {}
    for d in definitions:
        if not d.is_added:
            direct.setdefault(d.origin, set()).update(read(d, set()))
            # A partial result goes on from what the element was, by other partial ones too.
            for x in of.get(own[d.origin], ()):
                direct[d.origin] |= read(x, set()) if x.is_added else {x.origin}
    return {serial: frozenset(found) for serial, found in direct.items()}


class MemoryReads:
    """The reads of the program that an instance does not make any more, since inlining and folding
    of constants have removed them, or an index that it read."""

    def __init__(
        self,
        stored: Mapping[int, Definition],
        definitions: Sequence[Definition],
        added: Collection[Tensor],
        keeper: Callable[[Tensor], str],
        values: Callable[[Tensor], Values | None],
        symbols: Symbols,
    ) -> None:
        """
        Args:
            stored: the definitions whose instances run, by the serials of what the user wrote.
            definitions: all that run.
            added: tensors that a schedule has added; a read of one stands for its sources.
            keeper: the name of what keeps a tensor.
            values: those of a tensor in the program, if no element of it ever changes.
        """
        self.stored, self.definitions, self.added = stored, definitions, frozenset(added)
        self.keeper, self.values, self.symbols = keeper, values, symbols
        self.indices = cache(self._indices)

    def gone(self, key: Key, missed: Iterable[Element]) -> list[Element]:
        """Those elements that an instance cannot read any more, whatever its indices are."""
        missed = list(missed)
        if not missed:
            return []
        env: Env = dict(zip(self.stored[key[0]].dims, key[1], strict=True))
        left = [(name, [_along(axis, env) for axis in axes]) for name, axes in self.indices(key[0])]
        return [element for element in missed if not any(_may_be(element, *x) for x in left)]

    def _indices(self, serial: int) -> list[tuple[str, list[Axis]]]:
        """The reads of a definition: of what, and where. Of what a copy is made from, anywhere."""
        reads = _reads(self.stored[serial])
        values = {n.tensor: self.values(n.tensor) for n in reads if n.tensor not in self.added}
        lasting = {t: v for t, v in values.items() if v is not None}
        asked = {x: {n.tensor for n in _reads_of(x)} for n in reads for x in n.index}
        known = {x for x, tensors in asked.items() if tensors <= lasting.keys()}
        functions = Evaluator(tuple(known), self.symbols, lasting, Faults())
        found: list[tuple[str, list[Axis]]] = []
        for n in reads:
            if n.tensor in self.added:
                sources = self._sources(n.tensor, {n.tensor})
                found += [(self.keeper(x), [None] * x.ndim) for x in sources]
            else:
                axes = [functions.point((x,)) if x in known else None for x in n.index]
                found.append((self.keeper(n.tensor), axes))
        return found

    def _sources(self, tensor: Tensor, seen: set[Tensor]) -> Iterator[Tensor]:
        """What something that was added is made from."""
        own = [d for d in self.definitions if d.func is tensor]
        for x in {n.tensor for d in own for n in _reads(d)} - seen:
            seen.add(x)
            if x in self.added:
                yield from self._sources(x, seen)
            else:
                yield x


def _along(axis: Axis, env: Env) -> tuple[int, ...] | None:
    """Where an instance reads along an axis. None if that cannot be said: it may be under a
    condition that does not hold, and then ask for a value that nobody has computed."""
    try:
        return axis and axis(dict(env))
    except InternalError:
        return None


def _may_be(element: Element, name: str, axes: Sequence[tuple[int, ...] | None]) -> bool:
    """Whether a read, known along some axes, may be of an element."""
    if element[0] != name:
        return False
    return all(at is None or at == (x,) for x, at in zip(element[1], axes, strict=True))


def _reads(d: Definition) -> list[Read]:
    roots = (*d.lhs, *d.where, *d.values, *(x for r in d.rvars for x in (r.lo, r.hi)))
    return _reads_of(*roots)


def _reads_of(*roots: Node) -> list[Read]:
    return [n for n in postorder(*roots) if isinstance(n, Read)]
