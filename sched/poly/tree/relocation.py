"""Nests moved to the loops at which Funcs are computed, and back; and where these are stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...lang.errors.errors import ScheduleError
from ...lang.nodes.nodes import Var, postorder
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ...records import replace
from ..sets.isl import Set, dim_count, isl
from .edits import (
    At,
    Body,
    Shared,
    map_children,
    map_nodes,
    stages,
    with_body,
    with_storage,
    without_storage,
)
from .looptree import Alloc, Loop, Produce, Seq, Tree, loops_as_vars, produced
from .stage import Stage

_SET = isl.dim_type.set


def compute_at(tree: Seq, funcs: Sequence[Func], at: At, around: tuple[Var, ...]) -> Seq:
    """f[y, x] = ...                   for yo: f[y, x] = ..., as far as this iteration reads it
       for yo: ... g = f ...     ->            ... g = f ...

    The loops of the Funcs, and all that is in them, move into the body of the loop, before what
    reads them. `around` are names for the loops around them.

    Raises:
        ScheduleError: nothing inside of the loop reads them, or they share loops with others.
    """
    nests = _nests(tree, funcs)
    body = tuple(_moved(n, old, around) for n, old in nests)
    made = Produce(tuple(funcs), around, body, around)
    stored = {f for x in _allocs(tree) if x.by_directive and _holds(x, at.loop) for f in x.funcs}
    moving = [f for f in funcs if f not in stored]

    def change(node: Tree, body: Body) -> Body:
        if node is at.loop:
            body = with_storage(moving[::-1], _before_readers(body, funcs, (made,)) or body)
        return without_storage(node, body, moving) if body else ()

    if not any(_reads(child, funcs) for child in at.loop.body):
        names = " and ".join(f.name for f in funcs)
        raise ScheduleError(
            f"nothing inside of the loop {at.loop.name} reads {names}",
            hint=f"{names} can be computed at a loop around a stage that reads it",
        )
    return map_nodes(tree, change, [nest for nest, _ in nests])


def compute_root(tree: Seq, funcs: Sequence[Func], stored: Sequence[Func]) -> Seq:
    """The Funcs are computed once, before all that reads them; behind all others where nothing
    does. Those of `stored` are kept for the whole program: no output is."""
    found = _reordered(tree, funcs)
    if found is not None:
        return Seq(with_storage(stored[::-1], found))
    nests = _nests(tree, funcs)
    moved = tuple(_moved(n, old, ()) for n, old in nests)

    def change(node: Tree, body: Body) -> Body:
        return without_storage(node, body, funcs) if body else ()

    body = map_nodes(tree, change, [nest for nest, _ in nests]).body
    body = _before_readers(body, funcs, moved) or _behind_all(body, moved)
    return Seq(with_storage(stored[::-1], body))


def _reordered(tree: Seq, funcs: Collection[Func]) -> Body | None:
    """The body with Funcs moved that have nests of their own at the root, and without their
    storage: no other nest is looked into. None where these stand elsewhere."""
    around: list[Alloc] = []
    body = tree.body
    while len(body) == 1 and isinstance(body[0], Alloc):
        around.append(body[0])
        body = body[0].body
    using = [x for x in body if not _touched(x).isdisjoint(funcs)]
    own = [x for x in using if any(s.statement.func in funcs for s in stages(x))]
    gone = set(map(id, own))
    left = [x for x in body if id(x) not in gone]
    are_alone = all(s.statement.func in funcs for x in own for s in stages(x))
    if not (own and left and are_alone and all(isinstance(x, (Loop, Stage)) for x in body)):
        return None
    if any(produced(x) for x in own):
        return None
    _refuse_copies([s for x in own for s in stages(x)])
    made = tuple([_moved(x, 0, ()) for x in own])
    readers = {id(x) for x in using} - gone
    place = next((k for k, x in enumerate(left) if id(x) in readers), len(left))
    body = (*left[:place], *made, *left[place:])
    for node in reversed(around):
        body = without_storage(node, body, funcs)
    return body


def _touched(nest: Tree) -> frozenset[Tensor]:
    """The tensors that stages in a nest read or write."""
    if isinstance(nest, Loop):
        return nest.touched
    return frozenset([t for s in stages(nest) for t in s.statement.tensors])


def store_at(tree: Seq, funcs: Sequence[Func], at: At | None) -> Seq:
    """The storage of the Funcs lives for one iteration of a loop; None: for the whole program."""
    loop = None if at is None else at.loop

    def change(node: Tree, body: Body) -> Body:
        if node is loop:
            body = with_storage(funcs[::-1], body, by_directive=True)
        return without_storage(node, body, funcs)

    body = map_nodes(tree, change).body
    return Seq(with_storage(funcs[::-1], body, by_directive=True) if loop is None else body)


def merged(tree: Seq, node: Produce, old: Produce, other: Produce) -> Seq:
    """The tree in which what was computed in `old`, `node`, is computed in one with `other`, in the
    same order and where that is."""
    order = [x for _, x in produced(tree) if x is old or x is other]
    first = order[0] is old

    def change(x: Tree, body: Body) -> Body:
        if x is old:
            return ()
        if x is not other:
            return (with_body(x, body),) if body else ()
        whole = (*node.body, *body) if first else (*body, *node.body)
        return (replace(other, funcs=(*other.funcs, *node.funcs), body=whole, demand=None),)

    return map_nodes(tree, change)


def without(tree: Seq, gone: Sequence[Stage]) -> Seq:
    """The tree without some stages, and without loops that hold nothing any more."""
    return map_nodes(tree, lambda node, body: (with_body(node, body),) if body else (), gone)


def inserted(tree: Seq, nests: Sequence[Tree]) -> Seq:
    """The tree with more nests at the root, each in the storage of what it is in front of.

    Args:
        nests: all that stands there then, one after the other.
    """
    old = set(map(id, tree.nests))
    made: dict[int, Body] = {}
    new: Body = ()
    for nest in nests:
        new = (*new, nest)
        if id(nest) in old:
            made[id(nest)], new = new, ()
    return Seq((*_with_more(tree.body, made), *new))


def _with_more(body: Body, made: Mapping[int, Body]) -> Body:
    """The body with several nests in the place of each one, by its id."""
    found: list[Tree] = []
    for child in body:
        if isinstance(child, Alloc):
            found.append(with_body(child, _with_more(child.body, made)))
        else:
            found += made.get(id(child), (child,))
    return tuple(found)


def _nests(tree: Seq, funcs: Collection[Func]) -> list[tuple[Tree, int]]:
    """The parts of a tree that compute the Funcs, each with how many loops are around it."""
    found: list[tuple[Tree, int]] = []
    holds: dict[int, tuple[bool, bool]] = {}
    for child in tree.body:
        _note_holders(child, funcs, holds)

    waiting: list[tuple[Tree, int, Loop | None]] = [(x, 0, None) for x in reversed(tree.body)]
    while waiting:
        node, around, loop = waiting.pop()
        own, others = holds[id(node)]
        if own and not others and isinstance(node, (Loop, Stage)):
            if loop is not None:
                raise _shared(funcs, loop)
            found.append((node, around))
        elif own and not isinstance(node, Stage):
            if isinstance(node, Produce) and set(node.funcs) & set(funcs):
                around, loop = len(node.times), None
            elif isinstance(node, Loop):
                loop = node
            waiting += [(child, around, loop) for child in reversed(node.body)]
    _refuse_copies([s for nest, _ in found for s in stages(nest)])
    return found


def _note_holders(
    node: Tree, funcs: Collection[Func], found: dict[int, tuple[bool, bool]]
) -> tuple[bool, bool]:
    """Notes by id whether a part of a tree holds stages that compute the Funcs, and whether others,
    but for what is computed inside of it for these."""
    if isinstance(node, Stage):
        own = node.statement.func in funcs
        result = own, not own
    else:
        below = [_note_holders(child, funcs, found) for child in node.body]
        result = any(own for own, _ in below), any(other for _, other in below)
        if isinstance(node, Produce) and not set(node.funcs) & set(funcs):
            result = result[0], False
    found[id(node)] = result
    return result


def _refuse_copies(moved: Sequence[Stage]) -> None:
    """Two stages that run whatever the loops around each of them need cannot both move."""
    seen: set[object] = set()
    for s in moved:
        if s.where is None and s.statement.base in seen:
            raise ScheduleError(
                f"{s.name} is a part of its stage by iterations of the loops around it",
                hint="say where it is computed first, then peel or partition",
            )
        seen.add(s.statement.base)


def _shared(funcs: Collection[Func], loop: Loop) -> ScheduleError:
    names = ", ".join(dict.fromkeys(s.name for s in stages(loop)))
    return Shared(
        f"{' and '.join(f.name for f in funcs)} shares the loop {loop.name} with others ({names})",
        loop,
    )


def _moved(nest: Tree, old: int, new: tuple[Var, ...], within: tuple[Loop, ...] = ()) -> Tree:
    """A nest with other loops around it, in the place of the outermost `old` ones; `within` are
    those of its own around a part of it."""
    match nest:
        case Stage(statement=statement, where=where):
            own = nest.coordinates[old:]
            if set(postorder(*own)) & set(statement.around):
                raise ScheduleError(
                    f"the loops of {nest.name} are skewed by loops around them, and cannot move",
                    hint="say where it is computed first, then skew",
                )
            where = None if where is None else _lifted(nest, where, len(new))
            return replace(nest, coordinates=(*new, *own), where=where)
        case Produce(around=around, times=times):
            consumer = around[0].name.rpartition(".")[0]
            all = (*new, *loops_as_vars(consumer, within))
            body = tuple(_moved(child, len(times), all) for child in nest.body)
            return replace(nest, around=all, times=all, body=body, demand=None)
        case Loop():
            within = (*within, nest)
    return map_children(nest, lambda child: _moved(child, old, new, within))


def _lifted(stage: Stage, where: Set, new: int) -> Set:
    """The instances of a part of a stage, over so many loops around it.

    Raises:
        ScheduleError: which they are depends on the loops that it leaves.
    """
    s = stage.statement
    # Not as many as the statement says, where it has moved with what it is computed for.
    old = dim_count(where) - (len(s.frame.dims) - len(s.around))
    own = where.project_out(_SET, 0, old)
    if not own.insert_dims(_SET, 0, old).is_subset(where):
        raise ScheduleError(
            f"{stage.name} is a part of its stage by iterations of the loops around it",
            hint="say where it is computed first, then peel or partition",
        )
    return own.insert_dims(_SET, 0, new)


def _before_readers(body: Body, funcs: Collection[Func], made: Body) -> Body | None:
    """The body with something in front of the first part that reads the Funcs."""
    if len(body) == 1 and isinstance(body[0], Alloc):  # which is looked at once, however deep
        inside = _before_readers(body[0].body, funcs, made)
        return None if inside is None else (with_body(body[0], inside),)
    for k, child in enumerate(body):
        if _reads(child, funcs):
            if isinstance(child, Alloc):
                inside = _before_readers(child.body, funcs, made)
                assert inside is not None
                return (*body[:k], with_body(child, inside), *body[k + 1 :])
            return (*body[:k], *made, *body[k:])
    return None


def _behind_all(body: Body, made: Body) -> Body:
    """The body with something at its end, where all is still stored that parts of it use."""
    if body and isinstance(body[-1], Alloc):
        return (*body[:-1], with_body(body[-1], _behind_all(body[-1].body, made)))
    return (*body, *made)


def _reads(tree: Tree, funcs: Collection[Func]) -> bool:
    """Whether a stage that computes none of the Funcs reads one."""
    return any(
        s.statement.func not in funcs and s.statement.reads_from(*funcs) for s in stages(tree)
    )


def _allocs(tree: Tree) -> list[Alloc]:
    own = [tree] if isinstance(tree, Alloc) else []
    below = () if isinstance(tree, Stage) else tree.body
    return own + [x for child in below for x in _allocs(child)]


def _holds(tree: Tree, loop: Loop) -> bool:
    below = () if isinstance(tree, Stage) else tree.body
    return tree is loop or any(_holds(child, loop) for child in below)
