"""Cases of the fuzzer: programs with directives, and the outcomes of trying them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, field
from typing import Any

from ..records import dataclass

SIZES = ({"n": 3, "m": 4}, {"n": 5, "m": 2}, {"n": 1, "m": 3}, {"n": 0, "m": 2}, {"n": 7, "m": 6})
"""The sizes at which accepted schedules are checked."""


@dataclass(frozen=True)
class Case:
    """A program, the directives given one after the other, and whether the schedule begins with the
    default directives."""

    source: str
    outputs: tuple[str, ...]
    directives: tuple[str, ...]
    default: bool = False
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Case:
        """The case that `to_dict` turned into a dict, which may have passed through JSON."""
        return cls(
            d["source"], tuple(d["outputs"]), tuple(d["directives"]), d["default"], d["seed"]
        )

    def listing(self) -> str:
        """The case as the text of a Python file."""
        outputs = ", ".join(self.outputs)
        made = "ps.Schedule.default" if self.default else "ps.Schedule"
        return "\n".join(["import numpy as np", "", "import polysched as ps", "", self.source,
                          f"s = {made}(({outputs},))", *self.directives, ""])  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """A failure: its kind, the directive at which it was found, and a description."""

    kind: str
    directive: str
    text: str

    @property
    def name(self) -> str:
        """The name of the directive."""
        return directive_name(self.directive)

    @property
    def signature(self) -> str:
        """A key that findings of one cause usually share: the kind and the directive."""
        return f"{self.kind}: {self.name}"


@dataclass
class Outcome:
    """The outcome of a case; `case` has all directives, including those that were drawn."""

    case: Case
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def found(self, kind: str, directive: str, text: str) -> None:
        """Adds a finding."""
        self.findings.append(Finding(kind, directive, text))


def directive_name(text: str) -> str:
    """The name of the directive in the text of its call."""
    return text.partition("].")[2].partition("(")[0]
