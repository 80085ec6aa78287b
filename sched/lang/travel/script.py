"""Programs as Python that makes them again.

It is made of the entries of a `Writer`. What is used several times, or is long, has a name of its
own: expressions share what they have in common, and Python does not nest without limit.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors.errors import LanguageError
from ..nodes.ops import OPS
from ..program.program import Program
from ..tensors.inout import Initial
from .tables import array_of, text_of
from .text import function_text, in_order, renumbered
from .things import Thing
from .writer import Entry, Writer

_PUBLIC = {"min": "minimum", "max": "maximum", "round": "rint"}
_DEEP = 40
"""How deep an expression is nested at most."""
_LONG = 16
"""Characters of a repeated expression that is worth a name."""
_FEW = 64
"""Elements of a table that are written as numbers."""

Text = tuple[str, int, int]
"""The text of an expression, how tightly it binds, and how deep it is."""


class Script:
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
        self._entries: list[Entry] = renumbered(writer.entries)
        required = writer.things(program.requirements)
        symbols = {*program.sizes, *program.params}
        modules = {e["function"][0].partition(".")[0] for e in self._entries if "function" in e}
        if both := modules & symbols:
            raise LanguageError(f"{both.pop()} is a module, and a size or Param of the program")
        self.taken = {"ps", "np", "base64", *symbols, *modules, *reserved}
        self._exact = dict.fromkeys(symbols, True)
        self._uses = _uses(self._entries)
        self._text: dict[int, Text] = {}
        self._variable: dict[int, str] = {}
        self._shapes: dict[int, str] = {}
        self._components: dict[int, int] = {}
        self._late: set[int] = {e["of"] for e in self._entries if e["is"] == "extern"}
        self._open: list[tuple[int, Entry]] = []
        self._indent = ""
        self.lines: list[str] = []
        self.imports: set[str] = set()
        for number, entry in enumerate(self._entries):
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

    # names ------------------------------------------------------------------------------------
    def _fresh(self, name: str) -> str:
        """A variable of about that name."""
        plain = name if name.isidentifier() and not keyword.iskeyword(name) else "x"
        found, k = plain, 1
        while found in self.taken:
            k += 1
            found = f"{plain}_{k}"
        self.taken.add(found)
        return found

    def _named(self, number: int, name: str) -> str:
        """The variable of an entry; sizes and Params have their own names."""
        found = name if self._exact.pop(name, False) else self._fresh(name)
        self._variable[number] = found
        self._text[number] = found, 100, 0
        return found

    def _line(self, text: str) -> None:
        self.lines.append(self._indent + text)

    # expressions ------------------------------------------------------------------------------
    def _of(self, number: int) -> str:
        """The text of an expression outside of shapes."""
        return self._bound(number)[0]

    def _bound(self, number: int) -> tuple[str, int]:
        """The same, with how tightly it binds. An extent stands there as `A.shape[0]`: it has a
        type already."""
        if number in self._shapes:
            return self._shapes[number], 100
        text, binds, _ = self._text[number]
        if self._is_extent(number):
            name = self._fresh("extent")
            self._line(f"{name} = ps.Input({name!r}, ps.int8, ({text},)).shape[0]")
            self._shapes[number] = name
            return name, 100
        return text, binds

    def _in_shape(self, number: int) -> str:
        """The text of an expression in a shape, which types it."""
        return self._text[number][0]

    def _list(self, numbers: Sequence[int]) -> str:
        return ", ".join(map(self._of, numbers))

    def _expression(self, number: int, entry: Entry) -> None:
        text, binds = self._written(entry)
        below = [self._text[x][2] for x in _operands(entry)]
        deep = 1 + max(below, default=0)
        self._text[number] = text, binds, deep
        repeated = self._uses[number] > 1 and len(text) >= _LONG and entry["is"] != "literal"
        inside = any(x["is"] == "rvar" for _, x in self._open)
        if (repeated or deep > _DEEP) and not inside and not self._is_typed(number):
            name = self._fresh("e")
            self._line(f"{name} = {text}")
            self._text[number] = name, 100, 0

    def _is_typed(self, number: int) -> bool:
        """Whether an expression is typed: it stands in shapes, and elsewhere as part of a shape."""
        entry = self._entries[number]
        return entry["is"] == "op" and entry.get("type") is not None and not _is_cast(entry)

    def _written(self, e: Entry) -> tuple[str, int]:
        match e["is"]:
            case "literal":
                return self._literal(e)
            case "op":
                return self._op(e)
            case "read":
                index = self._list(e["at"]) or "()"
                of, c = e["of"], e.get("component", 0)
                several = self._components.get(of, 1) > 1
                return f"{self._of(of)}[{index}]" + (f"[{c}]" if several else ""), 100
            case "reduce":
                over = self._list(e["over"])
                rest = [over if len(e["over"]) == 1 else f"({over})"]
                rest += [f"initial={self._of(e['initial'])}"] if "initial" in e else []
                rest += [f"dtype={_dtype(e['dtype'])}"] if "dtype" in e else []
                return f"ps.{e['op']}({', '.join([self._of(e['of']), *rest])})", 100
            case "trace":
                return f"ps.trace({self._of(e['of'])}, {e['label']!r})", 100
            case "value":
                return f"{self._of(e['of'])}.{e['which']}", 100
            case "loop":
                return self._of(e["of"]), 100
        raise LanguageError(f"a program with {e['is']} cannot be written as Python")

    def _literal(self, e: Entry) -> tuple[str, int]:
        value = _number(e["value"])
        text = f'float("{value}")' if value != value or value in _INFINITE else repr(value)
        if e["type"] not in ("int", "float", "index", "bool"):
            return f"np.{e['type']}({text})", 100
        return text, 65 if text[0] == "-" else 100

    def _op(self, e: Entry) -> tuple[str, int]:
        op, of, info = e["op"], e["of"], OPS[e["op"]]
        args = [self._operand(x, e) for x in of]
        if _is_cast(e):
            return f"ps.{op}({_dtype(e['type'])}, {args[0][0]})", 100
        if info.symbol is None:
            return f"ps.{_PUBLIC.get(op, op)}({', '.join(a for a, _ in args)})", 100
        literal = [x not in self._shapes and self._entries[x]["is"] == "literal" for x in of]
        compares = info.rule == "compare"
        if all(literal) or (compares and literal[0] and args[0][0][:3] != "np."):
            raise LanguageError(f"{op} of the literal {args[0][0]} cannot be written in this order")
        p = info.precedence
        if len(of) == 1:
            return f"{info.symbol}{_bracketed(args[0], p)}", p
        right = _bracketed(args[1], p + 1)
        if compares and self._is_symbol(of[1]) and not self._is_symbol(of[0]):
            right = f"+{right}"  # Python asks the right side first where it is of a subclass
        return f"{_bracketed(args[0], p + 1 if compares else p)} {info.symbol} {right}", p

    def _is_symbol(self, number: int) -> bool:
        symbols = ("var", "size", "param", "rvar", "loop")
        return self._entries[number]["is"] in symbols

    def _operand(self, number: int, e: Entry) -> tuple[str, int]:
        """An operand. In a typed expression over indices, literals have the type of these by now:
        they are written as they were."""
        operand, kind = self._entries[number], e.get("type")
        is_typed = kind is not None and not _is_cast(e)
        if is_typed and kind in ("index", "bool") and operand["is"] == "literal":
            return self._literal(operand | {"type": "int"} if operand["type"] == "int64"
                                 else operand)  # fmt: skip
        return self._text[number][:2] if is_typed else self._bound(number)

    def _is_extent(self, number: int) -> bool:
        """Whether an expression has the type of an extent, and is no symbol."""
        entry = self._entries[number]
        is_index = entry["is"] == "literal" and entry["type"] == "index"
        return is_index or self._is_typed(number)

    # symbols ----------------------------------------------------------------------------------
    def _symbol(self, number: int, e: Entry) -> None:
        made = "vars" if e["is"] == "var" else "size"
        rest = f", default={self._in_shape(e['default'])}" if "default" in e else ""
        self._line(f"{self._named(number, e['name'])} = ps.{made}({e['name']!r}{rest})")

    def _param(self, number: int, e: Entry) -> None:
        given = {k: _number(e[k]) for k in ("default", "min", "max") if k in e}
        rest = "".join(f", {k}={_python(v)}" for k, v in given.items())
        name = self._named(number, e["name"])
        self._line(f"{name} = ps.Param({e['name']!r}, {_dtype(e['dtype'])}{rest})")

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
        self._line(f"{variable} = ps.{kind}({name!r}, {_dtype(e['dtype'])}{shape}{limits})")

    def _table(self, number: int, e: Entry) -> None:
        from ..nodes.dtypes import as_dtype

        dtype, shape = as_dtype(e["dtype"]), tuple(e["shape"])
        array = array_of(e["data"], dtype, shape)
        few = array.size <= _FEW and (not dtype.is_float or bool(np.isfinite(array).all()))
        if few and array.size:
            made = f"np.array({array.tolist()!r}, np.{dtype if not dtype.is_bool else 'bool_'})"
        else:
            read = f"np.frombuffer(base64.b64decode({e['data']!r}), {_numpy(dtype.name)!r})"
            made = f"{read}.reshape({shape})"
        self._line(f"{self._named(number, e['name'])} = ps.Const({e['name']!r}, {made})")

    def _func(self, number: int, e: Entry) -> None:
        dtypes = e.get("dtypes")
        self._components[number] = len(dtypes or [0])
        name = self._named(number, e["name"])
        if number in self._late:
            return
        rest = "" if dtypes is None else f", dtype={_dtypes(dtypes)}"
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
            f"reads=[{', '.join(reads)}], writes={shape}, dtype={_dtypes(func['dtypes'])})"
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


_INFINITE = (float("inf"), float("-inf"))


def _uses(entries: Sequence[Entry]) -> Counter[int]:
    """How often each entry is an operand."""
    return Counter(x for e in entries for x in (*_operands(e), *e.get("at", ()), *e.get("to", ())))


def _operands(e: Entry) -> Iterator[int]:
    match e["is"]:
        case "op":
            yield from e["of"]
        case "read":
            yield from e["at"]
        case "reduce" | "trace":
            yield e["of"]
            yield from e.get("over", ())


def _is_cast(e: Entry) -> bool:
    return e.get("op") in ("cast", "bitcast")


def _bracketed(operand: tuple[str, int], at_least: int) -> str:
    text, binds = operand
    return f"({text})" if binds < at_least else text


def _number(written: Any) -> Any:
    return float.fromhex(written) if isinstance(written, str) else written


def _python(value: Any) -> str:
    return f'float("{value}")' if value != value or value in _INFINITE else repr(value)


def _dtype(name: str) -> str:
    return f"ps.{'bool_' if name == 'bool' else name}"


def _dtypes(names: Sequence[str]) -> str:
    found = ", ".join(map(_dtype, names))
    return found if len(names) == 1 else f"({found})"


def _numpy(name: str) -> str:
    """NumPy's letters for a little-endian type."""
    kinds = {"bool": "?", "float32": "<f4", "float64": "<f8"}
    size = int(re.sub(r"\D", "", name) or 8) // 8
    return kinds.get(name) or f"<{'u' if name[0] == 'u' else 'i'}{size}"


_WRITE: dict[str, Callable[[Script, int, Entry], None]] = {
    "var": Script._symbol, "size": Script._symbol, "param": Script._param,
    "rvar": Script._rvar, "domain": Script._domain, "input": Script._array,
    "inout": Script._array, "const": Script._table, "func": Script._func,
    "extern": Script._extern, "define": Script._define, "sequential": Script._sequential,
    "begin": Script._begin, "end": Script._end, "complete": Script._nothing,
    "requirement": Script._nothing, "requires": Script._nothing,
}  # fmt: skip
