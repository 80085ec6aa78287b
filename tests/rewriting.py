"""Files of tests are rewritten and compiled once where several workers collect them.

Each worker collects all tests, and pytest rewrites the assertions of a file when the first of them
does. Workers that begin with the same file rewrite all of them at the same time, so each begins
with its share of the files here, which the others find when they collect.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

STAMP = "rewritten"
"""A file in pytest's cache that is as old as the last run that collected all."""


class _NotRunError(Exception):
    """A module would run now."""


class _Unrun:
    """What is loaded like a module, and stops where it would run."""

    def __init__(self, spec: ModuleSpec) -> None:
        self.__spec__ = spec
        self.__name__ = spec.name

    def __getattribute__(self, name: str) -> object:
        if name == "__dict__":
            raise _NotRunError
        return super().__getattribute__(name)


def rewrite_share(config: pytest.Config) -> None:
    """In a worker that collects all: rewrites its share of the files that are new."""
    worker = getattr(config, "workerinput", None)
    if worker is None or not _collects_all(config) or not hasattr(config, "cache"):
        return
    number = int(worker["workerid"].removeprefix("gw"))
    since = _stamped(config)
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    for file in files[number :: worker["workercount"]]:
        if file.stat().st_mtime > since:
            _rewrite(config, file)


def stamp(config: pytest.Config) -> None:
    """All files have been rewritten."""
    cache = None if hasattr(config, "workerinput") else getattr(config, "cache", None)
    if cache is not None and _collects_all(config):
        (cache.mkdir(STAMP) / STAMP).touch()


def _collects_all(config: pytest.Config) -> bool:
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS


def _stamped(config: pytest.Config) -> float:
    with suppress(FileNotFoundError):
        return os.stat(config.cache.mkdir(STAMP) / STAMP).st_mtime
    return 0.0


def _rewrite(config: pytest.Config, file: Path) -> None:
    hook = config.pluginmanager.rewrite_hook
    spec = hook.find_spec(file.stem, [str(file.parent)])
    if spec is not None:
        with suppress(_NotRunError):
            hook.exec_module(_Unrun(spec))
