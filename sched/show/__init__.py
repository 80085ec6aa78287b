"""What a schedule does, as data and pictures, and what polysched runs on.

`recorded` runs a schedule slowly and notes when each element is computed, how often, and how long
it is kept; `order_picture` draws that. `report` says which versions, which machine and which extras
there are.
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
