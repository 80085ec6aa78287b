"""Expressions, tensors and Funcs: typeset equations, and where their reads come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...lang.expr.expr import Expr
from ...lang.nodes.dtypes import DType
from ...lang.nodes.nodes import Read, postorder
from ...lang.nodes.printer import expr_text
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.definitions import Definition
from ...lang.tensors.indexable import Indexable
from ...lang.tensors.tensors import Func
from ..parts.markup import Content, Markup, tag
from ..parts.theme import display
from .formulas import Formula, element, formula, latex, listed, mathml, name, row, sign

STYLE = (
    ".polysched .equation{margin:3px 0;padding:3px 0;overflow-x:auto;overflow-y:hidden}"
    ".polysched .equation math{font-size:16px}"
    ".polysched .equation mtd{padding:2px 12px 2px 0}"
)

MOST_LINES = 12
"""Definitions that are shown unfolded."""


def expression(shown: Expr) -> dict[str, str]:
    """An expression."""
    found = formula(shown.node)
    text = expr_text(shown.node)
    body = tag("code", text) if found is None else mathml(found)
    html = display(tag("div", body, class_="equation", title=text), style=STYLE)
    return _both(html, [] if found is None else [found])


def tensor(shown: Indexable) -> dict[str, str]:
    """An Input, or anything else that is read at an index."""
    return {"text/html": str(display(tag("div", described(shown))))}


def dtype(shown: DType) -> dict[str, str]:
    """An element type."""
    bits = f"{8 * shown.itemsize} bits"
    about = f"{bits}, NumPy's {shown.numpy}"
    return {
        "text/html": str(display(tag("code", str(shown)), " ", tag("span", about, class_="faint")))
    }


def func(shown: Func) -> dict[str, str]:
    """A Func with its definitions, and the table of what they read."""
    if not shown.history.recorded:
        return tensor(shown)
    definitions = shown.history.typed()
    found = [equation(d) for d in definitions]
    lines = [_line(d, f) for d, f in zip(definitions, found, strict=True)]
    head = tag("div", described(shown), class_="head")
    html = display(head, _folded(lines), _sources(definitions), style=STYLE)
    return _both(html, [f for f in found if f is not None])


def described(shown: Tensor) -> Markup:
    """`Input A float32[n, m]`"""
    kind = type(shown).__name__
    return tag(
        "span", tag("span", kind, class_="faint"), " ", tag("b", shown.name), " ",
        tag("code", f"{types_text(shown)}{shape_text(shown)}"),
    )  # fmt: skip


def types_text(shown: Tensor) -> str:
    """The element types, or a question mark while they are not known."""
    known = shown.dtypes
    if isinstance(shown, Func) and not known and shown.history.recorded:
        known = shown.history.dtypes()
    types = [str(t) for t in known]
    return types[0] if len(types) == 1 else f"({', '.join(types)})" if types else "?"


def shape_text(shown: Tensor) -> str:
    """The extents in brackets; a question mark where use decides them."""
    if shown.extents is None:
        return "[?]"
    return f"[{', '.join(expr_text(e) for e in shown.extents)}]"


def equation(d: Definition) -> Formula | None:
    """A definition as a formula with its domain; None for a long one."""
    values = [formula(v) for v in d.values]
    index = [formula(x) for x in d.lhs]
    conditions = [formula(c) for c in d.where]
    parts: list[Formula] = []
    for f in (*values, *index, *conditions):
        if f is None:
            return None
    right = [v for v in values if v is not None]
    left = element(d.func.name, [x for x in index if x is not None])
    value = right[0] if len(right) == 1 else row(sign("("), *listed(right), sign(")"))
    parts = [left, sign("="), value]
    ranges = list(_ranges(d))
    if ranges or conditions:
        asked = [c for c in conditions if c is not None]
        parts += [sign("\u2003"), *listed([*ranges, *asked])]
    return row(*parts)


def _ranges(d: Definition) -> Iterator[Formula]:
    for r in d.rvars:
        lo, hi = formula(r.lo), formula(r.hi)
        yield row(lo or name("…"), sign("≤"), name(r.name), sign("<"), hi or name("…"))


def _line(d: Definition, found: Formula | None) -> Markup:
    text = d.listing(domain=True)
    body: Content = tag("pre", text) if found is None else mathml(found)
    return tag("div", body, class_="equation", title=text if found is not None else None)


def _folded(lines: Sequence[Markup]) -> Markup:
    if len(lines) <= MOST_LINES:
        return Markup("".join(lines))
    rest = lines[MOST_LINES:]
    more = tag("details", tag("summary", f"{len(rest)} more definitions"), rest)
    return Markup("".join([*lines[:MOST_LINES], more]))


def _sources(definitions: Sequence[Definition]) -> Markup | None:
    """A table of the tensors that definitions read: which, of what type and shape, and where."""
    reads: dict[Tensor, dict[str, None]] = {}
    for d in definitions:
        if d.opaque is not None:  # of which the operands are the ends of regions
            for (first, _), text in zip(d.opaque.regions, d.opaque.read(expr_text), strict=True):
                reads.setdefault(first.tensor, {})[text] = None
            continue
        for node in postorder(*d.lhs, *d.values, *d.where):
            if isinstance(node, Read) and node.tensor is not d.func:
                _note(reads, node)
    if not reads:
        return None
    rows = [
        tag(
            "tr", tag("td", described(t)),
            tag("td", _few(list(texts))),
        )
        for t, texts in reads.items()
    ]  # fmt: skip
    return tag("table", tag("tr", tag("th", "reads"), tag("th", "at")), rows)


def _note(reads: dict[Tensor, dict[str, None]], node: Read) -> None:
    """A read, or those inside of the reduction that it stands for."""
    made = node.tensor.made_of
    if made is None:
        reads.setdefault(node.tensor, {})[expr_text(node)] = None
        return
    for inner in postorder(made[0]):
        if isinstance(inner, Read):
            _note(reads, inner)


def _few(texts: Sequence[str]) -> Iterator[Content]:
    for text in texts[:4]:
        yield [tag("code", text), "  "]
    if len(texts) > 4:
        yield f"and {len(texts) - 4} more"


def _both(html: Markup, found: Sequence[Formula]) -> dict[str, str]:
    """HTML, and LaTeX for front ends that know nothing else."""
    lines = r" \\ ".join(latex(f) for f in found)
    made = {"text/html": str(html)}
    if lines:
        made["text/latex"] = (
            rf"$\displaystyle {lines}$"
            if len(found) == 1
            else rf"$\begin{{gathered}}{lines}\end{{gathered}}$"
        )
    return made
