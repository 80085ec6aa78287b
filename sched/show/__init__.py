"""Records and pictures of runs of schedules, and a report on the system.

`recorded` runs a schedule slowly and notes when each element is computed, how often, and how long
it is kept; `order_picture` draws that. `space` draws the iterations of a stage at small sizes, and
`footprint` the elements that one iteration of a loop touches. `report` describes versions, the
machine and installed extras.
"""

from .extras import MissingExtra
from .order import Computed, Picture, Record, order_picture, recorded
from .spaces.footprint import footprint
from .spaces.space import space
from .system import report, version

__all__ = [
    "Computed",
    "MissingExtra",
    "Picture",
    "Record",
    "footprint",
    "order_picture",
    "recorded",
    "report",
    "space",
    "version",
]
