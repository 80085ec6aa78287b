"""Directives as data: a schedule is a program and a tuple of these.

A directive is one frozen record class, whose fields check themselves (see `fields`), with its
legality as a formula and the edit of the loops that it stands for. Handles, JSON, `source()`,
searches and the fuzzers all make these records, so nothing goes around the checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self, get_args

from ...cached import cached_property
from ...lang.errors.close import close
from ...lang.errors.errors import LanguageError, LanguageTypeError, ScheduleError, Span
from ...lang.nodes.node_json import Plain, decoded
from ...lang.nodes.nodes import Const, Node, Var, postorder, substitute
from ...lang.nodes.printer import code_text
from ...records import dataclass
from ...targets.words import Resolved, from_json as word_from_json
from .exactly import PLAIN, encoded_option, exactly, known_fields
from .fields import key_of, unknown_field

if TYPE_CHECKING:
    from .editing import Editing

KINDS: dict[str, type[Directive]] = {}
"""The record class of each directive, by its name: what is made of others is not among them."""

Scope = Literal["loops", "stage", "func", "program"]
"""What a directive is about. Of a Func whose definition has several pieces, what is about loops is
said of each piece, but once where they share these; what is about a stage, of each piece; and what
is about the Func, once. What is about the program is said of the schedule."""

NO_FUNCS: Mapping[str, str] = MappingProxyType({})
"""All stages are known by their names."""


@dataclass(frozen=True)
class Directive:
    """One directive: `s[stage].name(...)`. Loops and stages are given by name; without a stage it
    is about the schedule as a whole.

    `span` is the line that wrote it; it does not count when two are compared.
    """

    name: ClassVar[str] = ""
    scope: ClassVar[Scope]
    stage: str
    span: Span | None = field(default=None, compare=False, kw_only=True, repr=False)

    def __init_subclass__(cls, name: str = "", of: Scope | None = None) -> None:
        if not name:
            return
        if of is None:
            known = " or ".join(f'of="{scope}"' for scope in get_args(Scope))
            raise TypeError(f"{cls.__name__} does not say what it is about: {known}")
        cls.name, cls.scope = name, of
        KINDS[name] = cls

    def __post_init__(self) -> None:
        if not isinstance(self.stage, str):
            self.mistyped(f"{self.name} is said of a stage, by its name, not of {self.stage!r}")
        given = self.__dict__
        for name, key, _, f in known_fields(type(self)):
            f.metadata["check"](self, key, given[name])

    @classmethod
    def declared(cls) -> tuple[Field[Any], ...]:
        """The fields that are the directive's own."""
        found = _declared.get(cls)
        if found is None:
            found = _declared[cls] = tuple(f for f in fields(cls) if "check" in f.metadata)
        return found

    def edit(self, e: Editing) -> tuple[str, ...]:
        """Carries it out.

        Returns:
            The names of the loops or stages that it makes.

        Raises:
            ScheduleError: it means nothing here.
        """
        raise NotImplementedError

    # refusing ---------------------------------------------------------------------------------
    def refuse(self, what: str, hint: str | None = None) -> NoReturn:
        """A value that it cannot have."""
        raise ScheduleError(what, where=self.span, hint=hint, directive=self.text())

    def mistyped(self, what: str, hint: str | None = None) -> NoReturn:
        """A value that is of another type than the field."""
        raise LanguageTypeError(what, where=self.span, hint=hint)

    # as text and as JSON ----------------------------------------------------------------------
    @property
    def options(self) -> tuple[tuple[str, Plain], ...]:
        """What was given, by the names that it has in JSON and in Python."""
        given = self.__dict__
        return tuple(
            [
                (key, given[name])
                for name, key, silent, _ in known_fields(type(self))
                if given[name] is not None and (silent is MISSING or given[name] != silent)
            ]
        )

    @cached_property
    def largest(self) -> int:
        """The largest integer among what was given, whatever its sign; 0 if there is none."""
        given = (n for _, value in self.options for n in _integers(value))
        return max(map(abs, given), default=0)

    def text(self, schedule: str = "s", funcs: Mapping[str, str] = NO_FUNCS) -> str:
        """As a user writes it: `s["C"].split("i", factor=8)`.

        Args:
            funcs: how the Funcs are written whose stages are not known by their names.
        """
        stage = funcs.get(self.stage, f'"{self.stage}"')
        asked = f"{schedule}[{stage}]" if self.stage else schedule
        return f"{asked}.{self.name}({', '.join(self.arguments(funcs))})"

    def arguments(self, funcs: Mapping[str, str] = NO_FUNCS) -> list[str]:
        """What stands between the parentheses."""
        shown: list[str] = []
        stages = {key_of(f) for f in self.declared() if f.metadata["means"] == "stage"}
        named = False  # behind an argument by its name all are
        for key, value in self.options:
            if key in stages and value in funcs:
                value = Var(funcs[str(value)])
            if key in _POSITIONAL and not named:
                shown += map(_shown, value if isinstance(value, tuple) else (value,))
            else:
                named = True
                shown.append(f"{key}={_shown(value)}")
        return shown

    def mapped(self, change: Callable[[Node], Node]) -> Self:
        """The directive with its expressions replaced."""
        given = self.__dict__
        for value in given.values():
            if isinstance(value, Node):
                break
        else:
            return self
        made: Any = {
            name: change(given[name])
            for name, *_ in known_fields(type(self))
            if isinstance(given[name], Node)
        }
        return replace(self, **made)

    def to_json(self) -> dict[str, Any]:
        """The directive as data for JSON."""
        return {"stage": self.stage, "name": self.name, "options": dict(self._encoded)}

    @cached_property
    def _encoded(self) -> dict[str, Any]:
        given, found = self.__dict__, {}
        for name, key, silent, _ in known_fields(type(self)):
            value = given[name]
            if value is not None and (silent is MISSING or value != silent):
                found[key] = value if type(value) in PLAIN else encoded_option(value)
        return found

    @cached_property
    def exactly(self) -> str | None:
        """The same for equal directives only, in any process; None where no text says that."""
        return exactly(type(self), self.stage, self._encoded)


_declared: dict[type[Directive], tuple[Field[Any], ...]] = {}


def from_json(data: Any, symbols: Mapping[str, Node]) -> Directive:
    """What `to_json` wrote.

    Args:
        symbols: the sizes and Params of the program, by name.

    Raises:
        LanguageError: it is no directive, or one of its fields is not what it can be.
    """
    match data:
        case {"stage": stage, "name": str(name), "options": dict(options), **rest} if not rest:
            given = {k: _decoded(name, k, v, symbols) for k, v in options.items()}
            return made(stage, name, given)
    raise LanguageError(f"{data!r} is no directive that to_json wrote")


def _decoded(name: str, key: str, value: Any, symbols: Mapping[str, Node]) -> Plain:
    """An option, in terms of the program."""
    try:
        match value:
            case {"number": int(number), "word": word, **rest} if not rest and number is not True:
                return Resolved.of(number, word_from_json(word))
        return decoded(value, symbols)
    except LanguageError as error:
        raise LanguageError(f"{key} of {name}: {error.what}") from None


def made(stage: str, name: str, options: Mapping[str, Any], span: Span | None = None) -> Directive:
    """The record of a directive by its name. What is None counts as not given.

    Raises:
        LanguageError: there is no such directive, or it has no such fields, or not these values.
    """
    if name not in KINDS:
        meant = close(name, KINDS)
        raise ScheduleError(
            f"there is no directive {name}" + (f"; did you mean {meant}?" if meant else ""),
            where=span,
            hint="directives are " + ", ".join(sorted(KINDS)),
        )
    kind = KINDS[name]
    keys = {key_of(f): f for f in kind.declared()}
    given = {k: v for k, v in options.items() if v is not None}
    for key in given:
        if key not in keys:
            raise unknown_field(kind, key, keys)
    needed = [f for f in keys.values() if is_needed(f)]
    missing = [key_of(f) for f in needed if key_of(f) not in given]
    if missing:
        raise ScheduleError(
            f"{name} lacks {' and '.join(missing)}",
            where=span,
            hint=f"its options are {', '.join(keys)}",
        )
    return kind(stage, **{keys[k].name: v for k, v in given.items()}, span=span)


def is_needed(f: Field[Any]) -> bool:
    """Whether a field must be given."""
    return f.default is MISSING


@dataclass(frozen=True)
class Lookup(Directive):
    """What a user looks for in a stage, which is no directive: errors say where that was."""

    shown: str = ""

    def text(self, schedule: str = "s", funcs: Mapping[str, str] = NO_FUNCS) -> str:
        stage = funcs.get(self.stage, f'"{self.stage}"')
        return f"{schedule}[{stage}].{self.shown}"


_POSITIONAL = frozenset(
    {
        *("loop", "loops", "factor", "outer", "inner", "other", "consumer", "axes", "condition"),
    }
)


def _shown(value: Plain) -> str:
    if isinstance(value, tuple):
        inside = ", ".join(map(_shown, value))
        return f"({inside}{',' if len(value) == 1 else ''})"
    if isinstance(value, Resolved):
        return repr(value.word)
    return code_text(value) if isinstance(value, Node) else repr(value)


def _integers(value: Plain) -> Iterator[int]:
    match value:
        case tuple():
            for part in value:
                yield from _integers(part)
        case Node():
            for node in postorder(value):
                if isinstance(node, Const) and isinstance(node.value, int):
                    yield node.value
        case int():
            yield value


def map_text(loops: tuple[str, ...], values: tuple[Node, ...]) -> str:
    """A map of coordinates as a lambda over the names of the loops, as far as Python takes them."""
    names = [re.sub(r"\W", "_", name) for name in loops]
    given: dict[Node, Node] = {Var(f"#{k}"): Var(name) for k, name in enumerate(names)}
    inside = ", ".join(code_text(substitute(v, given)) for v in values)
    return f"lambda {', '.join(names)}: ({inside})"
