"""In a second process neither isl nor LLVM's passes run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent.parent

BEGIN = """
import json, sys
sys.path.insert(0, {tests!r})
import numpy as np
import polysched as ps
from cache.programs import arrays, gathered, product, smoothed
"""
FORBID = """
from cache.forbidden import forbid
forbid(**{what!r})
"""


def run(script: str, forbid: dict[str, bool] | None, **variables: str) -> Any:
    """What a script prints as JSON, in a process of its own.

    Args:
        forbid: what must not be used in it.
    """
    code = BEGIN.format(tests=str(TESTS))
    code += FORBID.format(what=forbid) if forbid is not None else ""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code + textwrap.dedent(script)],
        capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


PRODUCT = """
a, b = arrays()
kernel = ps.Schedule(product()).compile()
print(json.dumps([kernel(a, b).tobytes().hex(), kernel(a.T, b).tobytes().hex()]))
"""

BARE = """
a, b = arrays(size=150)
C = product()
print(json.dumps([C(a, b).tobytes().hex(), C(a, b).tobytes().hex()]))
"""

TWO = """
f, g = smoothed(), gathered()
where = np.arange(10, dtype=np.int32)[::-1].copy()
table = np.arange(12, dtype=np.float32)
print(json.dumps([f(np.arange(30.0)).tolist(), g(where, table).tolist()]))
"""

THREADS = """
n, i = ps.sizes("n"), ps.vars("i")
x = ps.Input("x", ps.float32, (n,))
f = ps.Func("f", (n,))
f[i] = ps.tanh(ps.exp(x[i])) * 2
s = ps.Schedule(f)
outer, inner = s[f].split(i, 1024)
s[f].parallel(outer)
kernel = s.compile()
ps.set_num_threads(3)
print(json.dumps(float(kernel(np.linspace(0, 1, 400_000, dtype=np.float32)).sum())))
"""

DIRECTIVES = """
a, b = arrays(size=70)
C = product()
s = ps.Schedule(C)
u = s[C].update(0)
io, jo, ii, ji = u.tile("i", "j", 16, 32)
u.reorder(io, jo, "k", ii, ji)
u.vectorize(ji, ps.native)
u.accumulate_at(jo)
s[C].vectorize("j", 8)
s[C].parallel("i")
kernel = s.compile()
print(json.dumps(kernel(a, b).tobytes().hex()))
"""

SIZES = """
a, b = arrays(size=32)
kernel = ps.Schedule(product()).compile(n=32, p=32)
print(json.dumps(kernel(a, b).tobytes().hex()))
"""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(PRODUCT, marks=pytest.mark.quick, id="product"),
        pytest.param(BARE, id="bare"),
        pytest.param(TWO, id="two"),
        pytest.param(THREADS, id="threads"),
        pytest.param(DIRECTIVES, id="directives"),
        pytest.param(SIZES, id="sizes"),
    ],
)
def test_a_second_process_needs_neither_isl_nor_llvms_passes(script: str) -> None:
    first = run(script, None)
    assert run(script, {}) == first


LOOKED_AT = """
import sys
opened = []
sys.addaudithook(
    lambda event, args: opened.append(args[0]) if event == "open" else None
)
"""
TOLD = """
kept = [x for x in opened if str(x).endswith(".entry")]
rooms = sorted({x.split(".")[2] for x in sys.modules if x.startswith("polysched.poly.")})
print(json.dumps([len(kept), "islpy" in sys.modules, rooms, kernel.cached]))
"""
AS_WRITTEN = """
kernel = ps.Schedule(product()).compile()
"""
CALLED = """
a, b = arrays(size=150)
C = product()
C(a, b)
kernel = C._default_kernel
"""
SIXTY = """
n, i = ps.sizes("n"), ps.vars("i")
x = ps.Input("x", ps.float32, (n,))
chain, before = [], x
for k in range(16):
    f = ps.Func(f"f{k}", (n,))
    f[i] = before[i] * 0.5 + x[i]
    chain.append(f)
    before = f
s = ps.Schedule(before)
for f in chain:
    if f is not before:
        s[f].compute_root()
    s[f].split(i, 64)
    s[f].split("ii", 32, names=("ij", "il"))
    s[f].vectorize("il", ps.native)
assert len(s.directives) >= 60
kernel = s.compile()
"""


@pytest.mark.parametrize(
    ("script", "entries"),
    [
        pytest.param(AS_WRITTEN, 4, id="product"),
        pytest.param(CALLED, 6, id="bare", marks=pytest.mark.slow),
        pytest.param(SIXTY, 4, id="sixty", marks=pytest.mark.slow),
    ],
)
def test_a_second_process_opens_few_entries(script: str, entries: int) -> None:
    """What keys cover, what was accepted, preconditions and code; for a bare call also what was
    found for it, and the runtime."""
    run(script + "print(json.dumps(0))", None)
    count, with_isl, rooms, is_cached = run(LOOKED_AT + script + TOLD, None)
    assert is_cached
    assert count <= entries
    assert not with_isl
    assert not {"legality", "proof", "placement", "recurrence"} & {*rooms}
    if script != SIXTY:  # directives are known by their records
        assert not {"model", "directives"} & {*rooms}


@pytest.mark.parametrize(
    "what",
    [
        {"isl": True, "llvm": False},
        pytest.param({"isl": False, "llvm": True}, marks=pytest.mark.slow),
    ],
)
def test_a_first_process_needs_both(what: dict[str, bool]) -> None:
    with pytest.raises(AssertionError, match=r"Used: polysched|Used: binding"):
        run(PRODUCT, what)


@pytest.mark.slow
def test_a_process_without_the_cache_needs_both() -> None:
    run(PRODUCT, None)
    with pytest.raises(AssertionError, match=r"Used: polysched|Used: binding"):
        run(PRODUCT, {}, POLYSCHED_CACHE="0")


@pytest.mark.slow
def test_loops_as_written_are_found_for_bare_calls() -> None:
    first = run(BARE, None, POLYSCHED_AUTO="0")
    assert run(BARE, {}, POLYSCHED_AUTO="0") == first
