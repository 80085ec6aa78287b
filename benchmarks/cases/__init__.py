"""What is measured: `CASES` in the order of the table, `find(name)` for one."""

from __future__ import annotations

from case import Case

from . import algebra, convolutions, images, networks, products, pyramids, scans, stencils

CASES: tuple[Case, ...] = (
    *products.CASES,
    *images.CASES,
    *convolutions.CASES,
    *networks.CASES,
    *stencils.CASES,
    *algebra.CASES,
    *scans.CASES,
    *pyramids.CASES,
)
_BY_NAME = {case.name: case for case in CASES}


def find(name: str) -> Case:
    """The case of that name."""
    return _BY_NAME[name]
