"""The pieces of a pure definition: which points each one computes, each point exactly once."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.errors.errors import LanguageError
from ...lang.nodes.nodes import Var
from ...lang.nodes.printer import expr_text
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ..sets.affine import affine_value, why_not_affine
from ..sets.isl import Frame, Set, coalesced, union_sets
from ..sets.smallest import smallest_point


def share(
    func: Func, pieces: Sequence[Definition], frame: Frame, region: Set, context: Set
) -> list[Set]:
    """The points of a region that each piece computes.

    A piece claims the points whose coordinates equal its constants; where a more specific piece
    claims a point, that one has it. The frame may have loops around before the Func's axes.

    Raises:
        LanguageError: a point is claimed by two pieces neither of which is the more specific, or
            by none.
    """
    shares = [coalesced(own) for own in claims(pieces, frame, region)]
    for k, d in enumerate(pieces):
        # Of two others the more specific one has what both claim.
        rivals = [
            own
            for other, own in zip(pieces[:k], shares[:k], strict=True)
            if not _more_specific(other, d) and not _more_specific(d, other)
        ]
        met = shares[k].intersect(union_sets(rivals, frame.empty)).intersect_params(context)
        if met.is_empty():
            continue
        hint = "add a piece for the points that both claim"
        # Where they meet at all sizes, none can be left out.
        if not context.intersect_params(region.params()).is_subset(met.params()):
            hint += ", or exclude the sizes at which they meet: ps.require(n >= 2, ...)"
        what = "by two pieces neither of which is the more specific"
        _refuse_any(met, func, d, "is defined twice", what, hint)
    if not any(all(isinstance(x, Var) for x in d.lhs) for d in pieces):
        whole = ", ".join(f"i{k}" for k in range(func.ndim))
        _refuse_any(
            region.subtract(union_sets(shares, frame.empty)).intersect_params(context),
            func, pieces[0], "is not defined", "no piece of its definition holds there",
            f"add a piece with a Var for each axis: {func.name}[{whole}] = ...",
        )  # fmt: skip
    return shares


def claims(pieces: Sequence[Definition], frame: Frame, region: Set) -> list[Set]:
    """The points of a region that each piece claims and no more specific one takes from it."""
    claimed = [_claim(d, frame) for d in pieces]
    result = []
    for d, claim in zip(pieces, claimed, strict=True):
        own = claim.intersect(region)
        for other, taken in zip(pieces, claimed, strict=True):
            if _more_specific(other, d):
                own = own.subtract(taken)
        result.append(own)
    return result


def _claim(d: Definition, frame: Frame) -> Set:
    """The points whose coordinates equal the constants on the left."""
    result = frame.universe
    for name, x in zip(frame.dims[-len(d.lhs) :] if d.lhs else (), d.lhs, strict=True):
        if not isinstance(x, Var):
            value = affine_value(frame, x)
            if value is None:
                raise LanguageError(
                    f"{expr_text(x)} on the left of {d.func.name} " + why_not_affine((x,), "sizes"),
                    where=d.span,
                )
            result = result.intersect(frame.dim(name).eq_set(value))
    return result


def _refuse_any(where: Set, func: Func, d: Definition, what: str, why: str, hint: str) -> None:
    """Refuses the smallest of the points, if there are any."""
    point = smallest_point(where)
    if point is not None:
        sizes, at = point
        given = " at " + ", ".join(f"{k}={v}" for k, v in sizes.items()) if sizes else ""
        element = f"{func.name}{at[len(at) - func.ndim :]}"
        raise LanguageError(f"{element} {what}{given}: {why}", where=d.span, hint=hint)


def _more_specific(a: Definition, b: Definition) -> bool:
    """Whether piece `a` has constants wherever `b` has, the same ones, and more."""
    same = all(isinstance(y, Var) or x is y for x, y in zip(a.lhs, b.lhs, strict=True))
    return same and len(a.vars) < len(b.vars)
