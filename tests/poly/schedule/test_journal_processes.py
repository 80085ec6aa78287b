"""Journals between processes: what one has proven another one knows, and any number may write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import polysched as ps

from .journals import cache, chain, events, journals, ran

TESTS = Path(__file__).resolve().parents[2]

SCRIPT = """
import json, sys
sys.path.insert(0, {tests!r})
from cache.forbidden import forbid
from poly.schedule.journals import SCRIPTS
if {second}:
    forbid()
found = []
for script in SCRIPTS:
    s = script()
    kernel = s.compile()
    found.append([s.to_json(), s.source(), s.digest, kernel.conditions])
print(json.dumps(found))
"""


@pytest.fixture(autouse=True)
def own_cache() -> Iterator[None]:
    with cache():
        yield


def run(second: bool) -> Any:
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT.format(tests=str(TESTS), second=second)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_second_process_needs_neither_isl_nor_llvms_passes() -> None:
    assert run(second=False) == run(second=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_that_write_at_once_lose_at_most_what_they_know() -> None:
    def script(factor: int) -> ps.Schedule:
        s = ps.Schedule(chain())
        s["f"].split("i", factor)
        s["f"].unroll("ii")
        return s

    ready = [script(k) for k in range(2, 10)]
    children = []
    for s in ready:
        child = os.fork()
        if child == 0:
            try:
                for _ in range(5):
                    for node in s._builder._place.step.path():  # type: ignore[union-attr]
                        node.node.is_new = True
                    s.keep()
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    (root,) = journals()
    kept = [x for x in events(root) if "split" in x]
    assert kept
    for k in range(2, 10):
        known = any(f"'factor': {k}" in x for x in kept)
        assert ran(lambda k=k: script(k)).is_free == known
