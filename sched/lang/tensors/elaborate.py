"""Elaboration: a definition as written becomes a typed one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors.errors import LanguageError, LanguageTypeError
from ..expr.symbol_key import symbol_key
from ..nodes import nodes
from ..nodes.dtypes import DType, Type, concrete, int64, join
from ..nodes.nodes import Node, RVar, Var, postorder
from ..nodes.printer import written_text
from ..nodes.typing import Typer
from .definitions import Definition, Recorded

if TYPE_CHECKING:
    from .tensors import Func

Typed = tuple[tuple[Node, ...], tuple[Node, ...], tuple[RVar, ...], tuple[Node, ...]]

Bounds = tuple[frozenset[Type | None], ...]
"""For each component of a Func, types that its own type must hold."""


def infer_types(
    func: Func, recorded: Sequence[Recorded], known: Sequence[Type | None]
) -> tuple[Type | None, ...]:
    """The least types above `known` that hold every definition, where reads of the Func itself have
    these types: a fixed point."""
    types = tuple(known)
    while True:
        found = [Typer(func, types, d.span).infer(d.values) for d in recorded]
        joined = tuple(join(column) for column in zip(types, *found, strict=True))
        if joined == types:
            return types
        types = joined


def lower_bounds(func: Func, recorded: Recorded) -> Bounds:
    """For each component, types that its own type must hold, whatever the type of the Func is."""
    typer = Typer(func, (), recorded.span)
    return tuple(typer.lower_bound(value) for value in recorded.values)


def infer_one_more(
    func: Func,
    recorded: Sequence[Recorded],
    new: Recorded,
    known: Bounds,
    types: tuple[Type | None, ...],
) -> tuple[Bounds, tuple[Type | None, ...]]:
    """The lower bounds and the types of a Func with one more definition.

    The other definitions are visited again only if the new one changes something.

    Args:
        known, types: the lower bounds and the types without it.
    """
    known = known or (frozenset(),) * len(new.values)
    bounds = tuple(a | b for a, b in zip(known, lower_bounds(func, new), strict=True))
    start = tuple(map(join, bounds))
    try:
        if recorded and start == tuple(map(join, known)):
            found = infer_types(func, [new], types)
            if found == types:
                return bounds, found
        return bounds, infer_types(func, [*recorded, new], start)
    except LanguageTypeError as error:
        if error.where == new.span:
            raise
        raise LanguageTypeError(
            f"this definition changes the dtype of {func.name}, and then the one at "
            f"{error.where} is wrong: {error.what}",
            where=new.span,
            hint=error.hint,
        ) from None


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


def typed_definition(
    func: Func, recorded: Recorded, number: int | None, dtypes: tuple[DType, ...]
) -> Definition:
    """The typed form of a definition; `number` is that of the update, None for a piece.

    Raises:
        LanguageError: a Var is not on the left side, or one name stands for two loops.
    """
    lhs, values, rvars, where = elaborate(func, recorded, dtypes)
    found = [n for n in postorder(*lhs) if isinstance(n, Var)]
    on_left = tuple(dict.fromkeys(found))
    for node in postorder(*values, *lhs, *where, *(b for r in rvars for b in (r.lo, r.hi))):
        if isinstance(node, Var) and node not in on_left:
            raise LanguageError(
                f"the Var {node.name} is not on the left side of this definition of "
                f"{func.name}, so nothing says where it runs",
                where=recorded.span,
                hint=f"make it an RVar, which has bounds: "
                f"{node.name} = ps.RVar({node.name!r}, lo, hi)",
            )
    _check_names(func, recorded, on_left, rvars)
    return Definition(
        func, number, lhs, values, recorded.op, on_left, rvars, where,
        recorded.span, recorded.serial, recorded.block,
    )  # fmt: skip


def _check_names(
    func: Func, recorded: Recorded, on_left: tuple[Var, ...], rvars: tuple[RVar, ...]
) -> None:
    """Checks that the dimensions of a definition have different names."""
    loops = () if recorded.block is None else recorded.block.loops
    names = {r.name for r in (*loops, *rvars)}
    if len(names) < len(loops) + len(rvars):
        twice = next(r.name for r in rvars if r.name in {x.name for x in loops})
        raise LanguageError(
            f"an RVar of this definition of {func.name} and the sequential around it are "
            f"both called {twice}",
            where=recorded.span,
            hint="give one of them another name",
        )
    both = next((v.name for v in on_left if v.name in names), None)
    if both is not None:
        raise LanguageError(
            f"a Var and an RVar are both called {both} in this definition of {func.name}",
            where=recorded.span,
            hint="give one of them another name",
        )


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


def known_dtypes(types: tuple[Type | None, ...]) -> tuple[DType, ...]:
    return tuple(int64 if t is None else concrete(t) for t in types)
