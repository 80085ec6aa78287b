"""The corpus and its digests: a part of it is replayed here, all of it by `run.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest

import polysched as ps
from polysched.codegen.build.build import build

from . import corpus, run
from .digest import module_digest
from .run import compare_refusals

ENTRIES = corpus.read()
CHOSEN = sorted(ENTRIES, key=lambda e: crc32(e.name.encode()))[:60]


@pytest.mark.parametrize("entry", CHOSEN, ids=lambda entry: entry.name)
def test_the_same_loops(entry: corpus.Entry) -> None:
    """If this is meant to change: `run.py --update`, and say why in the commit."""
    found = corpus.replayed(entry)
    assert (found.loops, found.flat) == (entry.loops, entry.flat)
    assert corpus.same_schedule(found, entry)


def test_each_program_and_each_directive_is_in_the_corpus() -> None:
    assert {e.program for e in ENTRIES} == set(corpus.programs())
    assert len({e.name for e in ENTRIES}) == len(ENTRIES)
    steps = [step for e in ENTRIES for step in json.loads(e.schedule)["steps"]]
    names = {step["directive"]["name"] for step in steps if "directive" in step}
    assert names >= {"split", "reorder", "vectorize", "parallel", "compute_at", "store_at", "skew"}


def scaled(factor: int, name: str = "f") -> ps.Schedule:
    n = ps.sizes("n")
    i = ps.vars("i")
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func(name, (n,))
    f[i] = x[i] * factor
    return ps.Schedule(f)


def digest(s: ps.Schedule) -> str:
    return module_digest(build(s.loop_program))


def test_digests_tell_loops_apart() -> None:
    changed = scaled(2)
    changed["f"].unroll("i", 4)
    digests = [digest(s) for s in (scaled(2), scaled(2), scaled(3), scaled(2, "g"), changed)]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


@pytest.mark.slow
def test_digests_are_those_of_any_process() -> None:
    code = "from replay.test_replay import digest, scaled; print(digest(scaled(2)))"
    path = os.pathsep.join([str(corpus.ROOT / "tests"), str(corpus.ROOT / "benchmarks")])
    found = {
        subprocess.run(
            [sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": path,
            "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }  # fmt: skip
    assert found == {digest(scaled(2))}


def test_messages_are_compared_by_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {"one": ["no"], "two": ["never", "no"], "gone": ["no"]}
    after = {"one": ["no"], "two": ["never", "not"], "new": ["no"]}
    files = []
    for name, texts in (("before", before), ("after", after)):
        lines = [json.dumps({"test": k, "texts": v}) for k, v in texts.items()]
        files.append(tmp_path / name)
        files[-1].write_text("\n".join(lines))
    assert compare_refusals(*files) == 1
    said = capsys.readouterr().out
    assert "-no\n  +not" in said
    assert "2 tests with refusals, 1 differ; 1 gone, 1 new" in said


def test_messages_are_recorded() -> None:
    """Most tests that are refused something; those of today, if they still are called so."""
    lines = [json.loads(line) for line in run.KEPT.read_text().splitlines()]
    assert len(lines) > 1000
    assert [x["test"] for x in lines] == sorted(x["test"] for x in lines)
    files = {corpus.ROOT / x["test"].partition("::")[0] for x in lines}
    assert sum(f.is_file() for f in files) > 0.9 * len(files)


def test_messages_are_compared_with_the_recorded_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, new = tmp_path / "kept", tmp_path / "new"
    kept.write_text('{"test": "one", "texts": ["no"]}\n')
    new.write_text('{"test": "one", "texts": ["never"]}\n')
    monkeypatch.setattr(run, "KEPT", kept)

    def called(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["run.py", "--refusals", *arguments])
        return run.main()

    assert called(str(new)) == 1
    assert "-no\n  +never" in capsys.readouterr().out
    assert called(str(new), str(new)) == 0
    assert called(str(new), "--update") == 0
    assert called(str(new)) == 0
    with pytest.raises(SystemExit):
        called("a", "b", "c")


def test_messages_are_written_down(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest, polysched as ps\n"
        "def test_it():\n"
        "    with pytest.raises(ps.LanguageError):\n"
        "        ps.Func('1')\n"
    )
    file = tmp_path / "refusals.jsonl"
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "replay.refusals"]
    command += [f"--refusals={file}", "-p", "no:cacheprovider", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(corpus.ROOT / "tests")}
    subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, check=True)
    (line,) = map(json.loads, file.read_text().splitlines())
    assert line["test"] == "test_it.py::test_it"
    assert "'1'" in line["texts"][0]
