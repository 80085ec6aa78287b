"""Kernels of schedules, and of Funcs that are called as they are."""

from __future__ import annotations

from typing import Any

from .codegen.runtime.kernel import Kernel
from .forks import reentrant
from .lang.tensors.tensors import Func
from .poly.schedule.schedule import Schedule


def compile_schedule(schedule: Schedule, *, checks: bool = False, **sizes: int) -> Kernel:
    """The kernel of a schedule, specialised to the given sizes if there are any."""
    if sizes:
        schedule = schedule.fixed(sizes)
    return Kernel(schedule, checks=checks)


def call(func: Func, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a Func without a schedule: its default schedule is compiled at the first call."""
    return default_kernel(func)(*args, **kwargs)


_kernels_lock = reentrant()


def default_kernel(func: Func) -> Kernel:
    """The kernel of the default schedule of a Func, which is cached with the Func."""
    with _kernels_lock:
        kernel: Kernel | None = func.__dict__.get("_default_kernel")
        if kernel is None:
            kernel = Kernel(Schedule.default(func))
            func.__dict__["_default_kernel"] = kernel
        return kernel
