"""Sizes, Vars, RVars and Params: the names over which a program is written."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors.errors import LanguageError, LanguageTypeError, user_span
from ..errors.frames import bounded
from ..nodes import nodes
from ..nodes.affine import never_affine
from ..nodes.dtypes import DType, DTypeLike, as_dtype
from ..nodes.nodes import Node
from ..nodes.printer import expr_text
from ..nodes.typing import typed_size
from .expr import Expr, ExprLike, as_node
from .param_limits import limit

#: Keywords of a call or of `compile`; an argument of that name could never be passed.
RESERVED = frozenset({"out", "shape", "region", "checks"})

#: What is passed by name.
_ARGUMENTS = frozenset({"Input", "InOut", "Param", "size"})


def check_name(name: object, what: str) -> str:
    """`name`, if it is an identifier and no keyword that a call has already, for what a call
    passes; else it is refused.

    Args:
        what: the kind of thing that is named.
    """
    article = "an" if what[0] in "AEIORaeio" else "a"
    if not isinstance(name, str):
        raise LanguageTypeError(f"the name of {article} {what} must be a string, not {name!r}")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise LanguageError(
            f"{name!r} cannot name {article} {what}: it is not a Python identifier",
            hint="a call passes arguments by name: f(A=a, n=3)",
        )
    if name in RESERVED and what in _ARGUMENTS:
        raise LanguageError(
            f"{name!r} cannot name {article} {what}: calls use it themselves",
            hint=f"call it {name}_ or something that says what it holds",
        )
    return name


@bounded
class Symbol(Expr):
    """An Expr that is a single symbol: a Size, Var, RVar or Param."""

    __slots__ = ()
    _public = Expr._public | {"name"}

    @property
    def name(self) -> str:
        return self.node.name  # type: ignore[attr-defined,no-any-return]


@bounded
class Size(Symbol):
    """A symbolic extent, an integer >= 0, equal to every other size of its name.

    `ps.sizes("n m")` makes several, `ps.size("n", default=...)` one that has a default.
    """

    __slots__ = ()

    def __init__(self, name: str, default: Node | None = None) -> None:
        super().__init__(nodes.Size(check_name(name, "size"), default))


@bounded
class Var(Symbol):
    """An index over which a definition holds at every point; equal by name.

    `ps.vars("i j")` makes several.
    """

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(nodes.Var(check_name(name, "Var")))


@bounded
class RVar(Symbol):
    """An index that runs in order over `lo <= r < hi` in an update; equal by name and bounds.

    Source: reduction variables as in Halide, but with half-open bounds.

    Args:
        name: a Python identifier.
        lo, hi: half-open bounds, integers: affine in sizes, Vars and RVars made earlier.
        where: a function from the RVar to a condition; iterations that fail it do not happen.
    """

    __slots__ = ()
    _public = Symbol._public | {"lo", "hi"}

    def __init__(
        self,
        name: str,
        lo: ExprLike,
        hi: ExprLike,
        *,
        where: Callable[[RVar], ExprLike] | None = None,
    ) -> None:
        domain = nodes.RDomain()
        super().__init__(rvar_node(name, lo, hi, domain))
        _restrict(domain, where, self)
        domain.members = (self.node,)  # type: ignore[assignment]

    @property
    def lo(self) -> Expr:
        return Expr(self.node.lo)  # type: ignore[attr-defined]

    @property
    def hi(self) -> Expr:
        return Expr(self.node.hi)  # type: ignore[attr-defined]


def rvar_node(name: str, lo: ExprLike, hi: ExprLike, domain: nodes.RDomain) -> nodes.RVar:
    check_name(name, "RVar")
    for what, bound in (("lower", lo), ("upper", hi)):
        if isinstance(bound, (bool, float, np.bool_, np.floating)):
            raise LanguageTypeError(
                f"the {what} bound of the RVar {name} must be an integer, not {bound!r}"
            )
    bounds = as_node(lo), as_node(hi)
    if never_affine(*bounds, periods=True) is not None:
        raise LanguageError(
            f"the bounds of the RVar {name} are not affine in sizes, Vars and RVars: "
            f"[{expr_text(bounds[0])}, {expr_text(bounds[1])})",
            hint="run over an affine range and restrict it: "
            f"ps.RVar({name!r}, 0, n, where=lambda {name}: ...)",
        )
    return nodes.RVar(name, *bounds, domain, nodes.next_serial())


def _restrict(domain: nodes.RDomain, where: Callable[..., ExprLike] | None, *members: RVar) -> None:
    if where is None:
        return
    if isinstance(where, Expr) or not callable(where):
        raise LanguageTypeError(
            f"where= is a function of the RVar, not {where!r}",
            hint="where=lambda " + ", ".join(m.name for m in members) + ": ...",
        )
    wanted = len(inspect.signature(where).parameters)
    if wanted != len(members):
        raise LanguageTypeError(
            f"where= takes {_count(wanted, 'argument')}, but there {_are(len(members), 'RVar')}",
            hint="lambda " + ", ".join(m.name for m in members) + ": ...",
        )
    domain.where = as_node(where(*members))


def rdom(
    names: str,
    *bounds: tuple[ExprLike, ExprLike],
    where: Callable[..., ExprLike] | None = None,
) -> tuple[RVar, ...]:
    """Several RVars at once, outermost first: `ry, rx = ps.rdom("ry rx", (0, 3), (0, 3))`.

    Bounds are half-open (Halide's RDom takes an extent). `where` restricts all of them together:
    a function of all RVars that gives a condition.
    """
    split = _names(names, "RVar")
    if len(split) != len(bounds):
        raise LanguageError(
            f"rdom({names!r}) names {_count(len(split), 'RVar')} but has "
            f"{_count(len(bounds), 'pair')} of bounds",
            hint='one (lo, hi) a name: ps.rdom("ry rx", (0, 3), (0, 3))',
        )
    domain = nodes.RDomain()
    members = []
    for name, pair in zip(split, bounds, strict=True):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise LanguageTypeError(
                f"the bounds of {name} must be a pair (lo, hi), not {pair!r}",
                hint="half-open, as range(lo, hi); an extent e is (0, e)",
            )
        rvar = RVar.__new__(RVar)
        Expr.__init__(rvar, rvar_node(name, pair[0], pair[1], domain))
        members.append(rvar)
    _restrict(domain, where, *members)
    domain.members = tuple(m.node for m in members)  # type: ignore[misc]
    return tuple(members)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _are(n: int, what: str) -> str:
    return f"{'is' if n == 1 else 'are'} {_count(n, what)}"


def _names(names: object, what: str) -> list[str]:
    if not isinstance(names, str) or not names.replace(",", " ").split():
        raise LanguageTypeError(f'the names of {what}s are one string, as "n m", not {names!r}')
    split = names.replace(",", " ").split()
    for name in split:
        check_name(name, what)
    if len(set(split)) != len(split):
        raise LanguageError(f"{names!r} names the same {what} twice")
    return split


if TYPE_CHECKING:
    # Type checkers do not count the names in a string. What they are told can be used as one object
    # and can be unpacked as several.
    class Sizes(Size):
        def __iter__(self) -> Iterator[Size]: ...
        def __len__(self) -> int: ...
        def __getitem__(self, index: int) -> Size: ...

    class Vars(Var):
        def __iter__(self) -> Iterator[Var]: ...
        def __len__(self) -> int: ...
        def __getitem__(self, index: int) -> Var: ...

else:
    Sizes, Vars = Size, Var


def sizes(names: str) -> Sizes:
    """Symbolic extents: `n, m = ps.sizes("n m")`; one name gives the object itself."""
    made: Any = tuple(Size(n) for n in _names(names, "size"))
    return made[0] if len(made) == 1 else made  # type: ignore[no-any-return]


def size(name: str, default: ExprLike | None = None) -> Size:
    """One symbolic extent, with a default for calls whose arguments do not fix it.

    Args:
        default: an integer expression over other sizes, as `n // 4`.
    """
    if default is None:
        return Size(name)
    root = as_node(default)
    for node in nodes.postorder(root):
        if not isinstance(node, (nodes.Const, nodes.Size, nodes.Param, nodes.Op)):
            raise LanguageError(
                f"the default of the size {name} is made of integers, sizes and Params, and cannot "
                f"contain {Expr(node)!r}",
                hint=f"ps.size({name!r}, default=n // 2)",
            )
    if isinstance(root, nodes.Const) and root.value < 0:
        raise LanguageError(f"the size {name} cannot be {root.value} by default")
    return Size(name, typed_size(root, user_span()))


def vars(names: str) -> Vars:
    """Index variables: `i, j = ps.vars("i j")`; one name gives the object itself."""
    made: Any = tuple(Var(n) for n in _names(names, "Var"))
    return made[0] if len(made) == 1 else made  # type: ignore[no-any-return]


@bounded
class Param(Symbol):
    """A scalar given at each call, by keyword.

    Args:
        name: the keyword.
        dtype: its element type.
        default: its value where a call does not pass one.
        min, max: inclusive bounds; checked at the call and used in proofs.

    Raises:
        LanguageTypeError: the default or a bound is of another kind than the dtype.
        LanguageError: the dtype does not hold it, or they contradict each other.
    """

    __slots__ = ()
    _public = Symbol._public | {"dtype"}

    def __init__(
        self,
        name: str,
        dtype: DTypeLike,
        default: bool | int | float | None = None,
        min: bool | int | float | None = None,
        max: bool | int | float | None = None,
    ) -> None:
        check_name(name, "Param")
        t = as_dtype(dtype)
        default, min, max = (
            None if value is None else limit(name, t, what, value)
            for what, value in (("default", default), ("min", min), ("max", max))
        )
        if min is not None and max is not None and min > max:
            raise LanguageError(f"Param {name}: min={min} is above max={max}")
        if default is not None and (
            (min is not None and default < min) or (max is not None and default > max)
        ):
            limits = [f"{k}={v}" for k, v in (("min", min), ("max", max)) if v is not None]
            raise LanguageError(
                f"Param {name}: default={default} is outside {' and '.join(limits)}"
            )
        super().__init__(nodes.Param(nodes.ParamInfo(name, t, default, min, max)))

    @property
    def dtype(self) -> DType:
        return self.node.info.dtype  # type: ignore[attr-defined,no-any-return]
