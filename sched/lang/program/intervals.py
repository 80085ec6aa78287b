"""Value ranges of typed integer expressions, from types, declared ranges and operators alone.

They decide whether arithmetic can wrap. Where it cannot, it equals arithmetic of integers, and an
affine expression is an affine function. Sizes are taken to be below SIZE_LIMIT, which calls check.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeGuard

from ..arguments.admission import LOOP_LIMIT, SIZE_LIMIT
from ..arguments.value_bounds import Range
from ..arithmetic.integer_ranges import RANGES, integer_range
from ..nodes.dtypes import INDEX, DType, concrete, int64
from ..nodes.nodes import (
    Const,
    Node,
    Op,
    Param,
    Read,
    RVar,
    Size,
    Var,
    dtype_of,
    leaves_below,
    postorder,
)
from ..nodes.quotients import quotient
from ..tensors.tensors import Const as Table, Func, Input
from ..tensors.trace import Trace
from .ranges import value_range

Interval = tuple[int, int]

#: Loop variables: between bounds that are affine in sizes with moderate coefficients.
_INDEX: Interval = (-(1 << 44), 1 << 44)
_MODERATE: Interval = (-(1 << 20), 1 << 20)
#: Operators whose results may be near, whatever their operands are.
_REDUCING = frozenset({"floordiv", "mod", "shr", "and"})


def interval(node: Node, known: dict[Node, Interval]) -> tuple[Interval, bool]:
    """The range of a bool or integer node, and whether its arithmetic is exact (cannot wrap).

    `known` holds the intervals of its operands, and of theirs.
    """
    t = concrete(node.type) if node.type is not None else None
    assert t is not None
    if t.is_float:
        return (0, 0), False
    full = (t.min, t.max)
    match node:
        case Const(value=value):
            return (int(value), int(value)), True
        case Size():
            return (0, SIZE_LIMIT), True
        case Var() | RVar():
            return _INDEX, True
        case Param():
            return declared_range(node), True
        case Read(tensor=Func() as func, component=component):
            return _held(value_range(func, component), full), True
        case Read(tensor=tensor):
            return _declared(tensor, full), True
        case Op(op=op, operands=operands):
            found = _operator(op, operands, known, t, full)
            return found if found[1] else _whole_periods(node, known, full) or found
        case Trace(value=value):
            return known[value], True
        case _:
            return full, False


def _whole_periods(
    node: Node, known: dict[Node, Interval], full: Interval
) -> tuple[Interval, bool] | None:
    """The range of `n * (e // n)`, which is as near to e as n is large, where it fits."""
    found = quotient(node)
    if found is None or found.op != "mul":
        return None
    (lo, hi), (least, most) = known[found.dividend], known[found.divisor]
    if lo == full[0]:  # by -1 the quotient would wrap around
        return None
    low, high = lo - max(most - 1, 0), hi + max(-least - 1, 0)
    ends = (found.times * low, found.times * high, *((0,) if least <= 0 <= most else ()))
    return ((min(ends), max(ends)), True) if full[0] <= min(ends) and max(ends) <= full[1] else None


def is_near(bound: Node) -> bool:
    """Whether a loop that begins or ends there is as near to 0 as all loops are taken to be, as
    far as constants, Params and data say: sizes and the loops around it are moderate."""
    return _is_near(bound, limited(bound))


def limited(root: Node) -> frozenset[str]:
    """The integer Params that a call keeps within `LOOP_LIMIT`, so that a bound of a loop or what
    the condition of one compares is near to 0: not those of which there are but remainders, and
    quotients that are near themselves."""
    found = _exposed(root)
    if dtype_of(root).is_bool or _is_near(root, found):
        return found
    return frozenset(n.name for n in leaves_below(root) if _is_integer_param(n))


def _exposed(root: Node) -> frozenset[str]:
    """The integer Params that an expression is not a near remainder or quotient of."""
    known: dict[Node, Interval] = {}
    found: dict[Node, frozenset[str]] = {}
    for node in postorder(root):
        known[node], _ = interval(node, known)
        inside = (found[x] for x in node.args)
        found[node] = frozenset((node.name,) if _is_integer_param(node) else ()).union(*inside)
        if isinstance(node, Op) and node.op in _REDUCING and _lies_within(known[node], LOOP_LIMIT):
            found[node] = frozenset()
    return found[root]


def _is_near(bound: Node, near: frozenset[str]) -> bool:
    """Whether it is, if some Params are."""
    known: dict[Node, Interval] = {}
    for node in postorder(bound):
        match node:
            case Size() | Var() | RVar():
                known[node] = _MODERATE
            case Param() if node.name in near:
                lo, hi = declared_range(node)
                known[node] = max(lo, -LOOP_LIMIT), min(hi, LOOP_LIMIT)  # as the call checks
            case _:
                known[node] = interval(node, known)[0]
    return lies_near(known[bound])


def lies_near(found: Interval) -> bool:
    """Whether a range is within that of loop variables."""
    return _lies_within(found, _INDEX[1])


def _lies_within(found: Interval, limit: int) -> bool:
    return -limit <= found[0] and found[1] <= limit


def _is_integer_param(node: Node) -> TypeGuard[Param]:
    return isinstance(node, Param) and node.info.dtype.is_int


def reach(root: Node) -> Interval | None:
    """The range of an integer expression; None where some of its arithmetic may wrap."""
    known: dict[Node, Interval] = {}
    for node in postorder(root):
        known[node], exact = interval(node, known)
        if not exact:
            return None
    return known[root]


def whole(node: Node) -> Interval:
    """All values of the type of an expression."""
    t = concrete(node.type or INDEX)
    return (0, 0) if t.is_float else (t.min, t.max)


def declared_range(param: Param) -> Interval:
    """The values of an integer Param: from its type and its declared bounds, and at most int64's,
    as a call checks where it is used as one."""
    t, info = param.info.dtype, param.info
    lo = _least(t, info.min)
    return lo, max(lo, min(_most(t, info.max), int64.max))


def _least(t: DType, declared: bool | int | float | None) -> int:
    """The smallest value of a bool or integer type, or the declared one."""
    return t.min if declared is None else max(t.min, math.ceil(declared))


def _most(t: DType, declared: bool | int | float | None) -> int:
    return t.max if declared is None else min(t.max, math.floor(declared))


def _declared(tensor: object, full: Interval) -> Interval:
    if isinstance(tensor, Input) and tensor.range is not None:
        lo, hi = tensor.range
        return max(_symbolic(lo)[0], full[0]), min(_symbolic(hi)[1] - 1, full[1])
    if isinstance(tensor, Table) and tensor.data.size:
        return int(tensor.data.min()), int(tensor.data.max())
    return full


def _held(found: Range, full: Interval) -> Interval:
    """What a Func may hold."""
    lo = full[0] if found.lo is None else max(_symbolic(found.lo)[0], full[0])
    hi = full[1] if found.hi is None else min(_symbolic(found.hi)[1], full[1])
    return lo, max(lo, hi)  # a loop without iterations gives it no value


def _symbolic(root: Node) -> Interval:
    """The range of an expression over sizes and Params."""
    known: dict[Node, Interval] = {}
    for node in postorder(root):
        known[node] = interval(node, known)[0]
    return known[root]


def _operator(
    op: str, operands: tuple[Node, ...], known: dict[Node, Interval], t: DType, full: Interval
) -> tuple[Interval, bool]:
    if any(a.type is not None and concrete(a.type).is_float for a in operands):
        return full, False
    args = [known[a] for a in operands]
    if op == "select":
        (_, (a, b), (c, d)) = args
        return (min(a, c), max(b, d)), True
    if op in ("cast", "strict"):
        (lo, hi) = args[0]
        fits = full[0] <= lo and hi <= full[1] and not t.is_bool
        return ((lo, hi), True) if fits else (full, False)
    if op in RANGES:
        return integer_range(op, t, tuple(args))
    rule = _RULES.get(op)
    if rule is None:
        return full, False
    found = rule(*args)
    if found is None:
        return full, False
    fits = full[0] <= found[0] and found[1] <= full[1]
    return (found, True) if fits else (full, False)


def _corners(f: Callable[[int, int], int], a: Interval, b: Interval) -> Interval:
    values = [f(x, y) for x in a for y in b]
    return min(values), max(values)


def _floordiv(a: Interval, b: Interval) -> Interval | None:
    if b[0] <= 0 <= b[1]:
        # A quotient is never larger in size than its dividend; by zero it is 0.
        size = max(abs(a[0]), abs(a[1]))
        return (-size if a[0] < 0 or b[0] < 0 else 0, size)
    return _corners(lambda x, y: x // y, a, b)


def _mod(a: Interval, b: Interval) -> Interval | None:
    if b[0] == b[1] != 0 and a[0] // b[0] == a[1] // b[0]:
        return a[0] % b[0], a[1] % b[0]  # all in one period
    lo = 0 if b[0] >= 0 else b[0] + 1
    hi = 0 if b[1] <= 0 else b[1] - 1
    return (lo, hi)


def _shl(a: Interval, b: Interval) -> Interval | None:
    return None if b[0] < 0 or b[1] > 62 else _corners(lambda x, y: x << y, a, b)


def _shr(a: Interval, b: Interval) -> Interval | None:
    return None if b[0] < 0 or b[1] > 62 else _corners(lambda x, y: x >> y, a, b)


def _and(a: Interval, b: Interval) -> Interval | None:
    if a[0] >= 0 and b[0] >= 0:
        return (0, min(a[1], b[1]))
    if b[0] >= 0:
        return (0, b[1])
    return (0, a[1]) if a[0] >= 0 else None


_RULES: dict[str, Callable[..., Interval | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": lambda a, b: _corners(lambda x, y: x * y, a, b),
    "neg": lambda a: (-a[1], -a[0]),
    "absd": lambda a, b: _RULES["abs"]((a[0] - b[1], a[1] - b[0])),
    "abs": lambda a: (0 if a[0] <= 0 <= a[1] else min(map(abs, a)), max(map(abs, a))),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "floordiv": _floordiv,
    "mod": _mod,
    "shl": _shl,
    "shr": _shr,
    "and": _and,
}
