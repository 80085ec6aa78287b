"""The program written so far: its text, and the objects that the text has made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import polysched as ps
from polysched.lang.nodes.dtypes import ALL, DType
from polysched.testing.choices import Choices

from .vocabulary import InputSpec, ParamSpec, Symbol, Tensor

INTEGERS = tuple(t for t in ALL if t.is_int)
FLOATS = (ps.float32, ps.float64, ps.float16, ps.bfloat16)
#: Those that NumPy has a name for.
NUMPYS = FLOATS[:3]
#: The first ones are the simplest.
DTYPES = (*FLOATS[:2], *INTEGERS[2:4], *INTEGERS[:2], *INTEGERS[4:], ps.bool_, *FLOATS[2:])

SPECIAL = ("0.0", "-0.0", "1.0", "-1.5", "np.inf", "-np.inf", "np.nan", "1e-40", "3e38", "2.0**31")
SPECIAL_16 = (*SPECIAL[:7], "6e-8", "65504.0", "2049.0")


class World:
    """Runs each line as it is written, so that types are known and what is refused is left out.

    Attributes:
        lines: the program.
        tensors: what may be read.
        inouts: what may be updated in place.
        loops: of the blocks that are open.
        refused: the messages of refused lines.
        defaults: the values of sizes and Params where a call passes none, as expressions of sizes.
    """

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = {"ps": ps, "np": np}
        self.tensors: list[Tensor] = []
        self.inputs: list[InputSpec] = []
        self.inouts: list[Tensor] = []
        self.loops: list[Symbol] = []
        self._indent = ""
        self.params: list[ParamSpec] = []
        self.refused: list[str] = []
        self._count: dict[str, int] = {}
        self.defaults: dict[str, str] = {}
        count = choices.weighted((3, 1), (4, 2), (2, 3))
        self.sizes = ("n", "m", "l")[:count]
        self.run([f"{', '.join(self.sizes)} = ps.sizes({' '.join(self.sizes)!r})"])
        if choices.chance(15):
            self._default()
        self.run(['i, j, k = ps.vars("i j k")'])

    def run(self, lines: list[str]) -> bool:
        """Adds lines to the program, unless the language refuses them."""
        try:
            exec("\n".join(lines), self.namespace)
        except ps.LanguageError as error:
            self.refused.append(str(error).splitlines()[0])
            return False
        self.lines += [self._indent + line for line in lines]
        return True

    @contextmanager
    def block(self, name: str, bounds: str) -> Iterator[None]:
        """An ordered block around all lines that are added meanwhile. If the language refuses it
        when it ends, none of them are."""
        kept = self.lines[:], self.tensors[:], self.loops[:], self._indent
        head = f"ps.sequential({bounds and f'{name!r}, {bounds}'})"
        opened = self.namespace[f"_{name}"] = eval(head, self.namespace)
        self.namespace[name] = opened.__enter__()
        self.lines.append(f"{self._indent}with {head} as {name}:")
        self._indent += "    "
        if bounds:
            self.loops.append(Symbol(name))
        self.run(["pass"])
        yield
        lines, self.tensors, self.loops, self._indent = kept
        try:
            opened.__exit__(None, None, None)
        except ps.LanguageError as error:
            self.refused.append(str(error).splitlines()[0])
            self.lines = lines

    @property
    def in_block(self) -> bool:
        return bool(self._indent)

    def fresh(self, prefix: str) -> str:
        """A name that is not taken."""
        count = self._count[prefix] = self._count.get(prefix, -1) + 1
        return f"{prefix}{count}"

    def types_of(self, name: str) -> tuple[DType, ...]:
        """The element types of a Func as they are by now."""
        dtype = self.namespace[name].dtype
        return dtype if isinstance(dtype, tuple) else (dtype,)

    # declarations -----------------------------------------------------------------------------
    def _default(self) -> None:
        """What the last size is where nothing fixes it, by those before it."""
        name = self.sizes[-1]
        of = self.choices.pick((*self.sizes[:-1], "2"))
        text = self.choices.pick((f"{of} // 2", of, f"{of} + 1", f"2 * {of}", "3"))
        if self.run([f"{name} = ps.size({name!r}, default={text})"]):
            self.defaults[name] = text

    def extent(self) -> str:
        """An extent for an array."""
        name = self.choices.pick(self.sizes)
        other = self.choices.pick(self.sizes)
        return self.choices.weighted(
            (12, name), (2, f"{name} + 1"), (2, f"2 * {name}"), (2, "4"), (1, "1"), (1, "3"),
            (1, f"{name} + 3"), (1, f"{name} + {other}"), (1, f"3 * {name} + 2"),
        )  # fmt: skip

    def input(self) -> None:
        """An Input that may hold anything."""
        dtype = self.choices.pick(DTYPES)
        rank = self.choices.weighted((4, 1), (5, 2), (1, 0), (1, 3))
        extents = tuple(self.extent() for _ in range(rank))
        self._input(self.fresh("A"), dtype, extents)

    def index_input(self, extent: str) -> tuple[str, tuple[str, ...]]:
        """The name and the extents of an Input whose values are indices below `extent`."""
        # Of a Func without a shape all is computed that an index may be: 2**16 rows are too many,
        # and so are 2**8 along several axes.
        small = [x.name for x in self.inputs if x.name[0] == "X" and x.dtype in ("int8", "uint8")]
        for spec in self.inputs:
            again = spec.hi == extent and self.choices.chance(60)
            if again and spec.name not in small:
                return spec.name, spec.extents
        dtype = self.choices.pick(INTEGERS)
        ranged = self.choices.chance(60) or dtype.bits == 16 or (dtype.bits == 8 and bool(small))
        if not ranged and extent == "1":
            extent = "1"
        extents = tuple(self.extent() for _ in range(self.choices.weighted((4, 1), (1, 2))))
        name = self.fresh("R" if ranged else "X")
        self._input(name, dtype, extents, ("0", extent), ranged)
        return name, extents

    def _input(
        self,
        name: str,
        dtype: DType,
        extents: tuple[str, ...],
        values: tuple[str, str] | None = None,
        ranged: bool = False,
    ) -> None:
        shape = f"({', '.join(extents)}{',' * (len(extents) == 1)})"
        more = f", range=({', '.join(values)})" if values and ranged else ""
        if self.run([f"{name} = ps.Input({name!r}, ps.{dtype.name}, {shape}{more})"]):
            self.inputs.append(InputSpec(name, dtype.name, extents, *(values or ())))
            self.tensors.append(Tensor(name, (dtype,), len(extents), extents))

    def inout(self) -> None:
        """An array in place. Its initial value may be read anywhere."""
        dtype, name = self.choices.pick(DTYPES), self.fresh("U")
        extents = tuple(self.extent() for _ in range(self.choices.weighted((4, 1), (4, 2), (1, 0))))
        shape = f"({', '.join(extents)}{',' * (len(extents) == 1)})"
        if self.run([f"{name} = ps.InOut({name!r}, ps.{dtype.name}, {shape})"]):
            self.inputs.append(InputSpec(name, dtype.name, extents))
            self.inouts.append(Tensor(name, (dtype,), len(extents), extents))
            self.tensors.append(Tensor(f"{name}.initial", (dtype,), len(extents), extents))

    def const(self) -> None:
        """A table of extremes and ordinary values."""
        dtype, name = self.choices.pick(DTYPES[:-1]), self.fresh("T")
        count = 1 + self.choices.below(4)
        items = ", ".join(self.number(dtype) for _ in range(count))
        if self.choices.chance(20):
            count, rank, items = 1, 0, self.number(dtype)
            array = f"np.array({items}, np.{_numpy(dtype)})"
        else:
            rank = 1
            array = f"np.array([{items}], np.{_numpy(dtype)})"
        if self.run([f"{name} = ps.Const({name!r}, {array})"]):
            self.tensors.append(Tensor(name, (dtype,), rank, (str(count),) * rank))

    def param(self) -> None:
        """A scalar; an integer one may have bounds."""
        name = self.fresh("p")
        dtype = self.choices.weighted((4, ps.int32), (1, ps.uint8), (1, ps.int64), (2, ps.float32),
                                      (1, ps.float64), (1, ps.bool_), (1, ps.uint64))  # fmt: skip
        lo, hi = None, None
        if dtype.is_int and self.choices.chance(70):
            lo = self.choices.below(3) - (1 if dtype.kind == "i" else 0)
            hi = lo + self.choices.below(4)
        more = "" if lo is None else f", min={lo}, max={hi}"
        default = self.choices.pick((lo, hi)) if lo is not None else 1
        if default is not None and dtype.is_int and self.choices.chance(20):
            self.defaults[name] = str(default)
            more += f", default={default}"
        if self.run([f"{name} = ps.Param({name!r}, ps.{dtype.name}{more})"]):
            self.params.append(ParamSpec(name, dtype.name, lo, hi))

    # numbers ----------------------------------------------------------------------------------
    def number(self, t: DType) -> str:
        """A Python number that `t` holds: small, or an extreme."""
        small = self.choices.below(8)
        if t.is_bool:
            return str(bool(small % 2))
        if t.is_float:
            special = SPECIAL_16 if t.is_narrow else SPECIAL
            return self.choices.weighted((6, f"{small}.5"), (4, self.choices.pick(special)))
        extreme = self.choices.pick((0, t.max, t.min, t.max - 1, t.min + 1, t.max // 2 + 1))
        return str(self.choices.weighted((6, small), (2, extreme)))

    def scalar(self, t: DType) -> str:
        """A NumPy scalar, which keeps its type."""
        return f"np.{_numpy(t)}({self.number(t)})"


def _numpy(t: DType) -> str:
    return "bool_" if t.is_bool else t.name
