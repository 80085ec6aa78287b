"""Records the corpus of schedules, or the messages of refusals, and compares with what stands.

    python -P tests/replay/run.py              # replays the corpus; exit status 1 if any differs
    python -P tests/replay/run.py --update     # records digests of the corpus's schedules anew
    python -P tests/replay/run.py --record     # makes the corpus anew, from today's schedules
    python -P tests/replay/run.py --refusals NEW   # compares what replay.refusals wrote with
                                               # refusals.jsonl; with --update, keeps it
    python -P tests/replay/run.py --refusals A B   # compares two of these files

A commit that changes digests or messages says why.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

import polysched as ps  # noqa: E402 (behind the path)
from replay import corpus  # noqa: E402

KEPT = Path(__file__).with_name("refusals.jsonl")
"""The messages that the tests expect, as they were when somebody last looked at all of them."""


def compare(update: bool) -> int:
    """Replays every entry; gives how many differ."""
    kept, changed = [], 0
    for entry in corpus.read():
        try:
            found = corpus.replayed(entry)
        except ps.PolyschedError as error:
            print(f"{entry.name}: refused: {error}")
            kept.append(entry)
            changed += 1
            continue
        what = [f for f in ("loops", "flat") if getattr(found, f) != getattr(entry, f)]
        what += [] if corpus.same_schedule(found, entry) else ["schedule"]
        if what:
            changed += 1
            print(f"{entry.name}: differs in {', '.join(what)}")
        # The text stays: what was written once must be read for ever.
        kept.append(replace(found, schedule=entry.schedule) if update else entry)
    if update:
        corpus.write(kept)
    print(f"{len(kept)} schedules, {changed} differ")
    return 0 if update else changed


def record() -> int:
    """Makes the corpus anew."""
    entries = [corpus.recorded(*found) for found in corpus.schedules()]
    corpus.write(entries)
    print(f"{len(entries)} schedules recorded")
    return 0


def compare_refusals(before: Path, after: Path) -> int:
    """Prints what tests in both files say otherwise; gives how many do."""
    first, second = (
        {line["test"]: line["texts"] for line in map(json.loads, p.read_text().splitlines())}
        for p in (before, after)
    )
    changed = [test for test in first if test in second and first[test] != second[test]]
    for test in changed:
        diff = difflib.unified_diff(*("\n".join(x[test]).splitlines() for x in (first, second)))
        print(test, *list(diff)[2:], sep="\n  ")
    both = first.keys() & second.keys()
    gone, new = first.keys() - both, second.keys() - both
    print(
        f"{len(both)} tests with refusals, {len(changed)} differ; {len(gone)} gone, {len(new)} new"
    )
    return len(changed)


def main() -> int:
    os.environ["POLYSCHED_CACHE"] = "0"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="keep what has changed")
    parser.add_argument("--record", action="store_true", help="make the corpus anew")
    parser.add_argument("--refusals", nargs="+", type=Path, help="one or two files to compare")
    given = parser.parse_args()
    if given.refusals:
        if len(given.refusals) > 2:
            parser.error("--refusals compares two files, or one with the recorded one")
        before, after = [KEPT, *given.refusals][-2:]
        changed = compare_refusals(before, after)
        if given.update:
            KEPT.write_text(after.read_text())
        return 0 if given.update else min(1, changed)
    return min(1, record() if given.record else compare(given.update))


if __name__ == "__main__":
    sys.exit(main())
