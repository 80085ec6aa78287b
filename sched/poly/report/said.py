"""All that was said to a schedule, as a value: what its text and its JSON are made of."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.nodes.nodes import Node
from ...lang.program.program import Program
from ...records import dataclass
from ..state.record import Directive


@dataclass(frozen=True, eq=False)
class Said:
    """
    Attributes:
        program: what is scheduled.
        default: whether it began as what a bare call runs.
        directives: in order.
        batches: which of them were proven together.
        own_trusted: those that were not proven, each with the reason given.
        reassociated: the stages for which the order of a sum does not matter.
        variants: for sizes that meet a condition, what was said.
        inherited: how many directives a variant has from the schedule that it was made of.
        target: the name of the target that it is for, if one was given that has a name.
        comments: on directives, each with how many there were before it.
        chosen: how many of the first directives a model of the machine has chosen, not the user.
    """

    program: Program
    default: bool
    directives: tuple[Directive, ...]
    batches: tuple[range, ...]
    own_trusted: tuple[tuple[Directive, str], ...]
    reassociated: frozenset[str]
    variants: tuple[tuple[Node, Said], ...]
    inherited: int
    target: str | None = None
    comments: tuple[tuple[int, str], ...] = ()
    chosen: int = 0

    @property
    def trusted(self) -> tuple[tuple[Directive, str], ...]:
        """Directives that were not proven, each with the reason given; those of variants too."""
        return (*self.own_trusted, *(t for _, v in self.variants for t in v.trusted))

    @property
    def broken_by(self) -> tuple[str, ...]:
        """The stages whose results may differ in their last bits, here or in a variant."""
        inside = (name for _, v in self.variants for name in v.broken_by)
        return tuple(sorted({*self.reassociated, *inside}))

    @property
    def every(self) -> Iterator[Directive]:
        """The directives, those of variants too."""
        yield from self.directives
        for _, variant in self.variants:
            yield from variant.every
