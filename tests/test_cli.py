"""The commands `python -m polysched` and `benchmarks/run.py`."""

from __future__ import annotations

import io
import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched import demo, demo_numpy, demo_programs
from polysched.__main__ import main

PNG = b"\x89PNG\r\n\x1a\n"
BENCHMARK = Path(__file__).resolve().parent.parent / "benchmarks" / "run.py"


def _command(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def _exits(*arguments: str) -> int:
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert isinstance(exited.value.code, int)
    return exited.value.code


# the parser -------------------------------------------------------------------------------------


def test_help_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert _exits("--help") == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: python -m polysched")
    for word in ("demo", "info", "--version"):
        assert word in text


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert _exits("--version") == 0
    assert capsys.readouterr().out.startswith("polysched ")


@pytest.mark.parametrize("arguments", [(), ("nonsense",), ("demo", "--nonsense")])
def test_wrong_arguments_exit_with_2(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _exits(*arguments) == 2
    assert "usage: " in capsys.readouterr().err


@pytest.mark.slow
def test_runs_as_a_module(tmp_path: Path) -> None:
    done = _command("-m", "polysched", "info", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("polysched ")
    assert not list(tmp_path.iterdir())


# info -------------------------------------------------------------------------------------------


def test_info_says_what_matters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYSCHED_LOG", "1")
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    for name in ("Python", "numpy", "islpy", "llvmlite", "target", "features", "cores"):
        assert re.search(rf"^{name} +\S", text, re.MULTILINE), name
    assert re.search(r"LLVM \d+\.\d+", text)
    assert f"numpy        {np.__version__}" in text
    assert "POLYSCHED_LOG=1" in text


# demo -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["matplotlib", "skimage"])
def test_demo_without_its_extra_says_so_in_one_line(
    package: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["demo"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (f"polysched: the demo needs {package}: pip install 'polysched[viz]'\n")


def _doubled() -> ps.Func:
    n, i = ps.sizes("n"), ps.vars("i")
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = 2 * x[i]
    return f


def _exhibit(factor: float) -> demo.Exhibit:
    def reference(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.float32(factor) * x

    return demo.Exhibit(
        "doubling", _doubled, reference, lambda: {"x": np.ones(5, np.float32)}, 1e-6
    )


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_SECONDS", 0.01)
    monkeypatch.setattr(demo, "_TURN", 0.001)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("quick")
def test_demo_agrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "EXHIBITS", (_exhibit(2.0),))
    out = io.StringIO()
    assert demo.run(tmp_path, out)
    assert "Every result agrees with NumPy" in out.getvalue()
    assert "\r" not in out.getvalue()


@pytest.mark.usefixtures("quick")
def test_demo_fails_on_a_wrong_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "EXHIBITS", (_exhibit(2.5),))
    assert main(["demo", "--out", str(tmp_path)]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_demo_that_cannot_write_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(demo, "run", refuse)
    assert main(["demo", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (f"polysched: [Errno 13] Permission denied: '{tmp_path}'\n")


@pytest.mark.usefixtures("quick")
def test_progress_is_shown_on_a_terminal_and_wiped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "EXHIBITS", (_exhibit(2.0),))
    out = _Terminal()
    demo.run(tmp_path, out)
    assert "\r\x1b[K[1/1] doubling: compiling" in out.getvalue()
    assert "\r\x1b[Kdoubling " in out.getvalue().replace("\r\x1b[K\r", "\r")


with_pictures = pytest.mark.xdist_group("pictures")
"""What imports matplotlib or scikit-image, each of which takes a second."""


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@with_pictures
def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path / "made")]) == 0
    said = capsys.readouterr().out
    for exhibit in demo.EXHIBITS:
        assert re.search(rf"^{exhibit.title} .*(faster|slower)", said, re.MULTILINE)
    assert str(tmp_path / "made") in said
    made = sorted((tmp_path / "made").iterdir())
    assert [path.name for path in made] == ["corners.png", "local-contrast.png", "sharpened.png"]
    for path in made:
        content = path.read_bytes()
        assert content.startswith(PNG)
        assert len(content) > 100_000  # a photograph, not an empty canvas


@pytest.mark.slow
@with_pictures
def test_photographs_are_never_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*address: object) -> None:
        raise AssertionError(f"connects to {address}")

    monkeypatch.setitem(sys.modules, "pooch", None)  # what scikit-image downloads with
    monkeypatch.setattr(socket.socket, "connect", refuse)
    for exhibit in demo.EXHIBITS:
        arguments = exhibit.load()
        assert all(a.dtype == np.float32 for a in arguments.values() if isinstance(a, np.ndarray))


IMAGES = (
    (demo_programs.unsharp_mask, demo_numpy.unsharp_mask, (3,)),
    (demo_programs.local_contrast, demo_numpy.local_contrast, (3,)),
    (demo_programs.harris, demo_numpy.harris, ()),
)
NAMES = [build.__name__ for build, *_ in IMAGES]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 1), (2, 7), (9, 4)], ids=str)
@pytest.mark.parametrize(
    ("build", "reference", "channels"), IMAGES, ids=["unsharp", "contrast", "harris"]
)
def test_demo_programs_mean_what_they_should(
    build: Any, reference: Any, channels: tuple[int, ...], size: tuple[int, int]
) -> None:
    image = np.random.default_rng(0).random((*size, *channels), np.float32)
    program = build()
    found = program(image=image)
    assert np.array_equal(found.view(np.uint32), ps.interpret(program, image).view(np.uint32))
    np.testing.assert_allclose(found, reference(image), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("build", [build for build, *_ in IMAGES], ids=NAMES)
def test_demo_programs_take_empty_images(build: Any) -> None:
    program = build()
    channels = (3,) if program.ndim == 3 else ()
    for shape in (0, 0), (0, 5), (5, 0):
        assert program(image=np.empty((*shape, *channels), np.float32)).size == 0


# benchmarks -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_benchmark_names_its_cases(tmp_path: Path) -> None:
    done = _command(BENCHMARK, "--case", "nonsense", cwd=tmp_path)
    assert done.returncode == 2
    assert "blur" in done.stderr


@pytest.mark.slow
def test_benchmark_accounts_for_the_stages_of_the_compiler(tmp_path: Path) -> None:
    done = _command(BENCHMARK, "--compile-one", "blur", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    seconds = json.loads(done.stdout)
    total = seconds.pop("total")
    assert {"define", "model", "conditions", "bounds", "build", "emit", "llvm"} <= set(seconds)
    assert 0 < sum(seconds.values()) <= total
