"""The C compiler of this machine: plain loops with OpenMP, in `kernels.c`."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from case import Array

from . import below_avx512

LEVEL = "x86-64-v3" if below_avx512() else "native"
FLAGS = ("-O3", f"-march={LEVEL}", "-mtune=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC")
Call = Callable[[], Any]


def _library() -> ctypes.CDLL:
    """Compiled anew: -march=native is about this machine."""
    compiler = shutil.which("gcc")
    if compiler is None:
        raise ImportError("there is no gcc on the path")
    source = Path(__file__).with_name("kernels.c")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "kernels.so"
        command = [compiler, *FLAGS, str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ImportError(done.stderr.strip().splitlines()[-1])
        return ctypes.CDLL(str(target))


def _version() -> str:
    done = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


LIBRARY = _library()
VERSION = _version()


def _run(name: str, *arguments: Any) -> None:
    """Arrays as pointers, Python's numbers as `long` and `float`."""
    passed = [
        ctypes.c_void_p(a.ctypes.data)
        if isinstance(a, np.ndarray)
        else ctypes.c_float(a)
        if isinstance(a, float)
        else ctypes.c_long(a)
        for a in arguments
    ]
    getattr(LIBRARY, name)(*passed)


def _two_planes(name: str, x: Array, steps: int) -> Call:
    planes = np.empty_like(x), np.empty_like(x)

    def call() -> Array:
        for plane in planes:
            plane[...] = x
        _run(name, *x.shape, steps, *planes)
        return planes[steps % 2]

    return call


def jacobi_2d(x: Array, T: int) -> Call:
    return _two_planes("jacobi_2d", x, T)


def heat_3d(start: Array, T: int) -> Call:
    return _two_planes("heat_3d", start, T)


def seidel_2d(x: Array, T: int) -> Call:
    return _in_place(x, lambda y: _run("seidel_2d", *x.shape, T, y))


def _in_place(x: Array, run: Callable[[Array], None]) -> Call:
    """On a copy that is made anew in each call."""
    y = np.empty_like(x)

    def call() -> Array:
        y[...] = x
        run(y)
        return y

    return call


def fdtd_2d(ex0: Array, ey0: Array, hz0: Array, source: Array) -> Call:
    starts = ex0, ey0, hz0
    fields = tuple(np.empty_like(field) for field in starts)

    def call() -> tuple[Array, ...]:
        for field, start in zip(fields, starts, strict=True):
            field[...] = start
        _run("fdtd_2d", *ex0.shape, len(source), source, *fields)
        return fields

    return call


def lu(A: Array) -> Call:
    return _in_place(A, lambda a: _run("lu", len(a), a))


def floyd_warshall(weight: Array) -> Call:
    return _in_place(weight, lambda d: _run("floyd_warshall", len(d), d))


def _filling(name: str, out: Array, *arguments: Any) -> Call:
    def call() -> Array:
        _run(name, *arguments, out)
        return out

    return call


def histogram(image: Array) -> Call:
    return _filling("histogram", np.empty(256, np.int32), image.size, image)


def running_sum(x: Array) -> Call:
    return _filling("running_sum", np.empty_like(x), len(x), x)


def smooth_image(image: Array, a: float) -> Call:
    return _filling("smooth_image", np.empty_like(image), *image.shape, float(a), image)
