"""The report of `ps.show_versions` and of `python -m polysched info`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import polysched as ps
from polysched.__main__ import main
from polysched.codegen.runtime import threads
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


# show_versions ----------------------------------------------------------------------------------
def test_versions_as_what_is_no_flag() -> None:
    said = r"^as_dict is True or False, not of type ndarray"
    with pytest.raises(ps.LanguageTypeError, match=said):
        ps.show_versions(np.ones(3))  # type: ignore[call-overload]


def test_it_prints_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert ps.show_versions() is None
    printed = capsys.readouterr().out
    assert main(["info"]) == 0
    assert capsys.readouterr().out == printed == f"{system.report()}\n"


def test_as_a_dict_it_prints_nothing_and_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = ps.show_versions(as_dict=True)
    assert capsys.readouterr().out == ""
    assert json.loads(json.dumps(found)) == found
    subjects = ["versions", "system", "target", "threads", "extras", "environment"]
    assert list(found) == subjects
    assert found["versions"]["numpy"] == np.__version__
    assert found["threads"]["per call"] == ps.get_num_threads()


def test_each_version_is_in_the_text() -> None:
    found, lines = ps.show_versions(as_dict=True), system.report().splitlines()
    needed = {"polysched", "Python", "numpy", "islpy", "isl", "llvmlite", "LLVM", "hypothesis"}
    assert found["versions"].keys() == needed
    for name, version in found["versions"].items():
        assert version
        assert any(name in line and version in line for line in lines), name
    for line in (found["system"]["OS"], found["system"]["CPU"], found["target"]["triple"]):
        assert any(line in x for x in lines)


def test_what_is_wrong_with_a_variable_is_shown_and_nothing_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("POLYSCHED_NUM_THREADS", "many")
    monkeypatch.setenv("POLYSCHED_TARGET", "pdp11")
    monkeypatch.setenv("POLYSCHED_LOGS", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    threads._defaults.cache_clear()
    try:
        lines = system.report().splitlines()
        found = ps.show_versions(as_dict=True)
    finally:
        monkeypatch.undo()
        threads._defaults.cache_clear()
    wrong = "POLYSCHED_NUM_THREADS must be an integer from 1 to 1024, not 'many'"
    assert f"threads      {wrong}" in lines
    assert found["threads"]["per call"] == wrong
    assert found["target"] == {"error": "POLYSCHED_TARGET=pdp11 is no machine that code is made "
                                        "for here"}  # fmt: skip
    at = lines.index("POLYSCHED_LOGS=1")
    assert lines[at + 1] == "    polysched has no such variable"
    assert lines.index("OMP_NUM_THREADS=3") < at


def test_a_system_that_does_not_name_its_cpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(system, "_CPUS", tmp_path / "cpuinfo")
    monkeypatch.setattr(system.platform, "processor", lambda: "")
    assert ps.show_versions(as_dict=True)["system"]["CPU"] == "unknown"
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: A fast one\n")
    assert ps.show_versions(as_dict=True)["system"]["CPU"] == "A fast one"


def test_every_variable_that_is_read_is_described() -> None:
    """In all files of the package."""
    root = Path(system.__file__).parents[1]
    text = "".join(p.read_text(encoding="utf-8") for p in root.rglob("*.py"))
    read = set(re.findall(r"\bPOLYSCHED_[A-Z_]+\b", text))
    assert read == set(system._VARIABLES)


def test_as_dict_is_no_mode() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'mode'"):
        ps.show_versions(mode="dicts")  # type: ignore[call-overload]
