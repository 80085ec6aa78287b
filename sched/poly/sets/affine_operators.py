"""Operators on quasi-affine values and on conditions, as isl has them."""

from __future__ import annotations

from collections.abc import Callable

from ...lang.nodes.nodes import Const, Node
from .isl import PwAff, Set, val

COMPARE: dict[str, Callable[[PwAff, PwAff], Set]] = {
    "lt": PwAff.lt_set, "le": PwAff.le_set, "gt": PwAff.gt_set,
    "ge": PwAff.ge_set, "eq": PwAff.eq_set, "ne": PwAff.ne_set,
}  # fmt: skip


def is_affine_operator(op: str, operands: tuple[Node, ...]) -> bool:
    """Whether an operator that cannot wrap is affine in these operands."""
    match op, operands:
        case ("mul", (a, b)):
            return isinstance(a, Const) or isinstance(b, Const)
        case ("floordiv" | "mod", (_, b)):
            return isinstance(b, Const) and int(b.value) != 0
        case ("shl" | "shr", (_, b)):
            return isinstance(b, Const)
        case ("and", (_, Const(value=mask))):
            return int(mask) >= 0 and int(mask) & (int(mask) + 1) == 0
        case ("and", _):
            return False
        case _:
            return op in OPERATORS or op in ("select", "cast")


def _literal(x: PwAff) -> int:
    """The value of a constant."""
    return int(x.as_aff().get_constant_val().to_python())


def choose(where: Set, a: PwAff, b: PwAff) -> PwAff:
    return a.intersect_domain(where).union_add(b.subtract_domain(where))


def _floordiv(a: PwAff, b: PwAff) -> PwAff:
    d = _literal(b)
    return (a if d > 0 else a.neg()).scale_down_val(val(abs(d))).floor()


def _halved(a: PwAff) -> PwAff:
    return a.scale_down_val(val(2)).floor()


def _mod(a: PwAff, b: PwAff) -> PwAff:
    return a.sub(_floordiv(a, b).scale_val(val(_literal(b))))


def compare_bools(op: str, x: Set, y: Set) -> Set:
    """Comparisons of truth values, False < True."""
    strict = {"lt": y.subtract(x), "gt": x.subtract(y)}
    differ = x.subtract(y).union(y.subtract(x))
    table = {
        **strict, "ne": differ, "eq": differ.complement(),
        "le": strict["gt"].complement(), "ge": strict["lt"].complement(),
    }  # fmt: skip
    return table[op]


LOGIC: dict[str, Callable[..., Set]] = {
    "and": Set.intersect,
    "or": Set.union,
    "min": Set.intersect,
    "max": Set.union,
    "not": Set.complement,
    "xor": lambda x, y: x.subtract(y).union(y.subtract(x)),
    "select": lambda c, x, y: c.intersect(x).union(y.subtract(c)),
    "strict": lambda x: x,
}


OPERATORS: dict[str, Callable[..., PwAff]] = {
    "add": PwAff.add,
    "sub": PwAff.sub,
    "mul": PwAff.mul,
    "neg": PwAff.neg,
    "abs": lambda a: a.max(a.neg()),
    "absd": lambda a, b: a.sub(b).max(b.sub(a)),
    "saturating_add": PwAff.add,
    "saturating_sub": PwAff.sub,
    "halving_add": lambda a, b: _halved(a.add(b)),
    "rounding_halving_add": lambda a, b: _halved(a.add(b).add_constant_val(val(1))),
    "min": PwAff.min,
    "max": PwAff.max,
    "floordiv": _floordiv,
    "mod": _mod,
    "shl": lambda a, b: a.scale_val(val(1 << _literal(b))),
    "shr": lambda a, b: a.scale_down_val(val(1 << _literal(b))).floor(),
    "and": lambda a, b: a.mod_val(val(_literal(b) + 1)),
    "cast": lambda a: a,
    "strict": lambda a: a,
}
