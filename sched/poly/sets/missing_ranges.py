"""Integer Params of 64 bits without a range, where nothing else keeps an expression from being
affine: arithmetic on them may wrap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...lang.arguments.admission import SIZE_LIMIT
from ...lang.nodes.nodes import Node, Param, postorder, substitute
from ...lang.program.intervals import declared_range
from ...records import dataclass
from .affine import affine_values, why_not_affine
from .isl import Frame


@dataclass(frozen=True)
class MissingRanges:
    """The Params whose range is the only thing that an expression lacks to be affine."""

    params: tuple[Param, ...]

    @property
    def reason(self) -> str:
        """Why the expression may wrap, as the rest of a sentence of an error."""
        return "may not fit in 64 bits, since " + " and ".join(map(_fault, self.params))

    @property
    def hint(self) -> str:
        first = self.params[0].info
        lo, hi = declared_range(self.params[0])
        most = "2**20" if hi > SIZE_LIMIT else f"{hi}"
        least = f"{lo}" if lo >= -SIZE_LIMIT else "0" if hi >= 0 else "-(2**20)"
        which = "the range" if len(self.params) == 1 else "the range of each"
        return (
            f"declare {which}, within 2**40 of 0: ps.Param({first.name!r}, ps.{first.dtype}, "
            f"min={least}, max={most})"
        )


def missing_ranges(frame: Frame, roots: Sequence[Node]) -> MissingRanges | None:
    """The Params that keep expressions from being affine by their range alone. None where all the
    expressions are affine, and where they were not if each Param had a range.

    Args:
        frame: the coordinates over which the expressions would be affine.
    """
    far = [n for n in postorder(*roots) if isinstance(n, Param) and _is_far(n)]
    if not far or affine_values(frame, roots) is not None:
        return None
    if not _is_affine_with(frame, roots, far):
        return None
    needed = [p for p in far if not _is_affine_with(frame, roots, [q for q in far if q is not p])]
    return MissingRanges(tuple(needed or far))


def affine_fault(frame: Frame, root: Node, over: str, hint: str) -> tuple[str, str]:
    """Why an expression is not affine in `over`, as the rest of a sentence of an error, and a hint:
    the given one, unless a range of a Param is all that is missing."""
    missing = missing_ranges(frame, (root,))
    if missing is None:
        return why_not_affine((root,), over), hint
    return missing.reason, missing.hint


def _is_far(param: Param) -> bool:
    """Whether an integer Param may be further from 0 than any size."""
    if not param.info.dtype.is_int:
        return False
    lo, hi = declared_range(param)
    return lo < -SIZE_LIMIT or hi > SIZE_LIMIT


def _is_affine_with(frame: Frame, roots: Sequence[Node], params: Iterable[Param]) -> bool:
    """Whether expressions are affine where some of their Params have a range."""
    ranged: dict[Node, Node] = {}
    for p in params:
        lo, hi = declared_range(p)
        least, most = max(lo, -SIZE_LIMIT), min(hi, SIZE_LIMIT)
        ranged[p] = Param(replace(p.info, min=min(least, most), max=most))
    return affine_values(frame, [substitute(root, ranged) for root in roots]) is not None


def _fault(param: Param) -> str:
    (lo, hi), info = declared_range(param), param.info
    ends = (("min=", lo < -SIZE_LIMIT, info.min), ("max=", hi > SIZE_LIMIT, info.max))
    missing = [name for name, is_far, given in ends if is_far and given is None]
    what = f"has no {' and no '.join(missing)}" if missing else f"may be anything in {lo}..{hi}"
    return f"the Param {info.name} {what}"
