"""Random programs over two loops, and which of their schedules are right, from the definitions.

Plain Python, without isl: instances are enumerated at small sizes, each with what it reads and
writes; a pair that must keep its order is looked up in the loops that a schedule has made.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import polysched as ps

LARGEST = 6
PAD = 8
"""How far indices reach outside of the sizes, at most."""

Point = tuple[int, int]
Element = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class AffineForm:
    """a * r + b * q + c"""

    a: int
    b: int
    c: int

    def at(self, r: int, q: int) -> int:
        return self.a * r + self.b * q + self.c

    def of(self, r: ps.Expr, q: ps.Expr) -> ps.Expr:
        return self.a * r + self.b * q + self.c


@dataclass(frozen=True)
class Touch:
    """An access of an array, by an affine form an axis; with a guard only where that is >= 0."""

    array: int
    index: tuple[AffineForm, ...]
    guard: AffineForm | None = None

    def elements(self, r: int, q: int) -> Iterator[Element]:
        if self.guard is None or self.guard.at(r, q) >= 0:
            yield self.array, tuple(x.at(r, q) for x in self.index)


@dataclass(frozen=True)
class Line:
    """write = sum of reads, at every (r, q)."""

    write: Touch
    reads: tuple[Touch, ...]


@dataclass(frozen=True)
class Random:
    """Lines in the body of two loops, `for r in [0, n): for q in [0, m)`, over arrays in place."""

    ndims: tuple[int, ...]
    lines: tuple[Line, ...]

    def arrays(self) -> tuple[ps.InOut, ...]:
        """The program, as its arrays."""
        n, m = ps.sizes("n m")
        # Each index is at most 2 * (n + m) + 2 in size, on either side of zero.
        extent = 4 * n + 4 * m + 2 * PAD
        found = tuple(ps.InOut(f"A{k}", ps.int64, (extent,) * d) for k, d in enumerate(self.ndims))

        def at(touch: Touch, r: ps.Expr, q: ps.Expr) -> ps.Expr:
            index = tuple(x.of(r, q) + (2 * n + 2 * m + PAD) for x in touch.index)
            return found[touch.array][index]

        with ps.sequential("r", 0, n) as r, ps.sequential("q", 0, m) as q:
            for line in self.lines:
                value = r + 3 * q
                for k, read in enumerate(line.reads):
                    one = at(read, r, q) * (k + 2)
                    guard = read.guard
                    value = value + (
                        one if guard is None else ps.select(guard.of(r, q) >= 0, one, 1)
                    )
                write = line.write
                target = tuple(x.of(r, q) + (2 * n + 2 * m + PAD) for x in write.index)
                found[write.array][target] = value
        return tuple(found[k] for k in sorted({line.write.array for line in self.lines}))


def random_program(rng: random.Random) -> Random:
    ndims = (rng.choice((1, 2)), rng.choice((1, 2)))

    def touch(array: int, *, guarded: bool) -> Touch:
        def form(own: int) -> AffineForm:
            a, b = (1, 0) if own == 0 else (0, 1)
            if rng.random() < 0.3:
                a, b = rng.choice(((1, 0), (0, 1), (1, 1), (1, -1), (2, 0), (0, 0)))
            return AffineForm(a, b, rng.randint(-2, 2))

        axes = range(2) if ndims[array] == 2 else (rng.choice((0, 1)),)
        where = None
        if guarded and rng.random() < 0.25:
            where = AffineForm(rng.choice((-1, 0, 1)), rng.choice((-1, 1)), rng.randint(-2, 2))
        return Touch(array, tuple(form(k) for k in axes), where)

    count = rng.choice((1, 1, 2))
    lines = []
    for _ in range(count):
        target = rng.choice((0, 0, 1))
        reads = tuple(touch(rng.choice((0, 0, 1)), guarded=True) for _ in range(rng.randint(1, 2)))
        lines.append(Line(touch(target, guarded=False), reads))
    return Random(ndims, tuple(lines))


# dependences ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class LineDependence:
    """The sink must run after the source."""

    kind: str
    source: tuple[int, Point]
    sink: tuple[int, Point]


def pairs(program: Random, n: int, m: int) -> list[LineDependence]:
    """Flow from the last writer, anti and output from all, in the order written."""
    last: dict[Element, tuple[int, Point]] = {}
    readers: dict[Element, list[tuple[int, Point]]] = {}
    writers: dict[Element, list[tuple[int, Point]]] = {}
    found: list[LineDependence] = []
    for r, q in itertools.product(range(n), range(m)):
        for k, line in enumerate(program.lines):
            here = (k, (r, q))
            read = {e for t in line.reads for e in t.elements(r, q)}
            found += [LineDependence("flow", last[e], here) for e in read if e in last]
            for e in line.write.elements(r, q):
                found += [LineDependence("anti", x, here) for x in readers.get(e, ())]
                found += [LineDependence("output", x, here) for x in writers.get(e, ())]
                last[e] = here
                writers.setdefault(e, []).append(here)
            for e in read:
                readers.setdefault(e, []).append(here)
    return found


# schedules --------------------------------------------------------------------------------------
Coordinate = Callable[[int, int], int]


@dataclass(frozen=True)
class Level:
    """A loop: its name, what it counts at an instance, and its kind."""

    name: str
    value: Coordinate
    kind: str = "serial"


@dataclass(frozen=True)
class Nest:
    """The loops around all lines, outermost first."""

    levels: tuple[Level, ...] = field(
        default=(Level("r", lambda r, q: r), Level("q", lambda r, q: q))
    )

    def find(self, name: str) -> int:
        return [x.name for x in self.levels].index(name)

    def reordered(self, names: list[str]) -> Nest:
        places = sorted(self.find(x) for x in names)
        levels = list(self.levels)
        for place, name in zip(places, names, strict=True):
            levels[place] = self.levels[self.find(name)]
        return Nest(tuple(levels))

    def replaced(self, name: str, *levels: Level) -> Nest:
        at = self.find(name)
        return Nest((*self.levels[:at], *levels, *self.levels[at + 1 :]))

    def skewed(self, outer: str, inner: str, by: int) -> Nest:
        t, i = self.levels[self.find(outer)].value, self.levels[self.find(inner)]
        return self.replaced(inner, replace(i, value=lambda r, q: i.value(r, q) + by * t(r, q)))

    def transformed(self, names: list[str], matrix: tuple[Point, Point]) -> Nest:
        x, y = (self.levels[self.find(k)].value for k in names)
        nest: Nest = self
        for name, (a, b) in zip(names, matrix, strict=True):

            def value(r: int, q: int, a: int = a, b: int = b) -> int:
                return a * x(r, q) + b * y(r, q)

            nest = nest.replaced(name, Level(name, value))
        return nest

    def kind(self, name: str, kind: str) -> Nest:
        return self.replaced(name, replace(self.levels[self.find(name)], kind=kind))

    def split(self, name: str, factor: int, names: tuple[str, str]) -> Nest:
        old = self.levels[self.find(name)]
        return self.replaced(
            name,
            replace(old, name=names[0], value=lambda r, q: old.value(r, q) // factor),
            replace(old, name=names[1], value=lambda r, q: old.value(r, q) % factor),
        )

    def keeps(self, pair: LineDependence) -> bool:
        """Whether the source runs before the sink."""
        first = [x.value(*pair.source[1]) for x in self.levels]
        second = [x.value(*pair.sink[1]) for x in self.levels]
        for k, level in enumerate(self.levels):
            if level.kind == "parallel" and first[:k] == second[:k] and first[k] != second[k]:
                return False
        steps = [k for k, x in enumerate(self.levels) if x.kind != "vector"]
        a = [*(first[k] for k in steps), pair.source[0]]
        b = [*(second[k] for k in steps), pair.sink[0]]
        if a != b:
            return a < b
        # Lanes of one line read, then write.
        return pair.kind == "anti" and len(steps) < len(self.levels)

    @property
    def is_well_formed(self) -> bool:
        """No parallel or vector loop inside of a vector loop."""
        kinds = [x.kind for x in self.levels]
        below = kinds[kinds.index("vector") + 1 :] if "vector" in kinds else []
        return not {"vector", "parallel"} & set(below)


Key = tuple[int, tuple[int, int], tuple[int, ...]]


def first_wrong(
    program: Random, nest: Nest, largest: int = LARGEST, known: Nest | None = None
) -> Key | None:
    """The sizes and points of the first pair out of order: by the sum of the sizes, then the
    sizes, then the points of source and sink.

    Args:
        known: what is out of order in these loops does not count.
    """
    every = itertools.product(range(1, largest + 1), repeat=2)
    for sizes in sorted(every, key=lambda s: (sum(s), s)):
        wrong = [p for p in pairs(program, *sizes) if not nest.keeps(p)]
        wrong = [p for p in wrong if known is None or known.keeps(p)]
        if wrong:
            return sum(sizes), sizes, min((*p.source[1], *p.sink[1]) for p in wrong)
    return None
