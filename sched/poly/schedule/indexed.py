"""The stages and loops of a schedule, by their names and Funcs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...lang.errors.frames import bounded
from ...lang.tensors.tensors import Func
from ...later import later
from . import lookups

if TYPE_CHECKING:
    from . import stages
    from .handles import base, pieces as split
    from .handles.base import LoopHandle
    from .schedule import Schedule
    from .stages import StageHandle
else:
    stages = later(".stages", __package__)
    base = later(".handles.base", __package__)
    split = later(".handles.pieces", __package__)


@bounded
class Indexed:
    """What `s[C]` and its like are."""

    def __getitem__(self, what: Func | StageHandle | str) -> StageHandle:
        """The stage of a Func's pure definition, or the stage of that name; of a definition in
        several pieces all of them."""
        s = cast("Schedule", self)
        if isinstance(what, split.PiecesHandle):
            return split.PiecesHandle(s, what._func, what.pieces)
        if isinstance(what, stages.StageHandle):
            return stages.StageHandle(s, lookups.existing_stage(s, what.name))
        name, *pieces = lookups.found(s, what)
        if pieces:
            return split.PiecesHandle(s, name.rpartition(".piece(")[0], tuple(pieces))
        return stages.StageHandle(s, name)

    def group(self, func: Func | str) -> StageHandle:
        """The loops that mutually recursive Funcs share, as those of one of them."""
        return self[func]

    def loop(self, name: str) -> LoopHandle:
        """The loop of a `sequential`, or any loop of which there is only one."""
        s = cast("Schedule", self)
        return base.LoopHandle(s, lookups.stage_in(s, str(name)), str(name))
