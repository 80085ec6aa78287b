"""`einsum`: sums of products, given by letters for the axes of the operands.

C = einsum("ik,kj->ij", A, B)        is      C = Func("einsum", (n, m))
                                             C[i, j] = 0
                                             C[i, j] += A[i, k] * B[k, j]
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from ...records import dataclass
from ..arithmetic.extents import extent_of
from ..errors.errors import LanguageError, LanguageTypeError
from ..errors.frames import bounded
from ..errors.words import axes_text, counted
from ..expr.expr import Expr, ExprLike, binary, cast
from ..expr.symbols import RVar, Var
from ..nodes.dtypes import DType, DTypeLike, as_dtype, concrete, join
from ..nodes.nodes import Const as Literal, Node
from ..tensors.indexable import Indexable, implicit_vars
from ..tensors.tensors import Func
from .requirements import require

Labels = tuple[str, ...]
"""The names of an operand's axes: letters, and for `...` those of the Vars that it stands for."""


@bounded
def einsum(
    subscripts: str, /, *operands: Indexable, name: str = "einsum", dtype: DTypeLike | None = None
) -> Func:
    """The sum of products that NumPy's `einsum` computes: `ps.einsum("ik,kj->ij", A, B)`.

    A pure definition, 0, and one update that adds the product of the operands, over an RVar for
    each letter that is not in the output, outermost the one named first. Where nothing is summed
    the product is the pure definition.

    Args:
        subscripts: a letter for each axis of each operand, `...` for axes that broadcast. Without
            `->`, the output has the axes of `...` and then the letters that occur once, sorted.
        operands: Inputs, Consts and Funcs. Axes of one letter must have the same length: where
            that is not certain, each call checks it.
        name: of the Func.
        dtype: the type in which products and sums are computed; by default the least one that
            holds the elements of all operands.
    """
    if not isinstance(subscripts, str):
        raise LanguageTypeError(
            f"einsum takes its subscripts first, not {subscripts!r}",
            hint='ps.einsum("ik,kj->ij", A, B)',
        )
    target = _dtype(subscripts, operands, dtype)
    terms, output = _parse(subscripts)
    factors = _factors(subscripts, terms, operands)
    out = _output(subscripts, output, factors)
    extents = _extents(factors)
    symbols: dict[str, Expr] = {label: Var(label) for label in out}
    for label, extent in extents.items():
        if label not in symbols:
            symbols[label] = RVar(label, 0, _bound(subscripts, label, extent, factors))
    product = reduce(operator.mul, (f.value(symbols, target) for f in factors))

    equalities = _equalities(subscripts, factors, extents)
    shape = [extents[label] for label in out]
    func = Func(name, None if None in shape else [Expr(e) for e in shape if e], target)
    for message, condition in equalities:
        require(condition, message, func)
    at = tuple(symbols[label] for label in out)
    if len(symbols) == len(out):
        func[at] = product
    else:
        func[at] = False if target.is_bool else 0
        func[at] += product
    return func


def _no_operand(given: object) -> LanguageTypeError:
    element = isinstance(given, Expr)
    return LanguageTypeError(
        "an operand of einsum is an Input, a Const or a Func, not "
        + (repr(given) if element else f"a {type(given).__name__}"),
        hint="pass the tensor itself, not an element of it; multiply by a scalar where the result "
        "is read"
        if element
        else "embed a table: T = ps.Const('T', array)",
    )


@dataclass(frozen=True, slots=True)
class _Factor:
    """An operand, and the names of its axes."""

    tensor: Indexable
    labels: Labels

    def axes(self) -> Iterable[tuple[str, Node | None]]:
        """Name and extent of each axis; None where no shape is declared."""
        return zip(self.labels, self.tensor.extents or (None,) * len(self.labels), strict=True)

    def value(self, symbols: Mapping[str, Expr], target: DType) -> Expr:
        """The read of the operand at the symbols of its axes, and at 0 along an axis that is
        broadcast."""
        index = tuple(
            0 if _is_stretchable(label, e) else symbols[label] for label, e in self.axes()
        )
        read: Expr = self.tensor[index]
        return read if self.tensor.dtype == target else cast(target, read)


def _is_stretchable(label: str, extent: Node | None) -> bool:
    """Whether an axis is broadcast: it belongs to `...` and has one element."""
    return _is_implicit(label) and isinstance(extent, Literal) and extent.value == 1


# subscripts -----------------------------------------------------------------------------------
def _parse(subscripts: str) -> tuple[list[str], str | None]:
    """The subscripts of each operand, and those of the output if they are given."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    for term in (*left.split(","), right):
        letters = term.replace("...", "", 1)
        wrong = next((c for c in letters if not (c.isascii() and c.isalpha())), None)
        if wrong is None:
            continue
        raise _refusal(
            subscripts,
            "only one '...' is possible in an operand"
            if "..." in letters
            else "'.' occurs only in '...'"
            if wrong == "."
            else "a second output is given"
            if arrow and term is right and wrong in "->,"
            else f"{wrong!r} is not a letter",
            'a letter for each axis, operands apart by commas: "ik,kj->ij"',
        )
    return left.split(","), right if arrow else None


def _factors(
    subscripts: str, terms: Sequence[str], operands: Sequence[Indexable]
) -> tuple[_Factor, ...]:
    if len(terms) != len(operands):
        raise _refusal(
            subscripts,
            f"it names the axes of {counted(len(terms), 'operand')}, but is given {len(operands)}",
            "the subscripts of operands are separated by commas",
        )
    pairs = zip(terms, operands, strict=True)
    return tuple(_Factor(x, _labels(subscripts, term, x)) for term, x in pairs)


def _labels(subscripts: str, term: str, operand: Indexable) -> Labels:
    before, dots, after = term.partition("...")
    rest = operand.ndim - len(before) - len(after)
    if rest < 0 or (rest and not dots):
        raise _refusal(
            subscripts,
            f"{operand.name} has {axes_text(operand.ndim)}, but {term!r} names "
            f"{len(before) + len(after)}",
            "'...' stands for axes without a letter" if rest > 0 else None,
        )
    return (*before, *(repr(v) for v in implicit_vars(rest)), *after)


def _output(subscripts: str, output: str | None, factors: Sequence[_Factor]) -> Labels:
    """The axes of the result."""
    every = [label for factor in factors for label in factor.labels]
    broadcast = max(([x for x in f.labels if _is_implicit(x)] for f in factors), key=len)
    if output is None:
        once = sorted(x for x in every if not _is_implicit(x) and every.count(x) == 1)
        return (*broadcast, *once)
    before, dots, after = output.partition("...")
    for letter in before + after:
        if letter not in every:
            raise _refusal(subscripts, f"{letter!r} is in the output, but in no operand")
        if output.count(letter) > 1:
            raise _refusal(
                subscripts,
                f"{letter!r} is twice in the output",
                "each axis of the result has a letter of its own",
            )
    if broadcast and not dots:
        raise _refusal(
            subscripts,
            f"the output leaves out the {axes_text(len(broadcast))} of '...'",
            f"write '->...{output}'; axes that are to be summed need letters",
        )
    return (*before, *broadcast, *after)


def _refusal(subscripts: str, what: str, hint: str | None = None) -> LanguageError:
    return LanguageError(f"einsum({subscripts!r}): {what}", hint=hint)


def _is_implicit(label: str) -> bool:
    return len(label) > 1


# operands -------------------------------------------------------------------------------------
def _dtype(subscripts: str, operands: Sequence[Indexable], dtype: Any) -> DType:
    """The type that products and sums are computed in."""
    if not operands:
        raise LanguageTypeError(
            f"einsum({subscripts!r}) has no operands", hint='ps.einsum("ik,kj->ij", A, B)'
        )
    for operand in operands:
        if not isinstance(operand, Indexable):
            raise _no_operand(operand)
        if isinstance(operand.dtype, tuple):
            raise LanguageTypeError(
                f"{operand.name} holds {len(operand.dtype)} values at each point, and an operand "
                "of einsum holds one",
                hint="give the one that is meant a Func of its own",
            )
    if dtype is not None:
        return as_dtype(dtype)
    common = join(operand.dtype for operand in operands)  # type: ignore[misc]
    assert common is not None
    return concrete(common)


# extents --------------------------------------------------------------------------------------
def _extents(factors: Sequence[_Factor]) -> dict[str, Node | None]:
    """The extent of each letter's axis, from the first operand whose shape gives it; None where
    none does."""
    found: dict[str, list[Node | None]] = {}
    for factor in factors:
        for label, extent in factor.axes():
            found.setdefault(label, []).append(extent)
    return {label: _extent(label, extents) for label, extents in found.items()}


def _extent(label: str, extents: Sequence[Node | None]) -> Node | None:
    rigid = [e for e in extents if not _is_stretchable(label, e)] or extents
    return next((e for e in rigid if e is not None), None)


def _bound(
    subscripts: str, label: str, extent: Node | None, factors: Sequence[_Factor]
) -> ExprLike:
    """The number of terms of the sum over an axis."""
    if extent is not None:
        return Expr(extent)
    name = next(f.tensor.name for f in factors if label in f.labels)
    raise _refusal(
        subscripts,
        f"the sum over {label!r} has no bounds, since {name} has no declared shape",
        f"give it one: ps.Func({name!r}, (n, m))",
    )


def _equalities(
    subscripts: str, factors: Sequence[_Factor], extents: Mapping[str, Node | None]
) -> list[tuple[str, Expr]]:
    """Conditions that a call checks, so that axes of one letter have one length, each with its
    message."""
    found: dict[tuple[Node, Node], tuple[str, Expr]] = {}
    for factor, label, a, b in _pairs(factors, extents):
        first = next(f for f in factors if (label, a) in f.axes())
        names = " and ".join(dict.fromkeys((first.tensor.name, factor.tensor.name)))
        letter = "'...'" if _is_implicit(label) else repr(label)
        message = f"einsum({subscripts!r}): the axes {letter} of {names} must have one length"
        difference = _difference(a, b)
        if difference:
            raise LanguageError(
                f"{message}, but {Expr(a)!r} is never {Expr(b)!r}",
                hint="axes of different lengths have letters of their own",
            )
        if difference is None:
            found.setdefault((a, b), (message, binary("eq", Expr(a), Expr(b))))
    return list(found.values())


def _pairs(
    factors: Sequence[_Factor], extents: Mapping[str, Node | None]
) -> Iterator[tuple[_Factor, str, Node, Node]]:
    """For each axis of each operand: the extent of its letter, and the axis' own extent."""
    for factor in factors:
        for label, extent in factor.axes():
            wanted = extents[label]
            if wanted is not None and extent is not None and not _is_stretchable(label, extent):
                yield factor, label, wanted, extent


def _difference(a: Node, b: Node) -> int | None:
    """`a - b`, if it is the same for all sizes."""
    if a is b:
        return 0
    x, y = extent_of(a), extent_of(b)
    if x.affine and y.affine and dict(x.terms) == dict(y.terms):
        return x.constant - y.constant
    return None
