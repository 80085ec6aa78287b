"""What stands at the root of a tree, in whichever storage: a directive changes one of hundreds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from .looptree import Path, Tree

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

    def __init__(self, body: Sequence[Tree], storage: Collection[type]) -> None:
        self.nests: list[Tree] = []
        self._places: list[tuple[Path, int]] = []
        self._add((), body, storage)

    def _add(self, path: Path, body: Sequence[Tree], storage: Collection[type]) -> None:
        nests, places = self.nests, self._places
        for k, node in enumerate(body):
            if type(node) in storage:
                self._add((*path, (k, node)), node.body, storage)  # type: ignore[union-attr]
            else:
                nests.append(node)
                places.append((path, k))

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
