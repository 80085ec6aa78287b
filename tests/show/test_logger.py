"""The logger `polysched`: the steps of the compiler as events of Python's `logging`."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.codegen import lower

n = ps.size("n")
i = ps.vars("i")


def _schedule(function: Callable[[Any], Any] = lambda x: 2 * x) -> ps.Schedule:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = function(x[i])
    return ps.Schedule(f, target="x86-64-v3" if _is_x86() else None)


def _is_x86() -> bool:
    return ps.machine().target.arch == "x86_64"


def _events(caplog: pytest.LogCaptureFixture, level: int, name: str = "polysched") -> list[Any]:
    return [r for r in caplog.records if r.levelno == level and r.name == name]


def test_a_program_that_does_not_listen_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("POLYSCHED_LOG", raising=False)
    assert any(isinstance(h, logging.NullHandler) for h in logging.getLogger("polysched").handlers)
    _schedule().compile()
    assert capsys.readouterr() == ("", "")


def test_no_text_is_made_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYSCHED_LOG", raising=False)

    def refuse(*given: object) -> str:
        raise AssertionError("nobody has asked for it")

    monkeypatch.setattr(lower, "module_text", refuse)
    monkeypatch.setattr(lower, "_called", refuse)
    for name in ("polysched", "polysched.ir"):
        monkeypatch.setattr(logging.getLogger(name), "disabled", True)
        monkeypatch.setattr(logging.getLogger(name), "makeRecord", refuse)
    kernel = _schedule(ps.exp).compile()
    assert kernel(np.float32([0]))[0] == 1


def test_a_kernel_is_an_event_with_its_seconds(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "polysched")
    kernel = _schedule().compile()
    (event,) = caplog.records
    assert (event.name, event.levelname) == ("polysched", "INFO")
    assert event.getMessage().startswith(f"compiled f for {kernel._target.name}: ")
    assert event.getMessage().endswith(" ms")
    assert event.seconds == sum(kernel._lowered.seconds.values())
    kernel(np.ones(6, np.float32)[::2])
    assert "f for " in caplog.messages[-1]
    assert ", any strides: " in caplog.messages[-1]


def test_steps_are_events_with_their_names_and_seconds(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "polysched")
    kernel = _schedule().compile()
    found = _events(caplog, logging.DEBUG)
    assert {e.step for e in found} == set(kernel.seconds)
    for name, seconds in kernel.seconds.items():
        assert sum(e.seconds for e in found if e.step == name) == pytest.approx(seconds)
    assert all(e.getMessage() == f"{e.step}: {e.seconds * 1e3:.2f} ms" for e in found)


def test_the_ir_is_an_event_of_its_own_logger(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG, "polysched")
    _schedule(ps.exp).compile()
    shown = {e.step: e.getMessage() for e in _events(caplog, logging.DEBUG, "polysched.ir")}
    assert "exp(x[i])" in shown["build"]
    assert "exp(x[i])" not in shown["expand_math"]
    assert shown["expand_math"].startswith("expand_math:\nkernel f")
    caplog.clear()
    monkeypatch.setattr(logging.getLogger("polysched.ir"), "disabled", True)
    _schedule(ps.exp).compile()
    assert not _events(caplog, logging.DEBUG, "polysched.ir")
    assert _events(caplog, logging.DEBUG)


def test_the_variable_prints_the_same_events(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("POLYSCHED_LOG", "1")
    caplog.set_level(logging.DEBUG, "polysched")
    _schedule(ps.exp).compile()
    printed = "".join(
        f"-- {r.getMessage()}\n"
        if r.name == "polysched"
        else r.getMessage().partition("\n")[2] + "\n"
        for r in caplog.records
    )
    assert capsys.readouterr().err == printed


@pytest.mark.parametrize(
    "first",
    ["logging, polysched as ps", pytest.param("polysched as ps, logging", marks=pytest.mark.slow)],
)
def test_nothing_is_printed_by_pythons_last_resort(first: str) -> None:
    """Whichever is imported first, and nobody has set a handler."""
    program = f"""
import {first}
f = ps.Func("f", (3,))
f[ps.vars("i")] = 1
logging.getLogger("polysched").setLevel(1)
print(f().sum(), [type(h).__name__ for h in logging.getLogger("polysched").handlers])
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("3 ['NullHandler']\n", "")


@pytest.mark.slow
def test_logging_is_not_imported_for_nobody() -> None:
    """Forks in other threads would find half of what it registers for them."""
    program = """
import sys
import numpy
before = "logging" in sys.modules
import polysched as ps
f = ps.Func("f", (3,))
f[ps.vars("i")] = 1
ps.Schedule(f).compile()()
print(before, "logging" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    before, behind = done.stdout.split()
    assert behind == before
