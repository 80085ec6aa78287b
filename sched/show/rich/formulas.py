"""Expressions as formulas: a small tree between expressions and MathML or LaTeX.

Both are made because no one of them is read everywhere: browsers typeset MathML by themselves, code
hosts and printed notebooks take LaTeX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lang.nodes.nodes import Const, Node, Op, Param, Read, RVar, Size, Var, postorder
from ...lang.nodes.ops import OPS
from ...lang.nodes.printer import expr_text
from ...lang.tensors.opaque import Opaque
from ...lang.tensors.reductions import Reduce
from ...lang.tensors.trace import Trace
from ...records import dataclass
from ..parts.markup import Markup, tag

MOST = 160
"""Parts of a formula; longer expressions are shown as text."""


@dataclass(frozen=True, slots=True)
class Word:
    """A name, a number or an operator: "mi", "mn" or "mo", as MathML calls them."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """Parts beside each other."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Fraction:
    above: Formula
    below: Formula


@dataclass(frozen=True, slots=True)
class Root:
    inside: Formula


@dataclass(frozen=True, slots=True)
class Big:
    """A big operator, such as a sum, over the ranges below it."""

    symbol: str
    below: Formula


@dataclass(frozen=True, slots=True)
class Cases:
    """Values with the conditions under which they hold; the last one holds otherwise."""

    rows: tuple[tuple[Formula, Formula | None], ...]


Formula = Word | Row | Fraction | Root | Big | Cases

_SYMBOLS = {
    "mul": "·", "le": "≤", "ge": "≥", "ne": "≠", "and": "∧", "or": "\u2228", "xor": "⊕", "not": "¬",
    "sub": "\u2212", "neg": "\u2212", "mod": "mod", "shl": "≪", "shr": "≫", "eq": "=", "add": "+",
    "lt": "<", "gt": ">",
}  # fmt: skip
_BIG = {"sum": "∑", "prod": "∏", "all": "⋀", "any": "\u22c1"}
_FENCES = {"abs": ("|", "|"), "floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉"), "round": ("⌊", "⌉")}

Part = tuple[Formula, int]
"""A formula and how tightly it binds, as in `ops.OPS`."""


def formula(root: Node) -> Formula | None:
    """An expression as a formula, with reductions as they were written; None for a long one."""
    written = _with_reductions(root)
    found: dict[Node, Part] = {}
    sizes: dict[Node, int] = {}
    for node in postorder(written):
        sizes[node] = 1 + sum(sizes[a] for a in node.args)
        if sizes[node] > MOST:
            return None
        found[node] = _one(node, lambda a: found[a])
    return found[written][0]


def _with_reductions(root: Node) -> Node:
    from ...lang.nodes.nodes import substitute, transform

    def rule(node: Node) -> Node:
        if isinstance(node, Read) and node.tensor.made_of is not None:
            reduction, index = node.tensor.made_of
            # Its body reads the Funcs made of reductions inside of it.
            whole = transform(reduction, rule)
            return substitute(whole, dict(zip(index, node.index, strict=True)))
        return node

    return transform(root, rule)


def name(text: str) -> Word:
    return Word("mi", text)


def sign(text: str) -> Word:
    return Word("mo", text)


def row(*parts: Formula) -> Formula:
    return Row(parts)


def listed(parts: Sequence[Formula]) -> tuple[Formula, ...]:
    """Parts with commas between them."""
    found: list[Formula] = []
    for part in parts:
        found += [sign(","), part] if found else [part]
    return tuple(found)


def element(of: str, index: Sequence[Formula]) -> Formula:
    """An element of a tensor."""
    return row(name(of), sign("["), *listed(index), sign("]"))


def _one(node: Node, at: Callable[[Node], Part]) -> Part:
    match node:
        case Const():
            text = expr_text(node)
            return Word("mn", text.replace("-", "\u2212")), 65 if text.startswith("-") else 100
        case Var() | RVar() | Size() | Param():
            return name(node.name), 100
        case Read(tensor=tensor, index=index, component=component):
            found = element(tensor.name, [at(_plain(x))[0] for x in index])
            if len(tensor.dtypes) > 1:
                found = row(found, sign("["), Word("mn", str(component)), sign("]"))
            return found, 100
        case Reduce():
            return _reduction(node, at)
        case Op():
            return _operator(node, at)
        case Trace(value=value, label=label):
            inside = at(value)[0], name(repr(label))
            return row(name("trace"), sign("("), *listed(inside), sign(")")), 100
        case Opaque(stage=stage, regions=regions):
            read = [_region(first, highs, at) for first, highs in regions]
            return row(name(stage.name), sign("("), *listed(read), sign(")")), 100
        case _:
            return name(expr_text(node)), 100


def _region(first: Read, highs: Sequence[Node], at: Callable[[Node], Part]) -> Formula:
    """What an extern stage reads of a tensor."""
    axes = zip(first.index, highs, strict=True)
    ends = [row(at(_plain(lo))[0], sign(":"), at(_plain(hi))[0]) for lo, hi in axes]
    return element(first.tensor.name, ends)


def _plain(index: Node) -> Node:
    """An index without its conversion to 64 bits."""
    match index:
        case Op(op="cast", operands=(value,), type=t) if str(t) == "int64":
            return value
    return index


def _reduction(node: Reduce, at: Callable[[Node], Part]) -> Part:
    over = []
    for r in node.rvars:
        lo, hi = formula(r.lo), formula(r.hi)
        parts = [lo or name("…"), sign("≤"), name(r.name), sign("<"), hi or name("…")]
        over.append(row(*parts))
    for where in dict.fromkeys(r.domain.where for r in node.rvars):
        if where is not None:
            over.append(formula(where) or name("…"))
    if node.initial is not None:
        over.append(row(name("initial"), sign("="), at(node.initial)[0]))
    body, precedence = at(node.body)
    body = _fenced(body) if precedence < 60 else body
    return row(Big(_BIG.get(node.op, node.op), row(*listed(over))), body), 55


def _fenced(inside: Formula, around: tuple[str, str] = ("(", ")")) -> Formula:
    return row(sign(around[0]), inside, sign(around[1]))


def _operator(node: Op, at: Callable[[Node], Part]) -> Part:
    op, parts = node.op, [at(a) for a in node.operands]
    values = [value for value, _ in parts]
    if op == "div":
        return Fraction(*values), 100
    if op == "sqrt":
        return Root(values[0]), 100
    if op == "floordiv":
        return _fenced(Fraction(*values), ("⌊", "⌋")), 100
    if op in _FENCES:
        return _fenced(values[0], _FENCES[op]), 100
    if op == "select":
        return _cases(node, at), 5
    if op == "fma":
        least = 60, 61, 51
        a, b, c = (_fenced(v) if p < q else v for (v, p), q in zip(parts, least, strict=True))
        return row(a, sign("·"), b, sign("+"), c), 50
    info = OPS[op]
    if info.symbol is None:
        called = f"{node.type}" if op == "cast" else op
        if op == "bitcast":
            values.insert(0, name(f"{node.type}"))
        return row(name(called), sign("("), *listed(values), sign(")")), 100
    return _infix(node, parts), info.precedence


def _infix(node: Op, parts: Sequence[Part]) -> Formula:
    info = OPS[node.op]
    symbol = sign(_SYMBOLS.get(node.op, info.symbol or node.op))
    if len(parts) == 1:
        value, p = parts[0]
        return row(symbol, _fenced(value) if p < info.precedence else value)
    (a, pa), (b, pb) = parts
    left = info.precedence + (info.rule == "compare")
    return row(
        _fenced(a) if pa < left else a, symbol, _fenced(b) if pb < info.precedence + 1 else b
    )


def _cases(node: Op, at: Callable[[Node], Part]) -> Cases:
    rows: list[tuple[Formula, Formula | None]] = []
    rest: Node = node
    while isinstance(rest, Op) and rest.op == "select":
        condition, value, rest = rest.operands
        rows.append((at(value)[0], at(condition)[0]))
    return Cases((*rows, (at(rest)[0], None)))


# as MathML ----------------------------------------------------------------------------------------
def mathml(shown: Formula) -> Markup:
    """A formula as an element that browsers typeset."""
    return tag("math", tag("mstyle", _mathml(shown), displaystyle="true"))


_BRACKETS = frozenset("()[]|⌊⌋⌈⌉")


def _mathml(f: Formula, *, is_flat: bool = False) -> Markup:
    """Part of a formula; `is_flat` is whether nothing beside it is higher than a line."""
    match f:
        case Word(kind=kind, text=text):
            straight = "normal" if kind == "mi" and len(text) > 1 else None
            # Else some browsers make brackets twice as high as the names between them.
            stretchy = "false" if is_flat and text in _BRACKETS else None
            return tag(kind, text, mathvariant=straight, stretchy=stretchy)
        case Row(parts=parts):
            flat = not _is_tall(f)
            return tag("mrow", [_mathml(p, is_flat=flat) for p in parts])
        case Fraction(above=above, below=below):
            return tag("mfrac", tag("mrow", _mathml(above)), tag("mrow", _mathml(below)))
        case Root(inside=inside):
            return tag("msqrt", _mathml(inside))
        case Big(symbol=symbol, below=below):
            big = tag("mo", symbol) if symbol in _BIG.values() else tag("mi", symbol)
            return tag("munder", big, tag("mrow", _mathml(below)))
        case Cases(rows=rows):
            lines = [
                tag(
                    "mtr",
                    tag("mtd", _mathml(value), style="text-align:left"),
                    tag("mtd", tag("mtext", _when(c)), None if c is None else _mathml(c),
                        style="text-align:left"),
                )
                for value, c in rows
            ]  # fmt: skip
            return tag("mrow", tag("mo", "{"), tag("mtable", lines))


def _is_tall(f: Formula) -> bool:
    """Whether a formula is higher than a line of text."""
    return any(map(_is_tall, f.parts)) if isinstance(f, Row) else not isinstance(f, Word)


def _when(condition: Formula | None) -> str:
    return "otherwise" if condition is None else "if\u00a0"


# as LaTeX -----------------------------------------------------------------------------------------
_TEX = {
    "·": r"\cdot ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∧": r"\wedge ", "\u2228": r"\vee ",
    "⊕": r"\oplus ", "¬": r"\neg ", "\u2212": "-", "mod": r"\bmod ", "≪": r"\ll ", "≫": r"\gg ",
    "⌊": r"\left\lfloor ", "⌋": r"\right\rfloor ", "⌈": r"\left\lceil ", "⌉": r"\right\rceil ",
    "∑": r"\sum", "∏": r"\prod", "⋀": r"\bigwedge", "\u22c1": r"\bigvee", ",": r",\, ",
}  # fmt: skip


def latex(f: Formula) -> str:
    """A formula as LaTeX, without the dollars around it."""
    match f:
        case Word(kind="mi", text=text):
            return text if len(text) == 1 and text.isalnum() else rf"\mathrm{{{_escaped(text)}}}"
        case Word(kind="mn", text=text):
            return _number(text)
        case Word(text=text):
            return _TEX.get(text, _escaped(text))
        case Row(parts=parts):
            return "".join(map(latex, parts))
        case Fraction(above=above, below=below):
            return rf"\frac{{{latex(above)}}}{{{latex(below)}}}"
        case Root(inside=inside):
            return rf"\sqrt{{{latex(inside)}}}"
        case Big(symbol=symbol, below=below):
            name_ = _TEX.get(symbol, rf"\operatorname*{{{_escaped(symbol)}}}")
            return rf"{name_}_{{{latex(below)}}} "
        case Cases(rows=rows):
            lines = (
                f"{latex(v)} & "
                + (r"\text{otherwise}" if c is None else rf"\text{{if }} {latex(c)}")
                for v, c in rows
            )
            return r"\begin{cases}" + r" \\ ".join(lines) + r"\end{cases}"


def _number(text: str) -> str:
    """A number: LaTeX would take the letters of 1e-05 and of nan for variables, and the dash for a
    difference."""
    digits = text.removeprefix("\u2212")
    minus = "-" if digits != text else ""
    if digits.replace(".", "").isdigit():
        return minus + digits
    return rf"{minus}\mathrm{{{_escaped(digits).replace(chr(0x2212), '{-}')}}}"


_SPECIAL = {
    "\\": r"\backslash ", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "^": r"\hat{}",
    "_": r"\_", "~": r"\sim ", "%": r"\%", " ": r"\ ",
}  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text)
