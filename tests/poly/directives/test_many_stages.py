"""What directives of one stage cost in programs of many."""

from __future__ import annotations

from functools import partial

from counting import calls

import polysched as ps

from .kernels import i, m, n


def sums(count: int) -> ps.Schedule:
    """Sums of rows, each of what the one before is taken from, the first one in vectors."""
    x = ps.Input("x", ps.float32, (n, m))
    last: ps.Func | None = None
    for k in range(count):
        r, f = ps.RVar("r", 0, m), ps.Func(f"f{k}", (n,))
        f[i] = 0.0
        f[i] += x[i, r] if last is None else x[i, r] - last[i]
        last = f
    assert last is not None
    s = ps.Schedule(last)
    s["f0"].update(0).split("i", 8, names=("io", "ii"))
    s["f0"].update(0).reorder("io", "r", "ii")
    return s


def begin(s: ps.Schedule) -> None:
    update = s["f0"].update(0)
    s["f0"].compute_at(update, "io")
    update.accumulate_at("io")


def test_where_a_sum_begins_is_looked_for_in_its_own_loops() -> None:
    few, many = (_calls(count) for count in (16, 64))
    assert many < 4 * few


def _calls(count: int) -> int:
    """Of functions of Python's, for the directives of one stage."""
    s = sums(count)
    give = partial(begin, s)
    with calls() as found:
        give()
    return found.count
