"""`compute`: a Func given by a function of its indices.

f = compute("f", (n,), lambda i: ...)        is      f = Func("f", (n,))
                                                     f[i] = ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..errors.errors import LanguageTypeError
from ..errors.frames import bounded
from ..errors.words import axes_text, counted
from ..expr.expr import Expr
from ..expr.symbols import Var
from ..nodes.dtypes import DTypeLike
from ..tensors.indexable import Indexable, ShapeLike
from ..tensors.tensors import Func

Indexed = (
    Callable[[], Any]
    | Callable[[Var], Any]
    | Callable[[Var, Var], Any]
    | Callable[[Var, Var, Var], Any]
    | Callable[..., Any]
)
"""A function of indices: by their number, so that type checkers know what they are."""


@bounded
def compute(
    name: str,
    shape: ShapeLike | None,
    fn: Indexed,
    dtype: DTypeLike | Sequence[DTypeLike] | None = None,
) -> Func:
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
            f"{name} has {axes_text(count)}, but its function takes "
            f"{counted(len(named), 'index', 'indices')} ({', '.join(named) or 'none'})"
            + ("; what has a default is none" if len(parameters) > len(needed) else ""),
            hint=hint,
        )
    return names
