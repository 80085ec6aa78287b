"""What statements are like, as far as plans ask."""

from __future__ import annotations

from .facts.facts import StatementFacts


def is_reduction(s: StatementFacts) -> bool:
    """Whether a statement accumulates over loops of its own."""
    return s.kind in ("reduction", "float reduction")


def free_loops(s: StatementFacts) -> list[int]:
    """The loops of a statement alone that carry no dependence."""
    return [k for k, x in enumerate(s.loops) if x.parallel and not x.is_shared]


def waits(s: StatementFacts) -> bool:
    """Whether some iterations wait for others."""
    return any(not x.parallel for x in s.loops)


def waits_for_floats(s: StatementFacts) -> bool:
    """Whether an iteration may wait long for the one before it."""
    return any(name.split()[-1].startswith("float") for name in s.operations)
