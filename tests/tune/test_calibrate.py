"""The facts of a machine, measured: what is counted, not how fast that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polysched as ps
from polysched.__main__ import main
from polysched.codegen.runtime.pool import INLINE
from polysched.targets.known import named
from polysched.targets.target import Cache
from polysched.tune import calibrate


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures badly, and soon."""
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(calibrate, "SECONDS", 1e-5)
    monkeypatch.setattr(calibrate, "TRIES", 2)
    monkeypatch.setattr(calibrate, "BEYOND", 0.01)


@pytest.mark.slow
def test_what_it_finds_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate"]) == 0
    shown = capsys.readouterr().out
    m = ps.machine()
    assert m.measured is not None
    assert m.source in (f"measured on {m.measured.when}",)
    assert set(m.measured.peak) == {"float32", "float64"}
    assert min(*m.measured.peak.values(), *m.measured.bandwidth, m.wake) > 0
    assert f"{m.peak(ps.float32) / 1e9:.0f} GFLOP/s a core in float32" in shown
    assert "of memory" in shown
    assert main(["info"]) == 0
    assert m.source in capsys.readouterr().out


def test_threads_are_asked_for_what_wakes_them() -> None:
    """A loop of little work runs on one thread, and would say that waking others takes no time."""
    kernel = calibrate.wake_kernel(ps.machine().target)
    kernel(steps=calibrate.BUSY, out=np.zeros(calibrate.EACH, np.float32))
    (variant,) = kernel._variants.values()
    assert variant.time({"n": calibrate.EACH, "steps": calibrate.BUSY}) > INLINE


def test_a_clock_that_changes_is_no_time_to_wake(monkeypatch: pytest.MonkeyPatch) -> None:
    """All takes ten times as long at first; threads take 5 more than their share, later 5 again."""
    count = max(2, calibrate.get_num_threads())
    shares = iter([50 * count + 5, 50 * count * count] * 3 + [5 * count + 5, 5 * count * count] * 5)
    monkeypatch.setattr(calibrate, "_seconds", lambda *_: float(next(shares)))
    assert calibrate._wake(ps.machine().target) == 5


def test_it_reads_one_half_of_each_cache_and_more_than_the_last() -> None:
    target = named("znver4")
    sets = dict(calibrate._working_sets(target))
    assert sets["cache 1"] == 16 << 10
    assert sets["cache 2"] == 512 << 10
    assert sets["cache 3"] == 2 << 20
    assert list(sets) == ["cache 1", "cache 2", "cache 3", "memory"]


def test_a_small_share_of_a_cache_is_still_read_from_it() -> None:
    """Not from the cache before it."""
    caches = (Cache(1, 32 << 10, 8), Cache(2, 1 << 20, 16), Cache(3, 16 << 20, 16, shared_by=64))
    target = replace(named("v4"), caches=caches)
    assert dict(calibrate._working_sets(target))["cache 3"] == 2 << 20


@pytest.mark.skipif(ps.machine().target.arch != "x86_64", reason="reads x86 assembly")
def test_the_loop_of_the_peak_touches_no_memory() -> None:
    """Twelve multiply-adds in registers are all that a step does."""
    lines = calibrate.peak_kernel(ps.machine().target, ps.float32).asm.splitlines()
    multiplied = [x for x in lines if "vfmadd" in x and "ps" in x and "(" not in x]
    assert len(multiplied) >= calibrate.CHAINS
    first, last = lines.index(multiplied[0]), lines.index(multiplied[calibrate.CHAINS - 1])
    assert not [x for x in lines[first : last + 1] if "(" in x]
