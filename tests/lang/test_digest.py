"""Digests of programs and schedules: the same in any process, and different for each difference."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.program import digest
from polysched.lang.program.program import Program

SCRIPT = """
import numpy as np
import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, l)
A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m), range=(0, 1))
T, p = ps.Const("T", np.arange(3, dtype=np.int16)), ps.Param("p", ps.float32, default=-0.0)
C = ps.Func("C", (n, m))
C[i, j] = T[ps.clip(i, 0, 2)] * p
C[i, j] += A[i, k] * B[k, j]
with ps.sequential("t", 0, n) as t:
    C[t, j] *= 2
s = ps.Schedule(C)
s["C"].vectorize("j", 8)
print(s.program.digest, s.program.digest_without_names, s.digest)
"""

EXPECTED = [
    "602105a77315af0b2add41ee2619883a2b1e90351367fa6cc9dffed581553655",
    "a55567a76ad58193329f5e1afbd3cbd4d63b15ff1bbbc1e511dbf3d63066a62c",
    "5332b8d8f202490c0047d2b141b7f7aeee79b63c2f47a1d2ec7843f43414f58c",
]
"""Of the script's program. Where they change, what has been kept by digests is lost: the number of
the digests grows then (`digest.VERSION`), and so do these."""


@pytest.mark.parametrize("seed", ["0", pytest.param("42", marks=pytest.mark.slow)])
def test_the_same_in_any_process(seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT], env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == EXPECTED


# a difference at a time --------------------
@dataclass(frozen=True)
class Made:
    """A program of which each part can be another one."""

    size: str = "n"
    func: str = "f"
    loop: str = "i"
    array: str = "x"
    shape: int = 0
    dtype: Any = ps.float32
    limits: tuple[int, int] | None = None
    table: tuple[int, ...] = (1, 2, 3)
    first: float = 0.0
    scale: Any = 2
    default: float | None = 1.0
    smallest: float | None = None
    reach: int = 0
    step: int = 1
    at_least: int = 1
    message: str = "enough"
    updates: int = 1
    label: str | None = None
    other_first: bool = False

    def program(self) -> Program:
        n, i = ps.size(self.size), ps.Var(self.loop)
        x = ps.Input(self.array, self.dtype, (n + self.shape,), range=self.limits)
        t = ps.Const("t", np.array(self.table, np.int64))
        p = ps.Param("p", ps.float32, default=self.default, min=self.smallest)
        r = ps.RVar("r", 0, n + self.reach)
        f, g = ps.Func(self.func, (n,)), ps.Func("g", (n,))
        value = x[i] * self.scale + self.first
        f[i] = value if self.label is None else ps.trace(value, self.label)
        for _ in range(self.updates):
            f[i] += ps.cast(ps.float32, t[ps.clip(r, 0, 2)]) * p
        g[i] = f[i]
        with ps.sequential("s", 0, n, self.step) as s:
            g[s] += 1
        ps.require(n >= self.at_least, self.message, f)
        return Program((g, f) if self.other_first else (f, g))


RENAMED = {"size": "rows", "func": "total", "loop": "y", "array": "image"}
OTHERS: dict[str, Any] = {
    "shape": 1, "dtype": ps.float64, "limits": (0, 5), "table": (1, 2, 4), "first": -0.0,
    "scale": 3, "default": None, "smallest": 0.0, "reach": -1, "step": 2,
    "at_least": 2, "message": "too few", "updates": 2, "label": "x", "other_first": True,
}  # fmt: skip


def test_each_difference_makes_another_digest() -> None:
    found = [Made().program()]
    found += [replace(Made(), **{k: v}).program() for k, v in {**RENAMED, **OTHERS}.items()]
    assert len({p.digest for p in found}) == len(found)


@pytest.mark.parametrize("what", OTHERS)
def test_what_is_no_name_counts_without_names_too(what: str) -> None:
    other = replace(Made(), **{what: OTHERS[what]}).program()
    assert other.digest_without_names != Made().program().digest_without_names


def test_names_do_not_count_without_names() -> None:
    plain, renamed = Made().program(), Made(**RENAMED).program()
    assert renamed.digest_without_names == plain.digest_without_names
    assert renamed.digest != plain.digest
    assert plain.digest != plain.digest_without_names


def test_which_of_two_loops_it_is_counts_without_names() -> None:
    def made(swapped: bool) -> Program:
        n, i, j = ps.size("n"), *ps.vars("i j")
        x, f = ps.Input("x", ps.int64, (n, n)), ps.Func("f", (n, n))
        f[i, j] = x[j, i] if swapped else x[i, j]
        return Program((f,))

    assert made(True).digest_without_names != made(False).digest_without_names


def test_where_and_when_it_was_written_does_not_count() -> None:
    first = Made().program().digest
    ps.RVar("other", 0, 3)  # objects are numbered as they are made
    assert Made().program().digest == first


# functions that are not ours --------------------
def doubled(x: Any) -> Any:
    return x * 2


def calling(function: Callable[..., Any]) -> Program:
    n = ps.size("n")
    x = ps.Input("x", ps.float32, (n,))
    f = ps.extern("f", function, [x], (n,), ps.float32)
    return Program((f,))


def test_functions_count_by_module_and_name() -> None:
    first = calling(doubled).digest
    assert first is not None
    assert first == calling(doubled).digest
    assert calling(np.sort).digest not in (first, None)


def test_what_no_other_process_finds_has_no_digest() -> None:
    def local(x: Any) -> Any:
        return x

    for function in (lambda x: x, local):
        program = calling(function)
        assert program.digest is None
        assert program.digest_without_names is None
        assert ps.Schedule(program.outputs).digest is None


# schedules --------------------
def blurred() -> ps.Schedule:
    n, i, j = ps.size("n"), *ps.vars("i j")
    f, g = ps.Func("f"), ps.Func("g", (n, n))
    f[i, j] = ps.sqrt(i + j)
    g[i, j] = f[i, j] + f[i + 1, j]
    return ps.Schedule(g)


def test_schedules_differ_by_what_was_said_and_not_by_where() -> None:
    s, t = blurred(), blurred()
    assert s.digest == t.digest
    s["g"].split("i", 8)
    assert s.digest != t.digest
    t["g"].split("i", 8)
    assert s.digest == t.digest
    again = ps.Schedule.from_json(s.program.outputs, s.to_json())
    assert again.digest == s.digest
    s["f"].compute_at("g", "io")
    t["f"].clone_in("g")
    assert len({s.digest, t.digest, again.digest}) == 3


def test_the_default_is_another_schedule() -> None:
    s = blurred()
    assert ps.Schedule.default(s.program.outputs).digest != s.digest


def test_the_number_of_the_digests_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Made().program().digest
    monkeypatch.setattr(digest, "VERSION", digest.VERSION + 1)
    assert Made().program().digest != before


# the order of Inputs ------------------------
def _difference(first: str, second: str, args: tuple[str, ...] = ()) -> ps.Schedule:
    """Of x and y, which are made in the order given and passed in that of `args`."""
    n, i = ps.size("n"), ps.Var("i")
    made = {name: ps.Input(name, ps.float32, (n,)) for name in (first, second)}
    f = ps.Func("f", (n,))
    f[i] = made["x"][i] - made["y"][i]
    s = ps.Schedule(f, args=[made[name] for name in args] or None)
    s["f"].vectorize(i, 4)
    return s


def test_the_order_of_a_call_makes_another_digest() -> None:
    plain, swapped = _difference("x", "y"), _difference("y", "x")
    assert plain.program.digest != swapped.program.digest
    assert plain.program.digest_without_names != swapped.program.digest_without_names
    assert plain.digest != swapped.digest


@pytest.mark.parametrize("args", [(), ("x", "y")])
@pytest.mark.parametrize("made", [("x", "y"), ("y", "x")])
def test_how_that_order_came_about_makes_none(made: tuple[str, str], args: tuple[str, ...]) -> None:
    """When objects were made does not count, and neither does who has said the order."""
    s, other = _difference(*made, args or made), _difference(*(args or made))
    assert [x.name for x in s.program.inputs] == [x.name for x in other.program.inputs]
    assert s.program.digest == other.program.digest
    assert s.program.digest_without_names == other.program.digest_without_names
    assert s.digest == other.digest
