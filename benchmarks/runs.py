"""`Run`: what a table of calls holds, and how it is kept: a file for each processor, level of
instructions and number of threads, `results/<processor>/<level>-threads-<n>.json`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from case import OURS, Case
from measure import Measured
from peak import Peak
from setting import Setting

from polysched.targets.host import this_machine

RESULTS = Path(__file__).resolve().parent / "results"
#: So much of a ratio is noise.
NOISE = 0.05


@dataclass(slots=True)
class Line:
    """A case, and what came out for each implementation of it.

    Attributes:
        flops: operations as they are written down, of type `dtype`.
        nbytes: of the arguments and results together.
        found: by peer, ours as `polysched`.
    """

    name: str
    group: str
    size: str
    flops: float
    dtype: str
    nbytes: float
    found: dict[str, Measured]

    @property
    def ours(self) -> Measured:
        return self.found["polysched"]

    @property
    def best_peer(self) -> Measured | None:
        peers = [m for peer, m in self.found.items() if m.times and peer not in OURS]
        return min(peers, key=lambda m: m.best, default=None)

    @property
    def ratio(self) -> float | None:
        """The best peer's time over ours: above 1, ours is faster."""
        peer = self.best_peer
        return peer.best / self.ours.best if peer and self.ours.times else None

    @property
    def median_ratio(self) -> float | None:
        peer = self.best_peer
        return peer.median / self.ours.median if peer and self.ours.times else None

    def over_auto(self, peer: str | None) -> float | None:
        """The time of an implementation, or of the best peer, over that of our schedule that is
        found."""
        auto = self.found.get("auto")
        other = self.best_peer if peer is None else self.found.get(peer)
        there = auto is not None and other is not None and auto.times and other.times
        return other.best / auto.best if there and auto and other else None

    def share(self, peak: Peak, measured: Measured | None) -> float | None:
        """Of what this machine can do at most."""
        if measured is None or not measured.times:
            return None
        return peak.seconds(self.flops, self.dtype, self.nbytes) / measured.best

    def joined(self, other: Line) -> Line:
        """Of two measurements of a case, all times."""
        for peer, more in other.found.items():
            known = self.found.get(peer)
            if known is not None and known.times and more.times:
                more.times += known.times
                more.medians += known.medians
        return other


def line_of(case: Case, found: Iterable[Measured]) -> Line:
    """Of the ways to start a peer, the faster one; and of failures, one that is no success."""
    best: dict[str, Measured] = {}
    for m in found:
        other = best.get(m.peer)
        if other is None or not other.times or (m.times and m.best < other.best):
            best[m.peer] = m
    nbytes = max((m.nbytes for m in best.values()), default=0.0)
    flops = case.flops(**case.sizes)
    return Line(case.name, case.group, case.size, flops, case.dtype, nbytes, best)


@dataclass(slots=True)
class Run:
    """The lines of a table, and where and how they were measured."""

    setting: Setting
    processor: str
    system: str
    peak: Peak
    lines: list[Line] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return path_of(self.processor, self.setting)

    @property
    def versions(self) -> dict[str, str]:
        """Of each peer that has times."""
        found = (m for line in self.lines for m in line.found.values() if m.version)
        return {m.peer: m.version for m in found}

    @property
    def missing(self) -> dict[str, str]:
        """The peers that cannot be imported, and why."""
        found = (m for line in self.lines for m in line.found.values() if m.missing)
        return {m.peer: m.problem for m in found}

    def line(self, name: str) -> Line | None:
        return next((line for line in self.lines if line.name == name), None)

    def save(self, order: Sequence[str]) -> Path:
        """Keeps it, with the lines of the run kept before that were not measured anew, or were
        measured beside more peers: their shares are of the same peak."""
        kept = load(self.path)
        if kept is not None:
            self.peak = self.peak.or_more(kept.peak)
        lines = {line.name: line for line in (kept.lines if kept else ())}
        for line in self.lines:
            if line.name not in lines or line.found.keys() >= lines[line.name].found.keys():
                lines[line.name] = line
        self.lines = [lines[name] for name in order if name in lines]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(_plain(self), indent=1) + "\n")
        return self.path


def path_of(processor: str, setting: Setting) -> Path:
    return RESULTS / processor / f"{setting.level}-threads-{setting.threads}.json"


def processor() -> str:
    return this_machine().name


def system() -> str:
    return ", ".join(
        [f"{os.cpu_count()} cores", platform.system(), f"Python {platform.python_version()}"]
    )


# as text ----------------------------------------------------------------------------------------
def _plain(run: Run) -> dict[str, Any]:
    """With the best time and the median of each implementation alone, in four digits."""
    plain = asdict(run)
    for line in plain["lines"]:
        for measured in line["found"].values():
            times, medians = measured["times"], measured["medians"]
            if times:
                measured["times"] = [_short(min(times))]
                measured["medians"] = [_short(sorted(medians)[len(medians) // 2])]
            for name in ("error", "prepare"):
                measured[name] = _short(measured[name])
    return plain


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _from_plain(plain: dict[str, Any]) -> Run:
    lines = [
        Line(**line | {"found": {k: Measured(**m) for k, m in line["found"].items()}})
        for line in plain["lines"]
    ]
    setting, peak = Setting(**plain["setting"]), Peak(**plain["peak"])
    return Run(setting, plain["processor"], plain["system"], peak, lines)


def load(path: Path) -> Run | None:
    """A run that was kept; None where there is none."""
    return _from_plain(json.loads(path.read_text())) if path.exists() else None


def committed(path: Path) -> Run | None:
    """The run that was committed last; None where there is none, or no git."""
    command = ["git", "show", f"HEAD:./{path.name}"]
    if not path.parent.is_dir():
        return None
    try:
        done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return _from_plain(json.loads(done.stdout)) if done.returncode == 0 else None


def has_fallen(line: Line, before: Run | None) -> bool:
    """Whether the ratio to the best peer is further below that of a run before than noise is."""
    known = before.line(line.name) if before is not None else None
    if known is None or known.ratio is None or line.ratio is None:
        return False
    return line.ratio < (1 - NOISE) * known.ratio
