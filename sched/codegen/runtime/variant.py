"""The code of a kernel for one layout of its arguments, and how it is run."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cached import cached_property
from ...lang.arithmetic.evaluate import ByName, compile_nodes, size_value
from ...lang.errors.errors import CallValueError
from ...lang.nodes.dtypes import Array
from ...lang.nodes.nodes import Var
from ...records import dataclass
from ..build.callbacks import Arrays
from ..build.storage import stride_name
from ..ir.ir import Buffer
from ..ir.parallel import bytes_of_copies
from ..llvm import CompiledCode
from . import arena
from .arguments import bits
from .calls import Call
from .dispatcher import Dispatcher
from .interface import Interface, passed
from .threads import get_num_threads

if TYPE_CHECKING:
    from ..lower import Lowered

_NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The scalars of a call, its words, and where its scratch memory lies by number of threads."""

    values: dict[str, Any]
    words: tuple[int, ...]
    plans: dict[int, tuple[list[int], int]] = field(default_factory=dict)


class Variant:
    """The code for one layout of the arguments, and what a call needs to run it.

    Attributes:
        buffers: those whose addresses are passed, in order.
        spans: when each scratch buffer is in use.
    """

    def __init__(
        self, code: CompiledCode, interface: Interface, lowered: Lowered | None = None
    ) -> None:
        """
        Args:
            lowered: what the code was made from; None where it was found on disk. That never calls
                back.
        """
        self._code = code
        self.interface = interface
        self.lowered = lowered
        self.address = code.address(interface.name)
        self.function = _NATIVE(self.address)
        self.buffers = interface.buffers
        scratch = interface.scratch
        self.spans = [arena.Lifetime(b, b.first, b.last) for b in scratch]
        self._ranks = [(b.dtype.itemsize, len(b.pitches)) for b in scratch]
        #: Which scratch buffers each thread has a copy of.
        self.private = [b.is_private for b in scratch]
        self.is_threaded = interface.is_threaded
        #: Which words are addresses of scratch memory.
        self.places = [k for k, b in enumerate(self.buffers) if b.kind == "scratch"]
        self.callbacks = () if lowered is None else lowered.flat.callbacks
        known = passed(lowered.flat) if lowered is not None and self.callbacks else ()
        #: For callbacks: the numbers of buffers, by their identity; and where scratch memory begins
        #: and how large it is. Extern stages are given whole buffers, whose origins do not depend
        #: on loops.
        self._numbers = {id(b): k for k, b in enumerate(known)}
        fixed = [b for b in known if not any(isinstance(x, Var) for x in b.origin)]
        self.boxes = {id(b): compile_nodes([*b.origin, *b.extents]) for b in fixed}
        self.plans: dict[tuple[int, ...], tuple[list[int], int]] = {}

    def time(self, values: Mapping[str, Any]) -> float:
        """About how long a call takes on one thread, in nanoseconds; infinite where loops run as
        often as data say."""
        work = self.interface.work.node
        return math.inf if work is None else float(size_value(work, values, values))

    def scalar_word(self, name: str) -> int | None:
        """Which word a scalar is; None where the code does not use it."""
        names = [n for n, _ in self.interface.scalars]
        return len(self.buffers) + names.index(name) if name in names else None

    def prepared(self, values: dict[str, Any], arrays: Mapping[str, Array]) -> Prepared:
        """What the code is given, but for scratch memory."""
        for buffer in self.buffers:
            if buffer.strided:
                for axis, step in enumerate(arrays[buffer.name].strides):
                    values[stride_name(buffer.name, axis)] = step
        words = [0 if b.kind == "scratch" else arrays[b.name].ctypes.data for b in self.buffers]
        words += [bits(values[name], dtype) for name, dtype in self.interface.scalars]
        return Prepared(values, (*words, *[0] * self.interface.counters))

    def run(
        self,
        prepared: Prepared,
        arrays: dict[str, Array],
        blocks: arena.Pool,
        moved: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Runs the code.

        Args:
            arrays: for callbacks.
            moved: words that are others than in what is prepared.
        """
        threads = get_num_threads() if self.is_threaded else 1
        offsets, total = self.planned(prepared, threads)
        words = list(prepared.words)
        for k, word in moved:
            words[k] = word
        memory: dict[int, Array] = {}
        block = blocks.take(total) if total else None
        if block is not None:
            base = arena.address(block)
            for k, offset in zip(self.places, offsets, strict=True):
                words[k] = base + offset
            if self.callbacks:
                start = block.ctypes.data
                memory = {k: block[words[k] - start :] for k in self.places}
        slots = self._enter(words, threads, partial(self._array, prepared.values, arrays, memory))
        if block is not None:
            blocks.give_back(block)
        counters = self.interface.counters
        if counters and (count := sum(slots[len(prepared.words) - counters : len(prepared.words)])):
            raise CallValueError(
                f"{count} integer division{'s' if count > 1 else ''} by zero, or negative "
                f"power{'s' if count > 1 else ''} of integers (each gave 0)",
                hint="guard the divisor or the exponent, or compile without checks=True",
            )

    def _enter(self, words: list[int], threads: int, array: Arrays) -> ctypes.Array[ctypes.c_int64]:
        """Runs the code; the result is the slots. Raises what a callback has raised, or what a
        handler of a signal has."""
        back = None
        try:
            with Call(threads) as call:
                if self.callbacks:
                    back = Dispatcher(self.callbacks, array, call)
                    words.append(back.address)
                slots = (ctypes.c_int64 * (len(words) + 1))(*words, call.address)
                self.function(ctypes.addressof(slots))
        finally:
            if back is not None:
                back.finish()
        return slots

    def _array(
        self,
        values: dict[str, Any],
        arrays: dict[str, Array],
        scratch: dict[int, Array],
        buffer: Buffer,
    ) -> tuple[Array, tuple[int, ...]]:
        """A buffer as an array, and the index of its first element."""
        if buffer.kind == "const":
            return buffer.data.view(), (0,) * buffer.ndim
        if buffer.kind != "scratch":
            return arrays[buffer.name].view(), (0,) * buffer.ndim
        box = self.boxes[id(buffer)](values)
        shape = tuple(max(n, 0) for n in box[buffer.ndim :])
        if 0 in shape:
            return np.empty(shape, buffer.dtype.numpy), box[: buffer.ndim]
        bytes = scratch[self._numbers[id(buffer)]][: math.prod(shape) * buffer.dtype.itemsize]
        return bytes.view(buffer.dtype.numpy).reshape(shape), box[: buffer.ndim]

    @cached_property
    def _pitches(self) -> ByName:
        """Those of all scratch buffers, in one function: to compile one takes as long as linking a
        kernel."""
        return compile_nodes([pitch for b in self.interface.scratch for pitch in b.pitches])

    def bytes(self, values: Mapping[str, Any]) -> tuple[int, ...]:
        """How large each scratch buffer is. Python's integers do not wrap: a product that 64 bits
        do not hold is more than there is memory."""
        pitches = iter(self._pitches(values))
        return tuple(
            size * math.prod(max(n, 0) for n in islice(pitches, rank)) for size, rank in self._ranks
        )

    def planned(self, prepared: Prepared, threads: int) -> tuple[list[int], int]:
        """Where scratch memory lies in a call on so many threads, and how much there is of it."""
        plan = prepared.plans.get(threads)
        if plan is None:
            plan = prepared.plans[threads] = self._plan(prepared.values, threads)
        return plan

    def _plan(self, values: dict[str, Any], threads: int) -> tuple[list[int], int]:
        """Where each scratch buffer lies; remembered by their sizes."""
        sizes = tuple(
            bytes_of_copies(size, threads) if private else size
            for size, private in zip(self.bytes(values), self.private, strict=True)
        )
        found = self.plans.get(sizes)
        if found is None:
            if len(self.plans) > 64:
                self.plans.clear()
            found = self.plans[sizes] = arena.plan(self.spans, sizes)
        return found
