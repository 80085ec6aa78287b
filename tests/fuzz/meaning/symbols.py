"""What programs know by the name `ps`."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import Unknown
from .arithmetic import converted
from .integers import OF_INTEGERS
from .reductions import REDUCTIONS, reduction
from .tensors import Block, Domain, Func, RVar, Tensor
from .trees import Tree, tree
from .types import WEAK, concrete, join, kind

TYPES = {
    name: name
    for name in (
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
        "float64", "float16", "bfloat16", "bool",
    )
}  # fmt: skip


class PS(SimpleNamespace):
    """One program's `ps`, which remembers what it asks for.

    Attributes:
        open: the blocks that are being written.
        params: the Params by name, with their types.
        required: the conditions of `ps.require`.
    """

    def __init__(self) -> None:
        super().__init__(**TYPES, bool_="bool", **_FUNCTIONS)
        self.open: list[Block] = []
        self.params: dict[str, str] = {}
        self.required: list[Tree] = []
        self._serial = 0

    def __getattr__(self, name: str) -> Any:
        raise Unknown(f"ps.{name}")

    # symbols ----------------------------------------------------------------------------------
    def sizes(self, names: str) -> Any:
        return _one_or_all([Tree("symbol", extra=(n, "index")) for n in names.split()])

    def size(self, name: str, default: Any = None) -> Tree:
        return Tree("symbol", extra=(name, "index"))

    def vars(self, names: str) -> Any:
        return _one_or_all(_vars(names.split()))

    def Param(
        self, name: str, dtype: str, min: Any = None, max: Any = None, default: Any = None
    ) -> Tree:
        self.params[name] = dtype
        weak = "index" if kind(dtype) in "iu" else dtype
        return Tree("symbol", extra=(name, weak))

    def RVar(self, name: str, lo: Any, hi: Any, where: Callable[..., Any] | None = None) -> Tree:
        return self._rvars([name], [(lo, hi)], where)[0]

    def rdom(self, names: str, *bounds: Any, where: Callable[..., Any] | None = None) -> Any:
        return _one_or_all(self._rvars(names.split(), list(bounds), where))

    def _rvars(self, names: list[str], bounds: list[Any], where: Any) -> list[Tree]:
        domain, made = Domain(), []
        for name, (lo, hi) in zip(names, bounds, strict=True):
            self._serial += 1
            r = RVar(name, tree(lo), tree(hi), self._serial, domain)
            made.append(Tree("symbol", extra=(name, "index", r)))
        if where is not None:
            domain.where = tree(where(*made[: len(inspect.signature(where).parameters)]))
        return made

    def require(self, condition: Any, message: str) -> None:
        self.required.append(tree(condition))

    # tensors ----------------------------------------------------------------------------------
    def Input(self, name: str, dtype: str, shape: Any, range: Any = None) -> Tensor:
        return Tensor(name, shape, (dtype,))

    def InOut(self, name: str, dtype: str, shape: Any) -> Func:
        made = Func(name, shape, dtype, self.open)
        made.home = None
        made.initial = Tensor(name, shape, (dtype,))
        return made

    def Func(self, name: str, shape: Any = None, dtype: Any = None) -> Func:
        return Func(name, shape, dtype, self.open)

    def Const(self, name: str, array: Any) -> Tensor:
        return Table(name, array)

    @property
    def boundary(self) -> Boundary:
        self._outside("a boundary")
        return Boundary()

    @contextmanager
    def sequential(self, name: str | None = None, *bounds: Any, step: int = 1) -> Iterator[Any]:
        block = Block(name, bounds and (tree(bounds[0]), tree(bounds[1]), *(bounds[2:] or (step,))))
        if self.open:
            self.open[-1].items.append(block)
        self.open.append(block)
        try:
            yield None if name is None else Tree("symbol", extra=(name, "index"))
        finally:
            self.open.pop()

    def _outside(self, what: str) -> None:
        if self.open:
            raise Unknown(f"{what} in a block")

    def extern(self, name: str, function: Any, reads: Any, writes: Any, dtype: Any) -> Tensor:
        self._outside("an extern stage")
        return Extern(name, function, tuple(reads), writes, dtype)

    # functions by one call --------------------------------------------------------------------
    def compute(self, name: str, shape: Any, function: Any) -> Func:
        made, vars = self.Func(name, shape), _vars(inspect.signature(function).parameters)
        made[vars] = function(*vars)
        return made

    def einsum(self, text: str, *operands: Tensor, name: str = "einsum") -> Func:
        """The product of the operands; from 0 on, it is added over all letters that the result
        has not, outermost the one named first."""
        terms, _, out = text.partition("->")
        extents: dict[str, Tree] = {}
        for letter, extent in zip(terms.replace(",", ""), _extents(operands), strict=True):
            self.required.append(tree(extents.setdefault(letter, extent) == extent))
        summed = [x for x in extents if x not in out]
        rvars = self._rvars(summed, [(0, extents[x]) for x in summed], None)
        at = dict(zip((*out, *summed), (*_vars(out), *rvars), strict=True))
        common = join(t for x in operands for t in x.types())
        if common is None:
            raise Unknown("a contraction without a type")
        pairs = zip(terms.split(","), operands, strict=True)
        reads = (_cast(concrete(common), x[tuple(at[a] for a in term)]) for term, x in pairs)
        product, left = reduce(operator.mul, reads), tuple(at[a] for a in out)
        made = self.Func(name, [extents[x] for x in out], concrete(common))
        made[left] = 0 if summed else product
        if summed:
            made[left] = made[left] + product
        return made


def _vars(names: Iterable[str]) -> tuple[Tree, ...]:
    return tuple(Tree("symbol", extra=(n, "index", "var")) for n in names)


def _extents(operands: Iterable[Tensor]) -> Iterator[Tree]:
    return (e for x in operands for e in x.extents or ())


def _one_or_all(made: Sequence[Tree]) -> Any:
    return made[0] if len(made) == 1 else tuple(made)


class Table(Tensor):
    """A tensor whose values stand in the program."""

    def __init__(self, name: str, array: Any) -> None:
        super().__init__(name, array.shape, (array.dtype.name,))
        self.array = array


class Extern(Tensor):
    """What a function of Python computes from tensors, or from parts of them.

    Attributes:
        parts: the bounds of each along its axes; none of a whole one.
    """

    def __init__(
        self, name: str, function: Any, reads: tuple[Any, ...], shape: Any, dtype: Any
    ) -> None:
        super().__init__(name, shape, dtype if isinstance(dtype, tuple) else (dtype,))
        self.function = function
        pairs = [x if isinstance(x, tuple) else (x, None) for x in reads]
        self.reads = tuple(x for x, _ in pairs)
        self.parts = tuple([(tree(lo), tree(hi)) for lo, hi in bounds or ()] for _, bounds in pairs)

    @property
    def fills(self) -> bool:
        """Whether the function is given the array of its result."""
        return "out" in inspect.signature(self.function).parameters


# functions --------------------------------------------------------------------------------------
def _select(*args: Any) -> Tree:
    found = tree(args[-1])
    for condition, value in zip(args[-3::-2], args[-2::-2], strict=True):
        found = Tree("select", tree(condition), tree(value), found)
    return found


def _mux(index: Any, values: list[Any]) -> Any:
    pairs = [x for k, v in enumerate(values[:-1]) for x in (tree(index) == k, v)]
    return _select(*pairs, values[-1]) if pairs else values[0]


def _cast(dtype: str, x: Any) -> Tree:
    node = tree(x)
    if node.op == "number" and node.extra[1] in WEAK and kind(dtype) == "f":
        value = converted(np.float64(node.extra[0]), "float64", dtype)
        return Tree("number", extra=(value, dtype))
    return Tree("cast", node, extra=dtype)


def _named(op: str) -> Callable[..., Tree]:
    return lambda *args: Tree(op, *map(tree, args))


def _clip(x: Any, lo: Any, hi: Any) -> Tree:
    return Tree("min", Tree("max", tree(x), tree(lo)), tree(hi))


_FUNCTIONS: dict[str, Any] = {
    "select": _select, "where": _select, "mux": _mux, "cast": _cast, "clip": _clip,
    "bitcast": lambda dtype, x: Tree("bitcast", tree(x), extra=dtype),
    "minimum": _named("min"), "maximum": _named("max"), "abs": _named("abs"),
    "absd": _named("absd"),
    "saturating_cast": lambda dtype, x: Tree("saturating_cast", tree(x), extra=dtype),
    **{name: _named(name) for name in OF_INTEGERS},
    "remainder": lambda x, y: Tree("%", tree(x), tree(y)),
    "trace": lambda x, label: Tree("trace", tree(x), extra=label),
    **{op: partial(reduction, op) for op in REDUCTIONS},
    "strict": _named("strict"), "fma": _named("fma"), "ldexp": _named("ldexp"),
    "sqrt": _named("sqrt"), "floor": _named("floor"), "ceil": _named("ceil"),
    "round": _named("round"), "rint": _named("round"), "trunc": _named("trunc"),
    "isnan": lambda x: Tree("!=", tree(x), tree(x)),
    "isinf": lambda x: Tree("==", Tree("abs", tree(x)), tree(np.inf)),
    "isfinite": lambda x: Tree("<", Tree("abs", tree(x)), tree(np.inf)),
}  # fmt: skip


# boundaries -------------------------------------------------------------------------------------
class Boundary:
    """Tensors extended beyond their edges: `at` of an index and an extent, both integers."""

    def repeat_edge(self, tensor: Any, axes: Any = None) -> Extended:
        return Extended(tensor, axes, lambda i, n: min(max(i, 0), n - 1))

    def wrap(self, tensor: Any, axes: Any = None) -> Extended:
        return Extended(tensor, axes, lambda i, n: i % n)

    def reflect(self, tensor: Any, axes: Any = None) -> Extended:
        return Extended(tensor, axes, lambda i, n: min(i % (2 * n), 2 * n - 1 - i % (2 * n)))

    def mirror(self, tensor: Any, axes: Any = None) -> Extended:
        return Extended(tensor, axes, _mirrored)

    def constant(self, tensor: Any, value: Any, axes: Any = None) -> Extended:
        return Extended(tensor, axes, lambda i, n: i if 0 <= i < n else None, tree(value))


def _mirrored(i: int, n: int) -> int:
    period = max(2 * n - 2, 1)
    return min(i % period, period - i % period) if n > 1 else 0


class Extended(Tensor):
    """A tensor beyond its edges. `at` gives where it is read, None for `value`."""

    def __init__(self, tensor: Tensor, axes: Any, at: Any, value: Tree | None = None) -> None:
        super().__init__(f"{tensor.name}+", None, None)
        self.tensor = tensor
        self.axes = axes
        self.at = at
        self.value = value

    def types(self) -> tuple[str | None, ...]:
        extra = [] if self.value is None else [self.value.extra[1]]
        found = join([*self.tensor.types(), *extra])
        return (found and concrete(found),)
