"""What may cost a kernel time, told from its loops, and the change of the schedule to try."""

from __future__ import annotations

from collections.abc import Iterator

from .lane_causes import scalar, strided
from .memory_causes import again, far, large
from .register_causes import spilling
from .suspicion import Subject, Suspicion
from .thread_causes import fine, one_thread, serial, shared_lines, uneven

RULES = (strided, scalar, serial, fine, uneven, shared_lines, again, far, large, spilling)
"""Those of one stage."""

OF_ALL = (one_thread,)
"""Those of all stages together."""


def suspicions(of: Subject) -> Iterator[Suspicion]:
    """All that may be a cause."""
    for stage in of.stages:
        if stage.mine:
            for rule in RULES:
                yield from rule(of, stage)
    for together in OF_ALL:
        yield from together(of)
