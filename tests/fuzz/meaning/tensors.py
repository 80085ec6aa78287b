"""Tensors and their definitions, as written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import Unknown
from .trees import Tree, tree
from .types import concrete, join


class Tensor:
    """Something that is read at integer indices."""

    def __init__(self, name: str, extents: Any, types: tuple[str, ...] | None) -> None:
        self.name = name
        self.extents = None if extents is None else tuple(map(tree, extents))
        self.declared = types

    def types(self) -> tuple[str | None, ...]:
        """Of its values."""
        assert self.declared is not None
        return self.declared

    @property
    def count(self) -> int:
        """How many values an element has."""
        return len(self.declared or (1,))

    def __getitem__(self, index: Any) -> Any:
        at = places(index, None if self.extents is None else len(self.extents))
        reads = tuple(Tree("read", *at, extra=(self, k)) for k in range(self.count))
        return reads if self.count > 1 else reads[0]


def places(index: Any, rank: int | None) -> tuple[Tree, ...]:
    """One tree for each axis. `...` are Vars without a name, numbered from the right."""
    given = list(index) if isinstance(index, tuple) else [index]
    if Ellipsis in [x for x in given if not isinstance(x, Tree)]:
        if rank is None:
            raise Unknown("leading axes of a Func without a shape")
        missing = rank - len(given) + 1
        names = (f"_{k}" for k in range(missing, 0, -1))
        given[:1] = [Tree("symbol", extra=(n, "index", "var")) for n in names]
    return tuple(map(tree, given))


@dataclass(frozen=True, eq=False)
class RVar:
    """A loop of its own. `domain` is shared by those that were made together."""

    name: str
    lo: Tree
    hi: Tree
    serial: int
    domain: Domain


@dataclass(eq=False)
class Domain:
    """The condition of some RVars, once they are known."""

    where: Tree | None = None


@dataclass(frozen=True, eq=False)
class Definition:
    """One assignment: what stands on the left, and the values."""

    left: tuple[Tree, ...]
    values: tuple[Tree, ...]

    @property
    def roots(self) -> tuple[Tree, ...]:
        return self.left + self.values

    @property
    def rvars(self) -> tuple[RVar, ...]:
        """In the order in which they run: those that are mentioned, also by bounds, and that no
        reduction runs over."""
        inner = {r.name for n in self._nodes() if n.op == "reduce" for r in n.extra.rvars}
        return tuple(r for r in self.mentioned if r.name not in inner)

    @property
    def has_reductions(self) -> bool:
        return any(n.op == "reduce" for n in self._nodes())

    def _nodes(self) -> Iterator[Tree]:
        return (n for root in self.roots for n in root.walk())

    @property
    def mentioned(self) -> tuple[RVar, ...]:
        """All RVars, those of reductions too: their bounds may mention others, even if what is
        reduced mentions none."""
        found: dict[str, RVar] = {}
        stack = list(self.roots)
        while stack:
            for node in stack.pop().walk():
                for r in _rvars_of(node):
                    if r.name not in found:
                        found[r.name] = r
                        stack += [r.lo, r.hi, *([] if r.domain.where is None else [r.domain.where])]
        return tuple(sorted(found.values(), key=lambda r: r.serial))

    @property
    def everything(self) -> tuple[Tree, ...]:
        """With the bounds and the conditions of its loops."""
        conditions = (r.domain.where for r in self.mentioned)
        bounds = (x for r in self.mentioned for x in (r.lo, r.hi))
        return (*self.roots, *bounds, *(c for c in conditions if c is not None))

    @property
    def vars(self) -> tuple[str, ...]:
        """On the left, in order."""
        names = (n.extra[0] for x in self.left for n in x.walk() if is_var(n))
        return tuple(dict.fromkeys(names))


def _rvars_of(node: Tree) -> tuple[RVar, ...]:
    """Those that a node is, or that it runs over."""
    if node.op == "reduce":
        return tuple(node.extra.rvars)
    named = node.extra[2] if node.op == "symbol" and len(node.extra) > 2 else None
    return (named,) if isinstance(named, RVar) else ()


def is_var(node: Tree) -> bool:
    return node.op == "symbol" and node.extra[2:] == ("var",)


@dataclass(eq=False)
class Block:
    """What runs in the order written, once for each value of a loop, if it has one.

    Attributes:
        items: updates with their Funcs, blocks, and Funcs that are fresh here.
    """

    loop: str | None = None
    bounds: tuple[Any, ...] = ()
    items: list[tuple[Func, Definition] | Block | Func] = field(default_factory=list)

    @property
    def updated(self) -> set[Func]:
        """The Funcs that are updated inside."""
        inner = [i.updated for i in self.items if isinstance(i, Block)]
        return {i[0] for i in self.items if isinstance(i, tuple)}.union(*inner)


class Func(Tensor):
    """A tensor that is computed.

    Attributes:
        pieces: its pure definition, the last one with Vars alone.
        updates: in the order written; a block that updates it is one.
        initial: of an array in place, what it is before.
        open: the blocks that are being written, outermost first.
        home: the one in which it is fresh.
    """

    def __init__(
        self, name: str, extents: Any = None, dtype: Any = None, open: Sequence[Block] = ()
    ) -> None:
        given = None if dtype is None else dtype if isinstance(dtype, tuple) else (dtype,)
        super().__init__(name, extents, given)
        self.pieces: list[Definition] = []
        self.updates: list[Definition | Block] = []
        self.initial: Tensor | None = None
        self.open = open
        self.home = open[-1] if open else None
        self.definitions: list[Definition] = []
        self._types: tuple[str | None, ...] | None = None

    @property
    def count(self) -> int:
        if self.declared is not None:
            return len(self.declared)
        return len(self.pieces[0].values) if self.pieces else 1

    @property
    def final(self) -> Func:
        """Of an array in place: what a read from outside of its updates sees."""
        return self

    @property
    def is_closed(self) -> bool:
        """Whether what comes is an update."""
        return self.initial is not None or any(all(map(is_var, p.left)) for p in self.pieces[-1:])

    def __setitem__(self, index: Any, value: Any) -> None:
        left = places(index, None if self.extents is None else len(self.extents))
        values = value if isinstance(value, tuple) else (value,)
        made = Definition(left, tuple(map(tree, values)))
        self.definitions.append(made)
        if not self.is_closed:
            if self.home is not None and not self.pieces:
                self.home.items.append(self)
            self.pieces.append(made)
        elif self.home is not None:
            raise Unknown("updates of a Func that is fresh in a block")
        elif self.open:
            self.open[-1].items.append((self, made))
            if self.open[0] not in self.updates:
                self.updates.append(self.open[0])
        else:
            self.updates.append(made)

    def types(self) -> tuple[str | None, ...]:
        """Given, or the least ones that hold every definition; None while they are searched."""
        if self.declared is not None:
            return self.declared
        if self._types is None:
            self._types = (None,) * self.count
            self._types = self._least()
        return self._types

    def _least(self) -> tuple[str, ...]:
        from .evaluate import Known, type_of

        while True:
            known: Known = {}
            found = [[type_of(v, read_type, known) for v in d.values] for d in self.definitions]
            assert self._types is not None
            joined = tuple(map(join, zip(self._types, *found, strict=True)))
            if joined == self._types:
                return tuple(concrete(_known(t)) for t in joined)
            self._types = joined


def read_type(node: Tree) -> str | None:
    """The type of a read."""
    tensor, component = node.extra
    found: str | None = tensor.types()[component]
    return found


def _known(t: str | None) -> str:
    if t is None:
        raise Unknown("a Func without a type")
    return t
