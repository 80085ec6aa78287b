"""The files that profiles write for Perfetto: by the Trace Event Format, whose fields these are."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from polysched.show.profile.profile import Profile, Span

SPANS = (
    Span(0, 0.0, 1e-3, "waiting"),
    Span(0, 1e-3, 3e-3, "across + down"),
    Span(1, 1.5e-3, 2.5e-3, "f\u00fcr <x>"),
)


def profile(spans: tuple[Span, ...] = SPANS) -> Profile:
    return Profile(
        "f(x)", 3e-3, 3e-3, 3e-3, 1, 3e-3, 0.0, 3e-3, (), (), 2, 1.0, spans, None, 1.0, "", 0, 0.0
    )


@pytest.fixture
def trace(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(profile().trace(tmp_path / "t.json").read_bytes())
    return found


FIELDS: dict[str, dict[str, Any]] = {
    "M": {"args": dict},
    "X": {"cat": str, "ts": (int, float), "dur": (int, float)},
}
"""What an event has by its phase, beside those that all have."""

ALL = {"ph": str, "name": str, "pid": int, "tid": int}
METADATA = {"process_name": ("name", str), "thread_name": ("name", str)} | {
    "thread_sort_index": ("sort_index", int)
}


def test_each_event_has_the_fields_of_its_phase(trace: dict[str, Any]) -> None:
    assert trace["displayTimeUnit"] in ("ms", "ns")
    for event in trace["traceEvents"]:
        fields = ALL | FIELDS[event["ph"]]
        assert event.keys() == fields.keys()
        assert all(isinstance(event[key], kind) for key, kind in fields.items())
        if event["ph"] == "M":
            key, kind = METADATA[event["name"]]
            ((only, value),) = event["args"].items()
            assert only == key
            assert isinstance(value, kind)


def test_the_process_and_each_thread_have_names(trace: dict[str, Any]) -> None:
    found = [e for e in trace["traceEvents"] if e["ph"] == "M"]
    names = {(e["name"], e["tid"]): e["args"].get("name") for e in found}
    assert names["process_name", 0] == "f(x)"
    assert [names["thread_name", k] for k in range(2)] == ["caller", "worker 1"]


def test_spans_are_in_microseconds_on_the_tracks_of_their_threads(trace: dict[str, Any]) -> None:
    found = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    wanted = [(s.thread, s.what, s.start * 1e6, (s.end - s.start) * 1e6) for s in SPANS]
    assert [(e["tid"], e["name"], e["ts"], e["dur"]) for e in found] == wanted
    for a, b in pairwise(found):  # those of one track must not overlap
        assert a["tid"] != b["tid"] or a["ts"] + a["dur"] <= b["ts"]


def test_what_json_does_not_know_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        profile((Span(0, 0.0, float("nan"), "f"),)).trace(tmp_path / "t.json")
    assert not (tmp_path / "t.json").exists()


def test_a_folder_that_there_is_not_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        OSError, match=r"the trace cannot be .*none/t\.json: no such file"
    ) as raised:
        profile().trace(tmp_path / "none" / "t.json")
    assert "name a file in a folder that there is" in str(raised.value)
