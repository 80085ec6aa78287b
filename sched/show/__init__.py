"""Records and pictures of runs of schedules, and a report on the system.

`recorded` runs a schedule slowly and notes when each element is computed, how often, and how long
it is kept; `order_picture` draws that. `report` describes versions, the machine and installed
extras.
"""

from .extras import MissingExtra
from .order import Computed, Picture, Record, order_picture, recorded
from .system import report, version

__all__ = [
    "Computed",
    "MissingExtra",
    "Picture",
    "Record",
    "order_picture",
    "recorded",
    "report",
    "version",
]
