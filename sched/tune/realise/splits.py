"""The splits that make the loops of a nest, by factors with names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ...targets.words import Word, factor
from ..facts.facts import StatementFacts
from ..plans.planned import Nest


def splits(nest: Nest, statement: StatementFacts) -> Iterator[tuple[str, Word | int, str, str]]:
    """The splits that make the loops of a nest: of which loop, by how much, and the names of the
    outer and the inner one."""
    for k, written in enumerate(statement.loops):
        parts = sorted((x for x in nest.loops if x.loop == k), key=lambda x: -x.step)
        name = nest.row if nest.row and k == len(statement.loops) - 1 else written.name
        for outer, inner in pairwise(parts):
            yield name, factor_of(nest, statement, k, outer.step), outer.name, inner.name
            name = inner.name


def factor_of(nest: Nest, statement: StatementFacts, loop: int, step: int) -> Word | int:
    """By how much a loop is split, with a name that says what for, unless that is the lanes of a
    vector."""
    number = nest.plan.number
    if loop == number("vector") and step == number("lanes"):
        return step
    is_columns = loop == number("vector") and step == number("lanes") * number("columns")
    is_rows = loop == number("jam") and step == number("rows")
    is_chunk = loop == number("parallel") and step == number("chunk")
    means = "columns" if is_columns else "rows" if is_rows else "chunk" if is_chunk else "panel"
    if nest.block is not None and not (is_columns or is_rows):
        means = "side" if loop else "steps"
    owner = statement.name if nest.plan.host is None else nest.plan.host[0]
    return factor(f"{_identifier(owner)}_{means}", step)


def _identifier(name: str) -> str:
    """The name of a statement as one of Python: `C.update(0)` is `C_update0`."""
    return re.sub(r"\W+", "_", re.sub(r"\W(\d)", r"\1", name)).strip("_")
