"""`Case`: a program, arguments for it at any size, and what NumPy or SciPy says it computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import polysched as ps

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = dict[str, Any]
Outputs = ps.Func | tuple[ps.Func, ...]
Results = Array | tuple[Array, ...]

#: `boundary`: reads beyond an edge. `triangular`: bounds that depend on Vars or RVars, or `where`.
#: `multiple`: several outputs. `pieces`: constants on the left of a pure definition. `deep`: the
#: builder takes a depth. `inplace`: updates an array of the caller. `slow`: seconds for the
#: interpreter at size 33.
TAGS = frozenset(
    {
        *("integer", "float", "params", "multiple", "tuple", "pieces"),
        *("stencil", "boundary", "reduction", "recurrence", "triangular", "gather", "scatter"),
        *("deep", "inplace", "slow"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """One entry of the gallery.

    Attributes:
        name: unique; the id of its tests.
        build: makes the program afresh and returns its output or outputs.
        sizes: names of the sizes that `make` takes, in one string. Any integers >= 0 make a legal
            call: `make` adds the border where a program cannot do without one.
        make: `make(rng, **sizes)` gives the keywords of a call, `shape=` included where needed.
        reference: from the same keywords, the result (a tuple where there are several arrays), by
            other means than the program's; needs sizes >= 1 only.
        tolerance: largest error, relative to the largest magnitude in the reference; 0 for equal.
        tags: for picking cases, out of `TAGS`, in one string.
        large: sizes for native code alone: the first one, each further one 10 less; or by name.
        limits: largest sizes that the interpreter should be given, by name.
        steps: the size that counts the steps in time, if there is one. It is tried apart from
            the others, and the reference takes 0 for it.
    """

    name: str
    build: Callable[[], Outputs]
    sizes: str
    make: Callable[..., Arguments]
    reference: Callable[..., Results]
    tolerance: float = 0.0
    tags: str = ""
    large: int | Mapping[str, int] = 301
    limits: Mapping[str, int] = field(default_factory=dict)
    steps: str = ""

    def __post_init__(self) -> None:
        if unknown := set(self.tags.split()) - TAGS:
            raise ValueError(f"{self.name}: unknown tags {sorted(unknown)}")
        if self.steps and self.steps not in self.size_names:
            raise ValueError(f"{self.name}: steps names no size: {self.steps}")

    def __repr__(self) -> str:
        return f"Case({self.name})"

    @property
    def size_names(self) -> tuple[str, ...]:
        return tuple(self.sizes.split())

    def has(self, tag: str) -> bool:
        return tag in self.tags.split()

    def small_sizes(self, size: int) -> dict[str, int]:
        """Every size is `size`, but within the limits."""
        return {name: min(size, self.limits.get(name, size)) for name in self.size_names}

    def large_sizes(self) -> dict[str, int]:
        if isinstance(self.large, int):
            return {name: self.large - 10 * k for k, name in enumerate(self.size_names)}
        return {name: self.large[name] for name in self.size_names}

    def arguments(self, sizes: int | Mapping[str, int], rng: np.random.Generator) -> Arguments:
        """Keywords of a call at the given sizes; one integer stands for `small_sizes` of it."""
        given = self.small_sizes(sizes) if isinstance(sizes, int) else sizes
        return self.make(rng, **given)


def normal(rng: np.random.Generator, *shape: int) -> Array:
    """float32 around zero."""
    return rng.standard_normal(shape, dtype=np.float32)


def uniform(rng: np.random.Generator, *shape: int) -> Array:
    """float32 in [0, 1): a grey image."""
    return rng.random(shape, dtype=np.float32)


def integers(rng: np.random.Generator, dtype: Any, *shape: int, below: int | None = None) -> Array:
    """Any values of an integer type, or those in [0, below)."""
    info = np.iinfo(dtype)
    lo, hi = (info.min, info.max + 1) if below is None else (0, below)
    return rng.integers(lo, hi, shape, dtype=dtype)
