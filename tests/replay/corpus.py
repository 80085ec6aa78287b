"""Programs by name, and the schedules of each that the corpus is recorded from.

An `Entry` is a line of `corpus.jsonl`: a program, a schedule of it as `to_json` wrote it, and the
digests of the loop IR before and after the passes. Replaying it reads the JSON, proves every
directive anew and lowers the result.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polysched as ps
from polysched.codegen.build.build import build
from polysched.codegen.lower import passed
from polysched.steps import Log

from .digest import module_digest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus.jsonl"
#: Random schedules of each program, and directives tried for each.
SEEDS, ATTEMPTS = 3, 6
#: Programs with more statements take seconds under random directives.
TOO_LARGE = 40


@dataclass(frozen=True)
class Entry:
    """A schedule of a program, and what became of it."""

    program: str
    label: str
    schedule: str
    loops: str
    flat: str

    @property
    def name(self) -> str:
        return f"{self.program}-{self.label}"


TARGET = "x86-64-v4"
"""What schedules are recorded for that have words for numbers of the machine."""


@cache
def programs() -> dict[str, Callable[[], Any]]:
    """What makes each program afresh, by room and name."""
    import cases as benchmarks
    from gallery.registry import CASES as gallery
    from polybench.registry import CASES as polybench

    rooms = {"gallery": gallery, "polybench": polybench, "benchmarks": benchmarks.CASES}
    made = {f"{room}/{c.name}": c.build for room, found in rooms.items() for c in found}
    return made | {f"placed/{c.name}": c.build for c in (p.case for p in _placements())}


def _placements() -> list[Any]:
    from gallery.test_placements import PLACEMENTS

    return PLACEMENTS


def schedules() -> Iterator[tuple[str, str, ps.Schedule]]:
    """Every schedule to record: of which program, as what."""
    import cases as benchmarks

    for name, make in programs().items():
        if name.startswith(("gallery/", "polybench/")):
            yield name, "written", ps.Schedule(make())
            yield name, "default", ps.Schedule.default(make())
            for seed in range(SEEDS):
                yield name, f"random {seed}", _scrambled(name, seed)
    for case in benchmarks.CASES:
        yield f"benchmarks/{case.name}", "by hand", case.scheduled(TARGET)
    for p in _placements():
        s = ps.Schedule.default(p.case.build())
        p.build(s)
        yield f"placed/{p.case.name}", p.build.__name__, s


def _scrambled(name: str, seed: int) -> ps.Schedule:
    from gallery.random_schedules import scramble

    s = ps.Schedule.default(programs()[name]())
    if len(s.model.statements) <= TOO_LARGE:
        scramble(s, random.Random(f"{name} {seed}"), ATTEMPTS)
    return s


def recorded(program: str, label: str, s: ps.Schedule) -> Entry:
    """A schedule with its digests."""
    return Entry(program, label, s.to_json(), *digests(s))


def digests(s: ps.Schedule) -> tuple[str, str]:
    """Those of the loop IR before and after the passes."""
    module = build(s.loop_program)
    return module_digest(module), module_digest(passed(module, Log()))


def replayed(entry: Entry) -> Entry:
    """The same from the entry's JSON alone."""
    s = ps.Schedule.from_json(programs()[entry.program](), entry.schedule)
    return Entry(entry.program, entry.label, s.to_json(), *digests(s))


def read() -> list[Entry]:
    """The corpus."""
    return [Entry(**json.loads(line)) for line in CORPUS.read_text().splitlines()]


def write(entries: list[Entry]) -> None:
    """Makes these the corpus."""
    CORPUS.write_text("".join(json.dumps(asdict(e)) + "\n" for e in entries))


def same_schedule(found: Entry, entry: Entry) -> bool:
    """Whether both were told the same; the format in which JSON says so may be an earlier one, and
    the order of first reading, which format 1 does not say, is said since."""
    first, second = json.loads(found.schedule), json.loads(entry.schedule)
    if second.pop("format", 1) == 1 and second["inputs"] is None:
        first.pop("inputs")
        second.pop("inputs")
    first.pop("format")
    return bool(first == second)
