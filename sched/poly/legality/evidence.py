"""What an answer about a directive was decided on: pictures are made from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...lang.errors.errors import ScheduleError
from ..proof.instance_pairs import InstancePair
from ..sets.isl import Map
from ..state.state import State


@dataclass(frozen=True, eq=False)
class Evidence:
    """The states before and after what was asked for.

    Attributes:
        pair: the two instances that a refusal shows; None where nothing goes wrong, or none is
            known.
        pairs: all pairs of the same two statements that go wrong in the same way.
        kind: "clobber" and "uninitialised", as of a ScheduleError, where it is not for their order.
    """

    before: State
    after: State
    pair: InstancePair | None = None
    pairs: Map | None = None
    kind: str = ""


def seen_from(error: ScheduleError, before: State) -> ScheduleError:
    """A refusal of a directive that consists of several: what was before the first one counts."""
    if error._evidence is not None:
        error._evidence = replace(error._evidence, before=before)
    return error
