"""The loop IR: what a schedule becomes, and what machine code is made from.

A `Module` is a kernel: buffers, scalars, and functions that run one after the other. Expressions
are the typed nodes of `lang.nodes`, with these differences:

* a `nodes.Var` is a loop variable (int64), unique in its function, or one of lanes, which
  statements share where their lanes are the same numbers; RVars are gone;
* a `nodes.Size` is an int64 scalar of the kernel, a `nodes.Param` a scalar of its dtype;
* a tensor is read by `Load`, not by `nodes.Read`;
* after the pass `expand_math` only operators remain, no functions (`ops.FUNCTIONS`).

Meaning: `For` runs `body` for var = lo, lo + step, ... < hi, in this order when its kind is
"serial", in any order or concurrently when it is "parallel". `Load` and `Store` with a guard
happen only where it holds (a load that does not happen gives 0); without one they always happen
and are in bounds. Everything else is total: arithmetic never traps (see `lang`), so it may be
computed whether or not its value is used. Until the pass `flatten_indices` an index has one entry
an axis, counted from the buffer's `origin`; after it, it is one offset, in elements or, where
`Buffer.strided`, in bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal, Protocol

from ...lang.nodes.dtypes import Array, DType, concrete
from ...lang.nodes.nodes import Node, Param, Size, Var, dtype_of as dtype_of
from ...records import dataclass, replace
from .buffers import (
    ALIGNMENT as ALIGNMENT,
    Buffer as Buffer,
    BufferKind as BufferKind,
    Load as Load,
)

LoopKind = Literal["serial", "parallel"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Which instance a store belongs to: of the definition `serial`, at a point of its dims, where
    somebody asks for points (`build`)."""

    serial: int
    point: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """buffer[index] = value, where the guard holds. All values are computed before any store.

    `origin` is for `check`, and no part of the meaning; a store without one copies an element.
    """

    buffer: Buffer
    index: tuple[Node, ...]
    value: Node
    guard: Node | None = None
    origin: Origin | None = None
    #: Written past the caches.
    stream: bool = False
    #: Concurrent iterations may add to one element: loading and storing is one atomic step.
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes of a vector: `count` of them, with var = lo, lo + step, ... A statement that
    `folds` runs lane by lane: lanes may add to the same element. That may be in any order, unless
    `in_order` says that another one would change bits."""

    var: Var
    lo: Node
    count: int
    step: int = 1
    folds: bool = False
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class Stores:
    """Several stores whose values and indices are all computed before the first one happens; with
    `lanes`, those of all lanes, unless these fold."""

    stores: tuple[Store, ...]
    lanes: Lanes | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """Adds one to the error counter `counter` where the condition holds."""

    counter: int
    condition: Node


@dataclass(frozen=True, slots=True)
class Prefetch:
    """A hint that an element will be read, wherever it may be: nothing is loaded."""

    buffer: Buffer
    index: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """Calls back: `callback` says whom, `words` (int64 each) are passed, where the condition holds.

    Whoever is called may read and write `buffers`, and nothing else of the kernel's.
    """

    callback: int
    words: tuple[Node, ...]
    condition: Node | None
    buffers: tuple[Buffer, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Says that a thread begins `region`, in its own `pitch` words of `buffer`: with a clock, the
    time since its last mark is entered to the region that ends. See `llvm/functions/marks.py`."""

    buffer: Buffer
    region: int
    pitch: int
    clock: bool = True


@dataclass(frozen=True, slots=True)
class For:
    """for var in range(lo, hi, step). `name` is what the user calls the loop.

    `begins` and `ends` are marks around the iterations that a thread gets of a parallel loop.
    """

    var: Var
    lo: Node
    hi: Node
    step: int
    kind: LoopKind
    body: Stmt
    name: str
    begins: tuple[Mark, ...] = ()
    ends: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Alloc:
    """Buffers live for one execution of the body: what they hold before is garbage. `origin` says
    what the variables in their origins are."""

    buffers: tuple[Buffer, ...]
    origin: tuple[tuple[Var, Node], ...]
    body: Stmt


@dataclass(frozen=True, slots=True)
class If:
    """body, where the condition holds; else what there is otherwise, which in a `choice` does the
    same and holds everywhere."""

    condition: Node
    body: Stmt
    otherwise: Stmt | None = None
    choice: bool = False


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    parts: tuple[Stmt, ...]


Stmt = Stores | Count | Call | Prefetch | Mark | For | Alloc | If | Seq


@dataclass(frozen=True, slots=True)
class Function:
    """One loop nest of the kernel. `title` says which stage it computes."""

    name: str
    title: str
    body: Stmt


class Callback(Protocol):
    """What a `Call` does, given the words behind its number, which is word 0, and the arrays of
    the kernel's buffers."""

    def __call__(
        self,
        words: Sequence[int],
        arrays: Callable[[Buffer], tuple[Array, tuple[int, ...]]],
        /,
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Module:
    """A kernel. Called as `void name(int64 *slots)`.

    The slots hold, one 64-bit word each: the address of every buffer that is not a const, in
    order; then every scalar in order (int64 and narrower integers as int64, bool as 0 or 1,
    floats as their bits in the low end); then `counters` error counters; then, if there are
    `callbacks`, the address of a `void (int64 *words)`, whose word 0 is the
    number of the callback; then the address of what `llvm.layout.CALL` says.

    `constants` are what is known of the scalars.
    """

    name: str
    buffers: tuple[Buffer, ...]
    scalars: tuple[Size | Param, ...]
    functions: tuple[Function, ...]
    counters: int = 0
    callbacks: tuple[Callback, ...] = ()
    constants: Mapping[Node, Node] = field(default_factory=dict)


def scalar_dtype(scalar: Size | Param) -> DType:
    """The type of a scalar inside the kernel; integers are int64, whatever the Param says."""
    return concrete(scalar.type)


def children(stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements directly inside a statement."""
    if isinstance(stmt, Stores):
        return ()
    if isinstance(stmt, Seq):
        return stmt.parts
    if isinstance(stmt, If) and stmt.otherwise is not None:
        return (stmt.body, stmt.otherwise)
    return (stmt.body,) if isinstance(stmt, (If, For, Alloc)) else ()


def map_children(stmt: Stmt, change: Callable[[Stmt], Stmt]) -> Stmt:
    """The statement with those directly inside it changed: in order, but of a choice the other
    branch first. Where none changes it is the statement itself."""
    if isinstance(stmt, Stores):  # most are, and no pattern is tried in vain
        return stmt
    if isinstance(stmt, Seq):
        parts = stmt.parts
        changed = tuple([change(part) for part in parts])
        return stmt if all(map(operator.is_, changed, parts)) else Seq(changed)
    if isinstance(stmt, If) and stmt.otherwise is not None:
        other, made = change(stmt.otherwise), change(stmt.body)
        same = other is stmt.otherwise and made is stmt.body
        return stmt if same else replace(stmt, body=made, otherwise=other)
    if isinstance(stmt, (If, For, Alloc)):
        made = change(stmt.body)
        return stmt if made is stmt.body else replace(stmt, body=made)
    return stmt


def expressions(stmt: Stmt) -> tuple[Node, ...]:
    """The expressions directly in a statement, not those of the statements inside it."""
    match stmt:
        case For(lo=lo, hi=hi):
            return (lo, hi)
        case Alloc(origin=origin):
            return tuple(value for _, value in origin)
        case If(condition=c) | Count(condition=c):
            return (c,)
        case Stores(stores=stores, lanes=lanes):
            found: list[Node] = []
            for s in stores:
                found += [*s.index, s.value, *(() if s.guard is None else (s.guard,))]
            return tuple(found) if lanes is None else (*found, lanes.lo)
        case Prefetch(index=index):
            return index
        case Call(words=words, condition=condition):
            return words if condition is None else (*words, condition)
        case _:
            return ()


def walk(stmt: Stmt) -> Iterator[Stmt]:
    """The statement and all below it, outermost first."""
    stack = [stmt]
    while stack:
        yield (found := stack.pop())
        stack += children(found)[::-1]
