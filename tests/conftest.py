"""What `make quick` runs, which tests share a process, that every pass is verified, and that LLVM
compiles a text once.

`make quick` leaves out what is marked slow, and of the rest what choice.py says.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from time import time

import choice
import pytest
import rewriting
from compiled import FOLDER, Compiled
from hypothesis import HealthCheck, settings

from polysched.cache import place
from polysched.codegen import lower
from polysched.codegen.llvm.machine import binding
from polysched.codegen.runtime import native_calls

# What is compiled is compiled by the code under test, also in processes that tests start. Those of
# the cache itself have it on, in directories of their own.
os.environ[place.ENABLED] = "0"

# How long an example takes says nothing on a machine that is busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

DAY = 86400.0
"""Seconds for which code is kept that no run asks for."""

SELDOM = 50_000, 20, 20
"""How many objects of each age there are before collections of garbage look at them."""

SOME = 500
"""After so many tests what they have left is looked at once more, and then no more."""

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


@pytest.fixture(autouse=True, scope="session")
def compiled_once(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = getattr(pytestconfig, "cache", None)  # there is none with -p no:cacheprovider
    folder = tmp_path_factory.mktemp("objects") if cache is None else cache.mkdir("objects")
    binding.object_code = Compiled(folder)
    os.environ[FOLDER] = str(folder)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Code that no run of a day has asked for goes."""
    rewriting.stamp(session.config)
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


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is imported and collected stays: no collection of garbage looks at it. Few look at what
    tests make, as nearly all of it goes without."""
    gc.disable()
    try:
        rewriting.rewrite_share(session.config)
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(*SELDOM)
        gc.enable()


def pytest_runtest_logfinish() -> None:
    """Of what was there before, most stays until the end: programs of several tests, and what is
    known of them. Whoever collects garbage later looks at millions of objects less."""
    if next(_finished) % SOME == 0:
        gc.collect()
        gc.freeze()


_finished = count(1)


@pytest.hookimpl(tryfirst=True)  # before xdist looks for groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[choice.UNKNOWN] = choice.unknown(items)
    choice.mark_slow(items)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_group(item)))


def _group(item: pytest.Item) -> str:
    """What runs in one process, for what it can share: what is about one program, whichever file
    it is in, and else the rows of one test."""
    parameters = getattr(item, "callspec", None)
    for name in ("case", "p") if parameters is not None else ():
        of = parameters.params.get(name)
        program = getattr(of, "case", of)
        if isinstance(getattr(program, "name", None), str):
            return str(program.name)
    return choice.table(item)
