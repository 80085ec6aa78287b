"""The fields of directives, which check themselves: whatever makes a record, a handle, JSON or a
search, an ill-formed one is refused with the directive and the field by name.

    @dataclass(frozen=True)
    class Split(Directive, name="split", of="loops"):
        loop: str = loop_name()
        factor: int = number("factor", least=1)
        tail: str = choice(TAILS, default="auto")

What a field is called in JSON and in Python is its name here, but for `called`. What is None, and a
choice or a flag that is its default, is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from ...lang.arguments.admission import SIZE_LIMIT
from ...lang.errors.close import close
from ...lang.errors.errors import LanguageTypeError, ScheduleError
from ...lang.nodes.dtypes import INDEX, bool_, concrete
from ...lang.nodes.nodes import Node, Var

if TYPE_CHECKING:
    from .record import Directive

NUMBER_LIMIT = SIZE_LIMIT
"""No integer of a directive is larger, nor smaller than its negative.

No loop that runs to its end has more iterations than sizes can say. A factor, an extent or a
distance beyond that says nothing which a smaller one does not, but sums and products of such
numbers would leave 64 bits.
"""

Check = Callable[["Directive", str, Any], None]
"""Refuses a value of a directive's field of that name."""

T = TypeVar("T")

Meaning = Literal["loop", "loops", "stage", "tensor", "axis", "axes", "plain"]
"""What a field names: handles take Vars, Funcs and other handles for it."""


def declared(
    check: Check,
    default: Any = MISSING,
    *,
    called: str | None = None,
    hidden: bool = False,
    optional: bool = False,
    means: Meaning = "plain",
    samples: Sequence[Any] = (),
) -> Any:
    """A field of a record.

    Args:
        called: in JSON and in Python, if the attribute has another name.
        hidden: not written where it is the default.
        optional: None says nothing.
        samples: values that random directives have, where `means` tells none.
    """

    def checked(d: Directive, key: str, value: Any) -> None:
        if value is not None:
            check(d, key, value)

    metadata = {
        "check": checked if optional else check, "called": called, "hidden": hidden,
        "means": means, "samples": samples,
    }  # fmt: skip
    if optional and default is MISSING:
        default = None
    return (
        field(metadata=metadata)
        if default is MISSING
        else field(default=default, metadata=metadata)
    )


def key_of(f: Field[Any]) -> str:
    """What a field is called in JSON and in Python."""
    return f.metadata.get("called") or f.name


# what fields hold -------------------------------------------------------------------------------
def loop_name(*, called: str | None = None) -> Any:
    """The name of a loop that there is."""
    return declared(_name("a loop", LOOP_HINT), called=called, means="loop")


def stage_name(*, called: str | None = None) -> Any:
    """The name of a stage that there is."""
    return declared(_name("a stage", STAGE_HINT), called=called, means="stage")


def tensor_name() -> Any:
    """The name of what a stage reads."""
    return declared(_name("a tensor"), means="tensor")


def new_name(*, called: str | None = None, optional: bool = False) -> Any:
    """What a loop is to be called; the tree says whether it can be."""
    return declared(_name("a loop", "a Python identifier"), called=called, optional=optional)


def loop_names(*, optional: bool = False) -> Any:
    """The names of existing loops, at least one."""
    return declared(_names("the names of loops", None, LOOP_HINT), optional=optional, means="loops")


def new_names(
    what: str, count: int | None = None, *, hint: str | None = None, optional: bool = False
) -> Any:
    """What loops are to be called: at least one, or so many."""
    return declared(_names(what, count, hint), optional=optional)


def number(what: str, least: int | None = None, default: Any = MISSING) -> Any:
    """A Python integer.

    Args:
        what: it is to the directive.
        least: the smallest that it may be; None for any sign.
    """

    def check(d: Directive, key: str, value: Any) -> None:
        check_number(d.name, value, what, least, d)

    few = (1, 2, -1) if least is None else (least, least + 1, least + 3)
    return declared(check, default, samples=few)


def axis() -> Any:
    """An axis of the Func, by its number."""

    def check(d: Directive, key: str, value: Any) -> None:
        check_number(d.name, value, "axis", None, d)

    return declared(check, means="axis")


def axes() -> Any:
    """Axes of the Func, by their numbers."""

    def check(d: Directive, key: str, value: Any) -> None:
        if not isinstance(value, tuple):
            d.mistyped(f"the {key} of {d.name} are Python integers, not {value!r}")
        for x in value:
            check_number(d.name, x, "axis", None, d)

    return declared(check, means="axes")


def choice(options: Sequence[str], default: Any = MISSING) -> Any:
    """One of some words."""

    def check(d: Directive, key: str, value: Any) -> None:
        if isinstance(value, str) and value in options:
            return
        what = f"the {key} of {d.name} is one of {', '.join(options)}, not {value!r}"
        if not isinstance(value, str):
            d.mistyped(what)
        else:
            meant = close(value, options)
            d.refuse(what, None if meant is None else f"did you mean {meant}?")

    return declared(check, default, hidden=default is not MISSING, samples=options)


def flag() -> Any:
    """True or False; False is not written."""

    def check(d: Directive, key: str, value: Any) -> None:
        if not isinstance(value, bool):
            d.mistyped(f"the {key} of {d.name} is True or False, not {value!r}")

    return declared(check, False, hidden=True, samples=(False, True))


def predicate() -> Any:
    """A typed condition."""

    def check(d: Directive, key: str, value: Any) -> None:
        if not isinstance(value, Node) or value.type != bool_:
            d.mistyped(f"the {key} of {d.name} is none: {shown(value)}", "compare something: i < n")

    return declared(check)


def indices() -> Any:
    """Integer expressions: at least one."""

    def check(d: Directive, key: str, value: Any) -> None:
        if not isinstance(value, tuple) or not value:
            d.mistyped(f"the {key} of {d.name} are expressions, not {shown(value)}")
        for x in value:
            if not isinstance(x, Node) or not concrete(x.type or INDEX).is_int:
                d.mistyped(f"one of the {key} of {d.name} is no integer expression: {shown(x)}")

    return declared(check)


def shown(value: Any) -> str:
    """A value in a message."""
    from ...lang.nodes.printer import expr_text

    return expr_text(value) if isinstance(value, Node) else repr(value)


LOOP_HINT = "name a loop by its handle, its Var or RVar, or a string"
STAGE_HINT = "s[C] for a Func, s['C'], s['C.update(0)']"


def _name(what: str, hint: str | None = None) -> Check:
    def check(d: Directive, key: str, value: Any) -> None:
        if not isinstance(value, str):
            d.mistyped(f"the {key} of {d.name} is the name of {what}, not {value!r}", hint)

    return check


def _names(what: str, count: int | None, hint: str | None) -> Check:
    def check(d: Directive, key: str, value: Any) -> None:
        if not isinstance(value, tuple) or not all(isinstance(x, str) for x in value):
            d.mistyped(f"the {key} of {d.name} are {what}, not {value!r}", hint)
        if len(value) != count if count is not None else not value:
            d.mistyped(f"the {key} of {d.name} are {what}, not {len(value)} of them", hint)

    return check


# numbers ----------------------------------------------------------------------------------------
def _integer_hint(name: str, number: Any, what: str) -> str | None:
    """What to write in place of what is no Python integer."""
    if isinstance(number, np.integer):
        return f"int({number})"
    if isinstance(number, float) and number.is_integer():
        return str(int(number))
    if isinstance(number, str) and number.isdigit():
        return f"{number} without quotes"
    if name == "split" and isinstance(number, str | Var):
        return 'split(loop, 8) gives back both loops; names=("io", "ii") names them'
    return None


def check_number(
    name: str, number: Any, what: str, least: int | None, directive: Directive | None = None
) -> None:
    """Refuses what is no Python integer, and what is out of range.

    Args:
        name: the directive that the user called.
        what: the number is to it.
        least: the smallest that it may be; None for any sign.
        directive: what it is recorded as, for its place.
    """
    span = None if directive is None else directive.span
    if isinstance(number, bool) or not isinstance(number, int):
        raise LanguageTypeError(
            f"the {what} of {name} is a Python integer, not {number!r}",
            where=span,
            hint=_integer_hint(name, number, what),
        )
    wrong, why = None, None
    if least is not None and number < least:
        wrong = f"the {what} of {name} is at least {least}, not {number}"
    elif abs(number) > NUMBER_LIMIT:
        limits = "between -2**40 and 2**40" if least is None else "at most 2**40"
        wrong = f"the {what} of {name} is {limits}, not {number}"
        why = "sizes are below 2**40: no loop or axis has use for more"
    if wrong is not None:
        text = None if directive is None else directive.text()
        raise ScheduleError(wrong, where=span, hint=why, directive=text)


def unknown_field(d: type[Directive], given: str, keys: Mapping[str, Any]) -> ScheduleError:
    """The error that a directive has no field of that name."""
    meant = close(given, keys)
    return ScheduleError(
        f"{d.name} has no option {given!r}" + (f"; did you mean {meant}?" if meant else ""),
        hint=f"its options are {', '.join(keys)}" if keys else "it has none",
    )


def in_terms_of(what: str, found: Callable[[], T]) -> T:
    """An expression that a user gives for what a directive takes; its errors say so."""
    try:
        return found()
    except LanguageTypeError as error:
        said = LanguageTypeError(
            f"{what}: {error.what}", where=error.where, hint=error.hint, code=error.code
        )
        raise said.with_traceback(error.__traceback__) from None
