"""The data flow of a program: for each instance, which elements it reads and which instance wrote
their values.

The program is interpreted, and every read and write is recorded on the way. A schedule is right if
each of its instances reads values that the same instances wrote; the instance checker compares
them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from ..lang.call.binding import Binding
from ..lang.nodes.nodes import Node, Op, Read, RVar, Var, postorder
from ..lang.nodes.tensor import Tensor
from ..lang.program.program import Program
from ..lang.tensors.definitions import Definition
from ..lang.tensors.inout import Initial, InOut
from ..lang.tensors.tensors import Func
from ..records import dataclass
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
    """The value that a set of instances of an accumulation made of the version `base`, in any
    order.

    `count` is the number of these instances, and `mix` a hash of the set.
    """

    serial: int
    base: Version
    count: int
    mix: int


Version = Untouched | Written | Accumulated
"""The version of an element: it identifies its value by the instances that made it."""


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
    """The version after a partial result, which began from the neutral element, has been combined
    with `before`."""
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
        place: the element that it wrote.
        reads: the version of every element that it read, for its value or for its left side.
        writers: for each element that it read, the instance that wrote it last; None if no
            instance did.
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
        values: of tensors whose elements each have one value in all of the run.
    """

    instances: Mapping[Key, Recorded]
    final: Mapping[Place, Version]
    results: tuple[Any, ...]
    values: Mapping[Tensor, Values]

    def reads(self, here: Recorded, stored: Container[int]) -> Iterator[tuple[Place, Version]]:
        """The elements that an instance reads from memory where only the definitions with the
        serials `stored` are stored. The others are inlined: a read of one stands for the reads of
        the instance that computes it."""
        for place, version in here.reads.items():
            writer = here.writers[place]
            if writer is None or writer[0] in stored:
                yield place, version
            else:
                yield from self.reads(self.instances[writer], stored)


def flow(program: Program, binding: Binding, free: frozenset[int] = frozenset()) -> Flow:
    """Interprets a program and records its data flow.

    Args:
        free: the serials of the accumulations whose instances may run in any order; those without
            rounding always may.
    """
    run = _Recording(program, binding, free)
    results = run.results()
    lasting = {t: v for t, v in run.values.items() if _lasts(program, t)}
    return Flow(run.done, run.versions, results, lasting)


def _lasts(program: Program, tensor: Tensor) -> bool:
    """Whether each element has one value: nothing updates it, and no block makes it anew."""
    if not isinstance(tensor, Func):
        return not isinstance(tensor, Initial)
    changes = tensor.history.home is not None or any(d.is_update for d in tensor.history.typed())
    return not changes and not any(tensor in group for group in program.recurrences)


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
        """Records that the running instance reads an element."""
        here = self.running[-1] if self.running else None
        if here is not None:
            place = (tensor, point)
            here.reads[place] = self.versions.get(place) or untouched(self.program, tensor, point)
            here.writers[place] = self.last.get(place)

    def recorded(self, d: Definition, point: Function, value: Function) -> Function:
        """The function `value`, wrapped so that it records the reads and the write of the
        instance."""

        def run(env: Env) -> Any:
            key = (d.serial, tuple(env[x] for x in d.dims))
            here = Recorded(d, key)
            self.running.append(here)
            # A new environment without the values of shared nodes, so that their reads are repeated
            # and recorded for this instance.
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
    """The values of a tensor, which record every read."""

    def __init__(self, tensor: Tensor, values: Values, run: _Recording) -> None:
        super().__init__(tensor.name)
        self.tensor, self.inner, self.run = tensor, values, run

    def __getitem__(self, point: Point) -> Any:
        running = self.run.running
        running.append(None)  # in a recurrence another instance may compute the value now
        value = self.inner[point]
        running.pop()
        self.run.read(self.tensor, point)
        return value

    def __setitem__(self, point: Point, value: Any) -> None:
        self.inner[point] = value

    def pop(self, *args: Any) -> Any:
        return self.inner.pop(*args)


def untouched(program: Program, tensor: Tensor, point: Point) -> Untouched:
    """The version of an element before anything runs. The elements of an InOut and of its initial
    value have the same versions."""
    array: Tensor = tensor
    if isinstance(tensor, Initial) and tensor.array in program.inouts:
        array = tensor.array
    return Untouched(program.names[array], point)


def accumulates(d: Definition) -> bool:
    """Whether an update is an accumulation: it combines the element that it writes with an operand
    that does not read its Func."""
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
