"""The record classes of all directives: importing this makes them known by their names."""

from __future__ import annotations

from . import (
    assumptions,
    bodies,
    copies,
    keeping,
    kinds,
    loops,
    mapping,
    parts,
    placing,
    storage,
    sums,
)

FAMILIES = (
    assumptions, bodies, copies, keeping, kinds, loops, mapping, parts, placing, storage, sums,
)  # fmt: skip
