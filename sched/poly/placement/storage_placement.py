"""Storage placement of Funcs that are computed at loops: at the loop that was given, or inside.

A window slides over iterations that run in order. So storage that a directive places outside of a
parallel loop is placed inside of that loop, and storage around the parts of a loop that was cut or
peeled is placed inside of each part, which computes the Func for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ..model.model import Model
from ..model.statements import Access
from ..sets.isl import Set
from ..tree.edits import map_nodes, stages, with_storage, without_storage
from ..tree.looptree import Alloc, Loop, Path, Produce, Seq, Tree, kinds, loops_of, nodes, produced
from ..tree.memory import Fault
from ..tree.stage import Stage


def slides(model: Model, func: Func) -> bool:
    """Whether each element of a Func can be computed by itself, when it is first needed."""
    definitions = model.definitions[func]
    return all(d.opaque is None and (d.is_pointwise or not d.is_update) for d in definitions)


def storage_of(path: Path, func: Func) -> Alloc:
    """The storage of a Func on a path."""
    return next(x for _, x in path if isinstance(x, Alloc) and func in x.funcs)


def stored_depth(path: Path, func: Func) -> int:
    """Around how many loops of a path the storage of a Func lies."""
    nodes = [node for _, node in path]
    return sum(isinstance(x, Loop) for x in nodes[: nodes.index(storage_of(path, func))])


def fault(tree: Seq, context: Set) -> Fault | None:
    """A stage that uses a Func outside of all its storage, as a message with a hint. Without trust
    such a use is refused before, since its dependences are not kept."""
    stored = {f for _, node in nodes(tree) if isinstance(node, Alloc) for f in node.funcs}
    for stage, a in _outside(tree, stored, Counter()):
        happens = stage.instances.intersect(a.domain)
        used = a.reach.intersect_domain(happens).intersect_params(context)
        if not used.is_empty():
            return (
                f"{stage.name} uses {a.text}, and {a.tensor.name} is stored inside of a loop "
                f"that {stage.name} is not in",
                f"s[{a.tensor.name}].store_at(...) a loop around both or store_root(), "
                "with this directive in one s.batch()",
            )
    return None


def _outside(
    node: Tree, stored: Collection[Tensor], inside: Counter[Tensor]
) -> Iterator[tuple[Stage, Access]]:
    """The accesses of stages in a tree to what is stored, but nowhere around them.

    Args:
        inside: for each Func, in how many places of its storage the tree is.
    """
    if isinstance(node, Stage):
        for a in node.statement.accesses:
            if a.tensor in stored and not inside[a.tensor]:
                yield node, a
        return
    if isinstance(node, Alloc):
        inside.update(node.funcs)
    for child in node.body:
        yield from _outside(child, stored, inside)
    if isinstance(node, Alloc):
        inside.subtract(node.funcs)


def with_storage_placed(model: Model, tree: Seq) -> Seq:
    """What slides and cannot do so over all of its storage gets storage further inside: iterations
    that run concurrently share nothing, nor do the parts of a loop that was taken apart."""
    while True:
        # Parts first: once storage is placed in a loop of one part, the others cannot use it.
        if (copies := _shared_by_copies(model, tree)) is not None:
            tree = _each_its_own(tree, *copies)
        elif (threads := _shared_by_threads(model, tree)) is not None:
            tree = _inside_of(tree, *threads)
        else:
            return tree


def _shared_by_threads(model: Model, tree: Seq) -> tuple[Func, Alloc, Loop] | None:
    """A Func that slides, its storage, and the innermost parallel loop inside of it."""
    if "parallel" not in kinds(tree):
        return None
    for path, node in produced(tree):
        parallel = [x for _, x in path if isinstance(x, Loop) and x.kind == "parallel"]
        for func in node.funcs if parallel else ():
            inside = loops_of(path)[stored_depth(path, func) :]
            if any(x is parallel[-1] for x in inside) and slides(model, func):
                return func, storage_of(path, func), parallel[-1]
    return None


def _shared_by_copies(model: Model, tree: Seq) -> tuple[Func, Alloc, list[Tree]] | None:
    """A Func that slides, its storage, and the parts of what stands in it that compute the Func
    each for itself."""
    places = [(func, path) for path, node in produced(tree) for func in node.funcs]
    copies = Counter(func for func, _ in places)
    for func, path in places:
        if copies[func] > 1 and slides(model, func):
            storage = storage_of(path, func)
            parts = _parts_using(storage, func)
            if len(parts) > 1 and all(_computes(x, func) for x in parts):
                return func, storage, parts
    return None


def _parts_using(tree: Tree, func: Func) -> list[Tree]:
    """The parts of a tree that use a Func, as far outside as there are several."""
    while not isinstance(tree, Stage):
        parts = [x for x in tree.body if _uses(x, func)]
        if len(parts) != 1:
            return parts
        (tree,) = parts
    return [tree]


def _uses(tree: Tree, func: Func) -> bool:
    return any(s.statement.touches(func) for s in stages(tree))


def _computes(tree: Tree, func: Func) -> bool:
    """Whether a Func is computed for what else is in a tree."""
    return not isinstance(tree, Produce) and any(func in p.funcs for _, p in produced(tree))


def _inside_of(tree: Seq, func: Func, storage: Alloc, loop: Loop) -> Seq:
    """The tree with storage of a Func inside of a loop, in the place of that around it."""

    def change(node: Tree, body: tuple[Tree, ...]) -> tuple[Tree, ...]:
        if node is loop:
            why = f"iterations of {loop.name} run concurrently"
            body = with_storage((func,), body, reason=why)
        return without_storage(node, body, (func,) if node is storage else ())

    return map_nodes(tree, change)


def _each_its_own(tree: Seq, func: Func, storage: Alloc, parts: Sequence[Tree]) -> Seq:
    """The tree with storage of a Func around each of the parts, in the place of that around all."""

    def change(node: Tree, body: tuple[Tree, ...]) -> tuple[Tree, ...]:
        made = without_storage(node, body, (func,) if node is storage else ())
        if any(node is part for part in parts):
            return with_storage((func,), made, reason="the loop around it was taken apart")
        return made

    return map_nodes(tree, change)
