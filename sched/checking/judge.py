"""Watches the loop IR run, and compares what happens with what the program means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..cached import cached_property
from ..codegen.build.build import build
from ..codegen.ir.ir import Buffer, Module
from ..codegen.lower import ON_LOOPS
from ..interp.evaluate import Symbols
from ..interp.flow import (
    Accumulated,
    Flow,
    Key,
    Place,
    Recorded,
    Untouched,
    Version,
    Written,
    accumulates,
    after,
    base_of,
    is_exact,
    merged,
    untouched,
)
from ..lang.call.binding import Binding
from ..lang.nodes.dtypes import Array
from ..lang.nodes.nodes import Read, postorder
from ..lang.nodes.tensor import Tensor
from ..lang.tensors.inout import Initial, InOut
from ..lang.tensors.tensors import Func
from ..poly.directives.loops import Split
from ..poly.schedule.schedule import Schedule
from ..poly.tree.edits import stages
from .execute import Location, Machine, Path, Touch, Write
from .memory_reads import Element, MemoryReads, original, read_directly
from .races import Races
from .report import NOTHING, Breach, Report, Words

MOST = 20
"""Breaches that are kept."""


def free_serials(schedule: Schedule) -> frozenset[int]:
    """The accumulations that may come in any order because the schedule says so."""
    said = schedule.broken_by
    chosen = [s.definition for s in schedule.model.statements if s.name in said]
    return frozenset(d.serial for d in chosen if accumulates(d))


def module_of(schedule: Schedule) -> Module:
    """The loop IR, as far as elements have indices."""
    module = build(schedule.loop_program)
    for run in ON_LOOPS:
        module = run(module)
    return module


Seen = dict[Element, set[Version]]


class Judge:
    """Watches a machine. `report` says what it saw."""

    def __init__(
        self,
        schedule: Schedule,
        binding: Binding,
        symbols: Symbols,
        meaning: Flow,
        module: Module | None = None,
    ) -> None:
        """
        Args:
            module: the loops of the schedule, if they have been made.
        """
        self.program = schedule.program
        self.binding = binding
        self.meaning = meaning
        self.module = module_of(schedule) if module is None else module
        definitions = [s.definition for s in schedule.model.statements]
        self.stored = {d.origin: d for d in definitions if not d.is_added}
        self.words = Words({d.serial: d for d in self.program.definitions} | self.stored)
        exact = {d.serial for d in self.program.definitions if is_exact(d)}
        self.free = free_serials(schedule) | exact
        self.copied = schedule.copied
        self.runs_again = any(
            isinstance(d, Split) and d.tail == "shift" for d in schedule.directives
        )
        #: Accumulations that are indivisible: they may meet.
        self.atomic = {
            s.definition.serial for s in schedule.model.statements if s.name in schedule.atomic
        }
        #: The definitions whose instances may run in several iterations, as they are placed.
        self.placed = {
            stage.statement.definition.origin
            for stage in stages(schedule.tree)
            if stage.statement.placed is not None
        }
        stored_in = _tensors_by_buffer(self.module, schedule)
        self.kept = {b: original(schedule.form.base, t) for b, t in stored_in.items()}
        #: Which Func an instance has run for: it, and each of its clones.
        self.owners = {b: t for b, t in stored_in.items() if isinstance(t, Func)}
        self.ran_for: set[tuple[Key, Func]] = set()
        #: Those whose tiles are filled up, also with instances that nobody needs.
        self.padded = {s.statement.definition.origin for s in stages(schedule.tree) if s.pads}
        added = {f for f in self.program.funcs if f.history.typed()[0].is_added}
        #: Funcs that a schedule has added: what they copy, or partial results of whom.
        self.partial = {f for f in added if any(d.is_update for d in f.history.typed())}
        self.copies = added - self.partial
        base = schedule.form.base
        self.reads = MemoryReads(
            self.stored, definitions, added, lambda t: self._keeper(original(base, t)), symbols
        )
        partial = frozenset(d.origin for d in definitions if d.func in self.partial)
        direct = read_directly(definitions, schedule.form.base)
        met = frozenset(d.origin for d in definitions if d.serial in self.atomic)
        self.report = Report(meaning, self.stored, direct, self.free, partial, met)
        #: Results of which only the value counts: partial ones of tuples have no versions.
        self.by_value = any(len(f.dtypes) > 1 for f in self.partial)
        #: Which element a copy holds.
        self.sources: dict[Location, Element] = {}
        self.versions: dict[Location, Version] = {}
        self.races = Races()

    # what happens -----------------------------------------------------------------------------
    def wrong(self, kind: str, text: str) -> None:
        """Notes a breach."""
        if self.by_value and kind in ("flow", "live-out", "coverage"):
            return
        self.report.counts[kind] += 1
        if len(self.report.breaches) < MOST:
            self.report.breaches.append(Breach(kind, text))

    def looked(self, path: Path, reads: list[Touch]) -> None:
        """A bound or a condition has read."""
        self._race(path, reads, [])

    def joint(self, path: Path, writes: list[Write]) -> None:
        """One joint statement: all of it reads before any of it writes."""
        seen = [self._seen(w) for w in writes]
        made = [self._made(w) for w in writes]
        by_key: dict[Key, tuple[list[Write], Seen]] = {}
        owners: dict[Location, Key | None] = {}
        for w, read, version in zip(writes, seen, made, strict=True):
            if owners.setdefault(w.to.location, w.key) != w.key:
                both = f"{self.words.name(owners[w.to.location])} and {self.words.name(w.key)}"
                self.wrong("lane", f"{both} write {_text(w.to)} in one statement")
            self.versions[w.to.location] = version
            if w.key is not None:
                own, all_read = by_key.setdefault(w.key, ([], {}))
                own.append(w)
                for element, versions in read.items():
                    all_read.setdefault(element, set()).update(versions)
        apart = [w for w in writes if not (w.atomic if w.key is None else w.key[0] in self.atomic)]
        reads = [r for w in apart for r in w.reads]
        met = [w for w in writes if w not in apart]
        reads += [r for w in met for r in w.reads if r.location != w.to.location]
        self._race(path, reads, [w.to for w in apart], [w.to for w in met])
        for key, (own, all_read) in by_key.items():
            self._instance(key, path, own, all_read)

    def _race(
        self, path: Path, reads: list[Touch], writes: list[Touch], added: Sequence[Touch] = ()
    ) -> None:
        for touch in self.races.found(path, reads, writes, added):
            self.wrong("race", f"iterations that run at once share {_text(touch)}")

    # versions ---------------------------------------------------------------------------------
    def _seen(self, w: Write) -> Seen:
        """What a store has read."""
        found: Seen = {}
        for touch in w.reads:
            found.setdefault(self._element(touch), set()).add(self._version(touch))
        return found

    def _element(self, touch: Touch) -> Element:
        """What memory holds: an element of a tensor, or a copy of one."""
        here = (self._keeper(self.kept[touch.buffer]), touch.element)
        return self.sources.get(touch.location, here)

    def _made(self, w: Write) -> Version:
        """The version that a store makes: a copy's is that of its source, and merging partial
        results makes one of all that were accumulated."""
        if w.key is not None:
            before = self.versions.get(w.to.location) or self._start(w.to)
            return after(w.key, before, w.key[0] in self.free)
        if not w.reads:
            return NOTHING
        if self.kept[w.to.buffer] in self.copies:
            self.sources[w.to.location] = self._element(w.reads[0])
        if len(w.reads) > 1:
            old = next((r for r in w.reads if r.location == w.to.location), w.reads[0])
            new = next((r for r in w.reads if r.location != w.to.location), w.reads[-1])
            return merged(self._version(old), self._version(new))
        return self._version(w.reads[0])

    def _version(self, touch: Touch) -> Version:
        return self.versions.get(touch.location) or self._start(touch) or NOTHING

    def _start(self, touch: Touch) -> Version | None:
        """What an argument or a table holds at first; of other memory nothing is known."""
        tensor = self.kept[touch.buffer]
        if isinstance(tensor, Func) and not isinstance(tensor, InOut):
            return None
        if touch.buffer.kind in ("scratch", "stack"):
            return None
        return untouched(self.program, tensor, touch.element)

    def _keeper(self, tensor: Tensor) -> str:
        """The name of what keeps a tensor: an InOut and its initial value may share memory."""
        if isinstance(tensor, Initial) and tensor.array not in self.copied:
            tensor = tensor.array if tensor.array in self.program.inouts else tensor
        return self.program.names[tensor]

    # instances --------------------------------------------------------------------------------
    def _instance(self, key: Key, path: Path, writes: list[Write], seen: Seen) -> None:
        here = (key, self.owners[writes[0].to.buffer])
        if key in self.report.ran:
            self.report.again.add(key)
            if here in self.ran_for and not self._may_run_again(key):
                self.wrong("coverage", f"{self.words.name(key)} runs twice")
                return
        self.ran_for.add(here)
        self.report.ran[key] = path
        recorded = self.meaning.instances.get(key)
        if recorded is None:
            self._beyond(key, writes[0].to)
            return
        assert recorded.place is not None
        if key[0] in self.padded and key not in self._needed:
            self._beyond(key, writes[0].to)
            return
        self.report.counts["instances"] += 1
        if self.kept[writes[0].to.buffer] in self.partial:
            own = self._element(writes[0].to)
            self._compare(key, recorded, {k: v for k, v in seen.items() if k != own}, False)
            return
        if writes[0].to.element != recorded.place[1]:
            meant = list(recorded.place[1])
            self.wrong("flow", f"{self.words.name(key)} writes {_text(writes[0].to)}, not {meant}")
        self._compare(key, recorded, seen)

    def _may_run_again(self, key: Key) -> bool:
        """Whether a directive has said so, and it changes nothing."""
        if key[0] in self.placed:
            return True
        d = self.stored[key[0]]
        own = any(isinstance(n, Read) and n.tensor is d.func for n in postorder(*d.values))
        return self.runs_again and not d.is_update and not own

    def _beyond(self, key: Key, to: Touch) -> None:
        """An instance that the program does not have: fine where the element is nobody's."""
        func = self.stored[key[0]].func
        owned = self.program.is_fixed(func) and to.buffer.kind == "output"
        if owned or ((func, to.element), self._life(key)) in self._elements:
            self.wrong(
                "coverage", f"{self.words.name(key)} runs, and is no instance of the program"
            )
        self.report.counts["beyond"] += 1

    def _compare(self, key: Key, recorded: Recorded, seen: Seen, has_own: bool = True) -> None:
        """What an instance has read with what it means to read.

        Args:
            has_own: whether it reads what it accumulates where the program does.
        """
        wanted: Seen = {}
        for (tensor, point), version in self.report.reads(recorded):
            wanted.setdefault((self._keeper(tensor), point), set()).add(version)
        for element in self.reads.gone(key, wanted.keys() - seen.keys()):
            del wanted[element]
        own = None
        if key[0] in self.free and recorded.place is not None:
            own = (self._keeper(recorded.place[0]), recorded.place[1])
            if not has_own:
                wanted.pop(own, None)
        for element in wanted.keys() | seen.keys():
            a, b = wanted.get(element, set()), seen.get(element, set())
            if element == own:  # how much has been accumulated yet does not matter
                a, b = ({base_of(v, key[0]) for v in versions} for versions in (a, b))
            self.report.counts["reads"] += 1
            if a != b:
                where = f"{element[0]}{list(element[1])}"
                found, meant = self.words.makers(b), self.words.makers(a)
                what = f"{self.words.name(key)} reads {where} as left by {found}, not by {meant}"
                self.wrong("flow", what)

    # the end ----------------------------------------------------------------------------------
    def finish(self, machine: Machine) -> None:
        """What must hold when all has run."""
        if not self._needed <= self.report.ran.keys():
            for key in sorted(self._closure(self._read_now) - self.report.ran.keys()):
                self.wrong("coverage", f"{self.words.name(key)} does not run")
        outputs = {b: t for b, t in self.kept.items() if b.kind == "output"}
        for (tensor, point), version in self.meaning.final.items():
            for buffer in (b for b, t in outputs.items() if t is tensor):
                touch = machine.touch(buffer, point)
                found = NOTHING if touch is None else self._version(touch)
                if found != version:
                    by, meant = self.words.maker(found), self.words.maker(version)
                    text = f"{buffer.name}{list(point)} is left by {by}, not by {meant}"
                    self.wrong("live-out", text)
        self._values(machine, outputs)

    @cached_property
    def _elements(self) -> set[tuple[Place | None, tuple[int, ...]]]:
        """The elements that are needed, each in one life of its Func."""
        return {(self.meaning.instances[key].place, self._life(key)) for key in self._needed}

    def _life(self, key: Key) -> tuple[int, ...]:
        """The iteration of ordered loops in which an instance's Func is fresh; () for others."""
        d = self.stored[key[0]]
        home = d.func.history.home
        around = () if home is None else home.loops
        return tuple(x for dim, x in zip(d.dims, key[1], strict=True) if dim in around)

    @cached_property
    def _needed(self) -> set[Key]:
        """The instances without which outputs, or others that must run, lack something."""
        return self._closure(self.report.reads)

    def _read_now(self, recorded: Recorded) -> Iterator[tuple[Place, Version]]:
        """What an instance reads from memory and still can as it is now."""
        read = [(self._keeper(t), at, (t, at), v) for (t, at), v in self.report.reads(recorded)]
        gone = self.reads.gone(recorded.key, [(name, at) for name, at, _, _ in read])
        yield from ((place, v) for name, at, place, v in read if (name, at) not in gone)

    def _closure(self, reads: Callable[[Recorded], Iterator[tuple[Place, Version]]]) -> set[Key]:
        """The same, by what instances read. A Func may be computed in part where its consumers
        have become less, by inlining, or where it is placed at a loop of theirs."""
        writers: dict[Place, list[Recorded]] = {}
        for r in self.meaning.instances.values():
            if r.key[0] in self.stored and r.place is not None:
                writers.setdefault(r.place, []).append(r)
        # By what the program calls them: a placed clone is a part of what it is a clone of.
        partial = {
            place[0]
            for place, made in writers.items()
            if any(r.key[0] in self.placed for r in made)
        }
        whole = {f for f in self.program.funcs if self.program.is_fixed(f)} - partial
        waiting = [r for place, made in writers.items() if place[0] in whole for r in made]
        found = {r.key for r in waiting}
        while waiting:
            for place, version in reads(waiting.pop()):
                made = writers.get(place, [])
                if place[0] in partial:  # who overwrites what was read runs only if that is read
                    made = _makers_of(version, made)
                new = [r for r in made if r.key not in found]
                found |= {r.key for r in new}
                waiting += new
        return found

    def _values(self, machine: Machine, outputs: Mapping[Buffer, Tensor]) -> None:
        """The bits of the outputs, unless float sums were allowed any order."""
        if self.free - {d.serial for d in self.program.definitions if is_exact(d)}:
            return
        wanted = dict(zip(self.program.outputs, self.meaning.results, strict=True))
        component: Counter[Tensor] = Counter()
        for buffer, tensor in outputs.items():
            assert isinstance(tensor, Func)
            result = wanted[tensor]
            if len(tensor.dtypes) > 1:
                result = result[component[tensor]]
                component[tensor] += 1
            found = machine.array(buffer)
            if not _same_bits(found, np.asarray(result)):
                self.wrong("value", f"{buffer.name} is {found}, not {result}")


def _makers_of(version: Version, writers: Sequence[Recorded]) -> list[Recorded]:
    """Those of some instances that a version of an element was made by."""
    match version:
        case Written(key=key):
            return [r for r in writers if r.key == key]
        case Accumulated(serial=serial, base=base):
            return [r for r in writers if r.key[0] == serial] + _makers_of(base, writers)
        case Untouched():
            return []


def _tensors_by_buffer(module: Module, schedule: Schedule) -> dict[Buffer, Tensor]:
    """Whose elements each buffer holds."""
    program = schedule.program
    named: dict[str, Tensor] = {}
    tensors: tuple[Tensor, ...] = (*program.inputs, *program.consts, *program.funcs)
    for tensor in tensors:
        name = program.names[tensor]
        parts = len(tensor.dtypes)
        named.update((f"{name}.{c}" if parts > 1 else name, tensor) for c in range(parts))
    found: dict[Buffer, Tensor] = {}
    wrote_by = {s.name: s.func for s in schedule.model.statements}
    for b in module.buffers:
        name = (b.original or b).name
        stage, kept, _ = name.partition(".kept")
        tensor = wrote_by[max(filter(stage.startswith, wrote_by))] if kept else named[name]
        found[b] = tensor
    return found


def _same_bits(found: Array, wanted: Array) -> bool:
    """Equal to the bit, but that all NaNs are equal."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    same = found == wanted
    if found.dtype.kind == "f":
        same = same & (np.signbit(found) == np.signbit(wanted))
        same |= np.isnan(found) & np.isnan(wanted)
    return bool(np.all(same))


def _text(touch: Touch) -> str:
    return f"{touch.buffer.name}{list(touch.element)}"
