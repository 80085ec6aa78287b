"""What the tests of the cache share: a place of its own, and children that are somebody else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

NOBODY = 65534
needs_owners = pytest.mark.skipif(sys.platform == "win32", reason="files have no owners there")
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)


def key(text: str) -> str:
    """A key, as good as any."""
    return sha256(text.encode()).hexdigest()


def in_child(work: Callable[[], Any], *, user: int | None = None) -> Any:
    """What a function gives in a forked child, which gives up root where it is another user."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if user is not None and os.geteuid() == 0:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            os.write(writing, json.dumps(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, text
    return json.loads(text)
