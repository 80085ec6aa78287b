"""Statements and what they access: one definition over its exact domain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache

from ...cached import cached_property
from ...lang.errors.errors import LanguageError
from ...lang.nodes.nodes import Node, Read, RVar, Var, postorder, replaced_all
from ...lang.nodes.printer import region_text, written_index
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..sets.affine import Relation, access_relation, affine_value
from ..sets.isl import Frame, Map, Set, is_bounded
from ..sets.projections import outer_part


@dataclass(frozen=True, eq=False)
class Access:
    """One read or write of a statement.

    `relation` maps instances to elements; `domain` is where it may happen, `must` whether it
    happens everywhere there and at one known element.
    """

    statement: Statement
    tensor: Tensor
    index: tuple[Node, ...]
    relation: Relation
    domain: Set
    must: bool
    node: Read | None
    #: The upper bounds of a region that is read all together; `index` are the lower ones.
    region_end: tuple[Node, ...] | None = None

    @property
    def text(self) -> str:
        """The access as it is written: `A[i, j]`, or `A[0:n, j:j + 1]` for a region."""
        written = self.statement.definition.before_inlining
        index = tuple(written.get(x, x) for x in self.index)
        inside = (
            written_index(index) if self.region_end is None else region_text(index, self.region_end)
        )
        return f"{self.tensor.name}[{inside}]"

    @property
    def is_write(self) -> bool:
        return self.node is None

    @cached_property
    def reach(self) -> Map:
        """{ instance -> element }; where data say which one, of all that the tensor has: what is
        outside is excluded by a proof, by a precondition, or when a call checks an index."""
        found, tensor, params = self.relation.map, self.tensor, self.statement.frame.params
        if not self.relation.may:
            return found
        if tensor.extents is not None:
            return found.intersect_range(_declared(params, tensor.extents))
        own = tensor.history.typed() if isinstance(tensor, Func) else ()
        there = elements_there(params, own[0]) if own else None
        return found if there is None else found.intersect_range(there)

    @cached_property
    def map(self) -> Map:
        """{ instance -> element }, over the instances at which it may happen."""
        return self.reach.intersect_domain(self.domain)

    @cached_property
    def touched(self) -> Set:
        """The elements at which it may happen."""
        return self.map.range()

    def check_region(self) -> None:
        """Everything that an access may touch is computed, so sizes must bound it.

        Raises:
            LanguageError: nothing bounds an index that depends on data.
        """
        if not self.relation.may:
            return
        tensor = self.tensor
        if not all(is_bounded(self.touched, k) for k in range(tensor.ndim)):
            verb = "written" if self.is_write else "read"
            raise LanguageError(
                f"{self.text} is {verb} at an index that depends on data, and nothing bounds it: "
                f"{tensor.name} has no declared shape",
                where=self.statement.definition.span,
                hint=f"declare one, ps.Func({tensor.name!r}, (n, m)), or clamp the index: "
                "ps.clip(x, 0, n - 1)",
            )


@lru_cache(512)
def _declared(params: tuple[str, ...], extents: tuple[Node, ...]) -> Set:
    """{ element : 0 <= element < extents }"""
    frame = Frame(params, tuple(f"#{k}" for k in range(len(extents))))
    result = frame.universe
    for name, extent in zip(frame.dims, extents, strict=True):
        end = affine_value(frame, extent)
        if end is not None:
            result = result.intersect(frame.within(name, frame.constant(0), end))
    return result


def elements_there(params: tuple[str, ...], first: Definition) -> Set | None:
    """The elements that a copy or a clone has, by its first definition: other reads are refused, as
    those of its source are. None where there is no such restriction."""
    if first.copies is not None:
        return _copied(params, first)
    return None if first.within is None else _declared(params, first.within)


def _copied(params: tuple[str, ...], d: Definition) -> Set:
    """{ element : its source is an element of the tensor }; reads of others are refused."""
    frame = Frame(params, tuple(f"#{k}" for k in range(len(d.lhs))))
    (read,) = {n.index: n for n in postorder(*d.values) if isinstance(n, Read)}.values()
    given: dict[Node, Node] = {x: Var(name) for x, name in zip(d.lhs, frame.dims, strict=True)}
    at = access_relation(frame, replaced_all(read.index, given))
    extents = read.tensor.extents
    if at.may or extents is None:
        return frame.universe
    return _declared(params, extents).apply(at.map.reverse())


@dataclass(eq=False)
class Statement:
    """A definition over its exact domain. `guard` is what remains to be tested at each instance.

    Of a Func that is computed at a loop of its consumers, `around` are the loops around it: they
    come first in its frame, so that an instance that runs several times counts as several.
    `part_of` is then the statement of the algorithm, some instances of which it executes.
    """

    definition: Definition
    name: str
    frame: Frame
    domain: Set
    guard: Node | None
    #: Bounds of RVars that are read from data; the domain holds all values they may have.
    data_bounds: frozenset[Node] = frozenset()
    accesses: list[Access] = field(default_factory=list)
    around: tuple[Var, ...] = ()
    part_of: Statement | None = None
    #: What `tree.times` has found of the order of its iterations and others'. It stands here to go
    #: with the program: it refers to all of it.
    orders: dict[object, Map] = field(default_factory=dict, init=False, repr=False)
    #: What `placement.accumulators` has found of copies of what it accumulates; likewise.
    copied: dict[object, object] = field(default_factory=dict, init=False, repr=False)

    @property
    def base(self) -> Statement:
        """The statement of the algorithm whose instances this one runs inside of other loops."""
        return self if self.part_of is None else self.part_of

    @property
    def func(self) -> Func:
        return self.definition.func

    @property
    def loops(self) -> tuple[Var | RVar, ...]:
        """Its dimensions as symbols, outermost first in the order written."""
        d = self.definition
        return (*self.around, *(d.dims if d.opaque is None else d.loops))

    @property
    def reads(self) -> list[Access]:
        return [a for a in self.accesses if not a.is_write]

    @property
    def write(self) -> Access:
        return next(a for a in self.accesses if a.is_write)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """What it reads and writes, each once."""
        return tuple(dict.fromkeys(a.tensor for a in self.accesses))

    def accesses_of(self, *tensors: Tensor) -> list[Access]:
        """What it reads and writes of any of them."""
        return [a for a in self.accesses if a.tensor in tensors]

    def reads_of(self, *tensors: Tensor) -> list[Access]:
        """What it reads of any of them."""
        return [a for a in self.accesses_of(*tensors) if not a.is_write]

    def writes_of(self, *tensors: Tensor) -> list[Access]:
        """What it writes of any of them."""
        return [a for a in self.accesses_of(*tensors) if a.is_write]

    def touches(self, *tensors: Tensor) -> bool:
        """Whether it reads or writes any of them."""
        return bool(self.accesses_of(*tensors))

    def reads_from(self, *tensors: Tensor) -> bool:
        """Whether it reads any of them."""
        return bool(self.reads_of(*tensors))


def touching(statements: Iterable[Statement]) -> dict[Tensor, list[Statement]]:
    """By tensor, those of some statements that touch it."""
    found: dict[Tensor, list[Statement]] = {}
    for s in statements:
        for tensor in s.tensors:
            found.setdefault(tensor, []).append(s)
    return found


def elements(access: Access) -> Set:
    """The elements that an access touches; of a Func that is fresh in each iteration of loops
    around, with the iteration: { (loops, element) }."""
    found = iteration_and_element(access)
    return access.touched if found is access.map else found.range()


def iteration_and_element(access: Access) -> Map:
    """{ instance -> element }; -> (loops, element) of a Func that is fresh in each iteration."""
    home = access.tensor.history.home if isinstance(access.tensor, Func) else None
    if home is None:
        return access.map
    return outer_part(access.statement.frame.space, len(home.loops)).flat_range_product(access.map)


def touched(statement: Statement) -> list[Set]:
    """What a statement reads and writes of its own Func."""
    return [elements(a) for a in statement.accesses_of(statement.func)]
