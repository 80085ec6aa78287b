"""A process that answers questions hangs, dies, does not read, or says nonsense. Most of these are
a few lines, and nothing waits for time to pass: what is done later is done when a test says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from polysched.show.explore.link import GRACE, START, Link

PATIENCE = 60.0
ANSWERS = """
import json, os, signal, sys
print(json.dumps({"ready": True}), flush=True)
sys.stdin.readline()
for line in sys.stdin:
    question = json.loads(line)
    if question["revision"] == 1:
        print(json.dumps({"revision": 1, "index": 0}), flush=True)
        {instead}
    print(json.dumps({"revision": question["revision"], "done": True}), flush=True)
"""


class Heard:
    """A link to a process, and what that says.

    Attributes:
        late: what is to be done later, and after how many seconds.
    """

    def __init__(self, module: str) -> None:
        self.said: list[dict[str, Any]] = []
        self.late: list[tuple[float, Callable[[], None]]] = []
        self._more = threading.Condition()
        self.link = Link({}, self._hear, module, lambda *late: self.late.append(late))

    def _hear(self, message: dict[str, Any]) -> None:
        with self._more:
            self.said.append(message)
            self._more.notify_all()

    def hears(self, key: str, revision: int | None = None) -> dict[str, Any]:
        """Waits for a message with a key, and returns it."""

        def found() -> list[dict[str, Any]]:
            return [m for m in self.said if key in m and m.get("revision") == revision]

        with self._more:
            assert self._more.wait_for(found, PATIENCE)
            return found()[0]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Heard]]:
    """Links to processes that run some code."""
    made: list[Heard] = []
    monkeypatch.syspath_prepend(tmp_path)

    def heard(code: str) -> Heard:
        name = f"planted_process_{len(made)}"
        (tmp_path / f"{name}.py").write_text(code)
        made.append(Heard(name))
        return made[-1]

    yield heard
    for each in made:
        each.link.close()


def asked_twice(opened: Callable[[str], Heard], instead: str) -> Heard:
    """A link that is asked a second time when it has heard of the first question."""
    heard = opened(ANSWERS.replace("{instead}", instead))
    heard.link.ask({"revision": 1})
    heard.hears("index", 1)
    heard.link.ask({"revision": 2})
    return heard


def test_a_process_that_says_nothing_of_the_last_question_is_ended(
    opened: Callable[[str], Heard],
) -> None:
    heard = asked_twice(opened, "signal.pause()")
    hung = heard.link._process
    assert hung is not None
    assert hung.poll() is None
    ((seconds, replace),) = heard.late
    assert seconds == GRACE
    replace()
    assert hung.poll() == -signal.SIGKILL
    heard.hears("done", 2)
    assert not [m for m in heard.said if "lost" in m]


def test_a_process_that_has_answered_in_time_stays(opened: Callable[[str], Heard]) -> None:
    heard = asked_twice(opened, "continue")
    process = heard.link._process
    heard.hears("done", 2)
    ((_, replace),) = heard.late
    replace()
    assert process is not None
    assert heard.link._process is process
    assert process.poll() is None


def test_one_that_is_replaced_is_not_heard_any_more(opened: Callable[[str], Heard]) -> None:
    heard = asked_twice(opened, "signal.pause()")
    hung = heard.link._process
    assert hung is not None
    ((_, replace),) = heard.late
    replace()
    heard.link._heard(hung, {"revision": 2, "index": 7})
    assert not [m for m in heard.said if m.get("index") == 7]


def test_nobody_hurries_a_process_that_has_not_begun(opened: Callable[[str], Heard]) -> None:
    heard = opened("import signal\nsignal.pause()\n")
    heard.link.ask({"revision": 1})
    heard.link.ask({"revision": 2})
    assert [seconds for seconds, _ in heard.late] == [START]


def test_half_a_line_is_the_end_of_a_process(opened: Callable[[str], Heard]) -> None:
    heard = opened("import os\nos.write(1, b'{\"index\": 0')\nos.kill(os.getpid(), 9)\n")
    heard.link.ask({"revision": 1})
    assert "killed by signal 9" in heard.hears("lost")["lost"]


def test_the_end_of_a_process_says_how_and_whether_it_had_begun(
    opened: Callable[[str], Heard],
) -> None:
    heard = opened(ANSWERS.replace("{instead}", "raise SystemExit(7)"))
    heard.link.ask({"revision": 1})
    lost = heard.hears("lost")
    assert lost["lost"].endswith("has ended: exit code 7")
    assert lost["ready"] is True
    early = opened("raise SystemExit(7)")
    early.link.ask({"revision": 1})
    assert early.hears("lost")["ready"] is False


def test_who_asks_never_waits_for_a_process_that_does_not_read(
    opened: Callable[[str], Heard],
) -> None:
    heard = opened("import signal\nsignal.pause()\n")
    done = threading.Event()

    def ask() -> None:
        for k in range(3):
            heard.link.ask({"revision": k, "schedule": "x" * 1_000_000})
        done.set()

    threading.Thread(target=ask, daemon=True).start()
    assert done.wait(PATIENCE)
    assert heard.said == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_the_process_says_what_it_cannot_import_and_ends_with_who_asked() -> None:
    code = (
        "import sys, threading\n"
        "from polysched.show.explore.link import Link\n"
        "link = Link({'modules': ['no_such_module']},"
        " lambda m: print(link._process.pid, m['failed'], flush=True))\n"
        "link.ask({'revision': 1}); threading.Event().wait()\n"
    )
    kernel = subprocess.Popen([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE)
    assert kernel.stdout is not None
    with kernel.stdout:
        worker, _, said = kernel.stdout.readline().decode().partition(" ")
    kernel.kill()
    kernel.wait()
    assert "No module named 'no_such_module'" in said
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if not _runs(int(worker)):
            return
        pause.wait(0.02)
    raise AssertionError("it goes on")


def _runs(pid: int) -> bool:
    """Whether a process is there that has not ended."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False
