"""The record classes of all directives: importing this makes them known by their names.

They are those of every file in this folder, so a new file need not be entered anywhere.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

for _found in walk_packages([str(Path(__file__).parent)], f"{__package__}."):
    import_module(_found.name)
