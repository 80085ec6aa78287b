"""How many threads kernels run on. Light: nothing here loads the compiler."""

from __future__ import annotations

import operator
import os
import sys
import threading
from contextlib import suppress
from contextvars import ContextVar, Token
from functools import cache
from pathlib import Path
from typing import Any

from ...lang.errors.codes import coded
from ...lang.errors.kind import THREADS

MOST = 1024
"""More than a machine has; each thread may need a copy of what is stored inside of its loop."""

_set: int | None = None
_scoped: ContextVar[int | None] = ContextVar("polysched.threads", default=None)


def set_num_threads(n: int) -> None:
    """Lets every kernel run on up to `n` threads from now on, the calling one among them.

    Raises:
        TypeError: `n` is not an integer. ValueError: it is less than 1, or more than 1024.
    """
    global _set
    _set = _checked(n, "set_num_threads(n)")


def get_num_threads() -> int:
    """The number of threads that a kernel called here may run on.

    That is, in this order: what `with threads(n)` says, what `set_num_threads` has said, the
    environment variable POLYSCHED_NUM_THREADS; 1 inside of a worker of dask or joblib; else
    OMP_NUM_THREADS, else the CPUs that this process may use, by its affinity and the quota of its
    cgroup.
    """
    scoped = _scoped.get()
    if scoped is not None:
        return scoped
    if _set is not None:
        return _set
    own, default = _defaults()
    if own is not None:
        return own
    return 1 if _is_inside_worker() else default


class threads:
    """`with threads(n):` lets the kernels called inside run on up to `n` threads.

    It holds for this thread, or this task of asyncio, only. Raises as `set_num_threads`.
    """

    def __init__(self, n: int) -> None:
        self._count = _checked(n, "threads(n)")
        self._tokens: list[Token[int | None]] = []

    def __enter__(self) -> None:
        self._tokens.append(_scoped.set(self._count))

    def __exit__(self, *_: object) -> None:
        _scoped.reset(self._tokens.pop())


def _checked(n: Any, what: str) -> int:
    try:
        if isinstance(n, bool):
            raise TypeError
        count = operator.index(n)
    except TypeError:
        raise coded(TypeError(f"{what}: n must be an integer, not {n!r}"), THREADS) from None
    if not 1 <= count <= MOST:
        raise coded(ValueError(f"{what}: n must be from 1 to {MOST}, not {count}"), THREADS)
    return count


# defaults -------------------------------------------------------------------------------------
@cache
def _defaults() -> tuple[int | None, int]:
    """What our own variable says, and the number without it."""
    own = _variable("POLYSCHED_NUM_THREADS")
    if own is not None:
        return own, own
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    # OpenMP's variable may hold a list, a number a level, and is not ours to complain about.
    if given.isdecimal() and int(given) >= 1:
        return None, min(int(given), MOST)
    return None, min(available_cpus(), MOST)


def _variable(name: str) -> int | None:
    """A number from the environment; None if it is not set, or empty."""
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        said = f"{name} must be an integer from 1 to {MOST}, not {text!r}"
        raise coded(ValueError(said), THREADS)
    return int(text)


def available_cpus() -> int:
    """How many CPUs this process may use at once."""
    if sys.platform == "linux":
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = cgroup_quota(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    return count if quota is None else max(1, min(count, quota))


def cgroup_quota(groups: Path, root: Path) -> int | None:
    """How many CPUs' time the cgroups of this process may use, rounded up; None for any.

    Args:
        groups: the file that says which cgroups the process is in.
        root: where their file system is mounted.
    """
    found: list[float] = []
    with suppress(OSError, ValueError):
        for line in _text(str(groups)).splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:  # version 2
                found += _limits(str(root), path, _limit_v2)
            elif "cpu" in controllers.split(","):
                found += _limits(os.path.join(root, controllers), path, _limit_v1)
                found += _limits(os.path.join(root, "cpu"), path, _limit_v1)
    return -int(-min(found) // 1) if found else None


def _limits(mount: str, path: str, read: Any) -> list[float]:
    """The limits of a cgroup and of all around it. Inside of a container its own may be mounted
    as the root, whatever its path says."""
    places, parts = [mount], [part for part in path.split("/") if part]
    for part in parts:
        places.append(os.path.join(places[-1], part))
    limits = map(read, places)
    return [x for x in limits if x is not None]


def _limit_v2(group: str) -> float | None:
    """`cpu.max`: "max 100000" or "150000 100000", the time and the period in microseconds."""
    with suppress(OSError, ValueError):
        quota, period = _text(f"{group}/cpu.max").split()
        return None if quota == "max" else int(quota) / int(period)
    return None


def _limit_v1(group: str) -> float | None:
    """`cpu.cfs_quota_us`, -1 for no limit, a period."""
    with suppress(OSError, ValueError):
        quota = int(_text(f"{group}/cpu.cfs_quota_us"))
        period = int(_text(f"{group}/cpu.cfs_period_us"))
        return None if quota <= 0 else quota / period
    return None


def _text(file: str) -> str:
    """What a file of the system's says. Paths and files of Python's take several times as long."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16).decode()
    finally:
        os.close(descriptor)


def _is_inside_worker() -> bool:
    """Whether a worker of dask or joblib runs this: they have as many as there are CPUs."""
    modules = sys.modules
    if "joblib" in modules and _is_in_joblib(modules["joblib"]):
        return True
    return "dask" in modules and _is_in_dask()


def _is_in_joblib(joblib: Any) -> bool:
    """Loky's processes by their name, threads and forked processes by joblib's own count."""
    with suppress(Exception):
        backend, _ = joblib.parallel.get_active_backend()
        if (getattr(backend, "nesting_level", 0) or 0) > 0:
            return True
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.current_process().name.startswith("LokyProcess")


def _is_in_dask() -> bool:
    """A task of a distributed worker, or a thread of a pool of the threaded scheduler."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        with suppress(Exception):  # ValueError: there is no worker here
            distributed.get_worker()
            return True
    local: Any = sys.modules.get("dask.threaded")
    if local is None:
        return False
    me = threading.current_thread()
    with suppress(Exception):
        pools = [local.default_pool, *(p for x in local.pools.values() for p in x.values())]
        return any(me in getattr(pool, "_threads", ()) for pool in pools)
    return False
