"""The process in which the fuzzer tries random programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .cases import Case
from .process import Say, answer
from .trials import random_case, run


def report(question: dict[str, Any], say: Say) -> dict[str, Any]:
    """The outcome of the case of a seed, or of a given case, as a message."""
    if "seed" in question:
        case, choices = random_case(question["seed"])
    else:
        case, choices = Case.from_dict(question["case"]), None
    outcome = run(case, choices, lambda case: say({"case": case.to_dict()}))
    findings = [asdict(f) for f in outcome.findings]
    return {"case": outcome.case.to_dict(), "findings": findings, "counts": outcome.counts}


if __name__ == "__main__":
    answer(report)
