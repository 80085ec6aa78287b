"""The record classes of all directives: importing this makes them known by their names."""

from __future__ import annotations

from . import assumptions, bodies, keeping, loops, mapping, placing, storage, sums

FAMILIES = (assumptions, bodies, keeping, loops, mapping, placing, storage, sums)
