"""Loop trees built by hand, and a plain executor of loop nests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from polysched.lang.arithmetic.evaluate import compile_nodes
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Node, Op, Size, integer, substitute
from polysched.poly.model.model import Model
from polysched.poly.nests.loop_nest import LoopNest, NestIf, NestLoop, NestSeq, NestStage
from polysched.poly.nests.nests import loop_nests
from polysched.poly.tree.looptree import Loop, Seq, Tree, leaves
from polysched.poly.tree.stage import Stage
from polysched.poly.tree.written import as_written

Instance = tuple[str, tuple[int, ...]]


def nest(stage: Stage, names: list[str]) -> Tree:
    """One loop a name around a stage."""
    tree: Tree = stage
    for name in reversed(names):
        tree = Loop(name, (tree,))
    return tree


def stages(model: Model) -> list[Stage]:
    return [stage for _, stage in leaves(as_written(model))]


def split(node: Node, factor: int) -> tuple[Node, Node]:
    """The outer and inner coordinate."""
    c = integer(factor)
    return Op("floordiv", (node, c), int64), Op("mod", (node, c), int64)


def random_tree(model: Model, seed: int) -> Seq:
    """Each stage under a random mix of reorder, skew and split; legality does not matter here."""
    rng = random.Random(seed)
    nests: list[Tree] = []
    for stage in stages(model):
        coordinates = list(stage.coordinates)
        rng.shuffle(coordinates)
        if len(coordinates) > 1 and rng.random() < 0.5:
            other = integer(rng.choice((-1, 1, 2)))
            skewed = Op("mul", (coordinates[0], other), int64)
            coordinates[1] = Op("add", (coordinates[1], skewed), int64)
        if coordinates and rng.random() < 0.7:
            k = rng.randrange(len(coordinates))
            coordinates[k : k + 1] = split(coordinates[k], rng.choice((2, 3, 4)))
        names = [f"c{k}" for k in range(len(coordinates))]
        nests.append(nest(replace(stage, coordinates=tuple(coordinates)), names))
    return Seq(tuple(nests))


def fused_tree(model: Model) -> Seq:
    """All stages that have a first dimension under one outer loop."""
    inside: list[Tree] = []
    for stage in stages(model):
        names = [f"{stage.statement.name}.{k}" for k in range(1, len(stage.coordinates))]
        inside.append(nest(stage, names))
    return Seq((Loop("outer", tuple(inside)),))


def executed(model: Model, tree: Tree, sizes: dict[str, int]) -> list[Instance]:
    """The instances that loop nests visit, in order, with plain integers."""
    parameters: dict[str, Node] = {n: Size(n, None) for n in model.params}
    result: list[Instance] = []
    for found in loop_nests(tree, parameters, model.context):
        result += _run(found, dict(sizes), {})
    return result


def _run(found: LoopNest, sizes: dict[str, int], loops: dict[str, int]) -> Iterator[Instance]:
    def value(node: Node) -> int:
        return _value(node, sizes, loops)

    match found:
        case NestLoop(var=var, lo=lo, hi=hi, step=step, body=body):
            for at in range(value(lo), value(hi), step):
                yield from _run(body, sizes, {**loops, var.name: at})
        case NestIf(condition=condition, body=body):
            if value(condition):
                yield from _run(body, sizes, loops)
        case NestSeq(parts=parts):
            for part in parts:
                yield from _run(part, sizes, loops)
        case NestStage(stage=stage, point=point):
            statement = stage.statement
            yield statement.name, tuple(value(point[s]) for s in statement.loops)


def _value(node: Node, sizes: dict[str, int], loops: dict[str, int]) -> int:
    from polysched.lang.nodes.nodes import Var, postorder

    at = {n: integer(loops[n.name]) for n in postorder(node) if isinstance(n, Var)}
    return compile_nodes([substitute(node, dict(at))])(sizes)[0]
