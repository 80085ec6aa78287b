"""The LoopTree: the structure of a schedule. Directives are small edits of it.

A path from the root to a `Stage` gives each of the stage's instances a time: the position at each
level and the loops' coordinates, compared lexicographically. The coordinates are expressions over
the statement's own dimensions, kept in the leaf, one a loop of its path; so a split turns the
coordinate `i` into `i // 8` and `i % 8`, and a skew into `i + t`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from ...cached import cached_property
from ...lang.errors.errors import Span
from ...lang.nodes.nodes import Node, Var
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ...records import dataclass
from .kinds import Kind
from .roots import Roots
from .stage import Stage

if TYPE_CHECKING:
    from ..model.statements import Access


@dataclass(frozen=True)
class Loop:
    """A loop; `span` is the line that made it. What stands in an outermost one is listed once: a
    directive leaves most nests of a tree as they are, and changes all loops around its stages."""

    name: str
    body: tuple[Tree, ...]
    kind: Kind = "serial"
    #: Runs over [0, full_tile), its body under a guard where there is less to do.
    full_tile: int | None = None
    span: Span | None = None

    @cached_property
    def below(self) -> list[tuple[Path, Tree]]:
        """Every node below, with its path from here, in the order of execution."""
        return _nodes(self)[1:]

    @cached_property
    def leaves(self) -> list[tuple[Path, Stage]]:
        """Every stage below, with its path from here."""
        return [(path, node) for path, node in self.below if isinstance(node, Stage)]

    @cached_property
    def produced(self) -> list[tuple[Path, Produce]]:
        """What is computed at it and at loops below, each with the path to it from here."""
        return [(path, node) for path, node in self.below if isinstance(node, Produce)]

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """Of which kinds it and the loops below are."""
        return frozenset([self.kind, *(x.kind for _, x in self.below if isinstance(x, Loop))])

    @cached_property
    def has_accumulators(self) -> bool:
        """Whether there is a private accumulator below."""
        return any(isinstance(node, Accumulator) for _, node in self.below)

    @cached_property
    def touched(self) -> frozenset[Tensor]:
        """The tensors that stages below read or write."""
        return frozenset([t for _, stage in self.leaves for t in stage.statement.tensors])

    @cached_property
    def loop_names(self) -> Mapping[str, tuple[str, ...]]:
        """By stage, the names of this loop and of those below around it, outermost first."""
        return {
            stage.name: (self.name, *[node.name for _, node in path if isinstance(node, Loop)])
            for path, stage in self.leaves
        }


@dataclass(frozen=True)
class Alloc:
    """The storage of some Funcs lives for one execution of the body. Storage of one place is one
    node: a program stores hundreds of Funcs, and a node for each would be a path that long."""

    funcs: tuple[Func, ...]
    body: tuple[Tree, ...]
    #: Whether a directive has placed it here.
    by_directive: bool = False
    #: Why it is placed here, and not further out, where the directive has placed it.
    reason: str = ""

    @cached_property
    def stored(self) -> frozenset[object]:
        """The Funcs, to be found among others."""
        return frozenset(self.funcs)


@dataclass(frozen=True, slots=True)
class Produce:
    """The computation of a Func, or those of a recurrence, at a loop of its consumers: anew in each
    iteration of the loops around, as far as the stages behind it read. `placement` derives the
    region.

    `around` are the first dimensions of the statements inside, and `times` their coordinates in
    the loops around, made of them. `fresh_depth` is the depth of fresh values: of iterations that
    agree in that many outermost loops, none computes what another one has computed before.
    """

    funcs: tuple[Func, ...]
    around: tuple[Var, ...]
    body: tuple[Tree, ...]
    times: tuple[Node, ...]
    fresh_depth: int = 0
    #: What the statements inside were made from.
    demand: object = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the first dimensions of the statements inside."""
        return tuple(x.name for x in self.around)


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A private accumulator: what a stage accumulates is in storage of the accumulator's own while
    the body runs. It is copied in first, as far as it has values already, and copied out once.

    `stage` is what it was called, `serial` that of its definition.
    """

    func: Func
    stage: str
    serial: int
    body: tuple[Tree, ...]

    def is_of(self, stage: Stage) -> bool:
        """Whether a stage inside accumulates there."""
        return stage.statement.definition.serial == self.serial

    def begins(self, stage: Stage) -> bool:
        """Whether a stage inside begins elements there."""
        return stage.statement.func is self.func and not stage.statement.definition.is_update

    def holds(self, stage: Stage, access: Access) -> bool:
        """Whether an access of a stage inside is to that storage, and not to the Func's."""
        if access.tensor is not self.func:
            return False
        if access.is_write:
            return self.is_of(stage) or self.begins(stage)
        return self.is_of(stage) and access.index == stage.statement.definition.lhs


@dataclass(frozen=True)
class Seq:
    """The root: one after the other."""

    body: tuple[Tree, ...]

    @cached_property
    def nodes(self) -> list[tuple[Path, Tree]]:
        """Every node below, with its path, in the order of execution. Not the root itself, which
        would keep itself then."""
        return _nodes(self)[1:]

    @cached_property
    def roots(self) -> Roots:
        """What stands at the root, one after the other, each with the path to it through
        storage."""
        return Roots(self.body, (Seq, Alloc))

    @property
    def nests(self) -> list[Tree]:
        """What stands at the root, one after the other, in whichever storage."""
        return self.roots.nests

    @cached_property
    def leaves(self) -> list[tuple[Path, Stage]]:
        """Every stage, with its path."""
        found: list[tuple[Path, Stage]] = []
        for path, nest in self.roots:
            found += [((*path, *inside), stage) for inside, stage in leaves(nest)]
        return found

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """By the id of what stands at the root, its number among `nests`."""
        return dict(zip(map(id, self.nests), count()))

    @cached_property
    def by_name(self) -> Mapping[str, tuple[Path, Stage]]:
        """The first stage of each name, with its path."""
        return _ByName(self)

    def paths_to(self, stage: Stage) -> Iterator[Path]:
        """The paths to a stage."""
        name = stage.name
        for k, nest in enumerate(self.nests):
            if type(nest) is not Loop or name in nest.loop_names:
                for inside, found in leaves(nest):
                    if found is stage:
                        yield (*self.roots.path(k), *inside)

    @cached_property
    def produced(self) -> list[tuple[Path, Produce]]:
        """What is computed at loops, each with the path to it."""
        found: list[tuple[Path, Produce]] = []
        for k, nest in enumerate(self.nests):
            below = nest.produced if type(nest) is Loop else produced(nest)
            if below:
                path = self.roots.path(k)
                found += [((*path, *inside), node) for inside, node in below]
        return found

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """Which kinds of loops there are."""
        return frozenset([kind for nest in self._loops for kind in nest.kinds])

    @cached_property
    def has_accumulators(self) -> bool:
        """Whether there is a private accumulator."""
        return any(nest.has_accumulators for nest in self._loops)

    @property
    def _loops(self) -> Iterator[Loop]:
        """The outermost loops."""
        for nest in self.nests:
            if isinstance(nest, Loop):
                yield nest
            else:
                yield from (node for _, node in nodes(nest) if isinstance(node, Loop))

    @cached_property
    def loop_names(self) -> Mapping[str, tuple[str, ...]]:
        """By stage, the names of the loops around it, outermost first."""
        return {stage.name: tuple([x.name for x in loops_of(path)]) for path, stage in self.leaves}


class _ByName(Mapping[str, "tuple[Path, Stage]"]):
    """The stages of a tree, each of which is looked for in its nest alone: a directive changes one
    of hundreds, and asks for a few stages."""

    def __init__(self, tree: Seq) -> None:
        self._roots = tree.roots
        self._found: dict[str, tuple[Path, Stage]] = {}

    def __getitem__(self, name: str) -> tuple[Path, Stage]:
        if name not in self._found:
            self._found[name] = self._looked_for(name)
        return self._found[name]

    def _looked_for(self, name: str) -> tuple[Path, Stage]:
        for k, nest in enumerate(self._roots.nests):
            if type(nest) is Loop and name not in nest.loop_names:
                continue
            for inside, stage in leaves(nest):
                if stage.name == name:
                    return (*self._roots.path(k), *inside), stage
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        nests = self._roots.nests
        return iter(dict.fromkeys(stage.name for nest in nests for _, stage in leaves(nest)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


Tree = Loop | Stage | Alloc | Produce | Accumulator | Seq
Path = tuple[tuple[int, Tree], ...]
"""From the root to a leaf: each node with its position among its siblings."""


def loops_as_vars(stage: str, loops: Sequence[Loop]) -> tuple[Var, ...]:
    """Loops of a stage as dimensions of what is computed there: each has a name of its own."""
    names: dict[str, None] = {}
    for loop in loops:
        name = f"{stage}.{loop.name}"
        while name in names:
            name += "'"
        names[name] = None
    return tuple(map(Var, names))


def leaves(tree: Tree) -> list[tuple[Path, Stage]]:
    """Every stage with its path, in the order of execution."""
    if isinstance(tree, (Seq, Loop)):
        return tree.leaves
    return [(path, node) for path, node in nodes(tree) if isinstance(node, Stage)]


def produced(tree: Tree) -> list[tuple[Path, Produce]]:
    """What is computed at loops, each with the path to it."""
    if isinstance(tree, (Seq, Loop)):
        return tree.produced
    return [(path, node) for path, node in nodes(tree) if isinstance(node, Produce)]


def kinds(tree: Seq) -> frozenset[Kind]:
    """Which kinds of loops there are."""
    return tree.kinds


def nodes(tree: Tree) -> list[tuple[Path, Tree]]:
    """Every node with its path, in the order of execution."""
    return tree.nodes if isinstance(tree, Seq) else _nodes(tree)


def _nodes(tree: Tree) -> list[tuple[Path, Tree]]:
    # No function within this one: if it calls itself it is a cycle, which holds all that is found
    # until Python's collector comes.
    found: list[tuple[Path, Tree]] = []
    waiting: list[tuple[Path, Tree]] = [((), tree)]
    while waiting:
        path, node = here = waiting.pop()
        found.append(here)
        if isinstance(node, Loop) and not isinstance(tree, Loop):
            found += [((*path, *inside), x) for inside, x in node.below]
        elif not isinstance(node, Stage):
            below = [((*path, (k, child)), child) for k, child in enumerate(node.body)]
            waiting += reversed(below)
    return found


def loops_of(path: Path) -> tuple[Loop, ...]:
    """The loops of a path, outermost first."""
    return tuple([node for _, node in path if isinstance(node, Loop)])


def producer(path: Path, tensor: object) -> Produce | None:
    """Where on a path a tensor is computed for the stages behind."""
    for _, node in path:
        if isinstance(node, Produce) and tensor in node.funcs:
            return node
    return None


def text(tree: Tree, indent: int = 0) -> str:
    """The loop nest as an indented listing, without bounds."""
    pad = "  " * indent
    match tree:
        case Stage(statement=statement):
            return f"{pad}{statement.definition.text()}"
        case Loop(name=name, kind=kind, body=body):
            head = f"{pad}for {name}" + ("" if kind == "serial" else f" ({kind})")
            return "\n".join([f"{head}:", *(text(b, indent + 1) for b in body)])
        case Alloc(body=body) | Produce(body=body) | Accumulator(body=body) | Seq(body=body):
            return "\n".join(text(b, indent) for b in body)
