"""About how long plans take to be proven and compiled: who calls a Func without a schedule waits
for that. Seconds on a usual machine, right within a factor of two."""

from __future__ import annotations

from math import prod

from ..facts.facts import Facts, StatementFacts
from ..plans.planned import Nest

PROGRAM, WRITTEN = 0.02, 0.008
"""Seconds for a program, and for each of its statements that is left as it is written."""

CHANGED, VECTORS, COPIED, BEHIND, PARTS, STEPS = 0.006, 0.028, 0.05, 0.1, 0.05, 0.2
"""Seconds more for a statement that is not, if it has vectors, if it copies an operand first, if
its rows wait for each other, if threads have results of their own, and if tiles compute several
steps."""

OPERATOR = {True: 0.0022, False: 0.001}
"""Seconds for each operator and access of what runs innermost, of vectors or not."""

LEAST = 0.5
"""Seconds that a first call may take in any case."""

LONGER = 2.0
"""How many times longer than without a schedule it may take."""


def build_seconds(s: StatementFacts, nest: Nest) -> float:
    """What it takes more to have a statement in a nest than as it is written."""
    copies = prod(x.extent for x in nest.loops if x.kind == "unrolled")
    has_vectors = any(x.kind == "vector" for x in nest.loops)
    seconds = CHANGED + VECTORS * has_vectors
    seconds += COPIED * (nest.packed is not None or nest.turned is not None)
    seconds += BEHIND * (nest.skew > 0) + PARTS * (nest.parts is not None)
    seconds += STEPS * (nest.block is not None)
    return seconds + OPERATOR[has_vectors] * copies * (sum(s.operations.values()) + len(s.accesses))


def allowed(facts: Facts, as_written: float) -> float:
    """What a first call may take more with a schedule than without one.

    Args:
        as_written: the seconds that a call takes without a schedule.
    """
    plain = PROGRAM + WRITTEN * len(facts.statements) + as_written
    return max(LONGER * plain, LEAST) - plain
