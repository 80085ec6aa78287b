"""Schedules as text: Python that makes them again, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from ..lang.records import Directive
from .inline import once_a_consumer

if TYPE_CHECKING:
    from .schedule import Schedule


def source(s: Schedule) -> str:
    """Python that makes a schedule, given its outputs."""
    outputs = ", ".join(f.name for f in s.program.outputs)
    whole = f"({outputs})" if len(s.program.outputs) > 1 else outputs
    made = "ps.Schedule" + (".default" if _is_default(s) else "")
    lines, reasons = [f"s = {made}({whole})"], _reasons(s)
    for batch, directives in _parts(s):
        pad = "    " if batch else ""
        lines += ["with s.batch():"] * (batch and bool(directives))
        for d in directives:
            trust = f"with s.trust({reasons[id(d)]!r}): " if id(d) in reasons else ""
            lines.append(pad + trust + d.text())
    return "\n".join(lines)


def to_json(s: Schedule) -> str:
    """The directives of a schedule as text that `replay_json` reads."""
    reasons = _reasons(s)
    parts = [
        {"batch": batch, "directives": [(d.to_json(), reasons.get(id(d))) for d in directives]}
        for batch, directives in _parts(s)
    ]
    return json.dumps({"default": _is_default(s), "parts": parts})


def says_default(text: str) -> bool:
    """Whether `to_json` was given a schedule that began as `Schedule.default`."""
    return bool(json.loads(text)["default"])


def replay_json(s: Schedule, text: str) -> None:
    """Gives a new schedule the directives that `to_json` wrote; each is proven anew."""
    for part in json.loads(text)["parts"]:
        with s.batch() if part["batch"] else nullcontext():
            for item, reason in part["directives"]:
                with s.trust(reason) if reason else nullcontext():
                    s._builder.replay(Directive.from_json(item))


def _is_default(s: Schedule) -> bool:
    return s._rule is not once_a_consumer


def _parts(s: Schedule) -> Iterator[tuple[bool, tuple[Directive, ...]]]:
    """The directives as they were given: in a batch, or one by one."""
    records, done = s.directives, 0
    for batch in s._builder.batches:
        yield from ((False, (d,)) for d in records[done : batch.start])
        yield True, records[batch.start : batch.stop]
        done = batch.stop
    yield from ((False, (d,)) for d in records[done:])


def _reasons(s: Schedule) -> dict[int, str]:
    """For directives that were not proven, by id, why they are trusted."""
    return {id(d): reason for d, reason in s._builder.state.trusted}
