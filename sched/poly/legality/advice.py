"""Refusals of malformed directives, in terms of the loops that the user's directives have made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ...lang.nodes.nodes import Var
from ...lang.nodes.printer import expr_text
from ...records import dataclass
from ..directives.bodies import Fission
from ..directives.loops import Split
from ..program.inline import WHY
from ..program.rule import Rule
from ..state.record import Directive
from ..state.state import NoLoops
from ..tree.edits import Shared, stages
from ..tree.looptree import Alloc, Loop, Tree

Helps = Callable[[Directive, Sequence[Directive]], bool]
"""Whether a directive would be right with others before it."""


def why_inlined(error: NoLoops, rule: Rule, records: Sequence[Directive]) -> str:
    """What is said of a stage without loops, with the reason: a directive, or the rule by which
    Funcs are inlined."""
    asked = [d for d in records if d.stage == error.name and d.name == "compute_inline"]
    why = f"{asked[-1].text()} said so ({asked[-1].span})" if asked else WHY[rule]
    return f"{error.what}, as {why}"


@dataclass(frozen=True)
class Part:
    """A loop as a part of the loop that was split to make it."""

    loop: str
    which: str


def parts_made(records: Sequence[Directive], known: Sequence[str]) -> dict[str, Part]:
    """The loops that directives have made of those that there were."""
    parts: dict[str, Part] = {}
    for d in records:
        if isinstance(d, Split):
            both = zip(d.made, ("outer", "inner"), strict=True)
            parts |= {x: Part(d.loop, which) for x, which in both}
    return {x: part for x, part in parts.items() if x not in known}


def explained(what: str, parts: Mapping[str, Part]) -> str:
    """A message, with an explanation of the loops in it that the user has not made."""
    named = [x for x in parts if re.search(_named(x), what)]
    said = ", ".join(f"{x} would be the {parts[x].which} part of {parts[x].loop}" for x in named)
    return f"{what} ({said})" if said else what


def of_those_there(text: str, parts: Mapping[str, Part]) -> str:
    """A text in terms of the loops that the user knows, from which those in it were made."""
    for name, part in parts.items():
        text = re.sub(_named(name), rf"\1 {part.loop}", text)
    return text


def _named(loop: str) -> str:
    """Where a text names a loop; it may be called what is a word elsewhere."""
    return rf"\b(loop|of|with|around|behind) {re.escape(loop)}\b"


def fission_advice(error: Shared, directive: Directive, loop: str, helps: Helps) -> str:
    """What to do about a loop that holds too much: take it apart, if that would help.

    Args:
        loop: what the loop is called where `directive` was given.
    """
    cuts = [Fission(directive.stage, loop, after) for after in _cuts(error.loop)]
    for chosen in (*([cut] for cut in cuts), cuts):
        if chosen and helps(directive, chosen):
            shown = " and ".join(f'fission("{loop}", after="{d.after}")' for d in chosen)
            return f"fission takes them apart: {shown} first"
    return _as_one(error.loop) or (
        "fission takes a loop apart where that is legal, and does not help here"
    )


def _cuts(loop: Loop) -> Iterator[str]:
    """The stages behind which a loop can be cut."""
    body: tuple[Tree, ...] = loop.body
    while len(body) == 1 and isinstance(body[0], Alloc):
        body = body[0].body
    for child in body[:-1]:
        yield list(stages(child))[-1].name


def _as_one(loop: Loop) -> str | None:
    """How several pieces of one definition are written as one."""
    inside = list(dict.fromkeys(s.statement.definition for s in stages(loop)))
    func, last = inside[0].func, inside[-1]
    if any(d.func is not func or d.is_update for d in inside) or len(inside) < 2:
        return None
    choices = [
        [f"{expr_text(v)} == {expr_text(x)}" for v, x in pairs if not isinstance(x, Var)]
        for pairs in (zip(last.lhs, d.lhs, strict=True) for d in inside[:-1])
    ]
    choices.sort(key=len, reverse=True)  # the more specific ones first
    left = f"{func.name}[{', '.join(map(expr_text, last.lhs))}]"
    values = "".join(
        f"{c[0] if len(c) == 1 else ' & '.join(f'({x})' for x in c)}, ..., " for c in choices
    )
    return (
        "fission does not help, as the pieces need each other: write them as one, "
        f"{left} = ps.select({values}...)"
    )
