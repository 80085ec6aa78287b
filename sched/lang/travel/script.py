"""Programs as Python that makes them again.

It is made of the entries of a `Writer`. What is used several times, or is long, has a name of its
own: expressions share what they have in common, and Python does not nest without limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from ..errors.errors import LanguageError
from ..nodes.dtypes import as_dtype
from ..nodes.ops import OPS
from ..program.program import Program
from ..tensors.inout import Initial
from .script_expressions import ScriptExpressions
from .spelling import dtype_of, dtypes_of, number_of, numpy_of, python_of
from .tables import array_of, text_of
from .text import function_text, in_order, renumbered
from .things import Thing
from .writer import Entry, Writer

_FEW = 64
"""Elements of a table that are written as numbers."""


class Script(ScriptExpressions):
    """The Python of a program.

    Attributes:
        lines: of Python, behind the imports.
        names: the variables of things, by id.
        taken: all names that mean something.
    """

    def __init__(self, program: Program, reserved: Iterable[str] = ()) -> None:
        """
        Args:
            reserved: names that variables do not get, but for those of sizes and Params.

        Raises:
            LanguageError: the program cannot be written: it calls a function that nobody else
                finds, or has an expression that Python evaluates itself.
        """
        inputs = [i.array if isinstance(i, Initial) else i for i in program.inputs]
        roots: list[Thing] = [*program.outputs, *inputs]
        things = in_order(roots)
        writer = Writer(lambda thing: None, text_of, function_text, places=False)
        writer.declare(things)
        numbers = writer.things(things)
        required = writer.things(program.requirements)
        entries = renumbered(writer.entries)
        symbols = {*program.sizes, *program.params}
        modules = {e["function"][0].partition(".")[0] for e in entries if "function" in e}
        if both := modules & symbols:
            raise LanguageError(f"{both.pop()} is a module, and a size or Param of the program")
        super().__init__(entries, symbols, {"ps", "np", "base64", *modules, *reserved})
        self._late = {e["of"] for e in entries if e["is"] == "extern"}
        self.imports: set[str] = set()
        for number, entry in enumerate(entries):
            _WRITE.get(entry["is"], Script._expression)(self, number, entry)
        for number in required:
            self._require(number)
        self.names = {
            id(t): self._variable[n]
            for t, n in zip(things, numbers, strict=True)
            if n in self._variable
        }

    @property
    def head(self) -> list[str]:
        """The imports."""
        own = ["import numpy as np"] if self._needs("np") else []
        base64 = ["import base64"] if self._needs("base64") else []
        others = [f"import {m}" for m in sorted(self.imports - {"numpy", "base64"})]
        return [*base64, *others, *own, "import polysched as ps"]

    def _needs(self, name: str) -> bool:
        return any(re.search(rf"\b{name}\.", line) for line in self.lines)

    # symbols ----------------------------------------------------------------------------------
    def _symbol(self, number: int, e: Entry) -> None:
        made = "vars" if e["is"] == "var" else "size"
        rest = f", default={self._in_shape(e['default'])}" if "default" in e else ""
        self._line(f"{self._named(number, e['name'])} = ps.{made}({e['name']!r}{rest})")

    def _param(self, number: int, e: Entry) -> None:
        given = {k: number_of(e[k]) for k in ("default", "min", "max") if k in e}
        rest = "".join(f", {k}={python_of(v)}" for k, v in given.items())
        name = self._named(number, e["name"])
        self._line(f"{name} = ps.Param({e['name']!r}, {dtype_of(e['dtype'])}{rest})")

    def _rvar(self, number: int, e: Entry) -> None:
        self._open.append((number, e))
        self._named(number, e["name"])

    def _domain(self, number: int, e: Entry) -> None:
        members = self._open[-len(e["of"]) :]
        del self._open[-len(e["of"]) :]
        names = [self._variable[k] for k, _ in members]
        inside = {x for _, m in members for x in (m["lo"], m["hi"])}
        if inside & {k for k, _ in members}:
            raise LanguageError(f"the bounds of {names[0]} are made of RVars made with it")
        pairs = [f"{self._of(m['lo'])}, {self._of(m['hi'])}" for _, m in members]
        where = ""
        if "where" in e:
            where = f", where=lambda {', '.join(names)}: {self._of(e['where'])}"
        if len(members) == 1:
            said = f"ps.RVar({members[0][1]['name']!r}, {pairs[0]}{where})"
        else:
            shown = " ".join(m["name"] for _, m in members)
            said = f"ps.rdom({shown!r}, {', '.join(f'({p})' for p in pairs)}{where})"
        self._line(f"{', '.join(names)} = {said}")

    # tensors ----------------------------------------------------------------------------------
    def _shape(self, number: int, e: Entry) -> str:
        """The text of a shape. From here on an extent is `A.shape[0]` where it stands elsewhere."""
        if "shape" not in e:
            return ""
        text = ", ".join(map(self._in_shape, e["shape"])) + ("," if len(e["shape"]) == 1 else "")
        name = self._variable[number]
        for axis, extent in enumerate(e["shape"]):
            if self._is_extent(extent):
                self._shapes.setdefault(extent, f"{name}.shape[{axis}]")
        return f", ({text})"

    def _array(self, number: int, e: Entry) -> None:
        kind, name = {"input": "Input", "inout": "InOut"}[e["is"]], e["name"]
        variable = self._named(number, name)
        limits = (
            "" if "range" not in e else ", range=({}, {})".format(*map(self._in_shape, e["range"]))
        )
        shape = self._shape(number, e)
        self._line(f"{variable} = ps.{kind}({name!r}, {dtype_of(e['dtype'])}{shape}{limits})")

    def _table(self, number: int, e: Entry) -> None:
        dtype, shape = as_dtype(e["dtype"]), tuple(e["shape"])
        array = array_of(e["data"], dtype, shape)
        few = array.size <= _FEW and (not dtype.is_float or bool(np.isfinite(array).all()))
        if few and array.size:
            made = f"np.array({array.tolist()!r}, np.{dtype if not dtype.is_bool else 'bool_'})"
        else:
            read = f"np.frombuffer(base64.b64decode({e['data']!r}), {numpy_of(dtype)!r})"
            made = f"{read}.reshape({shape})"
        self._line(f"{self._named(number, e['name'])} = ps.Const({e['name']!r}, {made})")

    def _func(self, number: int, e: Entry) -> None:
        dtypes = e.get("dtypes")
        self._components[number] = len(dtypes or [0])
        name = self._named(number, e["name"])
        if number in self._late:
            return
        rest = "" if dtypes is None else f", dtype={dtypes_of(dtypes)}"
        self._line(f"{name} = ps.Func({e['name']!r}{self._shape(number, e)}{rest})")

    def _extern(self, number: int, e: Entry) -> None:
        of = e["of"]
        func, (module, path) = self._entries[of], e["function"]
        self.imports.add(module)
        root = "np" if module == "numpy" else module
        reads = []
        for tensor, axes in e["reads"]:
            pairs = ", ".join(f"({self._list(axis)})" for axis in axes)
            reads.append(f"({self._of(tensor)}, ({pairs}{',' if len(axes) == 1 else ''}))")
        shape = self._shape(of, func)[2:]
        self._line(
            f"{self._variable[of]} = ps.extern({func['name']!r}, {root}.{path}, "
            f"reads=[{', '.join(reads)}], writes={shape}, dtype={dtypes_of(func['dtypes'])})"
        )

    # definitions ------------------------------------------------------------------------------
    def _define(self, number: int, e: Entry) -> None:
        left = f"{self._of(e['of'])}[{self._list(e['at']) or '()'}]"
        op, to = e.get("op", "="), e["to"]
        self._components[e["of"]] = max(len(to), self._components.get(e["of"], 1))
        if op not in ("=", "min", "max"):
            right = self._of(self._entries[to[0]]["of"][1])
            self._line(f"{left} {OPS[op].symbol}= {right}")
        else:
            value = self._list(to)
            self._line(f"{left} = {value if len(to) == 1 else f'({value})'}")

    def _sequential(self, number: int, e: Entry) -> None:
        if "name" in e:
            self._named(number, e["name"])

    def _begin(self, number: int, e: Entry) -> None:
        block = self._entries[e["of"]]
        if "name" not in block:
            self._line("with ps.sequential():")
        else:
            bounds = f"{self._of(block['lo'])}, {self._of(block['hi'])}"
            step = "" if block["step"] == 1 else f", step={block['step']}"
            made = f"ps.sequential({block['name']!r}, {bounds}{step})"
            self._line(f"with {made} as {self._variable[e['of']]}:")
        self._indent += "    "

    def _end(self, number: int, e: Entry) -> None:
        if self.lines[-1].endswith(":"):
            self._line("pass")
        self._indent = self._indent[4:]

    def _require(self, number: int) -> None:
        """A precondition, with all Funcs to which it belongs."""
        asked = self._entries[number]
        said = [e for e in self._entries if e["is"] == "requires" and e["that"] == number]
        funcs = ", ".join(self._of(e["of"]) for e in said)
        self._line(f"ps.require({self._in_shape(asked['that'])}, {asked['message']!r}, {funcs})")

    def _nothing(self, number: int, e: Entry) -> None:
        """What says nothing by itself."""


_WRITE: dict[str, Callable[[Script, int, Entry], None]] = {
    "var": Script._symbol, "size": Script._symbol, "param": Script._param,
    "rvar": Script._rvar, "domain": Script._domain, "input": Script._array,
    "inout": Script._array, "const": Script._table, "func": Script._func,
    "extern": Script._extern, "define": Script._define, "sequential": Script._sequential,
    "begin": Script._begin, "end": Script._end, "complete": Script._nothing,
    "requirement": Script._nothing, "requires": Script._nothing,
}  # fmt: skip
