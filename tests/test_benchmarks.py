"""The cases of the benchmarks: each schedule is accepted, and its kernel right at small sizes."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import compiling
import growing
import measure
import numpy as np
import pages
import pytest
import report
import runs
import setting
from case import OURS, Case
from cases import CASES, GROUPS, find
from limits import FAST, GOALS, LIMITS, behind
from measure import Measured, race
from peak import Peak
from peers import environments
from peers.polysched import implementation
from ranking import Ranking
from report import measured_line, row, summary
from runs import Line, Run, committed, has_fallen, line_of, load
from scheduling import FAMILIES, operations
from setting import Setting, level_of

from polysched.targets.host import this_machine

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
PEERS = BENCHMARKS / "peers"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_results(case: Case) -> None:
    arguments = case.arguments(case.tiny)
    wanted = case.reference(**arguments)
    copies = {k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    assert case.error(implementation(case)(**copies)(), wanted) <= case.tolerance


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_peers_are_there(case: Case) -> None:
    """Each peer that a case names has a module with its kernel; none is imported here."""
    for peer in case.peers.split():
        source = (PEERS / f"{peer}.py").read_text()
        assert f"def {case.kernel}(" in source, peer
    assert case.flops(**case.sizes) > 0
    assert set(case.sizes) == set(case.tiny)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_implementation_is_there(case: Case) -> None:
    """Ours twice, then the peers, each with what finds schedules or compiles for it."""
    found = case.implementations
    assert found[:2] == OURS
    assert [x for x in found if x in case.peers.split()] == case.peers.split()
    for peer in found:
        source = (PEERS / f"{peer}.py").read_text()
        assert f"def {case.kernel}(" in source or "implementation" in source, peer


def test_some_peers_alone() -> None:
    """Ours by hand is always there, and all peers are where none is named."""
    case = find("sgemm 1024")
    some = replace(case, beside=frozenset({"halide", "torch", "gcc"}))
    assert some.implementations == ("polysched", "torch", "halide")
    assert set(some.implementations) < set(case.implementations)


def test_schedules_that_are_found_are_compared_apart() -> None:
    """They are no peers of the schedules by hand."""
    found = {x: _measured(x, s) for x, s in [("polysched", 2.0), ("auto", 1.0), ("adams", 3.0)]}
    line = Line("f", "images", "", 1.0, "f32", 1.0, found)
    assert line.ratio == 1.5
    assert line.over_auto(None) == 3.0
    assert line.over_auto("polysched") == 2.0
    assert line.over_auto("halide") is None


def test_rankings() -> None:
    """Expected and taken: the chosen schedule first, the loops as written last."""
    good, bad = Ranking("f", (1, 2, 3), (0.1, 0.2, 0.4)), Ranking("f", (1, 2, 3), (4, 2, 1))
    assert (good.correlation, good.choice, good.gain) == (1, 1, pytest.approx(4))
    assert (bad.correlation, bad.choice, bad.gain) == (-1, 0.25, 0.25)
    assert Ranking("f", (1, 1), (1, 2)).correlation is None


def test_names() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert find(CASES[-1].name) is CASES[-1]
    assert list(dict.fromkeys(case.group for case in CASES)) == list(GROUPS)


def test_error() -> None:
    """It is infinite where there is nothing to compare."""
    case, ones = CASES[0], np.ones(3)
    assert case.error(ones, ones) == 0
    assert case.error(ones[:2], ones) == np.inf
    assert case.error(ones * np.nan, ones) == np.inf
    assert case.error(ones * 1.5, 2 * ones) == 0.25


# what is printed and kept -------------------------------------------------------------------------
NATIVE = Setting(1, level_of(this_machine()))
FORCED = Setting(1, "x86-64-v3")
PEAK = Peak(1, {"f32": 2.0**33, "f64": 2.0**32}, bandwidth=1e9)


def _measured(peer: str, seconds: float, variant: str = "") -> Measured:
    return Measured(peer, variant, version="1.0", times=[seconds, 9.0], medians=[seconds])


def _line(ours: float = 0.5, peer: float = 0.25, name: str = "sgemm 1024") -> Line:
    found = [_measured("polysched", ours), _measured("numpy", peer, "SkylakeX")]
    found += [
        Measured("torch", problem="not here", missing=True),
        Measured("halide", problem="WRONG"),
    ]
    return line_of(find(name), found)


def _run(*lines: Line, how: Setting = NATIVE) -> Run:
    return Run(how, "znver9", "2 cores", PEAK, list(lines))


def test_row() -> None:
    """Of 2^31 multiply-adds, which take a quarter of a second at least."""
    line = _line()
    assert line.ratio == 0.5
    assert row(line, PEAK).split()[-4:] == ["0.500x", "0.500x", "50%", "100%"]


def test_a_run_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that are measured anew replace those kept before, and others stay."""
    monkeypatch.setattr(runs, "RESULTS", tmp_path)
    names = [case.name for case in CASES]
    path = _run(_line(0.5), _line(1.0, name="blur")).save(names)
    assert path == tmp_path / "znver9" / f"{NATIVE.level}-threads-1.json"
    _run(_line(0.125)).save(names)
    kept = load(path)
    assert kept is not None
    assert [(line.name, line.group, line.ratio) for line in kept.lines] == [
        ("sgemm 1024", "products", 2.0),
        ("blur", "images", 0.25),
    ]
    assert kept.setting == NATIVE
    assert kept.peak == PEAK
    assert kept.missing == {"torch": "not here"}
    assert kept.versions == {"polysched": "1.0", "numpy": "1.0"}


def test_a_case_beside_fewer_peers_is_not_kept_for_one_beside_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "RESULTS", tmp_path)
    names = [case.name for case in CASES]
    path = _run(_line(0.5)).save(names)
    alone = line_of(find("sgemm 1024"), [_measured("polysched", 0.25), _measured("numpy", 1.0)])
    _run(alone, _line(1.0, name="blur")).save(names)
    kept = load(path)
    assert kept is not None
    assert [(line.name, line.ours.best) for line in kept.lines] == [
        ("sgemm 1024", 0.5),
        ("blur", 1.0),
    ]


@pytest.mark.slow
def test_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each processor, and one with all their means."""
    monkeypatch.setattr(runs, "RESULTS", tmp_path)
    names = [case.name for case in CASES]
    for how in (NATIVE, Setting(2, FORCED.level)):
        _run(_line(0.25), _line(1.0, name="blur"), how=how).save(names)
    overview, page = (path.read_text() for path in pages.main(tmp_path))
    assert page.count("| 250 (250) | *250 (250) | missing | failed | 1.00 | 1.00 | 100% |") == 2
    assert f"## {FORCED.level}, 2 thread(s)" in page
    assert "torch is missing: not here." in page
    assert "Not measured: auto, inductor, mullapudi, adams, numba, gcc, scipy." in page
    assert page.count("* blur: 0.25, where 0.9 is the goal. ") == 2
    assert f"| {FORCED.level} | 2 | 1.00 | 0.25 | 0.50 | 1 of 2 | blur (0.250) |" in overview
    assert len(list((tmp_path / "znver9").glob("*.svg"))) == 2


def test_what_limits_cases_below_their_goals() -> None:
    """Products have a higher goal; each limit is of a case that there is."""
    lines = [
        _line(0.25, 0.24), _line(0.25, 0.24, name="LU"), _line(0.5, name="layer norm"),
        _line(0.5, name="blur"), _line(0.25, name="GELU with bias, fast"),
        _line(0.2, name="softmax, fast"),
    ]  # fmt: skip
    product, norm, blur, fast = behind(lines)
    assert product.startswith("sgemm 1024: 0.96, where 0.97 is the goal.")
    assert norm.startswith("layer norm: 0.50, where 0.9 is the goal. It reads and writes each")
    assert blur == "blur: 0.50, where 0.9 is the goal. What limits it is not known yet."
    assert fast.startswith("GELU with bias, fast: 1.00, where 1.1 is the goal. It reads and writes")
    assert {*LIMITS, *FAST} <= {case.name for case in CASES}
    assert {*GOALS} <= {*GROUPS}


def test_what_limits_all_cases_together() -> None:
    """The peer of the first is at its peak. Nothing is said where the goals are reached."""
    (said,) = pages.together(_run(_line(0.25, 0.25), _line(0.5, name="blur")))
    assert said.startswith("all but narrow: 0.71 in the geometric mean, where 1.2 is the goal")
    assert "ahead in 1, where 2 of 2 is. In 1 of them" in said
    assert not list(pages.together(_run(_line(0.2), _line(0.2, name="blur"))))
    assert not list(pages.together(_run(_line(0.5, name="mean f16"))))


def test_means_of_groups() -> None:
    lines = [_line(0.25), _line(1.0, name="sgemm 256"), _line(0.125, name="blur")]
    products, images, everything = summary(lines)
    assert products.startswith("products    0.50x")
    assert "the worst is sgemm 256, 0.250x" in products
    assert images.startswith("images      2.00x")
    assert everything == "ahead of the best peer in 2 of 3 cases; geometric mean 0.79x"
    assert list(summary([])) == ["no case has times of ours and of a peer"]


@pytest.mark.parametrize(
    ("seconds", "falls", "measured"),
    [
        ([0.52], False, 1),  # noise
        ([0.6, 0.5], False, 2),  # once
        ([0.6, 0.7, 0.55], True, 3),
        ([0.6, 0.7, 0.5], False, 3),
    ],
)
def test_a_ratio_has_fallen_if_it_has_three_times(
    seconds: list[float], falls: bool, measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [[_measured("polysched", s), _measured("numpy", 0.25)] for s in seconds]
    monkeypatch.setattr(report, "race", lambda *_: left.pop(0))
    line, found = measured_line(find("sgemm 1024"), NATIVE, _run(_line(0.5)), {})
    assert found is falls
    assert not left
    assert line.ours.best == min(seconds)
    assert len(line.ours.times) == 2 * measured


def test_nothing_has_fallen_that_was_not_there() -> None:
    assert not has_fallen(_line(100.0), None)
    assert not has_fallen(_line(100.0), _run(_line(1.0, name="blur")))


def test_the_run_that_was_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what was kept since then."""
    monkeypatch.setattr(runs, "RESULTS", tmp_path)
    names = [case.name for case in CASES]
    path = _run(_line(0.5)).save(names)
    assert committed(path) is None
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    _run(_line(0.25)).save(names)
    before = committed(path)
    assert before is not None
    assert [line.ratio for line in before.lines] == [0.5]
    assert committed(path.with_name("other.json")) is None


# how peers are started ----------------------------------------------------------------------------
def test_ways_to_start_a_peer() -> None:
    """The faster one counts, and a time more than a failure."""
    failed, slow, fast = Measured("numpy"), _measured("numpy", 2.0), _measured("numpy", 1.0, "told")
    for found in ([slow, failed, fast], [fast, slow], [failed, fast]):
        assert line_of(CASES[0], found).found == {"numpy": fast}
    wide = Setting(1, "x86-64-v4")
    assert list(environments("numpy", "matmul", wide)) == ["", "SkylakeX"]
    assert list(environments("numpy", "blur", wide)) == [""]
    assert list(environments("numpy", "matmul", FORCED)) == [""]


def test_everything_is_told_to_leave_avx512_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = replace(this_machine(), vector_bytes=64)
    monkeypatch.setattr(setting, "this_machine", lambda: machine)
    told = FORCED.environment({})
    assert FORCED.forced
    assert "AVX-512" in str(FORCED)
    assert FORCED.vector_bytes == 32
    assert told.keys() - Setting(1, "x86-64-v4").environment({}).keys() == {
        *setting.WITHOUT_AVX512,
        "NPY_DISABLE_CPU_FEATURES",
    }
    assert {told[name] for name in setting.THREADS} == {"1"}


def test_what_was_said_before_counts_no_more() -> None:
    usual = {"OPENBLAS_CORETYPE": "Prescott", "POLYSCHED_TARGET": "v3", "OMP_NUM_THREADS": "7"}
    given = NATIVE.environment(usual | {"HOME": "/home"})
    assert given["HOME"] == "/home"
    assert given["OMP_NUM_THREADS"] == "1"
    assert "OPENBLAS_CORETYPE" not in given
    assert "POLYSCHED_TARGET" not in given


@pytest.mark.slow
def test_ours_and_numpy_leave_avx512_alone() -> None:
    """What is told has an effect."""
    asked = """
from numpy._core._multiarray_umath import __cpu_features__ as has
from polysched.targets.host import default_target
from setting import wide_in_numpy
assert default_target().vector_bytes == 32
print(*wide_in_numpy())"""
    given = FORCED.environment(os.environ) | {"PYTHONPATH": str(BENCHMARKS)}
    command = [sys.executable, "-P", "-c", asked]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    "words", [["--target", "v9"], ["--threads", "0"], ["--group", "x"], ["--peers", "fortran"]]
)
def test_what_cannot_be_measured(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for changed in ("OPENBLAS_NUM_THREADS", "POLYSCHED_CACHE"):  # for its own process
        monkeypatch.setenv(changed, os.environ.get(changed, "1"))
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(BENCHMARKS / "run.py"), run_name="__main__")
    assert ended.value.code == 2
    assert words[1] in capsys.readouterr().err


@pytest.mark.slow
def test_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours against a peer that is not there: no compiler is on the path."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(measure, "ROUNDS", 2)  # how long it takes is not what is tested
    missing: dict[str, str] = {}
    case = replace(find("histogram"), peers="gcc")
    for _ in range(2):
        ours, auto, gcc = race(case, NATIVE, missing)
        assert gcc.missing
        assert gcc.problem == "there is no gcc on the path"
    assert missing == {"gcc": gcc.problem}
    for measured in (ours, auto):
        assert not measured.problem
        assert 0 < measured.best <= measured.median
        assert measured.error == 0


# directives --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "few", "many"),
    [
        pytest.param("convolutions", 4, 8, marks=pytest.mark.slow),
        ("sums in a chain", 10, 40),
    ],
)
def test_a_directive_costs_what_it_changes(name: str, few: int, many: int) -> None:
    """However many stages there are that it does not touch. Counted, for the part in the middle."""
    family = next(f for f in FAMILIES if f.name == name)
    # What isl was asked before changes some of its counts by half a per cent.
    fewest = {parts: min(operations(family, parts) for _ in range(3)) for parts in (few, many)}
    assert fewest[many] < 1.03 * fewest[few]


@pytest.mark.slow
def test_layers_of_an_encoder_cost_what_they_change() -> None:
    """What two layers more cost: half of 700,000, which two layers alone may cost with all that
    does not depend on how many there are."""
    family = next(f for f in FAMILIES if f.name == "encoder layers")
    few, many = operations(family, 2), operations(family, 4)
    assert few < 700_000
    assert many - few < 350_000


def test_what_takes_long_to_compile_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiling, "TIMES", 1)
    monkeypatch.setattr(compiling, "SCHEDULED_LIMITS", {"GELU with bias, fast": 0.0})
    monkeypatch.setattr(compiling, "SCHEDULED_LIMIT", 1e9)
    cases = [find("GELU with bias"), find("GELU with bias, fast")]
    assert list(compiling.scheduled_table(cases)) == [True, False]
    assert list(compiling.scheduled_table([])) == []
    first, second = capsys.readouterr().out.splitlines()[2:4]
    assert "TOO SLOW" not in first
    assert "TOO SLOW: the limit is 0.0 s" in second


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks C's allocator of Linux")
def test_what_stays_in_memory_can_be_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(growing, "WARM", 1)
    monkeypatch.setattr(growing, "COUNT", 1)
    assert list(growing.memory_table())
    shown = capsys.readouterr().out
    assert "pass builders" in shown
    assert "operations of islpy" in shown
