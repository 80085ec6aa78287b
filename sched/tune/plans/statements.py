"""What statements are like, as far as plans ask."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.facts import StatementFacts


def is_reduction(s: StatementFacts) -> bool:
    """Whether a statement accumulates over loops of its own, in any order or in theirs."""
    return s.kind in ("reduction", "float reduction", "fold")


def free_loops(s: StatementFacts) -> list[int]:
    """The loops of a statement alone that carry no dependence."""
    return [k for k, x in enumerate(s.loops) if x.parallel and not x.is_shared]


def can_be_alone(s: StatementFacts, own: Sequence[StatementFacts]) -> bool:
    """Whether the outermost loop of a statement can be taken apart from what shares it, which are
    the pieces that its recurrences begin with, one in each iteration.

    Args:
        own: the statements of its Func.
    """
    outer, *inner = s.loops
    names = {x.name for x in own}
    return (
        s.kind == "recurrence"
        and not s.is_update
        and s is own[-1]
        and outer.is_shared
        and outer.parallel
        and not any(x.is_shared for x in inner)
        and not any({d.source, d.sink} - names for d in s.distances)
    )


def waits(s: StatementFacts) -> bool:
    """Whether some iterations wait for others."""
    return any(not x.parallel for x in s.loops)


def waits_for_floats(s: StatementFacts) -> bool:
    """Whether an iteration may wait long for the one before it."""
    return any(name.split()[-1].startswith("float") for name in s.operations)
