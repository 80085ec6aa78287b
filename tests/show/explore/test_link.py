"""The process that tries candidates hangs, dies, or says nonsense, and explorers go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import polysched as ps
from polysched.show.explore import explorer as explorers, link as links
from polysched.show.explore.explorer import MOST_LOSSES, Explorer
from polysched.show.explore.link import Link

PATIENCE = 60.0
PLANTED = """
import os, signal
from polysched.show.explore import worker
real = worker.tried
def tried(move, schedule):
    if move.name == "unroll":
        {fault}
    return real(move, schedule)
worker.tried = tried
worker.main()
"""


def vector(name: str = "f") -> ps.Func:
    n, i = ps.size("n"), ps.Var("i")
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func(name, (n,))
    f[i] = x[i] + 1
    return f


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], Explorer]]:
    """Makes explorers whose processes have a fault."""
    made: list[Explorer] = []

    def explorer(fault: str) -> Explorer:
        (tmp_path / "planted_worker.py").write_text(PLANTED.format(fault=fault))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(explorers, "Link", partial(Link, module="planted_worker"))
        made.append(Explorer(ps.Schedule(vector())))
        return made[-1]

    yield explorer
    for each in made:
        each.close()


def kinds(explorer: Explorer) -> set[str]:
    return {kind for kind, _ in explorer.view()["verdicts"]}


def awaited(holds: Callable[[], bool]) -> None:
    """Looks until something holds."""
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if holds():
            return
        pause.wait(0.02)
    raise AssertionError("it never held")


@pytest.mark.slow
def test_a_process_that_hangs_is_ended_by_the_next_click(
    opened: Callable[[str], Explorer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(links, "GRACE", 0.2)
    hangs = tmp_path / "hangs"
    e = opened(f"while len(schedule['f'].loops) == 1: open({str(hangs)!r}, 'w').close()")
    awaited(hangs.exists)
    hung = e._link._process
    assert hung is not None
    text = "s[\"f\"].split('i', 4)"
    (index,) = (k for k, row in enumerate(e.view()["moves"]) if row[3] == text)
    assert e.answer({"revision": 1, "do": "choose", "index": index})
    assert e.wait(PATIENCE)
    assert hung.poll() == -signal.SIGKILL
    assert "pending" not in kinds(e)
    assert "unknown" not in kinds(e)


@pytest.mark.slow
def test_a_candidate_that_ends_the_process_leaves_the_others_to_another_one(
    opened: Callable[[str], Explorer],
) -> None:
    fault = "if len(move.args) == 1: os.kill(os.getpid(), signal.SIGKILL)"
    e = opened(fault)
    before = e.schedule.written
    assert e.wait(PATIENCE)
    view = e.view()
    unknown = {
        move[3] for move, (kind, _) in zip(view["moves"], view["verdicts"], strict=True)
        if kind == "unknown"
    }  # fmt: skip
    assert unknown == {"s[\"f\"].unroll('i')"}
    assert "killed by signal 9" in view["note"]
    assert e.schedule.written == before


@pytest.mark.slow
def test_a_fault_of_one_candidate_is_said_of_that_one(
    opened: Callable[[str], Explorer],
) -> None:
    e = opened("raise KeyError('oops')")
    assert e.wait(PATIENCE)
    view = e.view()
    wrong = [why for kind, why in view["verdicts"] if kind == "unknown"]
    assert wrong
    assert set(wrong) == {"KeyError: 'oops'"}
    assert "legal" in kinds(e)


@pytest.mark.slow
def test_a_process_that_always_ends_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "planted_start.py").write_text("raise SystemExit(7)")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(explorers, "Link", partial(Link, module="planted_start"))
    e = Explorer(ps.Schedule(vector()))
    try:
        assert e.wait(PATIENCE)
        assert e._losses == MOST_LOSSES + 1
        assert "exit code 7" in e.view()["note"]
        assert kinds(e) == {"unknown"}
    finally:
        e.close()


@pytest.mark.slow
def test_what_cannot_be_imported_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explorers, "_modules", lambda functions: ["no_such_module_anywhere"])
    e = Explorer(ps.Schedule(vector()))
    try:
        assert e.wait(PATIENCE)
        assert "No module named 'no_such_module_anywhere'" in e.view()["note"]
    finally:
        e.close()


def heard(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> Any:
    """A link to a process that runs `code`; what it says; and an event of its end."""
    (tmp_path / f"{module}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    said: list[dict[str, Any]] = []
    ended = threading.Event()

    def hear(message: dict[str, Any]) -> None:
        said.append(message)
        if "lost" in message:
            ended.set()

    return Link({}, hear, module), said, ended


def test_half_a_line_is_the_end_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os, time\nos.write(1, b'{\"index\": 0')\nos.kill(os.getpid(), 9)\n"
    link, said, ended = heard("planted_half", tmp_path, monkeypatch, code)
    link.ask({"revision": 1})
    assert ended.wait(PATIENCE)
    assert "killed by signal 9" in said[-1]["lost"]


def test_who_asks_never_waits_for_a_process_that_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, said, _ = heard("planted_deaf", tmp_path, monkeypatch, "import time\ntime.sleep(600)\n")
    done = threading.Event()

    def ask() -> None:
        for k in range(3):
            link.ask({"revision": k, "schedule": "x" * 1_000_000})
        done.set()

    threading.Thread(target=ask, daemon=True).start()
    try:
        assert done.wait(PATIENCE)
        assert said == []
    finally:
        link.close()


@pytest.mark.slow
def test_an_interrupt_of_the_kernel_leaves_the_process_alone() -> None:
    e = Explorer(ps.Schedule(vector()))
    try:
        assert e.wait(PATIENCE)
        process = e._link._process
        assert process is not None
        process.send_signal(signal.SIGINT)
        assert e.answer({"revision": 1, "do": "choose", "index": _legal(e)})
        assert e.wait(PATIENCE)
        assert e._link._process is process
        assert e.view()["note"] == ""
    finally:
        e.close()


def _legal(e: Explorer) -> int:
    return [kind for kind, _ in e.view()["verdicts"]].index("legal")


@pytest.mark.slow
def test_a_closed_explorer_starts_no_process_again() -> None:
    e = Explorer(ps.Schedule(vector()))
    e.close()
    assert e.wait(0)
    assert e.answer({"revision": 1, "do": "choose", "index": 0})
    assert e._link._process is None
    assert e.wait(0)
    assert e.view()["note"] == "the explorer was closed"
    assert len(e.view()["steps"]) == 2


@pytest.mark.slow
def test_two_explorers_do_not_know_of_each_other() -> None:
    one, two = Explorer(ps.Schedule(vector("f"))), Explorer(ps.Schedule(vector("g")))
    try:
        assert one.wait(PATIENCE)
        assert two.wait(PATIENCE)
        before = two.view()
        assert one.answer({"revision": 1, "do": "choose", "index": _legal(one)})
        one.close()
        assert two.view() == before
        process = two._link._process
        assert process is not None
        assert process.poll() is None
    finally:
        one.close()
        two.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_no_process_is_left_when_the_kernel_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time, polysched as ps\n"
        "from polysched.show.explore.explorer import Explorer\n"
        "n, i = ps.size('n'), ps.Var('i')\n"
        "f = ps.Func('f', (n,)); f[i] = i\n"
        "e = Explorer(ps.Schedule(f)); e.wait()\n"
        "print(e._link._process.pid, flush=True); time.sleep(600)\n"
    )
    kernel = subprocess.Popen([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE)
    assert kernel.stdout is not None
    with kernel.stdout:
        worker = int(kernel.stdout.readline())
    kernel.kill()
    kernel.wait()
    awaited(lambda: not _runs(worker))


def _runs(pid: int) -> bool:
    """Whether a process is there that has not ended."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False
