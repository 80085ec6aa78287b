"""Records and pictures of runs of schedules, and a report on the system.

`recorded` runs a schedule slowly and notes when each element is computed, how often, and how long
it is kept; `order_picture` draws that, and `animation` shows it step by step. `space` draws the
iterations of a stage at small sizes, and `footprint` the elements that one iteration of a loop
touches, `graph` the stages of a program. `report` describes versions, the machine and installed
extras.

Each is loaded when it is first asked for: what draws schedules needs isl.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .animated.animation import animation
    from .extras import MissingExtra
    from .order import Computed, Picture, Record, order_picture, recorded
    from .rich.schedules import graph
    from .spaces.footprint import footprint
    from .spaces.space import space
    from .system import report, version

_LATER = {
    "animation": "animated.animation",
    "MissingExtra": "extras",
    "Computed": "order",
    "Picture": "order",
    "Record": "order",
    "order_picture": "order",
    "recorded": "order",
    "graph": "rich.schedules",
    "footprint": "spaces.footprint",
    "space": "spaces.space",
    "report": "system",
    "version": "system",
}

__all__ = [
    "Computed",
    "MissingExtra",
    "Picture",
    "Record",
    "animation",
    "footprint",
    "graph",
    "order_picture",
    "recorded",
    "report",
    "space",
    "version",
]

if not TYPE_CHECKING:  # a type checker would take every name to be there

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            from ..lang.errors import suggest

            suggest.no_member(__name__, name, __all__)
        value = getattr(import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
