"""What is decided of a program, as plain data: where each Func is computed, and in which loops.

A plan has no loops or proofs in it. It can be kept as JSON, compared and hashed; `realise` makes
directives of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from ...lang.errors.errors import LanguageError
from ...records import dataclass

Template = Literal["leave", "rows", "tile", "lanes", "wave", "steps", "blocks"]
"""How the loops of a statement are arranged: as written; with a loop of vectors innermost; with all
reductions around a tile that is kept in registers; with a reduction taken apart, so that each lane
of a vector has a partial result; with several iterations of a loop that carries dependences side by
side, each so far behind the one before that they do not wait for each other; or with tiles of
several iterations of the outermost loop, as the module `steps` says of the last two."""

TEMPLATES: tuple[Template, ...] = ("leave", "rows", "tile", "lanes", "wave", "steps", "blocks")

NONE = -1
"""A knob that names a loop by its number, where there is none."""

Place = tuple[str, str]
"""A statement, and a loop that a plan gives it."""


@dataclass(frozen=True, slots=True)
class NestPlan:
    """The loops of a statement.

    Attributes:
        statement: by its name.
        template: how they are arranged.
        knobs: numbers by name, in the order of the template.
        host: the innermost loop of another Func's statement, in whose iterations this one runs,
            too; None where its loops are its own.
    """

    statement: str
    template: Template = "leave"
    knobs: tuple[tuple[str, int], ...] = ()
    host: Place | None = None

    @property
    def is_as_written(self) -> bool:
        """Whether nothing is done to the loops."""
        return self == NestPlan(self.statement)

    def knob(self, name: str) -> int | None:
        """The number of a name; None where the template has no such."""
        for known, number in self.knobs:
            if known == name:
                return number
        return None

    def number(self, name: str) -> int:
        """The number of a name that the template has."""
        return dict(self.knobs)[name]


@dataclass(frozen=True, slots=True)
class FuncPlan:
    """What is decided of a Func.

    Attributes:
        func: by its name.
        nests: of its statements, in the order in which they run.
        at: in which loop of another Func's statement it is computed; None for the root.
        stored: the loop further out in which it is stored, so that its window slides; None where
            it is stored where it is computed.
        put_off: the Funcs that run behind its host, though they come before that as written.
    """

    func: str
    nests: tuple[NestPlan, ...]
    at: Place | None = None
    stored: Place | None = None
    put_off: tuple[str, ...] = ()

    @property
    def is_as_written(self) -> bool:
        """Whether nothing is done."""
        return self.at is None and all(n.is_as_written for n in self.nests)

    @property
    def host(self) -> Place | None:
        """The innermost loop of another Func's statement in which its last one runs; None where its
        loops are its own."""
        return self.nests[-1].host


@dataclass(frozen=True, slots=True)
class Plan:
    """What is decided of a program.

    Attributes:
        inline: Funcs that are computed wherever they are read.
        keep: Funcs that a schedule inlines by itself, and that are stored here.
        funcs: those that are stored, consumers before producers.
    """

    inline: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    funcs: tuple[FuncPlan, ...] = ()

    def to_json(self) -> str:
        """The plan as text, for `from_json`."""
        return json.dumps(
            {
                "inline": self.inline,
                "keep": self.keep,
                "funcs": [
                    {
                        "func": f.func,
                        "at": f.at,
                        "stored": f.stored,
                        "put_off": f.put_off,
                        "nests": [
                            [n.statement, n.template, dict(n.knobs), n.host] for n in f.nests
                        ],
                    }
                    for f in self.funcs
                ],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """The plan that `to_json` wrote.

        Raises:
            LanguageError: it is no plan.
        """
        try:
            data = json.loads(text)
            return cls(
                tuple(map(_name, data["inline"])),
                tuple(map(_name, data["keep"])),
                tuple(map(_func, data["funcs"])),
            )
        except (KeyError, TypeError, ValueError):
            raise LanguageError("this text is no plan that to_json wrote") from None


def _func(data: Mapping[str, Any]) -> FuncPlan:
    at, stored = data["at"], data["stored"]
    return FuncPlan(
        _name(data["func"]),
        tuple(map(_nest, data["nests"])),
        None if at is None else _place(at),
        None if stored is None else _place(stored),
        tuple(map(_name, data["put_off"])),
    )


def _place(data: Any) -> Place:
    statement, loop = data
    return _name(statement), _name(loop)


def _nest(data: Any) -> NestPlan:
    statement, template, knobs, host = data
    if template not in TEMPLATES or not all(type(x) is int for x in knobs.values()):
        raise ValueError(template)
    where = None if host is None else _place(host)
    return NestPlan(_name(statement), template, tuple(knobs.items()), where)


def _name(data: Any) -> str:
    if not isinstance(data, str):
        raise TypeError(data)
    return data
