"""What was found for bare calls, on disk: by program, target, sizes, threads and machine.

Another process then neither searches nor proves. It begins with the best that was found, also with
what was looked for after many calls.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..cache import keys, store
from ..cache.place import is_on
from ..records import dataclass
from ..targets.facts import machine
from ..targets.target import Target

PLAN = "plan"


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """What calls of about the same sizes run.

    Attributes:
        text: the schedule, as `Schedule.written` gives it; None for the loops as written.
        pays_after: as of `auto.ForCalls`.
        digest: of the schedule.
    """

    text: str | None
    pays_after: int | None
    digest: str | None = None


def plan_key(
    digest: str | None, target: Target, threads: int, sizes: Mapping[str, int]
) -> str | None:
    """The key of what is found for calls; None where nothing is kept.

    Args:
        digest: of the program's default schedule.
        threads: how many a call shall use.
        sizes: what those of a call count as.
    """
    if digest is None or not is_on():
        return None
    measured = machine(target).measured
    known = None if measured is None else json.dumps(asdict(measured), sort_keys=True)
    named = tuple(sorted(sizes.items()))
    return keys.key_of(PLAN, digest, target.digest, threads, named, known)


def read_plan(key: str | None) -> StoredPlan | None:
    """What is kept under a key; None where nothing is."""
    entry = None if key is None else store.read(PLAN, key)
    if key is None or entry is None:
        return None
    found = _plan(entry.header)
    if found is None:
        store.remove(PLAN, key)
    return found


def keep_plan(key: str | None, plan: StoredPlan) -> None:
    """Keeps what was found, in place of what there was."""
    if key is not None and keys.is_current():
        store.write(PLAN, key, asdict(plan))


def _plan(header: Mapping[str, Any]) -> StoredPlan | None:
    match header:
        case {
            "text": str() | None as text,
            "pays_after": int() | None as pays_after,
            "digest": str() | None as digest,
        }:
            if pays_after is None or (pays_after >= 1 and not isinstance(pays_after, bool)):
                return StoredPlan(text, pays_after, digest)
    return None
