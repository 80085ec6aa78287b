"""The preconditions of a schedule, without isl: its proofs hold for calls that meet them.

They are conditions as expressions over sizes and Params, and data that are used as indices.
"""

from __future__ import annotations

from ...lang.nodes.nodes import Node
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Input
from ...records import dataclass


@dataclass(frozen=True, slots=True)
class SizesNeeded:
    """A precondition under which an access is in bounds.

    Attributes:
        problem: what goes wrong where it does not hold.
        text: the access.
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
    """The preconditions of a schedule.

    Attributes:
        sizes: the preconditions of the accesses of the program.
        assumed: those that directives add, each condition with its reason.
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
