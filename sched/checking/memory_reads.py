"""What the instances of a program read from memory, as a schedule has it: the values of Funcs that
are not stored are put where they were read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from ..interp.evaluate import Env, Evaluator, Faults, Symbols
from ..interp.flow import Key
from ..lang.definitions import Definition
from ..lang.nodes import Read, postorder
from ..lang.program import Program
from ..lang.tensors import Func, Tensor

Element = tuple[str, tuple[int, ...]]
"""An element of a tensor, by the name of what keeps it."""
Point = Callable[[Env], tuple[int, ...]]
"""Where an instance reads."""


def original(written: Program, tensor: Tensor) -> Tensor:
    """What a clone is a clone of: its elements are the Func's."""
    if not isinstance(tensor, Func) or tensor in written.funcs:
        return tensor
    first = tensor.history.typed()[0].origin
    return next((d.func for d in written.definitions if d.serial == first), tensor)


def read_directly(definitions: Sequence[Definition], written: Program) -> dict[int, frozenset[int]]:
    """By what the user wrote, the definitions of which values are read from memory; copies and
    merged results are as good as what they were made from."""
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
    """What instances read no more since others stand in them: constants, or what does not need
    an index that was read."""

    def __init__(
        self,
        stored: Mapping[int, Definition],
        definitions: Sequence[Definition],
        added: Collection[Tensor],
        keeper: Callable[[Tensor], str],
        symbols: Symbols,
    ) -> None:
        """
        Args:
            stored: the definitions whose instances run, by the serials of what the user wrote.
            definitions: all that run.
            added: what a schedule has added; who reads that reads what it was made from.
            keeper: the name of what keeps a tensor.
        """
        self.stored, self.definitions, self.added = stored, definitions, frozenset(added)
        self.keeper, self.symbols = keeper, symbols
        self.indices = cache(self._indices)

    def gone(self, key: Key, missed: Iterable[Element]) -> list[Element]:
        """Those elements that an instance cannot read as it is now, wherever its indices lead."""
        missed = list(missed)
        if not missed:
            return []
        found = self.indices(key[0])
        env: Env = dict(zip(self.stored[key[0]].dims, key[1], strict=True))
        left = {(name, None if point is None else point(env)) for name, point in found}
        return [(name, at) for name, at in missed if left.isdisjoint({(name, at), (name, None)})]

    def _indices(self, serial: int) -> list[tuple[str, Point | None]]:
        """The reads of a definition: of what, and where, None if data or a copy say so."""
        reads = _reads(self.stored[serial])
        functions = Evaluator(tuple(x for n in reads for x in n.index), self.symbols, {}, Faults())
        found: list[tuple[str, Point | None]] = []
        for n in reads:
            if n.tensor in self.added:
                found += [(self.keeper(x), None) for x in self._sources(n.tensor, {n.tensor})]
            elif any(isinstance(x, Read) for x in postorder(*n.index)):
                found.append((self.keeper(n.tensor), None))
            else:
                found.append((self.keeper(n.tensor), functions.point(n.index)))
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


def _reads(d: Definition) -> list[Read]:
    roots = (*d.lhs, *d.where, *d.values, *(x for r in d.rvars for x in (r.lo, r.hi)))
    return [n for n in postorder(*roots) if isinstance(n, Read)]
