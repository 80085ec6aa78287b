"""Dead stages: they never run, and stand where what they would read is not stored.

Where only the clones of a Func are read, its own stages have no instances left, and what these
would read may be computed at a loop of a clone. Such stages are dropped before loops are made.
"""

from __future__ import annotations

from ...lang.tensors.tensors import Func
from ..sets.isl import Set
from ..tree.looptree import Alloc, Path, Seq, Tree, leaves, nodes
from ..tree.relocation import without
from ..tree.stage import Stage


def without_dead_stages(tree: Tree, context: Set) -> Tree:
    """The tree without dead stages, and without loops that hold nothing else."""
    stored = {f for _, node in nodes(tree) if isinstance(node, Alloc) for f in node.funcs}
    dead = [
        stage
        for path, stage in leaves(tree)
        if _reads_elsewhere(path, stage, stored)
        and stage.instances.intersect_params(context).is_empty()
    ]
    if not dead or not isinstance(tree, Seq):
        return tree
    return without(tree, dead)


def _reads_elsewhere(path: Path, stage: Stage, stored: set[Func]) -> bool:
    """Whether a stage reads what is stored, but nowhere around it."""
    read = {a.tensor for a in stage.statement.reads} & stored
    return bool(read) and not read <= {f for _, x in path if isinstance(x, Alloc) for f in x.funcs}
