"""Which lanes a comparison of indices holds in, where these are the first ones, or all but these.

x + lane < n is lane < n - x. The right side is the same in all lanes and is cut off at their
number, so it is compared in as many bits as the elements have that the lanes work on: the mask is
one comparison of one register, and not of several whose results are packed.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....lang.nodes import index as ix
from ....lang.nodes.dtypes import DType, int8, int16, int32, int64
from ....lang.nodes.nodes import Node, Op, integer, leaves_below
from ....records import dataclass
from ....remembered import remembered
from ...ir.inequalities import as_sums, in_order, total
from ...ir.ir import Lanes, dtype_of
from ...ir.lane_number import LANE, at_lane
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import listed, splat
from ..text.values import Value


@dataclass(frozen=True)
class FirstLanes:
    """A condition that holds in the lanes below `end`, or in all but these."""

    end: Node
    inside: bool

    def value(self, b: FunctionBuilder, end: Value, count: int, dtype: DType) -> Value:
        """The lanes in which it holds; `end` is its value, cut off at `count`."""
        below = splat(b, b.convert("trunc", end, dtype) if dtype is not int64 else end, count)
        return b.compare("slt" if self.inside else "sge", listed(range(count), dtype), below)


@remembered
def first_lanes(condition: Node, lanes: Lanes) -> FirstLanes | None:
    """A comparison of indices as one of the number of the lane; None for others."""
    if not isinstance(condition, Op) or condition.op not in ("lt", "le", "gt", "ge"):
        return None
    sums = as_sums(at_lane([condition], lanes)[0])
    steps = {dict(terms).get(LANE) for terms, _ in sums or ()}
    if not sums or steps not in ({1}, {-1}):
        return None
    (step,) = steps
    assert step is not None
    ends = []
    for terms, constant in sums:
        rest = in_order({x: times for x, times in terms if x is not LANE})
        if LANE in leaves_below(*rest):
            return None
        # rest + constant - lane >= 0, or rest + constant + lane >= 0
        ends.append(total({x: -step * k for x, k in rest.items()}, -step * constant + (step < 0)))
    end = ix.minimum(tuple(ends)) if step < 0 else ix.maximum(tuple(ends))
    cut_off = ix.minimum((ix.maximum((end, ix.ZERO)), integer(lanes.count)))
    return FirstLanes(cut_off, step < 0)


def mask_type(values: Iterable[Node], count: int) -> DType:
    """The type to compare numbers of lanes in, for what is made of them."""
    widths = [t.bits for t in map(dtype_of, values) if not t.is_bool]
    wide = max(widths, default=64)
    return next(t for t in (int8, int16, int32, int64) if t.bits >= wide and t.max >= count)
