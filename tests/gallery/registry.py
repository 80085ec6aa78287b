"""Every case of the gallery: `CASES` in the order of the families, `find(name)` for one."""

from __future__ import annotations

from zlib import crc32

from . import (
    attention,
    bilateral,
    camera,
    convolution,
    deep,
    dynamic,
    factorizations,
    fixed_point,
    histograms,
    images,
    linear_algebra,
    misc,
    networks,
    pipelines,
    pyramids,
    recurrences,
    recurrent,
    science,
    sorting,
    sparse,
    stencils,
    timesteps,
)
from .case import Case

CASES: tuple[Case, ...] = (
    *linear_algebra.CASES,
    *stencils.CASES,
    *images.CASES,
    *fixed_point.CASES,
    *camera.CASES,
    *bilateral.CASES,
    *pyramids.CASES,
    *pipelines.CASES,
    *histograms.CASES,
    *convolution.CASES,
    *networks.CASES,
    *misc.CASES,
    *deep.CASES,
    *recurrences.CASES,
    *dynamic.CASES,
    *timesteps.CASES,
    *recurrent.CASES,
    *attention.CASES,
    *sparse.CASES,
    *sorting.CASES,
    *factorizations.CASES,
    *science.CASES,
)
_BY_NAME = {case.name: case for case in CASES}
if len(_BY_NAME) != len(CASES):
    raise RuntimeError("two cases of the gallery have the same name")


def find(name: str) -> Case:
    """The case of that name."""
    return _BY_NAME[name]


def some(count: int) -> tuple[Case, ...]:
    """So many cases of all kinds, which stay the same where others are added: by their names."""
    chosen = sorted(CASES, key=lambda case: crc32(case.name.encode()))[:count]
    return tuple(case for case in CASES if case in chosen)


def tagged(tag: str) -> tuple[Case, ...]:
    """The cases that carry a tag."""
    return tuple(case for case in CASES if case.has(tag))
