"""Calls that compute a part of an output: `C(A=a, region=((0, 8), (4, 12)))`.

The part is a Func of its own, `C.part[i0, i1] = C[i0 + from0, i1 + from1]`, and C is an
intermediate result, of which only the elements are computed that the part needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...records import dataclass
from ..errors.errors import CallTypeError, CallValueError, user_span
from ..errors.words import axes_text
from ..expr.expr import Expr
from ..nodes import nodes
from ..nodes.dtypes import bool_
from ..nodes.nodes import Node, Op, Size
from ..tensors.inout import InOut
from ..tensors.tensors import Func, Input
from .program import Program
from .requirements import Requirement


@dataclass(frozen=True, eq=False)
class Part:
    """The part of one output: where it starts and how long it is along each axis, as sizes."""

    whole: Func
    func: Func
    starts: tuple[Size, ...]
    lengths: tuple[Size, ...]


class Partial:
    """The program that computes parts of a program's outputs.

    Raises:
        CallTypeError: an output is an InOut, which is updated as a whole.
    """

    def __init__(self, program: Program) -> None:
        for func in program.outputs:
            if isinstance(func, InOut):
                raise CallTypeError(
                    f"region= asks for a part of an output, and {func.name} is updated in place",
                    argument="region",
                    hint="pass a view of the array, if the program allows any shape",
                )
        self.names = {f: program.names[f] for f in program.outputs}
        self.parts = tuple(_part(f, self.names[f]) for f in program.outputs)
        self.program = Program(
            [p.func for p in self.parts],
            [i for i in program.inputs if isinstance(i, Input)],
            partial=frozenset(program.funcs),
            requirements=[r for p in self.parts for r in _within(p)],
        )

    def sizes(self, region: Any, shape: Any) -> dict[str, int]:
        """The sizes that stand for a region, given as one, or as several in a tuple or dict."""
        if shape is not None:
            raise CallTypeError(
                "region= says what is computed, and shape= too",
                argument="shape",
                hint="leave out shape=",
            )
        found: dict[str, int] = {}
        for part, given in zip(self.parts, self._by_output(region), strict=True):
            pairs = _pairs(self.names[part.whole], part, given)
            for start, length, (lo, hi) in zip(part.starts, part.lengths, pairs, strict=True):
                found[start.name] = lo
                found[length.name] = hi - lo
        return found

    def _by_output(self, region: Any) -> list[Any]:
        names = [self.names[p.whole] for p in self.parts]
        if isinstance(region, Mapping):
            unknown = [n for n in region if n not in names]
            missing = [n for n in names if n not in region]
            if unknown or missing:
                raise CallTypeError(
                    f"region= names {', '.join(map(str, region))}, and the outputs are "
                    f"{', '.join(names)}",
                    argument="region",
                    hint="one region an output",
                )
            return [region[n] for n in names]
        if len(self.parts) == 1:
            return [region]
        if not isinstance(region, (tuple, list)) or len(region) != len(self.parts):
            raise CallTypeError(
                f"region= has one region an output, {len(self.parts)} in all",
                argument="region",
                hint="or a dict by name: " + ", ".join(names),
            )
        return list(region)

    def renamed(self, out: Any) -> Any:
        """The argument out= with the names of the parts in place of those of the outputs."""
        if not isinstance(out, Mapping):
            return out
        if unknown := [n for n in out if n not in self.names.values()]:
            raise CallTypeError(
                f"out= names {unknown[0]!r}, which is no output",
                argument="out",
                hint="outputs are " + ", ".join(self.names.values()),
            )
        names = {self.names[p.whole]: self.program.names[p.func] for p in self.parts}
        return {names.get(n, n): array for n, array in out.items()}


def _part(whole: Func, name: str) -> Part:
    whole.complete(user_span())
    axes = range(whole.ndim)
    starts = tuple(Size(f"{name}.from[{k}]", None) for k in axes)
    lengths = tuple(Size(f"{name}.count[{k}]", None) for k in axes)
    func = Func._internal(f"{name}.part", whole.dtypes)
    func.extents = lengths
    at = tuple(nodes.Var(f"i{k}") for k in axes)
    index = tuple(Expr(v) + Expr(s) for v, s in zip(at, starts, strict=True))
    func.history.record(tuple(map(Expr, at)), whole[index or ()], user_span())
    return Part(whole, func, starts, lengths)


def _within(part: Part) -> list[Requirement]:
    """Requirements that the part lies inside of the output."""
    found = []
    for start, length, extent in zip(
        part.starts, part.lengths, part.whole.extents or (), strict=False
    ):
        end: Node = Op("add", (start, length), start.type)
        condition = Op("le", (end, extent), bool_)
        message = f"region= reaches beyond {part.whole.name}"
        found.append(Requirement(condition, message, part.whole.span, True))
    return found


def _pairs(name: str, part: Part, given: Any) -> Sequence[tuple[int, int]]:
    rank = len(part.starts)
    axes = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if rank == 1 and len(axes) == 2 and all(isinstance(x, (int, np.integer)) for x in axes):
        axes = (axes,)
    if len(axes) != rank:
        raise CallValueError(
            f"region={given!r} has {axes_text(len(axes))}, and {name} has {rank}",
            argument="region",
            hint="one half-open pair (lo, hi) an axis",
        )
    return [_pair(name, given, axis) for axis in axes]


def _pair(name: str, given: Any, axis: Any) -> tuple[int, int]:
    ok = isinstance(axis, (tuple, list)) and len(axis) == 2
    if not ok or any(isinstance(x, bool) or not isinstance(x, (int, np.integer)) for x in axis):
        raise CallTypeError(
            f"region={given!r}: {axis!r} is no pair of integers",
            argument="region",
            hint="half-open, as range(lo, hi): region=((0, 8), (4, 12))",
        )
    lo, hi = int(axis[0]), int(axis[1])
    if not 0 <= lo <= hi:
        raise CallValueError(
            f"region={given!r}: {name} has no elements from {lo} to {hi}",
            argument="region",
            hint="0 <= lo <= hi; indices do not count from the end",
        )
    return lo, hi
