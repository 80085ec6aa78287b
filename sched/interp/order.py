"""The check that an update does not depend on the order of its Vars.

Two instances with different values of Vars may access one element only if both read it. Where each
Var is the index along an axis of every access to the updated Func this always holds; else every
access is recorded, and a may-access counts as one to all points of its box.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from math import prod

from ..lang.errors.errors import LanguageError
from ..lang.nodes.nodes import Read, postorder
from ..lang.tensors.definitions import Definition
from .bounds import LARGEST_BOX, Box
from .evaluate import Env
from .footprint import Access
from .refusals import point_text
from .storage import Point

Vars = tuple[int, ...]


def needs_check(d: Definition) -> bool:
    """Whether instances with different values of Vars could access one element."""
    bounds = (b for r in d.rvars for b in (r.lo, r.hi))
    reads = [
        node.index
        for node in postorder(*d.lhs, *d.values, *d.where, *bounds)
        if isinstance(node, Read) and node.tensor is d.func
    ]
    return not all(
        any(x is v and all(index[k] is v for index in reads) for k, x in enumerate(d.lhs))
        for v in d.vars
    )


class VarOrder:
    """The accesses of one update to the Func that it updates."""

    def __init__(self, definition: Definition, shape: tuple[int, ...] | None) -> None:
        self.definition = definition
        self.shape = shape
        self._writers: dict[Point, tuple[Vars, str]] = {}
        #: The first reader of each element, which suffices: Vars are the outer loops, so if any
        #: reader has other values of Vars than a later writer, the first one has.
        self._readers: dict[Point, tuple[Vars, str]] = {}

    def visit(self, access: Access, env: Env) -> None:
        """Records an access. It is refused if an earlier one at other values of Vars conflicts with
        it, so that the order of the two matters."""
        if access.tensor is not self.definition.func:
            return
        vars = tuple(env[v] for v in self.definition.vars)
        where = access.where(env)
        if access.exact:
            self._record(where, vars, access.is_write)
            return
        for point in self._points(where):
            self._record(point, vars, access.is_write, may=True)

    def _points(self, box: Box) -> Iterable[Point]:
        """The points of a box that may be accessed, inside of the Func's shape: accesses outside
        are refused elsewhere."""
        if self.shape is not None:
            box = tuple(
                (max(lo, 0), min(hi, n - 1)) for (lo, hi), n in zip(box, self.shape, strict=True)
            )
        if prod(hi - lo + 1 for lo, hi in box) > LARGEST_BOX:
            return ()
        return itertools.product(*(range(lo, hi + 1) for lo, hi in box))

    def _record(self, point: Point, vars: Vars, is_write: bool, may: bool = False) -> None:
        verb = (
            f"may {'write' if is_write else 'read'}" if may else "writes" if is_write else "reads"
        )
        writer = self._writers.get(point)
        if writer is not None and writer[0] != vars:
            self._refuse(point, writer, (vars, verb))
        if not is_write:
            self._readers.setdefault(point, (vars, verb))
            return
        self._writers[point] = (vars, verb)
        reader = self._readers.get(point)
        if reader is not None and reader[0] != vars:
            self._refuse(point, reader, (vars, verb))

    def _refuse(self, point: Point, first: tuple[Vars, str], second: tuple[Vars, str]) -> None:
        d = self.definition
        names = [v.name for v in d.vars]
        (a, does), (b, also) = first, second
        at = [point_text(dict(zip(names, vars, strict=True))) for vars in (a, b)]
        differing = [n for n, x, y in zip(names, a, b, strict=True) if x != y]
        element = f"{d.func.name}{list(point)}"
        raise LanguageError(
            f"{d.name} depends on the order of its Vars: {at[0]} {does} {element}, and {at[1]} "
            f"{also} it; {d.text()}",
            where=d.span,
            hint=f"make {' and '.join(differing)} an RVar, which runs in order: "
            f"{differing[0]} = ps.RVar({differing[0]!r}, lo, hi)",
        )
