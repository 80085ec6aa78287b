"""The affine form of an expression: `constant + sum of factor * name` over sizes and loops."""

from __future__ import annotations

from collections.abc import Mapping

from .dtypes import INDEX, concrete, int64
from .nodes import Const, Node, Op, Param, Read, RVar, Size, Var, postorder
from .printer import expr_text
from .quotients import Quotient, quotient

AffineForm = tuple[int, dict[str, int]]


def affine_form(root: Node) -> AffineForm | None:
    """The constant and the factors of an affine expression; None if it is not affine."""
    forms: dict[Node, AffineForm | None] = {}
    for node in postorder(root):
        forms[node] = _form(node, forms)
    return forms[root]


def never_affine(*roots: Node, periods: bool = False) -> Node | None:
    """The first product, quotient or remainder of non-constant expressions, which cannot become
    affine by any simplification.

    Args:
        periods: whether quotients and remainders by sizes may stand, and whole periods, which are
            affine by pieces.

    So it is refused at the line that writes it; for other expressions only proofs find out
    whether they are affine.
    """
    forms: dict[Node, AffineForm | None] = {}
    found = None
    for node in postorder(*roots):
        if isinstance(node, Read):
            return None  # values read from data are only bounded, not used as affine expressions
        forms[node] = _form(node, forms)
        match node:
            case Op(op="mul", operands=operands) if any(_is_constant(a, forms) for a in operands):
                continue
            case Op(op="mul" | "floordiv" | "mod"):
                by = quotient(node)
                if by is not None and _is_constant(by.divisor, forms):
                    continue
                found = found or (None if periods and _is_by_size(by, forms) else node)
    return found


def _is_constant(node: Node, forms: Mapping[Node, AffineForm | None]) -> bool:
    form = forms[node]
    if form is not None:
        return not any(form[1].values())
    return not any(isinstance(n, (Size, Param, Var, RVar)) for n in postorder(node))


def _is_by_size(found: Quotient | None, forms: Mapping[Node, AffineForm | None]) -> bool:
    return found is not None and forms[found.divisor] is not None and not _has_loops(found.divisor)


def _has_loops(node: Node) -> bool:
    return any(isinstance(n, (Var, RVar)) for n in postorder(node))


def own_size(extent: Node) -> str:
    """A hint for an extent that is not affine: to declare a size of its own."""
    return f"make it a size of its own: nz = ps.size('nz', default={expr_text(extent)})"


def _form(node: Node, forms: Mapping[Node, AffineForm | None]) -> AffineForm | None:
    match node:
        case Const(value=value) if not isinstance(value, float):
            return (int(value), {})
        case Size() | Param() | Var() | RVar():
            return (0, {node.name: 1})
        case Op(op=op, operands=operands) if concrete(node.type or INDEX) == int64:
            # Sizes are small enough for int64; in a narrower type the arithmetic might wrap.
            return _operator(op, [forms[a] for a in operands])
        case _:
            return None


def _operator(op: str, args: list[AffineForm | None]) -> AffineForm | None:
    if any(a is None for a in args):
        return None
    known = [a for a in args if a is not None]
    match op, known:
        case "add", [a, b]:
            return _sum(a, b, 1)
        case "sub", [a, b]:
            return _sum(a, b, -1)
        case "neg", [a]:
            return _sum((0, {}), a, -1)
        case "mul", [(c, terms), (d, {**others})] if not terms or not others:
            scale, (constant, rest) = (c, (d, others)) if not terms else (d, (c, terms))
            return scale * constant, {n: scale * a for n, a in rest.items()}
        case (("cast" | "strict"), [a]):
            return a
        case _:
            return None


def _sum(a: AffineForm, b: AffineForm, sign: int) -> AffineForm:
    terms = dict(a[1])
    for name, factor in b[1].items():
        terms[name] = terms.get(name, 0) + sign * factor
    return a[0] + sign * b[0], terms
