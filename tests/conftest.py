"""What `make quick` runs, which tests share a process, that every pass is verified, and that LLVM
compiles a text once.

`make quick` leaves out what is marked slow. Of a table of rows that are not, it takes those that
are marked quick, which were chosen for what they mean, or are cheap; else two that are spread over
the table by their names, so that they stay the same where others are added.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import get_ident
from time import time
from zlib import crc32

import llvmlite
import llvmlite.binding as llvm
import pytest
from hypothesis import HealthCheck, settings

from polysched.cache import place
from polysched.codegen import lower
from polysched.codegen.llvm import binding
from polysched.codegen.runtime import native_calls

# What is compiled is compiled by the code under test, also in processes that tests start. Those of
# the cache itself have it on, in directories of their own.
os.environ[place.ENABLED] = "0"

# How long an example takes says nothing on a machine that is busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

ROWS = 2
"""Of a table, how many are quick."""
DAY = 86400.0
"""Seconds for which code is kept that no run asks for."""

VERSIONS = (llvmlite.__version__, llvm.llvm_version_info)
"""Of what makes machine code of a text."""

ANEW = {"llvm", "threads", "test_alive.py", "test_kernel.py", "test_garbage.py"}
"""Tests for which code is compiled each time: folders, and files."""


@pytest.fixture(autouse=True, scope="session")
def verified_passes() -> None:
    """What each pass makes is well-formed, also of large programs."""
    lower.SMALL = sys.maxsize


@pytest.fixture(autouse=True, scope="session")
def calls_are_native_at_once() -> None:
    """A call that comes the second time runs without the interpreter."""
    native_calls.AFTER = 1


class Compiled:
    """What LLVM has made of a text, in whichever process or run, it need not make again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.anew = False
        self._compile = binding.object_code

    def __call__(self, text: str, machine: binding.Machine) -> bytes:
        if self.anew:
            return self._compile(text, machine)
        file = self.folder / sha256(f"{VERSIONS}{machine}{text}".encode()).hexdigest()
        with suppress(FileNotFoundError):
            made = file.read_bytes()
            file.touch()
            return made
        made = self._compile(text, machine)
        own = self.folder / f"{file.name}.{os.getpid()}.{get_ident()}"
        own.write_bytes(made)
        own.replace(file)
        return made


@pytest.fixture(autouse=True, scope="session")
def compiled_once(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = getattr(pytestconfig, "cache", None)  # there is none with -p no:cacheprovider
    folder = tmp_path_factory.mktemp("objects") if cache is None else cache.mkdir("objects")
    binding.object_code = Compiled(folder)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Code that no run of a day has asked for goes."""
    cache = getattr(session.config, "cache", None)
    if cache is None or hasattr(session.config, "workerinput"):
        return
    for file in cache.mkdir("objects").iterdir():
        with suppress(FileNotFoundError):
            if time() - file.stat().st_mtime > DAY:
                file.unlink()


def pytest_runtest_call(item: pytest.Item) -> None:
    if isinstance(binding.object_code, Compiled):
        binding.object_code.anew = any(part in ANEW for part in item.path.parts)


def pytest_collection_finish() -> None:
    """What has been imported and collected stays: no collection of garbage looks at it again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before xdist looks for groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tables: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tables[_table(item)].append(item)
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_group(item)))
    for rows in tables.values():
        _mark_slow([row for row in rows if row.get_closest_marker("slow") is None])


def _table(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _group(item: pytest.Item) -> str:
    """What runs in one process, for what it can share: what is about one program, whichever file
    it is in, and else the rows of one test."""
    parameters = getattr(item, "callspec", None)
    for name in ("case", "p") if parameters is not None else ():
        of = parameters.params.get(name)
        program = getattr(of, "case", of)
        if isinstance(getattr(program, "name", None), str):
            return str(program.name)
    return _table(item)


def _mark_slow(rows: list[pytest.Item]) -> None:
    """All but the quick rows of a table."""
    chosen = [row for row in rows if row.get_closest_marker("quick")] or _spread(rows)
    for row in rows:
        if row not in chosen:
            row.add_marker(pytest.mark.slow)


def _spread(rows: Sequence[pytest.Item]) -> list[pytest.Item]:
    ordered = sorted(rows, key=lambda row: crc32(row.nodeid.encode()))
    return ordered[:ROWS]
