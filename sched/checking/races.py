"""Races between iterations of parallel loops, found in the trace of an execution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from ..records import dataclass
from .execute import Location, Path, Touch


@dataclass(slots=True)
class _Used:
    """Who touched a place during one run of a parallel loop; -1 stands for several iterations.
    Atomic additions may meet each other, and nothing else."""

    reader: int | None = None
    writer: int | None = None
    adder: int | None = None


@dataclass
class Races:
    """Finds two iterations that run concurrently, touch one place, and one of them writes it."""

    _used: dict[tuple[Path, Location], _Used] = field(default_factory=dict)

    def found(
        self,
        path: Path,
        reads: Iterable[Touch],
        writes: Iterable[Touch],
        added: Iterable[Touch] = (),
    ) -> Iterator[Touch]:
        """What is touched here and in a concurrent iteration."""
        for depth, (kind, iteration) in enumerate(path):
            if kind != "parallel":
                continue
            outer = path[:depth]
            for touch in reads:
                if self._read(self._at(outer, touch), iteration):
                    yield touch
            for touch in writes:
                if self._write(self._at(outer, touch), iteration):
                    yield touch
            for touch in added:
                if self._add(self._at(outer, touch), iteration):
                    yield touch

    def _at(self, outer: Path, touch: Touch) -> _Used:
        return self._used.setdefault((outer, touch.location), _Used())

    def _read(self, used: _Used, iteration: int) -> bool:
        used.reader = _also(used.reader, iteration)
        return _is_another(used.writer, iteration) or _is_another(used.adder, iteration)

    def _write(self, used: _Used, iteration: int) -> bool:
        race = any(_is_another(x, iteration) for x in (used.reader, used.writer, used.adder))
        used.writer = _also(used.writer, iteration)
        return race

    def _add(self, used: _Used, iteration: int) -> bool:
        used.adder = _also(used.adder, iteration)
        return _is_another(used.reader, iteration) or _is_another(used.writer, iteration)


def concurrent(path: Path) -> bool:
    """Whether anything runs beside what is at a path."""
    return any(kind == "parallel" for kind, _ in path)


def _also(before: int | None, iteration: int) -> int:
    return iteration if before in (None, iteration) else -1


def _is_another(who: int | None, iteration: int) -> bool:
    return who not in (None, iteration)
