"""What a call costs beside its work: the table of calls of small functions, beside peers.

Each function adds arrays of a few elements, so what is timed is what is around that: arguments
checked, an output made, the way there and back.
"""

from __future__ import annotations

import subprocess
import sysconfig
import tempfile
import timeit
from collections.abc import Callable, Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
from regions import region_line

import polysched as ps

NAME = "calls"
"""`make bench CASE=calls` picks the table."""

COUNT, REPEATS, SIZE = 20_000, 15, 16
#: Nanoseconds that our calls may take, by form.
LIMITS = {"new output": 1000.0, "out=": 500.0, "by keyword": 500.0, "bare call": 2000.0}

Calls = dict[str, Callable[[], Any]]
Array = Any


def calls_table() -> Iterable[bool]:
    """Prints a line a peer; gives whether ours are fast enough."""
    print(f"A call of a function of two arrays of {SIZE} float32, in ns (best of {REPEATS})")
    print(f"{'':<14}" + "".join(f"{form:>14}" for form in LIMITS))
    random = np.random.default_rng(0)
    a, b, out = random.random((3, SIZE), "f4")
    for name, make in PEERS.items():
        try:
            calls = make(a, b, out)
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            print(f"{name:<14}not here: {error}")
            continue
        times = {form: _nanoseconds(call) for form, call in calls.items()}
        shown = "".join(f"{times[f]:>14.0f}" if f in times else f"{'':>14}" for f in LIMITS)
        slow = [f for f in times if name == OURS and times[f] > LIMITS[f]]
        print(f"{name:<14}{shown}" + (f"  TOO SLOW: {', '.join(slow)}" if slow else ""), flush=True)
        yield not slow
    print()
    yield from region_line()


def _nanoseconds(call: Callable[[], Any]) -> float:
    for _ in range(2000):  # what comes with the first calls has come then
        call()
    return min(timeit.repeat(call, number=COUNT, repeat=REPEATS)) / COUNT * 1e9


def _polysched(a: Array, b: Array, out: Array) -> Calls:
    n, i = ps.size("n"), ps.Var("i")
    x, y = ps.Input("x", ps.float32, (n,)), ps.Input("y", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = x[i] + y[i]
    kernel = ps.Schedule(f).compile()
    return {
        "new output": lambda: kernel(a, b),
        "out=": lambda: kernel(a, b, out=out),
        "by keyword": lambda: kernel(x=a, y=b, out=out),
        "bare call": lambda: f(a, b),
    }


def _numpy(a: Array, b: Array, out: Array) -> Calls:
    return {"new output": lambda: np.add(a, b), "out=": lambda: np.add(a, b, out=out)}


def _numba(a: Array, b: Array, out: Array) -> Calls:
    import numba

    @numba.njit
    def made(x, y):
        return x + y

    @numba.njit
    def filled(x, y, z):
        for k in range(len(z)):
            z[k] = x[k] + y[k]

    return {
        "new output": lambda: made(a, b),
        "out=": lambda: filled(a, b, out),
        "by keyword": lambda: filled(x=a, y=b, z=out),
    }


def _torch(a: Array, b: Array, out: Array) -> Calls:
    import torch

    x, y, z = map(torch.from_numpy, (a, b, out))
    return {"new output": lambda: torch.add(x, y), "out=": lambda: torch.add(x, y, out=z)}


NANOBIND = r"""
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
namespace nb = nanobind;
using In = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
NB_MODULE(bound, m) {
    m.def("add", [](In x, In y, Out z) {
        for (size_t k = 0; k < z.shape(0); ++k) z(k) = x(k) + y(k);
    }, nb::arg("x"), nb::arg("y"), nb::arg("z"));
}
"""


def _nanobind(a: Array, b: Array, out: Array) -> Calls:
    import nanobind

    with tempfile.TemporaryDirectory() as folder:
        source, module = Path(folder) / "bound.cpp", Path(folder) / "bound.so"
        source.write_text(NANOBIND)
        own = Path(nanobind.__file__).parent
        include = [own / "include", own / "ext/robin_map/include", sysconfig.get_path("include")]
        subprocess.run(
            ["c++", "-O2", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden",
             *(f"-I{x}" for x in include), str(source), str(own / "src/nb_combined.cpp"),
             "-o", str(module)],
            check=True, capture_output=True,
        )  # fmt: skip
        spec = spec_from_file_location("bound", module)
        if spec is None or spec.loader is None:
            raise ImportError("the extension cannot be loaded")
        made = module_from_spec(spec)
        spec.loader.exec_module(made)
    add: Any = made.__dict__["add"]
    return {"out=": lambda: add(a, b, out), "by keyword": lambda: add(x=a, y=b, z=out)}


OURS = "polysched"
PEERS: dict[str, Callable[[Array, Array, Array], Calls]] = {
    OURS: _polysched,
    "NumPy": _numpy,
    "Numba": _numba,
    "PyTorch": _torch,
    "nanobind": _nanobind,
}
