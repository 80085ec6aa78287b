"""Sugar: sums of products by their letters, and a Func by a function of its indices.

C = einsum("ik,kj->ij", A, B)        is      C = Func("einsum", (n, m))
                                             C[i, j] = 0
                                             C[i, j] += A[i, k] * B[k, j]

f = compute("f", (n,), lambda i: ...)        f = Func("f", (n,))
                                             f[i] = ...
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..arithmetic.extents import extent_of
from ..errors.errors import LanguageError, LanguageTypeError
from ..expr.expr import Expr, ExprLike, binary, cast
from ..expr.symbols import RVar, Var
from ..nodes.dtypes import DType, as_dtype, concrete, join
from ..nodes.nodes import Const as Literal, Node
from ..tensors.indexable import Indexable, ShapeLike, implicit_vars
from ..tensors.tensors import Func
from .requirements import require

Labels = tuple[str, ...]
"""The names of an operand's axes: letters, and for `...` those of the Vars that it stands for."""


def einsum(
    subscripts: str, /, *operands: Indexable, name: str = "einsum", dtype: Any = None
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
        """The element at the symbols of its axes; at 0 along an axis that may be stretched."""
        index = tuple(
            0 if _is_stretchable(label, e) else symbols[label] for label, e in self.axes()
        )
        read: Expr = self.tensor[index]
        return read if self.tensor.dtype == target else cast(target, read)


def _is_stretchable(label: str, extent: Node | None) -> bool:
    """Whether the one element of an axis of `...` stands for all."""
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
            f"it names the axes of {_count(len(terms), 'operand')}, but is given {len(operands)}",
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
            f"{operand.name} has {_count(operand.ndim, 'axis')}, but {term!r} names "
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
            f"the output leaves out the {_count(len(broadcast), 'axis')} of '...'",
            f"write '->...{output}'; axes that are to be summed need letters",
        )
    return (*before, *broadcast, *after)


def _refusal(subscripts: str, what: str, hint: str | None = None) -> LanguageError:
    return LanguageError(f"einsum({subscripts!r}): {what}", hint=hint)


def _is_implicit(label: str) -> bool:
    return len(label) > 1


def _count(n: int, what: str) -> str:
    plural = {"axis": "axes", "index": "indices"}.get(what, f"{what}s")
    return f"{n} {what if n == 1 else plural}"


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
    """The length of each axis, by the first shape that says it; None where none does."""
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
    """What a call checks, so that axes of one letter have one length, and what it says then."""
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
    """The extent of each axis next to the one its letter stands for."""
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


# a Func by a function ---------------------------------------------------------------------------
def compute(name: str, shape: ShapeLike | None, fn: Callable[..., Any], dtype: Any = None) -> Func:
    """A Func whose value at each point is `fn` of the indices: one pure definition.

        f = ps.compute("f", (n, m), lambda i, j: A[j, i] + 1)

    Args:
        name, shape, dtype: as of `ps.Func`; several dtypes where `fn` returns a tuple.
        fn: a function of one index an axis. Its parameters name the Vars; those of `*args` are
            called i0, i1, ... by the axis. A parameter with a default is no index.
    """
    axes = 1 if not isinstance(shape, (tuple, list)) else len(shape)
    names = _parameters(name, fn, None if shape is None else axes)
    at = tuple(Var(n) for n in names)
    value = fn(*at)
    if value is None or isinstance(value, list):
        raise LanguageTypeError(
            f"the function of {name} returned {'nothing' if value is None else 'a list'}, and not "
            "the value at its indices",
            hint="return an expression, or a tuple of them for a Func of several values",
        )
    func = Func(name, shape, dtype)
    func[at] = value
    return func


def _parameters(name: str, fn: object, rank: int | None) -> list[str]:
    """The names of the indices, one an axis."""
    indices = list("ijkl"[:rank]) if rank is not None and rank <= 4 else ["*index"]
    hint = f"lambda {', '.join(indices)}: ..." if indices else "lambda: ..."
    if not callable(fn) or isinstance(fn, (Expr, Indexable)):
        raise LanguageTypeError(
            f"{name} is computed by a function of its indices, not by {fn!r}", hint=hint
        )
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:
        raise LanguageTypeError(
            f"Python does not say which arguments {fn!r} takes, so the axes of {name} have no "
            "names",
            hint=hint,
        ) from None
    needed = [p for p in parameters if p.default is p.empty]
    named = [p.name for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keyword = next((p.name for p in needed if p.kind is p.KEYWORD_ONLY), None)
    if keyword is not None:
        raise LanguageTypeError(
            f"the function of {name} takes {keyword} by keyword only, and indices go by position",
            hint=hint,
        )
    rest = any(p.kind is p.VAR_POSITIONAL for p in needed)
    if rank is None and rest:
        raise LanguageTypeError(
            f"{name} has no declared shape, and *args do not say how many axes it has",
            hint=f"give it a shape, or name the indices: ps.compute({name!r}, None, lambda i: ...)",
        )
    count = len(named) if rank is None else rank
    names = named + [f"i{k}" for k in range(len(named), count) if rest]
    if len(names) != count:
        raise LanguageTypeError(
            f"{name} has {_count(count, 'axis')}, but its function takes "
            f"{_count(len(named), 'index')} ({', '.join(named) or 'none'})"
            + ("; what has a default is none" if len(parameters) > len(needed) else ""),
            hint=hint,
        )
    return names
