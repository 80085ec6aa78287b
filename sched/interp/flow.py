"""What each instance of a program reads, and which instance wrote that: the meaning as data.

The program is interpreted, and every read and write is recorded on the way. A schedule is right if
each of its instances reads what the same instances wrote; that is for others to compare.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..lang.call.binding import Binding
from ..lang.nodes.nodes import Node, Op, Read, RVar, Var, postorder
from ..lang.nodes.tensor import Tensor
from ..lang.program.program import Program
from ..lang.tensors.definitions import Definition
from ..lang.tensors.inout import Initial, InOut
from ..lang.tensors.tensors import Func
from .evaluate import Env, Function
from .interpret import Functions, Run
from .recurrence import Member
from .storage import Point, Values

Key = tuple[int, Point]
"""An instance: the serial of its definition, and the values of its dims."""
Place = tuple[Tensor, Point]
"""An element of a tensor."""


@dataclass(frozen=True, slots=True)
class Untouched:
    """The value that an element of an argument or a table has before anything runs."""

    tensor: str
    point: Point


@dataclass(frozen=True, slots=True)
class Written:
    """The value that one instance wrote."""

    key: Key


@dataclass(frozen=True, slots=True)
class Accumulated:
    """What some instances of an accumulation made of a value, in whatever order.

    `mix` tells sets of as many instances apart.
    """

    serial: int
    base: Version
    count: int
    mix: int


Version = Untouched | Written | Accumulated
"""Which value an element has: who made it."""


def after(key: Key, before: Version | None, free: bool) -> Version:
    """The version that an instance makes.

    Args:
        before: the version it replaces.
        free: whether the instances of its definition may accumulate in any order.
    """
    if not free or before is None:
        return Written(key)
    mix = hash(key) % (1 << 61)
    if isinstance(before, Accumulated) and before.serial == key[0]:
        return Accumulated(key[0], before.base, before.count + 1, (before.mix + mix) % (1 << 61))
    return Accumulated(key[0], before, 1, mix)


def merged(before: Version, partial: Version) -> Version:
    """What an accumulation becomes by another one of the same kind, which began from nothing."""
    if not isinstance(partial, Accumulated):
        return before
    count, mix = partial.count, partial.mix
    if isinstance(before, Accumulated) and before.serial == partial.serial:
        count, mix = count + before.count, (mix + before.mix) % (1 << 61)
        return Accumulated(partial.serial, before.base, count, mix)
    return Accumulated(partial.serial, before, count, mix)


def base_of(version: Version, serial: int) -> Version:
    """The version that an accumulation started from."""
    if isinstance(version, Accumulated) and version.serial == serial:
        return version.base
    return version


@dataclass(slots=True)
class Recorded:
    """One executed instance.

    Attributes:
        place: what it wrote.
        reads: the version of every element it read for the value and for where to write it.
        writers: the instance that wrote it last, None where nobody did.
        number: how many instances ended before it.
    """

    definition: Definition
    key: Key
    place: Place | None = None
    reads: dict[Place, Version] = field(default_factory=dict)
    writers: dict[Place, Key | None] = field(default_factory=dict)
    number: int = 0


@dataclass(frozen=True)
class Flow:
    """A recorded run.

    Attributes:
        instances: by key, in an order in which they can run.
        final: the versions at the end.
        results: the outputs.
    """

    instances: Mapping[Key, Recorded]
    final: Mapping[Place, Version]
    results: tuple[Any, ...]

    def reads(self, here: Recorded, stored: Container[int]) -> Iterator[tuple[Place, Version]]:
        """What an instance reads, where only some definitions are stored, by their serials: what
        it reads of the others is what these read."""
        for place, version in here.reads.items():
            writer = here.writers[place]
            if writer is None or writer[0] in stored:
                yield place, version
            else:
                yield from self.reads(self.instances[writer], stored)


def flow(program: Program, binding: Binding, free: frozenset[int] = frozenset()) -> Flow:
    """Interprets a program, recording.

    Args:
        free: the serials of the accumulations whose instances may come in any order; those
            without rounding always may.
    """
    run = _Recording(program, binding, free)
    results = run.results()
    return Flow(run.done, run.versions, results)


class _Recording(Run):
    def __init__(self, program: Program, binding: Binding, free: frozenset[int]) -> None:
        super().__init__(program, binding, checks=False)
        self.free = free | {d.serial for d in program.definitions if is_exact(d)}
        self.done: dict[Key, Recorded] = {}
        self.versions: dict[Place, Version] = {}
        self.last: dict[Place, Key] = {}
        self.running: list[Recorded | None] = []
        self.watched = {t: _Watched(t, v, self) for t, v in self.values.items()}

    def read(self, tensor: Tensor, point: Point) -> None:
        """An element is read by the instance that is running."""
        here = self.running[-1] if self.running else None
        if here is not None:
            place = (tensor, point)
            here.reads[place] = self.versions.get(place) or untouched(self.program, tensor, point)
            here.writers[place] = self.last.get(place)

    def recorded(self, d: Definition, point: Function, value: Function) -> Function:
        """The value of an instance, with what it reads and writes recorded."""

        def run(env: Env) -> Any:
            key = (d.serial, tuple(env[x] for x in d.dims))
            here = Recorded(d, key)
            self.running.append(here)
            # Shared nodes keep their values in the environment: here they are asked again.
            own: Env = {n: x for n, x in env.items() if isinstance(n, (Var, RVar))}
            at = point(own)
            result = value(own)
            self.running.pop()
            self._wrote(here, (d.func, at))
            return result

        return run

    def _wrote(self, here: Recorded, place: Place) -> None:
        serial = here.key[0]
        here.place, here.number = place, len(self.done)
        before = self.versions.get(place)
        if before is None and isinstance(place[0], InOut):
            before = untouched(self.program, *place)
        self.versions[place] = after(here.key, before, serial in self.free)
        self.last[place] = here.key
        self.done[here.key] = here

    # where instances run ----------------------------------------------------------------------
    def _of(self, d: Definition) -> Functions:
        if d not in self._functions:
            made = Functions(d, self.symbols, self.watched, self.faults)
            made.value = self.recorded(d, made.point, made.value)
            self._functions[d] = made
        return self._functions[d]

    def _member(self, func: Func) -> Member:
        pieces = self.regions.pieces[func]
        current = _Watched(func, Values(func.name), self)
        made = Member(func, pieces, self.watched, self.symbols, self.faults, current)
        for d, value in made.pure.items():
            made.pure[d] = self.recorded(d, _left(d, self), value)
        for update in made.updates:
            update.value = self.recorded(update.d, _left(update.d, self), update.value)
        return made


def _left(d: Definition, run: _Recording) -> Function:
    return Functions(d, run.symbols, run.watched, run.faults).point


class _Watched(Values):
    """The values of a tensor; reading one is recorded."""

    def __init__(self, tensor: Tensor, values: Values, run: _Recording) -> None:
        super().__init__(tensor.name)
        self.tensor, self.inner, self.run = tensor, values, run

    def __getitem__(self, point: Point) -> Any:
        running = self.run.running
        running.append(None)  # a value that is needed first is not computed by who needs it
        value = self.inner[point]
        running.pop()
        self.run.read(self.tensor, point)
        return value

    def __setitem__(self, point: Point, value: Any) -> None:
        self.inner[point] = value

    def pop(self, *args: Any) -> Any:
        return self.inner.pop(*args)


def untouched(program: Program, tensor: Tensor, point: Point) -> Untouched:
    """What an element is before anything runs: of an InOut the same as of its initial value."""
    array: Tensor = tensor
    if isinstance(tensor, Initial) and tensor.array in program.inouts:
        array = tensor.array
    return Untouched(program.names[array], point)


def accumulates(d: Definition) -> bool:
    """Whether an update only combines the element it writes with something else, once."""
    if not d.is_update or len(d.values) != 1:
        return False
    bounds = [b for r in d.rvars for b in (r.lo, r.hi)]
    if _own_reads(d, (*d.lhs, *d.where, *bounds)):
        return False
    value = d.values[0]
    if not isinstance(value, Op):
        return False
    for old, others in _splits(value):
        if isinstance(old, Read) and old.tensor is d.func and old.index == d.lhs:
            return not _own_reads(d, others)
    return False


def _splits(value: Op) -> Iterator[tuple[Node, Sequence[Node]]]:
    """The operands that may stand for the old value, each with the others."""
    match value:
        case Op(op="fma", operands=(a, b, c)):
            yield c, (a, b)
        case Op(op="sub", operands=(a, b)):
            yield a, (b,)
        case Op(op="add" | "mul" | "min" | "max" | "and" | "or" | "xor", operands=(a, b)):
            yield a, (b,)
            yield b, (a,)


def _own_reads(d: Definition, roots: Sequence[Node]) -> bool:
    return any(isinstance(n, Read) and n.tensor is d.func for n in postorder(*roots))


def is_exact(d: Definition) -> bool:
    """Whether an accumulation gives the same bits in any order."""
    if not accumulates(d):
        return False
    value = d.values[0]
    assert isinstance(value, Op)
    return value.op in ("min", "max") or not d.func.dtypes[0].is_float


__all__ = ["Accumulated", "Flow", "Recorded", "Untouched", "Version", "Written", "flow"]
