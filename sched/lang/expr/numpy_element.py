"""NumPy's protocols: its functions applied to expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from ..errors.errors import LanguageTypeError
from ..errors.frames import bounded
from ..errors.suggest import Suggesting

_REDUCTION = "a reduction is over an RVar k: ps.sum(A[k], k), or an update: f[()] += A[k]"


@bounded
class NumPyElement(Suggesting):
    """The protocols by which NumPy treats an expression as an element: its elementwise functions
    become functions of the language, others are refused."""

    __slots__ = ()
    __array_priority__ = 1000.0

    _ufuncs: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Applies the language's function for a ufunc; NumPy scalars keep their type."""
        function = self._ufuncs.get(ufunc.__name__)
        if method != "__call__":
            raise LanguageTypeError(
                f"np.{ufunc.__name__}.{method} works on arrays, and an expression is one value",
                hint=_REDUCTION,
            )
        if function is None:
            known = "available: " + ", ".join(sorted(self._ufuncs))
            raise LanguageTypeError(
                f"np.{ufunc.__name__} is not available on expressions",
                hint=f"{_in_place_of(ufunc.__name__)}{known}",
            )
        if kwargs:
            raise LanguageTypeError(
                f"np.{ufunc.__name__} takes no {next(iter(kwargs))}= on expressions",
                hint="ps.select chooses, ps.cast converts",
            )
        return function(*inputs)

    _functions: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Applies the language's function for one of the few elementwise functions of NumPy's that
        are not ufuncs; others are refused."""
        ours = self._functions.get(function.__name__)
        if ours is None:
            raise LanguageTypeError(
                f"np.{function.__name__} is not available on expressions: {self!r} is one value",
                hint=_REDUCTION,
            )
        return ours(*args, **kwargs)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise LanguageTypeError(
            f"{self!r} has no value while the program is being written; NumPy cannot hold it",
            hint="compute with operators and ps functions, then call the Func on arrays",
        )


def _in_place_of(name: str) -> str:
    """What to write in place of a function of NumPy's that the language does not have."""
    from ..errors import absent  # loaded on demand: `import polysched` does not need it

    known = absent.instead(name)
    return "" if known is None else f"ps.{name} {known[0]}: {known[1]}; "
