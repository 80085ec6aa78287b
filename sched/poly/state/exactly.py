"""Directives as texts that are the same for equal ones only, in any process.

By these the journal knows what was accepted. One may be found by its text before it is made: what
says the same as a directive that was accepted is that directive, whatever its fields are checked
for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field
from typing import TYPE_CHECKING, Any

from ...lang.nodes.node_json import Plain, encoded
from ...targets.words import Resolved
from .fields import key_of

if TYPE_CHECKING:
    from .record import Directive

PLAIN = frozenset((str, int, bool))
"""The types of what JSON says as it is."""

_PACKAGE = __name__.partition(".")[0]
_ours: dict[type[Directive], bool] = {}
_rows: dict[type[Directive], tuple[tuple[str, str, Any, Field[Any]], ...]] = {}


def known_fields(kind: type[Directive]) -> tuple[tuple[str, str, Any, Field[Any]], ...]:
    """For each field its name, its name in JSON, with which value it is not written; and itself."""
    found = _rows.get(kind)
    if found is None:
        found = _rows[kind] = tuple(
            (f.name, key_of(f), f.default if f.metadata["hidden"] else MISSING, f)
            for f in kind.declared()
        )
    return found


def encoded_option(value: Plain) -> Any:
    """An option as JSON takes it; a number of a machine with the word that it comes from."""
    if isinstance(value, Resolved):
        return {"number": int(value), "word": value.word.to_json()}
    return value if isinstance(value, str | int) else encoded(value)


def exactly(kind: type[Directive], stage: str, given: Mapping[str, Any]) -> str | None:
    """The text of a directive.

    Args:
        given: its options as JSON takes them.

    Returns:
        None for one that JSON cannot say, or whose class is not of this package: what that does may
        be something else tomorrow.
    """
    if not _is_ours(kind):
        return None
    if not PLAIN.issuperset(map(type, given.values())) and not _is_plain(given):
        try:  # what is a text or an integer of another class says what it likes of itself
            given = json.loads(json.dumps(given))
        except (TypeError, ValueError):
            return None
    return repr((stage, kind.name, given))


def exactly_given(kind: type[Directive], stage: str, fields: Mapping[str, Any]) -> str | None:
    """The same of a directive that is not made: of its fields, as far as they are given, before
    anything has been checked. None where the text could be that of another one that is right.

    A value of any other type than texts, integers and flags, tuples of these and numbers of the
    machine could be written as one of them; and 0 is equal to the False of a flag.
    """
    if type(stage) is not str or not _is_ours(kind):
        return None
    given: dict[str, Any] = {}
    for name, key, silent, field in known_fields(kind):
        value = fields.get(name, field.default)
        if value is None:
            continue
        t = type(value)
        if t in PLAIN:
            if t is not type(silent) or value != silent:
                given[key] = value
        elif t is Resolved or (t is tuple and PLAIN.issuperset(map(type, value))):
            given[key] = encoded_option(value)
        else:
            return None
    return repr((stage, kind.name, given))


def _is_ours(kind: type[Directive]) -> bool:
    found = _ours.get(kind)
    if found is None:
        found = _ours[kind] = kind.__module__.partition(".")[0] == _PACKAGE
    return found


def _is_plain(value: Any) -> bool:
    """Whether JSON can surely say something."""
    kind = type(value)
    if kind is list or kind is dict:
        inside = value if kind is list else value.values()
        return PLAIN.issuperset(map(type, inside)) or all(map(_is_plain, inside))
    return kind in PLAIN
