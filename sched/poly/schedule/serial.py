"""Schedules as text: Python that makes them again, and JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from ...lang.errors.errors import LanguageError
from ...lang.nodes.dtypes import bool_
from ...lang.nodes.node_json import decoded, encoded
from ...lang.nodes.nodes import Node, Var, postorder, substitute
from ...lang.nodes.printer import code_text
from ...lang.program.program import Program
from ...lang.program.signature import unique_names
from ...lang.tensors.inout import Initial
from ...lang.tensors.tensors import Func, Input
from ...records import dataclass
from ..report.said import Said
from ..state.record import Directive
from .factors import said_once


# what was said, in order ------------------------------------------------------------------------
@dataclass(frozen=True)
class _Variant:
    """`specialize(condition)`, and what was said to the variant."""

    condition: Node
    said: Said

    @property
    def steps(self) -> Iterator[_Step]:
        return _steps(self.said, self.said.inherited + 1)


_Step = Directive | _Variant | str | tuple["_Step", ...]
"""A text is a comment, a tuple is a batch."""


def _steps(s: Said, start: int = 0) -> Iterator[_Step]:
    """What was said to a schedule behind its first `start` directives."""
    done = start
    for batch in s.batches:
        if batch and batch.start >= start:
            yield from _plain(s, done, batch.start)
            yield from _variants(s, batch.start)
            yield tuple(_plain(s, batch.start, batch.stop, variants=False))
            done = batch.stop
    yield from _plain(s, done, len(s.directives) + 1)


def _plain(s: Said, start: int, stop: int, *, variants: bool = True) -> Iterator[_Step]:
    """Some directives, each behind the comments and the variants that were made before it.

    Args:
        variants: whether those before the first directive are among them.
    """
    for k in range(start, stop):
        yield from (text for at, text in s.comments if at == k)
        if variants or k > start:
            yield from _variants(s, k)
        yield from s.directives[k : k + 1]


def _variants(s: Said, at: int) -> Iterator[_Variant]:
    """The variants that were made when there were so many directives."""
    return (_Variant(c, v) for c, v in s.variants if v.inherited == at)


def _reasons(s: Said) -> dict[int, str]:
    """For directives that were not proven, by id, why they are trusted."""
    return {id(d): reason for d, reason in s.own_trusted}


def _args(s: Said) -> tuple[Input, ...] | None:
    """The Inputs in the order of a call, where that had to be said."""
    inputs = s.program.inputs
    return None if inputs == tuple(s.program.arguments()) else inputs


# Python -----------------------------------------------------------------------------------------
def source(s: Said, variables: Mapping[int, str] | None = None, used: Collection[str] = ()) -> str:
    """Python that makes a schedule, given its Funcs and symbols by their names.

    Args:
        variables: those of Funcs and Inputs, by id, where these are not their names.
        used: names that mean something else.
    """
    args, called = _args(s), variables or {}
    names_of = partial(_names, called)
    outputs = names_of(s.program.outputs)
    several = len(s.program.outputs) > 1
    given = [f"({outputs})" if several else outputs]
    given += [] if args is None else [_order(s, args, outputs, called)]
    given += [] if s.target is None else [f'target="{s.target}"']
    made = "ps.Schedule" + (".default" if s.default else "")
    names = _fresh_names(s, used)
    name = next(names)
    head = f"{name} = {made}({', '.join(given)})"
    p = s.program
    taken = {x.name for x in (*p.funcs, *p.inputs)} | {
        *p.names.values(),
        *p.sizes,
        *p.params,
        *used,
    }
    lines = list(_lines(s, _steps(s), name, names))
    return "\n".join([head, *said_once(lines, {"ps", *taken})])


def _ambiguous(program: Program, name: str) -> dict[str, str]:
    """How to write Funcs whose names others have, too: `s[...]` refuses these."""
    funcs, names = program.funcs, program.names
    given = Counter(x for f in funcs for x in {f.name, names[f]})
    shared = {k: names[f] for k, f in enumerate(funcs) if given[names[f]] > 1}
    return {x: f"{name}.program.funcs[{k}]" for k, x in shared.items()}


def _with_vars_made(d: Directive) -> Directive:
    """A directive in a form that makes the Vars it names. Vars of copies and of library functions
    have no name in the user's program, where their names may mean something else; Vars of one name
    are equal, so new ones can take their places."""

    def with_made(expression: Node) -> Node:
        named = [x for x in postorder(expression) if isinstance(x, Var) and x.name.isidentifier()]
        return substitute(expression, {x: Var(f"ps.vars({x.name!r})") for x in named})

    return d.mapped(with_made)


def _names(called: Mapping[int, str], tensors: Sequence[Func | Input]) -> str:
    arrays = (t.array if isinstance(t, Initial) and called else t for t in tensors)
    return ", ".join(called.get(id(t), t.name) for t in arrays)


def _order(s: Said, args: Sequence[Input], outputs: str, called: Mapping[int, str]) -> str:
    """Inputs in the order of a call: by their names, or as the program has them where those of two
    are one."""
    names, every = _names(called, args).split(", "), s.program.arguments()
    if len(set(names)) == len(names) or not {*args} <= {*every}:
        return f"({', '.join(names)},)"
    places = ", ".join(str(every.index(a)) for a in args)
    return f"[ps.Program(({outputs},)).arguments()[k] for k in ({places},)]"


def _fresh_names(s: Said, used: Collection[str]) -> Iterator[str]:
    """One for the schedule, then for each variant, that nothing in the text has."""
    words = " ".join(d.text("") for d in s.every)
    taken = {*used} | {t.name for t in (*s.program.outputs, *s.program.inputs)}
    taken |= set(re.findall(r"\w+", words))
    yield next(x for x in ("s", *(f"s{k}" for k in range(len(taken)))) if x not in taken)
    yield from (x for k in count() if (x := f"v{k}") not in taken)


def _lines(
    s: Said, steps: Sequence[_Step] | Iterator[_Step], name: str, names: Iterator[str]
) -> Iterator[str]:
    reasons = _reasons(s)
    for step in steps:
        match step:
            case Directive():
                reason = reasons.get(id(step))
                trust = "" if reason is None else f"with {name}.trust({reason!r}): "
                yield trust + _with_vars_made(step).text(name, _ambiguous(s.program, name))
            case _Variant(condition=condition, said=variant):
                own = next(names)
                yield f"{own} = {name}.specialize({code_text(condition)})"
                yield from _lines(variant, step.steps, own, names)
            case str():
                yield from (f"# {line}" for line in step.splitlines())
            case _:
                yield f"with {name}.batch():"
                yield from (f"    {line}" for line in _lines(s, step, name, names))


# JSON -------------------------------------------------------------------------------------------
FORMAT = 2
"""The version of the JSON format. In format 1, which the oldest JSON has without a number, inputs
that are not named are in the order in which the program first reads them; since format 2 in that
in which they were made."""


@dataclass(frozen=True)
class Written:
    """What `to_json` wrote.

    Attributes:
        default: whether the schedule began as `Schedule.default`.
        inputs: their names in the order of a call, if that had to be said.
        steps: what was said to it.
        target: the name of the target that it was made for, if it is for one.
        format: the version of the format.
        chosen: how many of the first directives a model has chosen.
    """

    default: bool
    inputs: list[str] | None
    steps: list[Any]
    target: str | None = None
    format: int = FORMAT
    chosen: int = 0

    def args(self, outputs: Func | Sequence[Func]) -> list[Input] | None:
        """The Inputs of a program in the order written, found by their names; that of format 1
        where none is written.

        Raises:
            LanguageError: the program does not have them.
        """
        if self.inputs is None:
            return Program(outputs).first_read() if self.format == 1 else None
        found = {name: a for a, name in unique_names(Program(outputs).arguments()).items()}
        missing = [name for name in self.inputs if name not in found]
        if missing:
            raise LanguageError(
                f"the program reads no {', '.join(missing)}",
                hint="from_json(..., args=...) says which Inputs a call takes",
            )
        return [found[name] for name in self.inputs]


def _bare(s: Said) -> Said:
    """Only what the loops depend on."""
    variants = tuple((condition, _bare(v)) for condition, v in s.variants)
    return replace(s, variants=variants, comments=(), chosen=0)


def _of_a_model(s: Said) -> dict[str, int]:
    """How many of the first directives a model has chosen, where it has."""
    return {"chosen": s.chosen} if s.chosen else {}


def is_readable(text: str) -> bool:
    """Whether a comment can stand in a file of Python."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def to_json(s: Said, *, comments: bool = True, args: bool = True) -> str:
    """A schedule as text that `read_json` reads.

    Args:
        comments: whether they are in it, and how many directives a model has chosen.
        args: whether an order of the Inputs that had to be said is in it.
    """
    s = s if comments else _bare(s)
    inputs = _args(s) if args else None
    called = unique_names(list(dict.fromkeys((*s.program.arguments(), *s.program.inputs))))
    names = None if inputs is None else [called[a] for a in inputs]
    steps = _encoded_steps(s, _steps(s))
    target = {} if s.target is None else {"target": s.target}
    more = {**target, **_of_a_model(s)}
    data = {"format": FORMAT, "default": s.default, "inputs": names, **more, "steps": steps}
    return json.dumps(data)


def _encoded_steps(s: Said, steps: Sequence[_Step] | Iterator[_Step]) -> list[Any]:
    reasons = _reasons(s)
    found: list[Any] = []
    for step in steps:
        match step:
            case Directive():
                found.append({"directive": step.to_json(), "trust": reasons.get(id(step))})
            case _Variant(condition=condition, said=variant):
                inside = _encoded_steps(variant, step.steps)
                made = {"specialize": encoded(condition), "steps": inside}
                found.append({**made, **_of_a_model(variant)})
            case str():
                found.append({"comment": step})
            case _:
                found.append({"batch": _encoded_steps(s, step)})
    return found


def read_json(text: str) -> Written:
    """What `to_json` wrote.

    Raises:
        LanguageError: it is something else, or was written by a version that is newer.
    """
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise LanguageError(f"this is no JSON: {error}", hint="s.to_json() writes it") from None
    match data:
        case {"format": number} if type(number) is not int or not 1 <= number <= FORMAT:
            raise LanguageError(
                f"this schedule is written in format {number!r}, and this version reads 1 to "
                f"{FORMAT}",
                hint="a newer version of polysched reads it",
                code="PS0502",
            )
        case {"default": bool(default), "inputs": None | list() as inputs, "steps": list(steps)}:
            target = data.get("target")
            if all(isinstance(name, str) for name in inputs or ()) and isinstance(
                target, str | None
            ):
                number = data.get("format", 1)
                return Written(default, inputs, steps, target, number, data.get("chosen", 0))
    raise LanguageError("this is no schedule that to_json wrote")


def condition(data: Any, symbols: Mapping[str, Node]) -> Node:
    """The condition of a variant as it was written."""
    found = decoded(data, symbols)
    if not isinstance(found, Node) or found.type != bool_:
        raise LanguageError(f"{data!r} is no condition that to_json wrote")
    return found
