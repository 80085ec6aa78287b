"""What stands at the root of a tree, in whichever storage: a directive changes one of hundreds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from .looptree import Alloc, Path, Seq, Tree

    Root = tuple[Path, Tree]


class Roots(Sequence["Root"]):
    """What stands at the root, one after the other, each with the path to it through storage. A
    path is made when somebody asks for it.

    Args:
        body: of the root.
        storage: the types of nodes whose bodies stand at the root, too.

    Attributes:
        nests: the same without paths.
    """

    def __init__(self, body: Sequence[Tree], storage: tuple[type[Seq], type[Alloc]]) -> None:
        self.nests: list[Tree] = []
        self._places: list[tuple[Path, int]] = []
        within: list[tuple[Path, Iterator[tuple[int, Tree]]]] = [((), enumerate(body))]
        while within:
            path, waiting = within[-1]
            for k, node in waiting:
                if isinstance(node, storage):
                    within.append(((*path, (k, node)), enumerate(node.body)))
                    break
                self.nests.append(node)
                self._places.append((path, k))
            else:
                within.pop()

    def path(self, number: int) -> Path:
        """The path to what stands there at a position."""
        around, at = self._places[number]
        return (*around, (at, self.nests[number]))

    @overload
    def __getitem__(self, number: int) -> Root: ...

    @overload
    def __getitem__(self, number: slice) -> list[Root]: ...

    def __getitem__(self, number: int | slice) -> Root | list[Root]:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        return self.path(number), self.nests[number]

    def __len__(self) -> int:
        return len(self.nests)
