"""What a call must meet, because proofs hold for such calls alone: conditions as expressions over
sizes and Params, and data that are used as indices."""

from __future__ import annotations

from dataclasses import dataclass

from ...lang.nodes.nodes import Node
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Input


@dataclass(frozen=True, slots=True)
class SizesNeeded:
    """A condition without which something would go wrong.

    Attributes:
        problem: what.
        text: where: the access that it is about.
    """

    condition: Node
    problem: str
    text: str


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """Every value of `source` must be an index along `axis` of `tensor`."""

    source: Input
    tensor: Tensor
    axis: int


@dataclass(frozen=True, slots=True)
class Requirements:
    """All that is asked of a call.

    Attributes:
        sizes: what the accesses of the program need.
        assumed: what directives ask for, each condition with its reason.
        indices: the data that are used as indices.
        bounding: Params by which loops begin and end: they are no farther from 0 than loops are
            taken to be.
        reaches: what keeps Funcs, each by its name, as near to index 0 as that.
    """

    sizes: tuple[SizesNeeded, ...]
    assumed: tuple[tuple[Node, str], ...]
    indices: tuple[IndexCheck, ...]
    bounding: tuple[str, ...]
    reaches: tuple[tuple[Node, str], ...]
