"""What a call needs to know of a kernel's code: a value with a JSON form, so that it can be kept
beside object code.

    interface = interface_of(lowered.flat)
    data = to_json(interface)              # and in another process
    interface = from_json(data, symbols)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from itertools import islice
from typing import Any

from ...cached import cached_property
from ...lang.errors.errors import LanguageError
from ...lang.nodes.dtypes import ALL, DType
from ...lang.nodes.node_json import decoded_table, encoded_table
from ...lang.nodes.nodes import Node
from ...records import dataclass
from ..ir.cost import work_of
from ..ir.ir import Buffer, Module, scalar_dtype
from ..ir.parallel import private, threaded
from . import arena

_DTYPES = {t.name: t for t in ALL}
_KINDS = ("input", "output", "scratch")


@dataclass(frozen=True, slots=True)
class Passed:
    """A buffer whose address is passed to the code.

    Attributes:
        kind: `input`, `output` or `scratch`.
        pitches: of scratch memory, how many elements there are along each axis.
        first, last: of scratch memory, the nests between which it is in use.
        is_private: whether each thread has a copy of it.
    """

    name: str
    dtype: DType
    kind: str
    ndim: int
    strided: bool
    pitches: tuple[Node, ...] = ()
    first: int = 0
    last: int = 0
    is_private: bool = False


class Work:
    """About how long some code takes on one thread: an expression over its scalars, in nanoseconds,
    that is made when somebody asks, which most processes never do."""

    def __init__(self, make: Callable[[], Node | None]) -> None:
        self._make = make

    @cached_property
    def node(self) -> Node | None:
        """The expression; None where data say how long it takes."""
        return self._make()


@dataclass(frozen=True, slots=True)
class Interface:
    """What the slots of some code hold (`ir.Module`), and what it runs on.

    Attributes:
        name: of the kernel, by which its entry is found.
        scalars: the names of scalars, with their types in the code.
        is_threaded: whether a loop is handed to threads.
    """

    name: str
    buffers: tuple[Passed, ...]
    scalars: tuple[tuple[str, DType], ...]
    counters: int
    is_threaded: bool
    work: Work = field(compare=False)

    @property
    def scratch(self) -> tuple[Passed, ...]:
        """The buffers that a call allocates for itself."""
        return tuple(b for b in self.buffers if b.kind == "scratch")


def passed(module: Module) -> tuple[Buffer, ...]:
    """The buffers of a module whose addresses are passed to its code."""
    return tuple(b for b in module.buffers if b.kind not in ("const", "stack"))


def interface_of(module: Module) -> Interface:
    """The interface of the code that is made of a module behind all passes."""
    own, spans = private(module), arena.lifetimes(module)
    buffers = []
    for b in passed(module):
        about: tuple[Any, ...] = ()
        if b in spans:
            about = (b.pitches, *spans[b], b in own)
        buffers.append(Passed(b.name, b.dtype, b.kind, b.ndim, b.strided, *about))
    scalars = tuple((s.name, scalar_dtype(s)) for s in module.scalars)
    is_threaded = any(True for f in module.functions for _ in threaded(f.body))
    work = Work(lambda: work_of(module))
    return Interface(module.name, tuple(buffers), scalars, module.counters, is_threaded, work)


def to_json(interface: Interface) -> dict[str, Any]:
    """An interface as data for JSON. TypeError where an expression of it has no JSON form."""
    pitches, work = [p for b in interface.buffers for p in b.pitches], interface.work.node
    return {
        "name": interface.name,
        "buffers": [
            [b.name, b.dtype.name, b.kind, b.ndim, b.strided, b.first, b.last, b.is_private]
            for b in interface.buffers
        ],
        "pitches": encoded_table(pitches),
        "scalars": [[name, t.name] for name, t in interface.scalars],
        "counters": interface.counters,
        "threaded": interface.is_threaded,
        "work": encoded_table([] if work is None else [work]),
    }


def from_json(data: Any, symbols: Mapping[str, Node]) -> Interface:
    """What `to_json` wrote.

    Args:
        symbols: the scalars of the program, by name.

    Raises:
        LanguageError: it is something else, or about another program.
    """
    match data:
        case {
            "name": str(name),
            "buffers": list(buffers),
            "pitches": table,
            "scalars": list(scalars),
            "counters": int(counters),
            "threaded": bool(is_threaded),
            "work": list() as work,
        }:
            pitches = iter(decoded_table(table, symbols))
            made = tuple(_passed(row, pitches) for row in buffers)
            named = tuple(map(_scalar, scalars))
            later = Work(lambda: _work(work, symbols))
            return Interface(name, made, named, counters, is_threaded, later)
    raise LanguageError("this is no interface of a kernel")


def _work(table: Any, symbols: Mapping[str, Node]) -> Node | None:
    """The expression that was written; None also for what is none."""
    with suppress(LanguageError):
        return next(iter(decoded_table(table, symbols)), None)
    return None


def _passed(row: Any, pitches: Any) -> Passed:
    match row:
        case [str(name), str(t), str(kind), int(ndim), bool(strided), int(first), int(last),
              bool(own)] if t in _DTYPES and kind in _KINDS:  # fmt: skip
            count = max(ndim, 0) if kind == "scratch" else 0
            found = tuple(islice(pitches, count))
            if len(found) == count:
                return Passed(name, _DTYPES[t], kind, ndim, strided, found, first, last, own)
    raise LanguageError(f"{row!r} is no buffer of a kernel")


def _scalar(row: Any) -> tuple[str, DType]:
    match row:
        case [str(name), str(t)] if t in _DTYPES:
            return name, _DTYPES[t]
    raise LanguageError(f"{row!r} is no scalar of a kernel")
