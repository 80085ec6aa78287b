"""What is measured: `CASES` in the order of the table, by `GROUPS`; `find(name)` for one."""

from __future__ import annotations

from dataclasses import replace

from case import Case

from . import algebra, convolutions, images, narrow, networks, products, pyramids, scans, stencils

_GROUPS: dict[str, tuple[Case, ...]] = {
    "products": products.CASES,
    "images": (*images.CASES, *pyramids.CASES),
    "networks": (*convolutions.CASES, *networks.CASES),
    "stencils": stencils.CASES,
    "algebra": algebra.CASES,
    "scans": scans.CASES,
    "narrow": narrow.CASES,
}
GROUPS = tuple(_GROUPS)
CASES = tuple(replace(case, group=name) for name, cases in _GROUPS.items() for case in cases)
_BY_NAME = {case.name: case for case in CASES}


def find(name: str) -> Case:
    """The case of that name."""
    return _BY_NAME[name]
