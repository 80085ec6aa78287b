"""The errors that were found, in `results/errors.json`, and the table of them in
`docs/functions.md`.

A row counts as whole where all that belongs to it was tried, and as long as the formula of its
function is the one that it was found with: a digest of the formula is kept beside it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from math import ceil
from pathlib import Path

import polysched as ps
from polysched.lang.arithmetic.math import expansion
from polysched.lang.nodes.nodes import Const, Node, Op, postorder
from polysched.lang.nodes.ops import FUNCTIONS, OPS

FOUND = Path(__file__).parent / "results" / "errors.json"
PAGE = Path(__file__).parents[2] / "docs" / "functions.md"
DTYPES = {"float32": ps.float32, "float64": ps.float64}
_HEAD = ["| function | float32 | float64 |", "|---|---|---|"]
EVERY, SAMPLES = 2**32, 10**8


@dataclass(frozen=True)
class Row:
    """The largest error of a function in a type; infinite where a special value is wrong.

    Attributes:
        error: in units of the last place.
        at: the arguments of it.
        tried: how many arguments, or pairs of them, were tried.
    """

    error: float
    at: tuple[float, ...]
    tried: int


def whole(name: str, dtype: str) -> int:
    """How many arguments a row is to be of."""
    return EVERY if OPS[name].arity == 1 and dtype == "float32" else SAMPLES


@cache
def formula(name: str, dtype: str) -> str:
    """A digest of the operators that a function is made of; machine code and its speed do not
    matter, as they have the same bits."""
    if name not in FUNCTIONS:
        return "an operator"
    params, body = expansion(name, DTYPES[dtype])
    known: dict[Node, str] = {p: f"argument {k}" for k, p in enumerate(params)}
    for node in postorder(body):
        if node not in known:
            known[node] = _digest(node, known)
    return known[body][:16]


def _digest(node: Node, known: dict[Node, str]) -> str:
    what: tuple[object, ...]
    match node:
        case Const(value=value, type=t):
            what = ("number", float(value).hex() if isinstance(value, float) else value, str(t))
        case Op(op=op, type=t):
            what = (op, str(t), *(known[x] for x in node.operands))
        case _:
            raise TypeError(f"a formula has no {type(node).__name__}")
    return sha256(repr(what).encode()).hexdigest()


def read(path: Path = FOUND) -> dict[tuple[str, str], tuple[Row, str]]:
    """By function and type: what was found, and of which formula."""
    if not path.exists():
        return {}
    found = {}
    for entry in json.loads(path.read_text()):
        at = tuple(map(float.fromhex, entry["at"]))
        row = Row(float(entry["error"]), at, entry["tried"])
        found[entry["function"], entry["dtype"]] = row, entry["formula"]
    return found


def is_done(name: str, dtype: str, found: dict[tuple[str, str], tuple[Row, str]]) -> bool:
    """Whether there is a whole row, of the present formula."""
    if (name, dtype) not in found:
        return False
    row, digest = found[name, dtype]
    return row.tried >= whole(name, dtype) and digest == formula(name, dtype)


def keep(name: str, dtype: str, row: Row, path: Path = FOUND) -> None:
    """Adds a row. What is known of the same formula stays: the larger error, the longer run."""
    found, digest = read(path), formula(name, dtype)
    if (name, dtype) in found and found[name, dtype][1] == digest:
        before = found[name, dtype][0]
        worst = max(row, before, key=lambda r: r.error)
        row = Row(worst.error, worst.at, max(row.tried, before.tried))
    found[name, dtype] = row, digest
    entries = []
    for (function, kind), (kept, of) in sorted(found.items()):
        entry = {"function": function, "dtype": kind, **asdict(kept), "formula": of}
        entry |= {"error": str(kept.error), "at": [x.hex() for x in kept.at]}
        entries.append(json.dumps(entry))
    new = path.with_suffix(".new")
    new.write_text("[\n" + ",\n".join(entries) + "\n]\n")
    new.replace(path)


def lines(names: list[str], found: dict[tuple[str, str], tuple[Row, str]]) -> list[str]:
    """The table. An error is rounded up, and what is not of a whole run has a star."""

    def cell(name: str, dtype: str) -> str:
        if (name, dtype) not in found:
            return "-"
        error = found[name, dtype][0].error
        said = f"{ceil(error * 100 - 1e-9) / 100:.2f}" if error < 1e6 else "inf"
        return said if is_done(name, dtype, found) else said + "*"

    return [*_HEAD, *(f"| `{n}` | {cell(n, 'float32')} | {cell(n, 'float64')} |" for n in names)]


def with_table(page: str, table: list[str]) -> str:
    """The page with another table of errors."""
    given = page.splitlines()
    start = given.index(_HEAD[0])
    stop = next(k for k in range(start, len(given)) if not given[k].startswith("|"))
    return "\n".join([*given[:start], *table, *given[stop:]]) + "\n"


def write_page(names: list[str], path: Path = FOUND) -> None:
    """Puts what was found into the page."""
    PAGE.write_text(with_table(PAGE.read_text(), lines(names, read(path))))
