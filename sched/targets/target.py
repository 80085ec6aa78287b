"""A machine that code is made for, as plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache

from ..lang.errors.errors import LanguageError, PolyschedError
from ..lang.nodes.dtypes import DType, concrete
from ..lang.nodes.shown import Shown
from ..records import dataclass

#: What x86-64-v3 and v4 add to the first x86-64, by LLVM's names.
V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
V4 = (*V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")


class TargetError(PolyschedError, RuntimeError):
    """A machine that code cannot be made for, or that this one is not."""


@dataclass(frozen=True, slots=True)
class Cache:
    """One level of the caches of a core.

    Attributes:
        level: 1 is the one nearest to the core, for data.
        bytes: all of it.
        ways: its associativity.
        line: the bytes of a cache line.
        shared_by: the cores that have it in common.

    Raises:
        TargetError: one of these is no number from 1 on.
    """

    level: int
    bytes: int
    ways: int
    line: int = 64
    shared_by: int = 1

    def __post_init__(self) -> None:
        for name in ("level", "bytes", "ways", "line", "shared_by"):
            _check_count("a cache", name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class Target(Shown):
    """A machine that code is made for. Two that are equal get the same code.

    Fused multiply-add is part of the meaning of a program, so a machine must have it: x86-64-v3 and
    above (2013 and later), and every AArch64. Others are refused.

    Attributes:
        name: what it is called: `x86-64-v3`, `znver4`.
        arch: `x86_64` or `aarch64`.
        system: the other parts of LLVM's triple, `unknown-linux-gnu`.
        cpu: the processor whose instructions may be used, by LLVM's name.
        features: the same one by one, by LLVM's names, each with a sign: `+fma`.
        vector_bytes: the size of a vector register.
        vector_registers: how many of them a core has.
        caches: those of a core, the nearest first.
        cores: how many there are.
        tune: the processor that instructions are chosen and ordered for, if it is another than
            `cpu`.

    Raises:
        TargetError: it is of an unknown architecture, has no fused multiply-add, or is not
            described as above.
    """

    name: str
    arch: str
    system: str
    cpu: str
    features: tuple[str, ...] = field(repr=False)
    vector_bytes: int
    vector_registers: int
    caches: tuple[Cache, ...]
    cores: int
    tune: str = ""

    def __post_init__(self) -> None:
        _check_fields(self)
        if self.arch == "aarch64":
            return
        if self.arch != "x86_64":
            raise TargetError(
                f"the architecture of {self.name} ({self.triple}) is not supported",
                hint="polysched generates code for x86-64-v3 and above, and for AArch64",
            )
        lacking = missing(V3, dict.fromkeys(self.features, True))
        if lacking:
            raise TargetError(
                f"the CPU {self.name} lacks {', '.join(lacking)}",
                hint="fused multiply-add is part of the arithmetic: x86-64-v3 or above is needed "
                "(Intel since Haswell, AMD since Excavator)",
            )

    # what follows ---------------------------------------------------------------------------
    @property
    def triple(self) -> str:
        """LLVM's name for the architecture and the system."""
        return f"{self.arch}-{self.system}"

    @property
    def feature_text(self) -> str:
        """The features as LLVM takes them: `+avx2,+fma`."""
        return ",".join(self.features)

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that are the same for equal targets, in every process."""
        return _digest(self)

    def has(self, feature: str) -> bool:
        """Whether it has a feature, by LLVM's name of it."""
        return f"+{feature}" in self.features

    def lanes(self, dtype: DType) -> int:
        """How many elements of a type a vector register holds; at least 1."""
        return max(1, self.vector_bytes // concrete(dtype).itemsize)

    def tile(self, dtype: DType) -> tuple[int, int]:
        """The rows and columns of a tile of a matrix product that registers hold.

        Each row takes one register a vector of columns. Beside these one step needs a row of the
        second operand and two elements of the first one, each in all lanes of a register. Of the
        tiles that fit, this is the one that loads least for what it adds; columns are whole
        vectors, 1, 2 or 4.
        """
        best = 1, 1
        for vectors in (1, 2, 4):
            rows = self.rows_beside(vectors)
            if _loads(rows, vectors) < _loads(*best):
                best = rows, vectors
        return best[0], best[1] * self.lanes(dtype)

    def rows_beside(self, vectors: int) -> int:
        """The rows of such a tile with so many vectors of columns; at least 1."""
        return max((self.vector_registers - vectors - 2) // vectors, 1)

    def cache(self, level: int) -> Cache:
        """The cache of a level, or the last one where there are fewer."""
        return self.caches[min(level_of(level), len(self.caches)) - 1]


def level_of(level: int) -> int:
    """A level of caches, which are counted from 1.

    Raises:
        LanguageError: it is none.
    """
    if not _is_count(level):
        raise LanguageError(f"there is no cache {level!r}", hint="caches count from 1, at the core")
    return level


def _check_fields(target: Target) -> None:
    """LLVM takes what it is told: a vector of 24 bytes ends the process."""
    for name in ("name", "arch", "system", "cpu", "tune"):
        if not isinstance(getattr(target, name), str):
            raise TargetError(f"the {name} of a target is text, not {getattr(target, name)!r}")
    for name in ("vector_bytes", "vector_registers", "cores"):
        _check_count("a target", name, getattr(target, name))
    if target.vector_bytes & (target.vector_bytes - 1):
        raise TargetError(
            f"the vector_bytes of a target are a power of two, not {target.vector_bytes}"
        )
    for name, kind in (("features", str), ("caches", Cache)):
        found = getattr(target, name)
        if not isinstance(found, tuple) or not all(isinstance(x, kind) for x in found):
            raise TargetError(f"the {name} of a target are a tuple, not {found!r}")
    if not target.caches:
        raise TargetError(f"{target.name} has no cache", hint="blocks are made for one at least")


def _check_count(owner: str, name: str, value: object) -> None:
    if not _is_count(value):
        raise TargetError(f"the {name} of {owner} is a number from 1 on, not {value!r}")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


@cache
def _digest(target: Target) -> str:
    # As text `astuple` would be the same, and takes as long as linking a kernel.
    found = {x: getattr(target, x) for x in target.__slots__}
    found["caches"] = tuple(tuple(getattr(c, x) for x in c.__slots__) for c in target.caches)
    return hashlib.sha256(repr(tuple(found.values())).encode()).hexdigest()[:32]


def _loads(rows: int, vectors: int) -> float:
    """Registers that are loaded for one that is added to."""
    return (rows + vectors) / (rows * vectors)


def missing(names: Sequence[str], features: Mapping[str, bool]) -> list[str]:
    """Those of some features that there are not. The names of what there is may have signs."""
    return [name for name in names if not (features.get(name) or features.get(f"+{name}"))]
