"""The result of a check: the breaches that an `InstanceChecker` has found, and what it counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from ..interp.flow import (
    Accumulated,
    Flow,
    Key,
    Place,
    Recorded,
    Untouched,
    Version,
    Written,
)
from ..lang.errors.errors import REPORT, InternalError, PolyschedError
from ..lang.nodes.shown import Shown
from ..lang.tensors.definitions import Definition
from ..poly.state.record import Directive
from ..records import dataclass
from .execute import Path

Trusted = Sequence[tuple[Directive, str]]
"""Directives that were not proven, each with the reason given."""

NOTHING = Untouched("", ())
"""The version of uninitialised memory."""


@dataclass(frozen=True)
class Breach:
    """What a schedule does wrong: "coverage", "flow", "live-out", "race", "lane", "bounds",
    "guard" or "value"; and in words."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class CheckError(PolyschedError, RuntimeError):
    """A schedule does not do what its program means.

    Attributes: `breaches`; `details`, more facts that a caller of the check adds.
    """

    def __init__(
        self, breaches: Sequence[Breach], before: str, hint: str, details: str = ""
    ) -> None:
        self.breaches = tuple(breaches)
        self.details = details
        PolyschedError.__init__(self, before + "; ".join(map(str, breaches[:5])), hint=hint)
        if details:
            self.args = (f"{self}\n{details}",)


class FaultError(CheckError, InternalError):
    """The breach of a schedule whose directives were all proven: a fault of polysched."""

    def __init__(self, breaches: Sequence[Breach], details: str = "") -> None:
        super().__init__(breaches, "", REPORT, details)


class TrustError(CheckError):
    """Since what was trusted does not hold. `trusted` are the directives, each with its reason."""

    def __init__(self, breaches: Sequence[Breach], trusted: Trusted, details: str = "") -> None:
        self.trusted = trusted
        super().__init__(breaches, doubts(trusted) + ": ", UNTRUSTED, details)


UNTRUSTED = "give the directive without trust, to see what is not proven; or mend the data"


def doubts(trusted: Trusted) -> str:
    """What is said of directives that were trusted where something has come out wrong."""
    shown = " or ".join(f"{d.text()} (trusted: {reason})" for d, reason in trusted)
    return f"{shown} is wrong"


@dataclass
class Report(Shown):
    """The result of one check.

    Attributes:
        breaches: the first that were found.
        counts: of instances, reads compared, instances beyond the program's.
        ran: every instance with its place in the order, for those who compare orders.
        again: those that ran more than once.
        flow: the recorded meaning.
        stored: the definitions whose instances run, by the serials of what the user wrote.
        direct: by the same, the definitions that each reads from memory; the values of all others
            are put in their place.
        free: those that may run in any order.
        partial: those that accumulate in storage apart, to be merged.
        atomic: those whose instances may also run concurrently: each is atomic.
    """

    flow: Flow
    stored: Mapping[int, Definition]
    direct: Mapping[int, frozenset[int]]
    free: frozenset[int]
    partial: frozenset[int] = frozenset()
    atomic: frozenset[int] = frozenset()
    breaches: list[Breach] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    ran: dict[Key, Path] = field(default_factory=dict)
    again: set[Key] = field(default_factory=set)

    def reads(self, recorded: Recorded) -> Iterator[tuple[Place, Version]]:
        """What an instance reads from memory."""
        return self.flow.reads(recorded, self.direct.get(recorded.key[0], frozenset()))


class Words:
    """How instances are called, and who made what, by the definitions they are of."""

    def __init__(self, definitions: Mapping[int, Definition]) -> None:
        self.definitions = definitions

    def name(self, key: Key | None) -> str:
        if key is None:
            return "a copy"
        d = self.definitions[key[0]]
        at = ", ".join(f"{x.name}={v}" for x, v in zip(d.dims, key[1], strict=True))
        return f"{d.name}[{at}]"

    def makers(self, versions: set[Version]) -> str:
        return " or ".join(sorted(map(self.maker, versions))) or "nobody (it is not read)"

    def maker(self, version: Version) -> str:
        match version:
            case Written(key=key):
                return self.name(key)
            case Accumulated(serial=serial, base=base, count=count):
                name = self.definitions[serial].name
                return f"{count} instances of {name} after {self.maker(base)}"
            case _:
                return "nobody" if version == NOTHING else "the caller"
