"""What a machine can do: estimated, or as it was measured and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import polysched as ps
from polysched.cache import place
from polysched.targets.facts import Measured, load, machine, path_for, save
from polysched.targets.host import default_target, this_machine
from polysched.targets.known import PROCESSORS


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def measured(levels: int | None = None) -> Measured:
    count = len(default_target().caches) + 1 if levels is None else levels
    bandwidth = tuple(1e11 / (k + 1) for k in range(count))
    return Measured("2026-11-25", {"float32": 1.5e11}, bandwidth, 5e-6)


def test_without_measurements_all_is_estimated() -> None:
    m = ps.machine()
    assert m.target == default_target()
    assert m.source == f"estimated for {m.target.name}"
    assert m.peak(ps.float32) == 2 * m.peak(ps.float64) > 1e10
    levels = [m.bandwidth(k) for k in range(1, len(m.target.caches) + 2)]
    assert levels == sorted(levels, reverse=True)
    assert 0 < m.wake < 1e-3


@pytest.mark.parametrize("name", PROCESSORS)
def test_known_machines_are_estimated(name: str) -> None:
    m = machine(name)
    assert m.target.name == name
    assert m.source == f"estimated for {name}"
    assert m.bandwidth(1) > m.bandwidth(9) > 0


def test_units_may_be_narrower_than_registers() -> None:
    wide, split, narrow = (machine(x) for x in ("sapphirerapids", "znver4", "x86-64-v3"))
    assert split.peak(ps.float32) == narrow.peak(ps.float32) == wide.peak(ps.float32) / 2
    assert machine("znver1").peak(ps.float32) == narrow.peak(ps.float32) / 2


def test_what_was_measured_is_kept_and_used() -> None:
    found = measured()
    assert save(default_target(), found) == path_for(default_target())
    m = ps.machine()
    assert m.measured == found
    assert m.source == "measured on 2026-11-25"
    assert (m.peak(ps.float32), m.wake) == (1.5e11, 5e-6)
    assert m.bandwidth(1) == 1e11
    assert m.bandwidth(99) == found.bandwidth[-1]


def test_a_type_that_was_not_measured_is_estimated() -> None:
    before = ps.machine().peak(ps.float64)
    save(default_target(), measured())
    assert ps.machine().peak(ps.float64) == before


def test_it_is_of_this_machine_and_this_target_only() -> None:
    save(default_target(), measured())
    other = "znver3" if this_machine().name != "znver3" else "haswell"
    assert machine(other).measured is None
    assert path_for(machine(other).target) != path_for(default_target())


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"when": 3}', "null", "\x00",
     json.dumps({"when": "x", "peak": {}, "bandwidth": [1.0], "wake": 1.0}),
     json.dumps({"when": "x", "peak": {"float32": "fast"}, "bandwidth": [1.0] * 4, "wake": 1.0}),
     json.dumps({"when": "x", "peak": {}, "bandwidth": [1.0, -1.0, 1.0, 1.0], "wake": 1.0})],
)  # fmt: skip
def test_what_is_damaged_counts_as_not_measured(text: str) -> None:
    save(default_target(), measured())
    path_for(default_target()).write_text(text)
    assert load(default_target()) is None
    assert ps.machine().measured is None


def test_nothing_half_written_is_left(kept: Path) -> None:
    path = save(default_target(), measured())
    save(default_target(), measured())
    assert list(kept.iterdir()) == [path]


@pytest.mark.parametrize(
    ("platform", "variables", "end"),
    [
        ("linux", {"XDG_CACHE_HOME": "/kept"}, "/kept/polysched"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/.cache/polysched"),
        ("linux", {}, "/home/.cache/polysched"),
        ("darwin", {}, "/home/Library/Caches/polysched"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/polysched"),
        ("win32", {}, "/home/polysched"),
    ],
)
def test_where_it_is_kept(
    platform: str, variables: dict[str, str], end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("POLYSCHED_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(place.sys, "platform", platform)
    monkeypatch.setattr(place.Path, "home", lambda: Path("/home"))
    assert str(place.folder()) == end


# refusals ----------------------------------------------------------------------------------------
def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(ps.PolyschedError) as caught:
        save(default_target(), measured())
    assert "what was measured cannot be kept" in str(caught.value)
    assert "POLYSCHED_CACHE_DIR names another folder" in str(caught.value)


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(ps.TargetError, match="pdp11 is no machine"):
        ps.machine("pdp11")
