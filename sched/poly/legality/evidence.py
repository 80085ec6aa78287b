"""What a refusal was decided on: pictures are made from it."""

from __future__ import annotations

from dataclasses import replace

from ...lang.errors.errors import ScheduleError
from ...records import dataclass
from ..proof.instance_pairs import InstancePair
from ..sets.isl import Map
from ..state.state import State


@dataclass(frozen=True, eq=False)
class Evidence:
    """The states before and after what is refused.

    Attributes:
        pair: the two instances that a refusal shows; None where none are known.
        pairs: all pairs of the same two statements that go wrong in the same way.
        kind: "clobber" and "uninitialised", as of a ScheduleError, where it is not for their order.
    """

    before: State
    after: State
    pair: InstancePair | None
    pairs: Map
    kind: str = ""


def seen_from(error: ScheduleError, before: State) -> ScheduleError:
    """A refusal of a directive that consists of several: what was before the first one counts."""
    if error._evidence is not None:
        error._evidence = replace(error._evidence, before=before)
    return error
