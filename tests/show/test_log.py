"""POLYSCHED_LOG: the steps of the compiler, on stderr."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import polysched as ps
from polysched.steps import Log

STEPS = ("program", "model", "conditions", "bounds", "build", "expand_math", "emit", "llvm")


def _compile(function: Callable[[Any], Any] = lambda x: 2 * x) -> ps.Kernel:
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = function(x[i, j])
    kernel: ps.Kernel = ps.Schedule(f).compile()
    return kernel


def _steps(text: str) -> list[str]:
    return re.findall(r"^-- (.+): \d+\.\d+ ms$", text, re.MULTILINE)


def test_silent_by_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in (None, "", "0"):
        monkeypatch.delenv("POLYSCHED_LOG", raising=False)
        if value is not None:
            monkeypatch.setenv("POLYSCHED_LOG", value)
        _compile()
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


def test_times(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("POLYSCHED_LOG", "times")
    kernel = _compile()
    said = capsys.readouterr()
    assert said.out == ""
    found = _steps(said.err)
    assert len(found) == len(said.err.splitlines())
    assert [step for step in found if step in STEPS] == list(STEPS)
    assert found[-1].startswith("compiled f for ")
    assert set(found[:-1]) == set(kernel.seconds)


def test_ir_is_shown_after_each_pass_that_changed_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POLYSCHED_LOG", "1")
    _compile()
    plain = capsys.readouterr().err
    assert plain.count("kernel f") == 2  # built, and with flat indices; nothing to expand
    _compile(ps.exp)
    expanded = capsys.readouterr().err
    assert expanded.count("kernel f") == 3
    built, after = expanded.split("-- expand_math")
    assert "exp(x[i, j])" in built
    assert "exp(x[i, j])" not in after


def test_what_warnings_are_found_by_is_a_step_where_directives_are_given() -> None:
    assert "costs" not in _compile().seconds
    i = ps.vars("i")
    f = ps.Func("f", (64,))
    f[i] = i
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    assert "costs" in s.compile().seconds


def test_what_a_step_takes_for_another_is_that_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that each look moves on: the steps together are all between first and last."""
    clock = itertools.count()
    monkeypatch.setattr("polysched.steps.time", SimpleNamespace(perf_counter=clock.__next__))
    log = Log()

    def outer() -> None:
        log.step("inner", lambda: log.step("innermost", lambda: None))
        log.step("inner", lambda: None)
        with pytest.raises(ZeroDivisionError):
            log.step("failed", lambda: 1 / 0)

    log.step("outer", outer)
    # The clock is at 0 to 8, and `failed` has no entry.
    assert log.seconds == {"innermost": 1, "inner": 2 + 1, "outer": 8 - 3 - 1}
