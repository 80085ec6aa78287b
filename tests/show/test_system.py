"""The report of `python -m polysched info`."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata

import pytest

from polysched.show import system
from polysched.targets.host import this_machine
from polysched.targets.known import named

REQUIREMENTS = [
    "numpy>=2.0",
    'matplotlib>=3.9; extra == "viz"',
    'no-such-distribution>=1; extra == "test"',
    "polysched[viz]; extra == 'test'",
    'pytest>=8; extra == "test"',
    'mypy==2.4.*; extra == "lint"',
]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """polysched's metadata and what is installed, made up."""
    versions = {"polysched": "1.2.3", "matplotlib": "3.9", "pytest": "8.2"}

    def version(name: str) -> str:
        if name in versions:
            return versions[name]
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", lambda name: REQUIREMENTS)
    monkeypatch.setattr(metadata, "version", version)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("extra", "line"),
    [
        ("viz", "yes"),
        ("test", "no: without no-such-distribution (pip install 'polysched[test]')"),
        ("lint", "no: without mypy (pip install 'polysched[lint]')"),
        ("docs", "unknown"),
    ],
)
def test_extras_follow_the_metadata(extra: str, line: str) -> None:
    lines = system.report().splitlines()
    assert f"{extra:<13}{line}" in lines
    assert lines[0] == "polysched    1.2.3"


def test_a_source_tree_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    monkeypatch.setattr(metadata, "requires", missing)
    assert system.version() == "(a source tree, not installed)"
    assert "viz          unknown" in system.report()


def test_an_unset_variable_is_said_to_be_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYSCHED_LOG", raising=False)
    assert "POLYSCHED_LOG is not set" in system.report()


@pytest.mark.skipif(this_machine().arch != "x86_64", reason="a level of x86-64")
def test_a_smaller_target_is_shown_beside_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_TARGET", "v3")
    lines = system.report().splitlines()
    triple, cpu = this_machine().triple, this_machine().cpu
    assert f"target       x86-64-v3, {triple} (this CPU: {cpu})" in lines
    assert "features     fma avx2 f16c" in lines
    assert "POLYSCHED_TARGET=v3" in lines
    monkeypatch.delenv("POLYSCHED_TARGET")
    assert f"target       {cpu}, {triple}" in system.report().splitlines()
    assert "POLYSCHED_TARGET is not set" in system.report()


def test_a_target_that_does_not_exist_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_TARGET", "pdp11")
    assert "target       none: POLYSCHED_TARGET=pdp11 is no machine" in system.report()


def test_features_that_are_missing_are_not_listed() -> None:
    target = replace(named("x86-64-v3"), features=(*named("v3").features, "-avx512f", "+mmx"))
    assert system._features(target) == ["fma", "avx2", "f16c"]
