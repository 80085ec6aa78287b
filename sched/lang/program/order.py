"""The order of a program: its definitions and blocks, each after what it depends on.

A definition outside of every `sequential` sees final values: it comes after the last definition
of every other tensor that it reads. A block comes after the definitions that its tensors had before
it, and after all definitions of tensors that it reads but does not update. Pure definitions that
depend on each other are a recurrence; any other cycle is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from ..errors.errors import LanguageError, Span
from ..nodes.tensor import Tensor
from ..tensors.blocks import Sequential
from ..tensors.definitions import Definition, Recorded
from ..tensors.inout import Initial, InOut
from ..tensors.tensors import Func
from .steps import Block, Plain, Recurrence, Step, funcs_read, reads_itself, tensors_read

T = TypeVar("T")


def components(roots: Iterable[T], needs: Callable[[T], Sequence[T]]) -> list[list[T]]:
    """The strongly connected components of the graph `needs` below the roots, dependencies first.

    Source: Tarjan's strongly connected components.
    """
    found: list[list[T]] = []
    number: dict[T, int] = {}
    low: dict[T, int] = {}
    path: list[T] = []
    grouped: set[T] = set()
    stack: list[tuple[T, list[T]]] = []

    def enter(item: T) -> None:
        number[item] = low[item] = len(number)
        path.append(item)
        stack.append((item, list(reversed(needs(item)))))

    for root in roots:
        if root not in number:
            enter(root)
        while stack:
            item, waiting = stack[-1]
            if waiting:
                needed = waiting.pop()
                if needed not in number:
                    enter(needed)
                elif needed not in grouped:
                    low[item] = min(low[item], number[needed])
                continue
            stack.pop()
            if stack:
                above = stack[-1][0]
                low[above] = min(low[above], low[item])
            if low[item] == number[item]:
                at = path.index(item)
                grouped.update(path[at:])
                found.append(path[at:])
                del path[at:]
    return found


def order(outputs: Sequence[Func], span: Span | None) -> tuple[Step, ...]:
    """The steps that the outputs need, in order. Completes each Func, as used at `span`.

    Raises:
        LanguageError: a value is needed before it can be computed.
    """
    needed = _needed(outputs, span)
    graph = _Graph(needed)
    steps = [graph.step(group) for group in components(graph.roots(outputs), graph.before)]
    if span is None or not any(isinstance(f, InOut) for f in needed):
        return tuple(steps)
    return tuple(_readers_first(steps, graph))


def _needed(outputs: Sequence[Func], span: Span | None) -> dict[Func, None]:
    """The tensors that must be computed for the outputs, including InOuts that blocks on the way
    update."""
    found: dict[Func, None] = dict.fromkeys(outputs)
    pending = list(outputs)
    while pending:
        func = pending.pop()
        if span is not None:
            func.complete(span)
        for d in func.history.typed():
            updated = () if d.block is None else d.block.root.definitions()
            inouts = [f for f, _ in updated if isinstance(f, InOut)]
            for other in (*funcs_read(d), *inouts):
                if other not in found:
                    found[other] = None
                    pending.append(other)
    return found


class _Unit:
    """A node of the dependence graph: an outermost block, all definitions of a Func that no block
    updates, or else its pure definition or one of its updates outside of blocks."""

    def __init__(self, funcs: list[Func], definitions: list[Definition], block: bool) -> None:
        self.funcs = funcs
        self.definitions = definitions
        self.is_block = block
        #: Whether it has a place in an order of updates, so that it cannot be part of a recurrence.
        self.is_part = block or any(isinstance(f, InOut) for f in funcs)


class _Graph:
    """The dependence graph of definitions and blocks."""

    def __init__(self, needed: Iterable[Func]) -> None:
        self.needed = set(needed)
        self.chains: dict[Func, list[_Unit]] = {}
        self._blocks: dict[Sequential, _Unit] = {}
        for func in needed:
            if func.history.home is None:
                self.chains[func] = self._chain(func)

    def _chain(self, func: Func) -> list[_Unit]:
        """The units that define a Func, in the order in which they run."""
        definitions = func.history.typed()
        if not definitions:
            return []  # an InOut that is only read
        if all(d.block is None for d in definitions):
            return [_Unit([func], list(definitions), False)]
        chain: list[_Unit] = []
        for d in definitions:
            if d.block is not None:
                unit = self._block(d.block.root)
                if not chain or chain[-1] is not unit:
                    chain.append(unit)
            elif d.is_update or not chain:
                chain.append(_Unit([func], [d], False))
                chain[-1].is_part = True
            else:
                chain[-1].definitions.append(d)
        return chain

    def _block(self, root: Sequential) -> _Unit:
        unit = self._blocks.get(root)
        if unit is None:
            written = [(f, r) for f, r in root.definitions() if f in self.needed]
            typed = {d.serial: d for f, _ in written for d in f.history.typed()}
            unit = _Unit(list(dict.fromkeys(f for f, _ in written)),
                         [typed[r.serial] for _, r in written], True)  # fmt: skip
            self._blocks[root] = unit
        return unit

    def roots(self, outputs: Sequence[Func]) -> list[_Unit]:
        """The last unit of each output, then those of all other tensors that are updated."""
        given = [self.chains[f][-1] for f in outputs if self.chains[f]]
        return [*given, *(c[-1] for c in self.chains.values() if c)]

    def before(self, unit: _Unit) -> list[_Unit]:
        """The units that a unit depends on, in the order of reading."""
        found: dict[_Unit, None] = {}
        for func in unit.funcs:
            chain = self.chains.get(func, [unit])
            at = chain.index(unit)
            if at:
                found[chain[at - 1]] = None
        for d in unit.definitions:
            for func in funcs_read(d):
                if self._is_final(unit, d, func) and self.chains[func]:
                    found[self.chains[func][-1]] = None
        return list(found)

    def _is_final(self, unit: _Unit, d: Definition, read: Func) -> bool:
        """Whether a definition reads the final value of `read`, and not its current one."""
        if unit.is_block:
            return read not in unit.funcs
        return read is not d.func or not d.is_update

    def step(self, group: list[_Unit]) -> Step:
        """The step of one unit, or of several that depend on each other."""
        unit = group[0]
        needs_itself = len(group) > 1 or unit in self.before(unit)
        if needs_itself and any(u.is_part for u in group):
            raise self._needs_itself(group)
        if needs_itself:
            funcs = sorted((f for u in group for f in u.funcs), key=_first_written)
            return Recurrence(tuple(funcs), tuple(d for f in funcs for d in f.history.typed()))
        if unit.is_block:
            return _block_step(unit.definitions[0].block.root, self.needed)  # type: ignore[union-attr]
        return Plain(unit.funcs[0], tuple(unit.definitions))

    def _needs_itself(self, group: list[_Unit]) -> LanguageError:
        """The refusal of a cycle that is no recurrence, at the first read of a final value that
        cannot be available yet."""
        reads = [
            (d, f)
            for u in group
            for d in u.definitions
            for f in funcs_read(d)
            if self._is_final(u, d, f) and self.chains[f] and self.chains[f][-1] in group
        ]
        first, read = min(reads, key=lambda found: found[0].serial)
        names = ", ".join(dict.fromkeys(f.name for u in group for f in u.funcs))
        return LanguageError(
            f"{first.name} reads the final value of {read.name}, which needs {first.func.name} "
            f"itself ({names} are updated in an order)",
            where=first.span,
            hint="inside one ps.sequential() a read sees the current value; an InOut has .initial",
        )


def _first_written(func: Func) -> int:
    return func.history.recorded[0].serial


# blocks -----------------------------------------------------------------------------------------
def _block_step(block: Sequential, needed: set[Func]) -> Block:
    """The steps of a block as written; a recurrence stands where its last definition does."""
    entries = [i for i in block.items if isinstance(i, Sequential) or i[0] in needed]
    fresh = [i[0] for i in entries if not isinstance(i, Sequential) and i[0].history.home is block]
    groups: dict[Func, list[Func]] = {}
    for group in components(dict.fromkeys(fresh), lambda f: _fresh_needs(f, fresh)):
        if len(group) > 1 or reads_itself(group[0]):
            groups.update(dict.fromkeys(group, sorted(group, key=_first_written)))
    last = {i[0]: i[1] for i in entries if not isinstance(i, Sequential)}
    body: list[Step] = []
    for item in entries:
        if isinstance(item, Sequential):
            if any(f in needed for f, _ in item.definitions()):
                body.append(_block_step(item, needed))
            continue
        func, recorded = item
        members = tuple(groups.get(func, ()))
        if not members:
            typed = {d.serial: d for d in func.history.typed()}
            body.append(Plain(func, (typed[recorded.serial],)))
        elif recorded.serial == max(last[f].serial for f in members):
            _check_unmoved(members, entries[: entries.index(item)])
            body.append(Recurrence(members, tuple(d for f in members for d in f.history.typed())))
    return Block(block, tuple(body))


def _check_unmoved(
    members: Sequence[Func], entries: Sequence[tuple[Func, Recorded] | Sequential]
) -> None:
    """Refuses an update that stands between the definitions of a recurrence, of a tensor that an
    earlier one of them reads: all of them run where the last one stands, so it would see the new
    values."""
    readers: dict[Tensor, Definition] = {}
    for item in entries:
        changed = [item] if not isinstance(item, Sequential) else list(item.definitions())
        for func, recorded in changed:
            if func in members:
                d = next(d for d in func.history.typed() if d.serial == recorded.serial)
                readers.update(dict.fromkeys(tensors_read(d), d))
            elif func in readers:
                names = ", ".join(f.name for f in members if not f.is_reduction)
                raise LanguageError(
                    f"{readers[func].name} reads {func.name} before this update of it, but is part "
                    f"of a recurrence ({names}) that goes on after it",
                    where=recorded.span,
                    hint="write the definitions of a recurrence one after the other",
                )


def _fresh_needs(func: Func, fresh: Sequence[Func]) -> list[Func]:
    """The Funcs among those defined in the same block that the pure definition of a Func reads."""
    equations = [d for d in func.history.typed() if not d.is_update or func.is_reduction]
    return [f for d in equations for f in funcs_read(d) if f in fresh and f is not func]


# initial values ---------------------------------------------------------------------------------
def _readers_first(steps: list[Step], graph: _Graph) -> Iterator[Step]:
    """The steps in an equivalent order, in which readers of the initial value of an InOut run
    before its updates wherever that is possible. Where it is not, the initial value must be
    copied."""
    by_unit = {id(d): step for step in steps for d in step.definitions}
    units = [u for chain in graph.chains.values() for u in chain]
    step_of = {id(u): by_unit[id(u.definitions[0])] for u in units}
    before: dict[int, set[int]] = {id(s): set() for s in steps}
    for u in units:
        mine = step_of[id(u)]
        before[id(mine)] |= {id(step_of[id(b)]) for b in graph.before(u)} - {id(mine)}
    readers = {
        id(s): {t.array for d in s.definitions for t in tensors_read(d) if isinstance(t, Initial)}
        for s in steps
    }
    updated = {id(s): {d.func for d in s.definitions} for s in steps}
    waiting = list(steps)
    while waiting:
        left = {id(s) for s in waiting}
        ready = [s for s in waiting if not before[id(s)] & left]
        chosen = next(
            (s for s in ready if not any(
                readers[id(o)] & updated[id(s)] for o in waiting if o is not s
            )),
            ready[0],
        )  # fmt: skip
        waiting.remove(chosen)
        yield chosen
