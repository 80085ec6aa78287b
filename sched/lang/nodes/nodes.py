"""Expression nodes: immutable, hash-consed, shared.

Building a node twice gives the same object, so equality is identity, a repeated subexpression is
one node however often it is written, and every pass that visits each node once is linear in the
number of *distinct* ones. A node carries no operators (`expr.Expr` does) and no source span
(definitions do).

Life of an expression: the user's operators build it untyped (`type is None` but for literals,
symbols and casts); `elaborate` makes of it a typed one, in which every operand has exactly the
type its operator works in, casts are explicit and products that fuse are `fma`. Interpreter,
polyhedral model and code generation see typed ones only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import KeyedRef, WeakValueDictionary, ref

from ...forks import reentrant
from ...records import dataclass
from .below import (
    has_below as has_below,
    known_below as known_below,
    leaves_below as leaves_below,
    postorder as postorder,
)
from .dtypes import INDEX, WEAK_FLOAT, WEAK_INT, DType, Type, Weak, bool_, concrete, int64
from .serials import next_serial as next_serial
from .transformed import (
    Replacement as Replacement,
    replaced_all as replaced_all,
    substitute as substitute,
    transform as transform,
    transform_all as transform_all,
)
from .travelling import Travelling

if TYPE_CHECKING:
    from .tensor import Tensor

_table: WeakValueDictionary[tuple[Any, ...], Node] = WeakValueDictionary()
#: What the table holds: to look a node up in it takes no lock, and no call of Python code. Nor does
#: it take one to enter a node: `KeyedRef` is made without its own `__new__` and `__init__`.
_references: dict[tuple[Any, ...], ref[Node]] = _table.data  # type: ignore[attr-defined]
_forget = _table._remove  # type: ignore[attr-defined]
_lock = reentrant()


class _HashConsed(type):
    """Calling the class with equal fields returns the node that is already there."""

    def __call__(cls, *fields: Any) -> Any:
        key = (cls, *cls.key(*fields))  # type: ignore[attr-defined]
        known = _references.get(key)
        if known is not None and (node := known()) is not None:
            return node
        with _lock:
            made = super().__call__(*fields)
            reference = ref.__new__(KeyedRef, made, _forget)
            reference.key = key
            # Another thread or a signal handler may have made an equal node meanwhile.
            known = _references.setdefault(key, reference)
            if known is not reference:
                if (node := known()) is not None:
                    return node
                _references[key] = reference
            return made


class Node(Travelling, metaclass=_HashConsed):
    """Base of all nodes. `args` are the nodes it is computed from."""

    #: What is below a node is found when somebody asks for it: see `below.py`.
    __slots__ = ("__weakref__", "_below", "_kinds", "_leaves")

    if TYPE_CHECKING:
        _below: tuple[Node, ...] | None
        _kinds: frozenset[type[Node]]
        _leaves: frozenset[Node]

        @property
        def type(self) -> Type | None:
            """The type of its value; None where it is not known yet."""

        @property
        def args(self) -> tuple[Node, ...]:
            """The nodes it is computed from. Nothing is asked for as often: so it is the field that
            has them, where a class has one, and no method."""

    else:
        args = ()

    @staticmethod
    def key(*fields: Any) -> tuple[Any, ...]:
        """The key by which equal nodes of a class are found. Ids stand for nodes, tensors and other
        objects that are equal by identity; the node keeps them alive. The table must not hold them
        itself: a Func whose definitions read it would never be freed."""
        return tuple([_identity(x) for x in fields])

    def with_args(self, args: tuple[Node, ...]) -> Node:
        """A node of the same class and attributes with other operands."""
        return self

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: object) -> Node:
        return self


_BY_VALUE = frozenset({str, int, bool, float, DType, Weak, type(None)})


def _identity(field: Any) -> Any:
    if type(field) is tuple:
        return tuple(map(id, field))
    return field if type(field) in _BY_VALUE else id(field)


@dataclass(frozen=True, slots=True, eq=False)
class Const(Node):
    """A literal: weak when it was a Python number, of its own type when NumPy's."""

    value: bool | int | float
    type: Type

    @staticmethod
    def key(*fields: Any) -> tuple[Any, ...]:
        value, t = fields
        # 0.0 and -0.0, 1 and True are equal as keys but not as values; NaN equals nothing.
        return (value.hex() if isinstance(value, float) else int(value), type(value), t)


@dataclass(frozen=True, slots=True, eq=False)
class Var(Node):
    """An index over which a definition holds at every point, in no order."""

    name: str

    @property
    def type(self) -> Type:
        return INDEX


@dataclass(frozen=True, slots=True, eq=False)
class Size(Node):
    """A symbolic extent, an integer >= 0; `default` derives it where no argument fixes it."""

    name: str
    default: Node | None

    @property
    def type(self) -> Type:
        return INDEX


class RDomain(Travelling):
    """The domain of RVars made together. `where` is a condition on all of them. `owner` is the
    `sequential` block whose loop the RVar is, if it is one."""

    __slots__ = ("members", "owner", "where")

    def __init__(self) -> None:
        self.members: tuple[RVar, ...] = ()
        self.where: Node | None = None
        self.owner: object | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RVar(Node):
    """An index that runs in order over `lo <= name < hi`; `serial` says which was made first."""

    name: str
    lo: Node
    hi: Node
    domain: RDomain
    serial: int

    @property
    def type(self) -> Type:
        return INDEX


@dataclass(frozen=True, slots=True, eq=False)
class ParamInfo:
    """The declaration behind a Param: an identity, like Inputs and Funcs."""

    name: str
    dtype: DType
    default: bool | int | float | None
    min: bool | int | float | None
    max: bool | int | float | None

    def __deepcopy__(self, memo: object) -> ParamInfo:
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Param(Node):
    """A scalar given at run time."""

    info: ParamInfo

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def type(self) -> Type:
        return INDEX if self.info.dtype.is_int else self.info.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Op(Node):
    """An operator of the table in `ops`, applied to `operands`."""

    op: str
    operands: tuple[Node, ...]
    type: Type | None

    @staticmethod
    def key(*fields: Any) -> tuple[Any, ...]:
        op, operands, t = fields
        return (op, t, *map(id, operands))

    def with_args(self, args: tuple[Node, ...]) -> Node:
        return self if args == self.operands else Op(self.op, args, self.type)


Op.args = Op.operands  # type: ignore[misc, assignment]


@dataclass(frozen=True, slots=True, eq=False)
class Read(Node):
    """The value of `tensor` at `index`; `component` picks one of a tuple's values."""

    tensor: Tensor
    index: tuple[Node, ...]
    component: int
    type: Type | None

    @staticmethod
    def key(*fields: Any) -> tuple[Any, ...]:
        tensor, index, component, t = fields
        return (id(tensor), component, t, *map(id, index))

    def with_args(self, args: tuple[Node, ...]) -> Node:
        return self if args == self.index else Read(self.tensor, args, self.component, self.type)


Read.args = Read.index  # type: ignore[misc, assignment]


Symbol = Var | RVar | Size | Param


def reachable(*roots: Node) -> Iterator[Node]:
    """Every distinct node below `roots`, and below the bounds and conditions of RVars there."""
    seen: set[Node] = set()
    begun: list[Node] = []
    stack: list[Node | None] = []
    pending = list(roots)
    for root in pending:
        stack.append(root)
        while stack:  # as `postorder` goes, but what another root has reached is not new
            node = stack.pop()
            if node is None:
                yield begun.pop()
            elif node not in seen:
                seen.add(node)
                if args := node.args:
                    begun.append(node)
                    stack.append(None)
                    stack += args[::-1]
                    continue
                yield node
                if isinstance(node, RVar):
                    where = node.domain.where
                    pending += [node.lo, node.hi, *([] if where is None else [where])]


def dtype_of(node: Node) -> DType:
    """The element type of a typed node."""
    assert node.type is not None, "an expression that was not elaborated"
    return concrete(node.type)


def literal(value: bool | int | float) -> Const:
    """A Python literal as a (weak) constant."""
    if isinstance(value, bool):
        return Const(value, bool_)
    return Const(value, WEAK_INT if isinstance(value, int) else WEAK_FLOAT)


@lru_cache(1024, typed=True)
def integer(value: int) -> Const:
    """A typed int64 constant, for index arithmetic on elaborated expressions."""
    return Const(value, int64)


def op(name: str, *operands: Node, dtype: DType | None = None) -> Op:
    """An operator node; typed when `dtype` is given."""
    return Op(name, operands, dtype)
