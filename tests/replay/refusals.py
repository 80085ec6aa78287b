"""A plugin of pytest that writes down every message that a test expects.

    python -P -m pytest -n 2 -p replay.refusals --refusals=build/refusals.jsonl

gives one line a test, in the order of the tests' names, with the texts of the refusals that its
`pytest.raises` met. `run.py --refusals` compares two of these files. Tests that draw their examples
are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import polysched as ps

_texts: list[str] = []
_KEY = "refusals"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refusals", default="refusals.jsonl", help="where messages are written")


def pytest_configure(config: pytest.Config) -> None:
    kind: Any = type(pytest.raises(ps.PolyschedError))
    leave = kind.__exit__

    def leaving(self: Any, exc_type: Any, exc_val: Any, exc_tb: Any) -> Any:
        if isinstance(exc_val, ps.PolyschedError):
            _texts.append(plain(str(exc_val)))
        return leave(self, exc_type, exc_val, exc_tb)

    kind.__exit__ = leaving


def plain(text: str) -> str:
    """A message without the places of files and objects, which move, and the name of the CPU."""
    text = re.sub(r"/\S*?/pytest-of-[^/]+/pytest-\d+/(popen-gw\d+/)?", "TEMPORARY/", text)
    text = re.sub(r"this CPU \([^)]*\)", "this CPU (NAME)", text)
    text = re.sub(r"(?:[^\s:(]*/)?[^\s/:(]+\.py:\d+", "FILE:LINE", text)
    return re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    _texts.clear()
    try:
        yield
    finally:
        drawn = hasattr(getattr(item, "obj", None), "hypothesis")
        item.user_properties.append((_KEY, [] if drawn else list(_texts)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Runs where the reports are collected, also with several workers."""
    if report.when == "call":
        # Where tests are sent out by groups, the name of the group stands behind an "@".
        node = getattr(report, "node", None)
        is_sent = node is not None and node.config.getoption("dist") == "loadgroup"
        test = report.nodeid.rpartition("@")[0] if is_sent else report.nodeid
        _collected[test] = dict(report.user_properties).get(_KEY, [])


_collected: dict[str, Any] = {}


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        return
    found = sorted((k, v) for k, v in _collected.items() if v)
    path = Path(session.config.getoption("--refusals"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"test": k, "texts": v}) + "\n" for k, v in found))
