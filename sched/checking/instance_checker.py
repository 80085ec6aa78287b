"""Watches a module run, instance by instance, and compares it with what the program means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ..codegen.ir.ir import Buffer
from ..interp.evaluate import Symbols
from ..interp.flow import Flow, Key, Recorded, base_of
from ..lang.nodes.bits import differing
from ..lang.nodes.dtypes import Array
from ..lang.nodes.nodes import Read, postorder
from ..lang.nodes.tensor import Tensor
from ..lang.tensors.tensors import Func
from .execute import Location, Machine, Path, Touch, Write
from .memory import Memory, Seen
from .memory_reads import MemoryReads, original, read_directly
from .needed import Needed
from .races import Races, concurrent
from .report import NOTHING, Breach, Report, Words
from .subject import Subject

MOST = 20
"""Breaches that are kept."""


class InstanceChecker:
    """Compares each instance that a machine runs with the recorded meaning of the program.

    Attributes:
        report: the breaches found so far, and what was counted.
    """

    def __init__(self, subject: Subject, meaning: Flow, symbols: Symbols) -> None:
        self.subject, self.meaning = subject, meaning
        written = {d.serial: d for d in subject.program.definitions}
        self.words = Words(written | subject.stored)
        definitions, partial = subject.definitions, subject.partial
        self.report = Report(
            meaning,
            subject.stored,
            read_directly(definitions, subject.base),
            subject.free,
            frozenset(d.origin for d in definitions if d.func in partial),
            frozenset(d.origin for d in definitions if d.serial in subject.atomic),
        )
        self.memory = Memory(subject)
        keeper = self.memory.keeper
        self.reads = MemoryReads(
            subject.stored,
            definitions,
            subject.added,
            lambda t: keeper(original(subject.base, t)),
            lambda t: meaning.values.get(original(subject.base, t)),
            symbols,
        )
        self.needed = Needed(subject, self.report, self.reads, keeper)
        self.races = Races()
        #: The Funcs that an instance has run for: its own, and each of its clones.
        self._ran_for: set[tuple[Key, Func]] = set()

    # what the machine reports -----------------------------------------------------------------
    def wrong(self, kind: str, text: str) -> None:
        """Notes a breach."""
        if self.subject.only_values_count and kind in ("flow", "live-out", "coverage"):
            return
        self.report.counts[kind] += 1
        if len(self.report.breaches) < MOST:
            self.report.breaches.append(Breach(kind, text))

    def looked(self, path: Path, reads: list[Touch]) -> None:
        """A bound or a condition has read."""
        if concurrent(path):
            self._race(path, reads, [])

    def joint(self, path: Path, writes: list[Write]) -> None:
        """One joint statement: all of it reads before any of it writes."""
        if len(writes) == 1:
            return self._alone(path, writes)
        seen = [self.memory.seen(w) for w in writes]
        made = [self.memory.made(w) for w in writes]
        by_key: dict[Key, tuple[list[Write], Seen]] = {}
        owners: dict[Location, Key | None] = {}
        for w, read, version in zip(writes, seen, made, strict=True):
            if owners.setdefault(w.to.location, w.key) != w.key:
                both = f"{self.words.name(owners[w.to.location])} and {self.words.name(w.key)}"
                self.wrong("lane", f"{both} write {_text(w.to)} in one statement")
            self.memory.write(w.to, version)
            if w.key is not None:
                own, all_read = by_key.setdefault(w.key, ([], {}))
                own.append(w)
                for element, versions in read.items():
                    all_read.setdefault(element, set()).update(versions)
        self._joint_races(path, writes)
        for key, (own, all_read) in by_key.items():
            self._instance(key, path, own, all_read)

    def _alone(self, path: Path, writes: list[Write]) -> None:
        """The same for one store, which most statements are."""
        (w,) = writes
        seen = self.memory.seen(w)
        self.memory.write(w.to, self.memory.made(w))
        self._joint_races(path, writes)
        if w.key is not None:
            self._instance(w.key, path, writes, seen)

    def _joint_races(self, path: Path, writes: list[Write]) -> None:
        """Atomic accumulations into one element may meet each other; other stores meet nobody."""
        if not concurrent(path):
            return
        met = [w for w in writes if self._is_atomic(w)]
        plain = [w for w in writes if not self._is_atomic(w)]
        reads = [r for w in plain for r in w.reads]
        reads += [r for w in met for r in w.reads if r.location != w.to.location]
        self._race(path, reads, [w.to for w in plain], [w.to for w in met])

    def _is_atomic(self, w: Write) -> bool:
        return w.atomic if w.key is None else w.key[0] in self.subject.atomic

    def _race(
        self, path: Path, reads: list[Touch], writes: list[Touch], added: Sequence[Touch] = ()
    ) -> None:
        for touch in self.races.found(path, reads, writes, added):
            self.wrong("race", f"iterations that run concurrently share {_text(touch)}")

    # instances --------------------------------------------------------------------------------
    def _instance(self, key: Key, path: Path, writes: list[Write], seen: Seen) -> None:
        to = writes[0].to
        here = (key, self.subject.owners[to.buffer])
        if key in self.report.ran:
            self.report.again.add(key)
            if here in self._ran_for and not self._may_run_twice(key):
                self.wrong("coverage", f"{self.words.name(key)} runs twice")
                return
        self._ran_for.add(here)
        self.report.ran[key] = path
        recorded = self.meaning.instances.get(key)
        if recorded is None:
            self._beyond(key, to)
            return
        assert recorded.place is not None
        if key[0] in self.subject.padded and key not in self.needed.instances:
            self._beyond(key, to)
            return
        self.report.counts["instances"] += 1
        if self.subject.tensors[to.buffer] in self.subject.partial:
            own = self.memory.element(to)
            self._compare(key, recorded, {k: v for k, v in seen.items() if k != own}, False)
            return
        if to.element != recorded.place[1]:
            meant = list(recorded.place[1])
            self.wrong("flow", f"{self.words.name(key)} writes {_text(to)}, not {meant}")
        self._compare(key, recorded, seen)

    def _may_run_twice(self, key: Key) -> bool:
        d = self.subject.stored[key[0]]
        own = any(isinstance(n, Read) and n.tensor is d.func for n in postorder(*d.values))
        return self.subject.may_run_twice(d, own)

    def _beyond(self, key: Key, to: Touch) -> None:
        """An instance that the program does not have: right where no needed instance writes its
        element."""
        func = self.subject.stored[key[0]].func
        owned = self.subject.program.is_fixed(func) and to.buffer.kind == "output"
        if owned or ((func, to.element), self.needed.life(key)) in self.needed.elements:
            self.wrong(
                "coverage", f"{self.words.name(key)} runs, and is no instance of the program"
            )
        self.report.counts["beyond"] += 1

    def _compare(self, key: Key, recorded: Recorded, seen: Seen, has_own: bool = True) -> None:
        """What an instance has read with what it means to read.

        Args:
            has_own: whether it reads what it accumulates where the program does.
        """
        own = None
        if key[0] in self.subject.free and recorded.place is not None:
            own = (self.memory.keeper(recorded.place[0]), recorded.place[1])
        wanted = self._wanted(key, recorded, seen)
        if own is not None and not has_own:
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

    def _wanted(self, key: Key, recorded: Recorded, seen: Seen) -> Seen:
        """What an instance means to read, less what it cannot read as it is now."""
        wanted: Seen = {}
        for (tensor, point), version in self.report.reads(recorded):
            wanted.setdefault((self.memory.keeper(tensor), point), set()).add(version)
        for element in self.reads.gone(key, wanted.keys() - seen.keys()):
            del wanted[element]
        return wanted

    # the end ----------------------------------------------------------------------------------
    def finish(self, machine: Machine) -> None:
        """What must hold when all has run."""
        for key in self.needed.missing():
            self.wrong("coverage", f"{self.words.name(key)} does not run")
        outputs = {b: t for b, t in self.subject.tensors.items() if b.kind == "output"}
        for (tensor, point), version in self.meaning.final.items():
            for buffer in (b for b, t in outputs.items() if t is tensor):
                touch = machine.touch(buffer, point)
                found = NOTHING if touch is None else self.memory.version(touch)
                if found != version:
                    by, meant = self.words.maker(found), self.words.maker(version)
                    text = f"{buffer.name}{list(point)} is left by {by}, not by {meant}"
                    self.wrong("live-out", text)
        self._values(machine, outputs)

    def _values(self, machine: Machine, outputs: Mapping[Buffer, Tensor]) -> None:
        """The bits of the outputs, unless float sums were allowed any order."""
        if self.subject.free - self.subject.exact:
            return
        wanted = dict(zip(self.subject.program.outputs, self.meaning.results, strict=True))
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


def _same_bits(found: Array, wanted: Array) -> bool:
    """Equal to the bit, but that all NaNs are equal."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    return not differing(found, wanted).any()


def _text(touch: Touch) -> str:
    return f"{touch.buffer.name}{list(touch.element)}"
