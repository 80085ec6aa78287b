"""What a definition may be made of: typed pieces of program text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from polysched.lang.nodes.dtypes import DType, Type, concrete

Kind = Literal["bool", "int", "float"]
KINDS: tuple[Kind, ...] = ("int", "float", "bool")


def kind_of(t: Type) -> Kind:
    """Bool, integer or float."""
    c = concrete(t)
    return "bool" if c.is_bool else "int" if c.is_int else "float"


@dataclass(frozen=True)
class Value:
    """An expression. A `literal` is a plain Python number or NumPy scalar, not an `Expr`."""

    text: str
    type: Type
    literal: bool = False

    @property
    def kind(self) -> Kind:
        return kind_of(self.type)


@dataclass(frozen=True)
class Symbol:
    """A Var or RVar. It is known to be in [0, e) for every extent e of `within`, and to leave
    room for one more step upwards for those of `below`, downwards if it is `positive`."""

    name: str
    within: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()
    positive: bool = False


@dataclass(frozen=True)
class Tensor:
    """Something that is read. Without `extents` any index is legal."""

    name: str
    types: tuple[DType, ...]
    rank: int
    extents: tuple[str, ...] | None
    is_func: bool = False


@dataclass(frozen=True)
class InputSpec:
    """An Input and its data: any values of its type, or those in [lo, hi). Or an InOut."""

    name: str
    dtype: str
    extents: tuple[str, ...]
    lo: str | None = None
    hi: str | None = None


@dataclass(frozen=True)
class ParamSpec:
    """A Param and the values that it may be given."""

    name: str
    dtype: str
    lo: int | None = None
    hi: int | None = None


@dataclass
class Scope:
    """What is in reach of the definition that is being written.

    Attributes:
        symbols: its Vars and RVars.
        shared: named expressions that may be used anywhere in it.
        lines: the assignments of those names.
        recurrent: the Func that it updates and the indices of its left side; an index that is
            None may be chosen freely where the Func is read.
        reduces_itself: whether reductions may read that Func: not in an update outside of blocks.
        reductions: how many more there may be.
        traces: whether values may be traced, as they may not in indices and bounds.
    """

    symbols: list[Symbol] = field(default_factory=list)
    shared: list[Value] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    recurrent: tuple[Tensor, tuple[str | None, ...]] | None = None
    reduces_itself: bool = False
    reductions: int = 2
    traces: bool = True

    @contextmanager
    def reducing(self) -> Iterator[None]:
        """The inside of a reduction: its loops, and what is made of them, end with it."""
        symbols, shared, recurrent = self.symbols[:], self.shared[:], self.recurrent
        self.reductions -= 1
        self.recurrent = recurrent if self.reduces_itself else None
        yield
        self.symbols[:], self.shared[:], self.recurrent = symbols, shared, recurrent

    @contextmanager
    def bounding(self) -> Iterator[None]:
        """A bound or a condition of a loop, or a place to write to: it has no reductions."""
        kept, self.reductions = self.reductions, 0
        with self.indexing():
            yield
        self.reductions = kept

    @contextmanager
    def indexing(self) -> Iterator[None]:
        """An index: nothing in it is traced."""
        kept, self.traces = self.traces, False
        yield
        self.traces = kept
