"""From a definition as written to a typed one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors.errors import LanguageError
from ..expr.symbol_key import symbol_key
from ..nodes import nodes
from ..nodes.dtypes import DType, Type, join
from ..nodes.nodes import Node, RVar
from ..nodes.printer import written_text
from ..nodes.typing import Typer

if TYPE_CHECKING:
    from .definitions import Recorded
    from .tensors import Func

Typed = tuple[tuple[Node, ...], tuple[Node, ...], tuple[RVar, ...], tuple[Node, ...]]


def infer_types(
    func: Func, recorded: Sequence[Recorded], known: Sequence[Type | None]
) -> tuple[Type | None, ...]:
    """The least types above `known` that hold every definition, when it reads itself as such."""
    types = tuple(known)
    while True:
        found = [Typer(func, types, d.span).infer(d.values) for d in recorded]
        joined = tuple(join(column) for column in zip(types, *found, strict=True))
        if joined == types:
            return types
        types = joined


def lower_bounds(func: Func, recorded: Recorded) -> tuple[frozenset[Type | None], ...]:
    """For each value, types that its own must hold, whatever the type of the Func itself is."""
    typer = Typer(func, (), recorded.span)
    return tuple(typer.lower_bound(value) for value in recorded.values)


def elaborate(func: Func, recorded: Recorded, dtypes: tuple[DType, ...]) -> Typed:
    """The typed left side, values, RVars in running order, and conditions of a definition."""
    typer = Typer(func, dtypes, recorded.span)
    block = recorded.block
    rename = {} if block is None else block.renaming(recorded.roots)
    rvars: list[RVar] = []
    own = [(r, equals) for r, equals in _rvars(recorded).items() if r not in rename]
    for first, equals in sorted(own, key=lambda item: item[0].serial):
        lo, hi = typer.index(first.lo, rename), typer.index(first.hi, rename)
        rvars.append(RVar(first.name, lo, hi, first.domain, first.serial))
        rename.update((old, rvars[-1]) for old in equals)
    lhs = tuple(typer.index(x, rename) for x in recorded.lhs)
    values = tuple(
        typer.store(nodes.substitute(v, rename), t, update=recorded.op != "=")
        for v, t in zip(recorded.values, dtypes, strict=True)
    )
    domains = dict.fromkeys(r.domain for r in rvars)
    where = tuple(
        typer.condition(nodes.substitute(d.where, rename), "where=")
        for d in domains
        if d.where is not None
    )
    return lhs, values, tuple(rvars), where


def _rvars(recorded: Recorded) -> dict[RVar, list[RVar]]:
    """The RVars of a definition, those that their bounds and conditions mention included.

    RVars are equal by name and bounds: the one made first stands for its equals.
    """
    found: dict[object, list[RVar]] = {}
    for node in nodes.reachable(*recorded.roots):
        if isinstance(node, RVar):
            found.setdefault(symbol_key(node), []).append(node)
    result = {}
    names: dict[str, RVar] = {}
    for equals in found.values():
        first = min(equals, key=lambda r: r.serial)
        other = names.setdefault(first.name, first)
        if other is not first:
            raise LanguageError(
                f"two different RVars are both called {first.name}: over "
                f"[{written_text(other.lo)}, {written_text(other.hi)}) and "
                f"[{written_text(first.lo)}, {written_text(first.hi)})",
                where=recorded.span,
                hint="give one of them another name",
            )
        result[first] = equals
    return result
