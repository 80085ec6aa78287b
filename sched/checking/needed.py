"""The instances of a program that must run: those that outputs need, directly or indirectly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..cached import cached_property
from ..interp.flow import Accumulated, Key, Place, Recorded, Untouched, Version, Written
from ..lang.nodes.tensor import Tensor
from .memory_reads import MemoryReads
from .report import Report
from .subject import Subject

Reads = Callable[[Recorded], Iterator[tuple[Place, Version]]]


class Needed:
    """The needed instances of a program, under a schedule that may compute some Funcs in part."""

    def __init__(
        self, subject: Subject, report: Report, reads: MemoryReads, keeper: Callable[[Tensor], str]
    ) -> None:
        self.subject, self.report = subject, report
        self.reads, self.keeper = reads, keeper

    @cached_property
    def instances(self) -> set[Key]:
        """The instances that outputs need, directly or through other instances."""
        return self._closure(self.report.reads)

    @cached_property
    def elements(self) -> set[tuple[Place | None, tuple[int, ...]]]:
        """The elements that are needed, each in one life of its Func."""
        recorded = self.report.flow.instances
        return {(recorded[key].place, self.life(key)) for key in self.instances}

    def life(self, key: Key) -> tuple[int, ...]:
        """The iteration of ordered loops in which an instance's Func is fresh; () for others."""
        d = self.subject.stored[key[0]]
        home = d.func.history.home
        around = () if home is None else home.loops
        return tuple(x for dim, x in zip(d.dims, key[1], strict=True) if dim in around)

    def missing(self) -> list[Key]:
        """The instances that outputs need under the definitions of the schedule, and that have not
        run."""
        ran = self.report.ran.keys()
        if self.instances <= ran:
            return []
        return sorted(self._closure(self._read_now) - ran)

    def _read_now(self, recorded: Recorded) -> Iterator[tuple[Place, Version]]:
        """The elements that an instance reads in the program and in the schedule."""
        read = [(self.keeper(t), at, (t, at), v) for (t, at), v in self.report.reads(recorded)]
        gone = self.reads.gone(recorded.key, [(name, at) for name, at, _, _ in read])
        yield from ((place, v) for name, at, place, v in read if (name, at) not in gone)

    def _closure(self, reads: Reads) -> set[Key]:
        """The needed instances, by what instances read. A Func may be computed in part where its
        consumers have become less, by inlining, or where it is computed at a loop of theirs."""
        program, writers = self.subject.program, self._writers()
        # By what the program calls them: a clone at a loop computes part of what it is a clone of.
        partial = {
            place[0]
            for place, made in writers.items()
            if any(r.key[0] in self.subject.repeated for r in made)
        }
        complete = {f for f in program.funcs if program.is_fixed(f)} - partial
        waiting = [r for place, made in writers.items() if place[0] in complete for r in made]
        found = {r.key for r in waiting}
        while waiting:
            for place, version in reads(waiting.pop()):
                made = writers.get(place, [])
                if place[0] in partial:  # only the instances that made the version are needed
                    made = _makers_of(version, made)
                new = [r for r in made if r.key not in found]
                found |= {r.key for r in new}
                waiting += new
        return found

    def _writers(self) -> dict[Place, list[Recorded]]:
        """The instances of stored definitions, by the element that they write."""
        writers: dict[Place, list[Recorded]] = {}
        for r in self.report.flow.instances.values():
            if r.key[0] in self.subject.stored and r.place is not None:
                writers.setdefault(r.place, []).append(r)
        return writers


def _makers_of(version: Version, writers: Sequence[Recorded]) -> list[Recorded]:
    """The recorded instances among some that made a version of an element."""
    match version:
        case Written(key=key):
            return [r for r in writers if r.key == key]
        case Accumulated(serial=serial, base=base):
            return [r for r in writers if r.key[0] == serial] + _makers_of(base, writers)
        case Untouched():
            return []
