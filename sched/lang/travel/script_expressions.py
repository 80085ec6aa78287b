"""Expressions as Python, made of the entries of a `Writer`."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Sequence

from ..errors.errors import LanguageError
from ..nodes.ops import OPS
from .spelling import INFINITE, bracketed, dtype_of, is_cast, number_of, operands, uses_of
from .writer import Entry

_PUBLIC = {"min": "minimum", "max": "maximum", "round": "rint"}
_DEEP = 40
"""How deep an expression is nested at most."""
_LONG = 16
"""Characters of a repeated expression that is worth a name."""

Text = tuple[str, int, int]
"""The text of an expression, how tightly it binds, and how deep it is."""


class ScriptExpressions:
    """The texts of expressions, and the names of variables.

    Args:
        entries: all entries of the program.
        symbols: the names of sizes and Params, which are also those of their variables.
        taken: other names that mean something.
    """

    def __init__(
        self, entries: Sequence[Entry], symbols: Iterable[str], taken: Iterable[str]
    ) -> None:
        self._entries = entries
        self._exact = dict.fromkeys(symbols, True)
        self.taken = {*self._exact, *taken}
        self.lines: list[str] = []
        self._indent = ""
        self._uses = uses_of(entries)
        self._text: dict[int, Text] = {}
        self._variable: dict[int, str] = {}
        #: What extents are called outside of shapes.
        self._shapes: dict[int, str] = {}
        #: How many values a tensor has at each point.
        self._components: dict[int, int] = {}
        #: RVars of a domain that is not complete.
        self._open: list[tuple[int, Entry]] = []

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
        below = [self._text[x][2] for x in operands(entry)]
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
        return entry["is"] == "op" and entry.get("type") is not None and not is_cast(entry)

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
                rest += [f"dtype={dtype_of(e['dtype'])}"] if "dtype" in e else []
                return f"ps.{e['op']}({', '.join([self._of(e['of']), *rest])})", 100
            case "trace":
                return f"ps.trace({self._of(e['of'])}, {e['label']!r})", 100
            case "value":
                return f"{self._of(e['of'])}.{e['which']}", 100
            case "loop":
                return self._of(e["of"]), 100
        raise LanguageError(f"a program with {e['is']} cannot be written as Python")

    def _literal(self, e: Entry) -> tuple[str, int]:
        value = number_of(e["value"])
        text = f'float("{value}")' if value != value or value in INFINITE else repr(value)
        if e["type"] not in ("int", "float", "index", "bool"):
            return f"np.{e['type']}({text})", 100
        return text, 65 if text[0] == "-" else 100

    def _op(self, e: Entry) -> tuple[str, int]:
        op, of, info = e["op"], e["of"], OPS[e["op"]]
        args = [self._operand(x, e) for x in of]
        if is_cast(e):
            return f"ps.{op}({dtype_of(e['type'])}, {args[0][0]})", 100
        if info.symbol is None:
            return f"ps.{_PUBLIC.get(op, op)}({', '.join(a for a, _ in args)})", 100
        literal = [x not in self._shapes and self._entries[x]["is"] == "literal" for x in of]
        compares = info.rule == "compare"
        if all(literal) or (compares and literal[0] and args[0][0][:3] != "np."):
            raise LanguageError(f"{op} of the literal {args[0][0]} cannot be written in this order")
        p = info.precedence
        if len(of) == 1:
            return f"{info.symbol}{bracketed(args[0], p)}", p
        right = bracketed(args[1], p + 1)
        if compares and self._is_symbol(of[1]) and not self._is_symbol(of[0]):
            right = f"+{right}"  # Python asks the right side first where it is of a subclass
        return f"{bracketed(args[0], p + 1 if compares else p)} {info.symbol} {right}", p

    def _is_symbol(self, number: int) -> bool:
        symbols = ("var", "size", "param", "rvar", "loop")
        return self._entries[number]["is"] in symbols

    def _operand(self, number: int, e: Entry) -> tuple[str, int]:
        """An operand. In a typed expression over indices, literals have the type of these by now:
        they are written as they were."""
        operand, kind = self._entries[number], e.get("type")
        is_typed = kind is not None and not is_cast(e)
        if is_typed and kind in ("index", "bool") and operand["is"] == "literal":
            return self._literal(operand | {"type": "int"} if operand["type"] == "int64"
                                 else operand)  # fmt: skip
        return self._text[number][:2] if is_typed else self._bound(number)

    def _is_extent(self, number: int) -> bool:
        """Whether an expression has the type of an extent, and is no symbol."""
        entry = self._entries[number]
        is_index = entry["is"] == "literal" and entry["type"] == "index"
        return is_index or self._is_typed(number)
