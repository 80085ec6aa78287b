"""Boundary conditions: Funcs that extend a tensor beyond its edges.

Each holds at every integer index: inside the tensor, within one period of it (both affine, so
that proofs are exact there), and beyond (by `%`, which is not affine in a symbolic extent).
The names are those of `scipy.ndimage`: `reflect` repeats the edge (d c b a | a b c d | d c b a),
`mirror` does not (d c b | a b c d | c b a).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import suggest
from ..errors.errors import LanguageError, LanguageTypeError
from ..errors.frames import bounded
from ..expr.expr import Expr, ExprLike, as_node
from ..expr.functions import clip, maximum, select
from ..nodes.nodes import Var
from .indexable import Indexable
from .tensors import Func

Rule = Callable[[Expr, Expr], Expr]


def _extend(name: str, tensor: Indexable, axes: Sequence[int] | None, rule: Rule) -> Func:
    """A Func that reads `tensor` at `rule(index, extent)` along `axes`."""
    chosen = _axes(name, tensor, axes)
    at = [Expr(Var(f"b{k}")) for k in range(tensor.ndim)]
    index = [
        rule(i, n) if k in chosen else i
        for k, (i, n) in enumerate(zip(at, tensor.shape, strict=True))
    ]
    func = Func(f"{tensor.name}_{name}")
    func[tuple(at)] = tensor[tuple(index)]
    return func


def _axes(name: str, tensor: object, axes: Sequence[int] | None) -> set[int]:
    if not isinstance(tensor, Indexable):
        raise LanguageTypeError(
            f"boundary.{name} extends an Input, a Const or a Func, not {tensor!r}",
            hint="pass the tensor itself, not an element of it",
        )
    rank = tensor.ndim
    if axes is None:
        return set(range(rank))
    if not isinstance(axes, (tuple, list)) or not all(isinstance(a, int) for a in axes):
        raise LanguageTypeError(
            f"boundary.{name}: axes= is a tuple of integers, not {axes!r}", hint="axes=(0, 1)"
        )
    for axis in axes:
        if not -rank <= axis < rank:
            raise LanguageError(f"boundary.{name}: {tensor.name} has no axis {axis}, only {rank}")
    return {axis % rank for axis in axes}


@bounded
def repeat_edge(tensor: Indexable, axes: Sequence[int] | None = None) -> Func:
    """Beyond the edge: the nearest element. a a a | a b c d | d d d."""
    return _extend("repeat_edge", tensor, axes, lambda i, n: clip(i, 0, n - 1))


@bounded
def constant(tensor: Indexable, value: ExprLike, axes: Sequence[int] | None = None) -> Func:
    """Beyond the edge: `value`. v v v | a b c d | v v v."""
    chosen = _axes("constant", tensor, axes)
    at = tuple(Expr(Var(f"b{k}")) for k in range(tensor.ndim))
    inside: Expr | None = None
    for k in sorted(chosen):
        here = (at[k] >= 0) & (at[k] < tensor.shape[k])
        inside = here if inside is None else inside & here
    func = Func(f"{tensor.name}_constant")
    inner = tensor[at]
    outside: Any = Expr(as_node(value))
    if isinstance(inner, tuple):
        outside = (outside,) * len(inner)
    func[at] = inner if inside is None else select(inside, inner, outside)
    return func


@bounded
def reflect(tensor: Indexable, axes: Sequence[int] | None = None) -> Func:
    """Beyond the edge: mirrored, the edge repeated. c b a | a b c d | d c b."""

    def rule(i: Expr, n: Expr) -> Expr:
        r = i % (2 * n)
        beyond = clip(select(r < n, r, 2 * n - 1 - r), 0, n - 1)
        found: Expr = select(
            (i >= 0) & (i < n), i, (i < 0) & (i >= -n), -1 - i, (i >= n) & (i < 2 * n),
            2 * n - 1 - i, beyond,
        )  # fmt: skip
        return found

    return _extend("reflect", tensor, axes, rule)


@bounded
def mirror(tensor: Indexable, axes: Sequence[int] | None = None) -> Func:
    """Beyond the edge: mirrored around the edge element. d c b | a b c d | c b a."""

    def rule(i: Expr, n: Expr) -> Expr:
        r = i % maximum(2 * n - 2, 1)
        beyond = clip(select(r < n, r, 2 * n - 2 - r), 0, n - 1)
        found: Expr = select(
            (i >= 0) & (i < n), i, (i < 0) & (i > -n), -i, (i >= n) & (i < 2 * n - 1),
            2 * n - 2 - i, beyond,
        )  # fmt: skip
        return found

    return _extend("mirror", tensor, axes, rule)


@bounded
def wrap(tensor: Indexable, axes: Sequence[int] | None = None) -> Func:
    """Beyond the edge: from the other end. b c d | a b c d | a b c."""

    def rule(i: Expr, n: Expr) -> Expr:
        found: Expr = select(
            (i >= 0) & (i < n), i, (i < 0) & (i >= -n), i + n, (i >= n) & (i < 2 * n), i - n,
            clip(i % n, 0, n - 1),
        )  # fmt: skip
        return found

    return _extend("wrap", tensor, axes, rule)


__all__ = ["constant", "mirror", "reflect", "repeat_edge", "wrap"]

OTHERS = {
    "constant_exterior": "constant(tensor, value)",
    "edge": "repeat_edge(tensor)",
    "mirror_image": "reflect(tensor), which repeats the edge",
    "mirror_interior": "mirror(tensor), which does not repeat the edge",
    "nearest": "repeat_edge(tensor)",
    "repeat_image": "wrap(tensor)",
    "symmetric": "reflect(tensor), which repeats the edge",
}
"""What to write in place of boundary conditions of Halide, and modes of NumPy and SciPy."""

if not TYPE_CHECKING:  # a type checker would take every name to be there

    def __getattr__(name: str) -> NoReturn:
        suggest.no_member("polysched.boundary", name, __all__, OTHERS)


def __dir__() -> list[str]:
    return sorted(__all__)
