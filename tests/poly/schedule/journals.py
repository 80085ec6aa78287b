"""Scripts that run twice: the second time, what was accepted the first time is known."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from counting import operations

import polysched as ps
from polysched.cache import place, store
from polysched.poly.schedule import journal
from polysched.poly.sets import budget

FEW = 16


@contextmanager
def cache() -> Iterator[None]:
    """A cache that is on, empty, and gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as changed:
        changed.setenv(place.DIRECTORY, folder)
        changed.delenv(place.ENABLED, raising=False)
        yield


def off(work: Callable[[], Any]) -> Any:
    """What work gives without a cache."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv(place.ENABLED, "0")
        return work()


@dataclass
class Ran:
    """What a script gave.

    Attributes:
        is_free: whether nothing was asked of isl.
    """

    given: Any
    is_free: bool


def ran(script: Callable[[], Any]) -> Ran:
    """Everything that asks isl does so within a budget, and counts as work; looking at the counter
    takes a few operations itself."""
    found: list[Any] = []
    asked: list[Any] = []
    within = budget._within

    def noted(span: Any) -> Any:
        asked.append(span)
        return within(span)

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(budget, "_within", noted)
        work = operations(lambda: found.append(script()))
    return Ran(found[0], not asked and work < FEW)


def twice(script: Callable[[], ps.Schedule]) -> tuple[ps.Schedule, Ran]:
    """A schedule that was proven and compiled, and the same script in what counts as another
    process."""
    first = script()
    first.proven_copy()
    return first, ran(script)


def look(s: ps.Schedule) -> tuple[Any, ...]:
    """All that a schedule says of itself."""
    looked = tuple((str(c), look(v)) for c, v in s.variants)
    return s.source(), s.to_json(), s.digest, s.broken_by, s.trusted, str(s), s.explain(), looked


def journals() -> list[journal.Reached]:
    """What is stored."""
    kept = [store.read(journal.KIND, x.key) for x in store.entries() if x.kind == journal.KIND]
    found = [journal.read(entry.header) for entry in kept if entry is not None]
    assert None not in found
    return [node for node in found if node is not None]


def events(node: journal.Reached) -> Iterator[str]:
    """Everything that was accepted below a node."""
    for event, below in node.children.items():
        yield event
        yield from events(below)


# programs and scripts ---------------------------------------------------------------------------
def product(type: Any = ps.float32) -> tuple[ps.Input, ps.Func]:
    n, p, m = ps.sizes("n p m")
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, p)
    A = ps.Input("A", type, (n, p))
    B = ps.Input("B", type, (p, m))
    C = ps.Func("C", (n, m))
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    return B, C


def pipeline() -> ps.Func:
    n, m = ps.sizes("n m")
    x, y = ps.vars("x y")
    a = ps.Input("a", ps.float32, (n, m))
    f, g = ps.Func("f"), ps.Func("g", (n, m))
    f[x, y] = ps.sqrt(a[x, y])
    g[x, y] = ps.select(x > 0, f[x - 1, y], 0) + f[x, y]
    return g


def chain(step: int = 1, size: Any = None) -> ps.Func:
    n = ps.size("n")
    i = ps.vars("i")
    a = ps.Input("a", ps.int32, (n + 4 if size is None else size,))
    f = ps.Func("f", (n,))
    f[i] = ps.select(i >= step, f[i - step], 0) + a[i]
    return f


def packed() -> ps.Schedule:
    """All that a packed product needs."""
    B, C = product()
    s = ps.Schedule(C)
    s.assume(ps.size("n") >= 4)
    u = s[C].update(0)
    outer = u.tile("i", "j", 6, 16)
    assert [x.name for x in outer] == ["io", "jo", "ii", "ji"]
    ko, ki = u.split("k", ps.factor("depth", 64))
    u.reorder(ko, "io", "jo", ki, "ii", "ji")
    u.accumulate_at("jo")
    copy = u.stage(B, at="jo", layout=("ki", "ji"))
    s[copy].vectorize("ji", 8)
    u.vectorize(u["ji"], ps.native)
    u.unroll("ii")
    s[C].vectorize(C.vars[1], 8)
    s[C].split("i", 32, names=("ib", "il"))
    s[C].parallel("ib")
    s.loop("ib")
    return s


def rows() -> ps.Schedule:
    g = pipeline()
    s = ps.Schedule(g)
    with s.batch():
        s[g].tile("x", "y", 8, 32)
        s["f"].compute_at(s[g]["xo"])
        s.comment("so that rows stay in the cache")
        s["f"].vectorize("y", ps.native)
    s[g].parallel("xo", chunk=2)
    s["f"].store_at(g, "xo")
    small = s.specialize(ps.size("n") <= 16)
    small[g].unroll("yi", 4)
    return s


def sums() -> ps.Schedule:
    n, m = ps.sizes("n m")
    i = ps.vars("i")
    k = ps.RVar("k", 0, m)
    a = ps.Input("a", ps.float64, (n, m))
    f = ps.Func("f", (n,))
    f[i] = ps.sum(a[i, k], k) / m
    s = ps.Schedule.default(f)
    r = s[f].reduction(0)
    r.reassociate()
    _, inner = r.split("k", 8)
    partial = r.rfactor(inner)
    s[partial].update(0).vectorize(inner.name)
    s[f].parallel("i")
    return s.copy()


def edges() -> ps.Schedule:
    """Of a definition in pieces."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    a = ps.Input("a", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[0, j] = a[0, j]
    f[i, j] = f[i - 1, j] + a[i, j]
    s = ps.Schedule(f)
    s[f].tile("i", "j", 4, 8)
    s[f].vectorize("ji", 8)
    s[f].stage(a, "jo")
    return s


def sketched() -> ps.Schedule:
    _, C = product()
    sketch = ps.Schedule(C).sketch()
    sketch[C].update(0).reorder("i", "k", "j")
    sketch[C].update(0).vectorize("j", 8)
    return sketch.prove()


def long() -> ps.Schedule:
    """Sixty directives."""
    s = packed()
    for k in range(24):
        s["C"].rename("il" if k % 2 == 0 else "row", "row" if k % 2 == 0 else "il")
    for _ in range(12):
        s["C"].reverse("il").reverse("il")
    assert len(s.directives) >= 60
    return s


SCRIPTS = (packed, rows, sums, edges, sketched, long)
