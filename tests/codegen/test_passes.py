"""What passes make of loops, as listings."""

from __future__ import annotations

from textwrap import dedent

import polysched as ps
from polysched.codegen.lower import ON_LOOPS, built
from polysched.codegen.text import stmt_text

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def listed(s: ps.Schedule, passes: int, wanted: str) -> None:
    """The loops of the last nest, after some of the passes."""
    module = built(s)
    for run in ON_LOOPS[:passes]:
        module = run(module)
    found = stmt_text(module.functions[-1].body)
    assert found == dedent(wanted).strip("\n")


def rows() -> ps.Schedule:
    a, f = ps.Input("a", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = a[i, j] * 2
    s = ps.Schedule(f)
    s[f].vectorize(j, 8)
    return s


def test_whole_vectors_have_no_masks() -> None:
    listed(
        rows(), 2,
        """
        for i in [0, n):
          for j in [0, (m - 1) // 8 + 1):
            if 7 < min(m - j * 8, 8):
              lanes ji#1 in [0, 0 + 8):
                f[i, j * 8 + ji#1] = a[i, j * 8 + ji#1] * 2.0
            else:
              lanes ji#1 in [0, 0 + 8):
                f[i, j * 8 + ji#1] = a[i, j * 8 + ji#1 if ji#1 < min(m - j * 8, 8)] * 2.0 where ji#1 < min(m - j * 8, 8)
        """,  # noqa: E501
    )  # fmt: skip


def test_whole_vectors_have_a_loop_of_their_own() -> None:
    listed(
        rows(), 4,
        """
        for i in [0, n):
          for j in [0, max(min((m - 1) // 8 + 1, (-7 + m - 1) // 8 + 1), 0)):
            lanes ji#1 in [0, 0 + 8):
              f[i, j * 8 + ji#1] = a[i, j * 8 + ji#1] * 2.0
          for j.1' in [max(min((m - 1) // 8 + 1, (-7 + m - 1) // 8 + 1), 0), (m - 1) // 8 + 1):
            lanes ji#1 in [0, 0 + 8):
              f[i, j.1' * 8 + ji#1] = a[i, j.1' * 8 + ji#1 if ji#1 < min(m - j.1' * 8, 8)] * 2.0 where ji#1 < min(m - j.1' * 8, 8)
        """,  # noqa: E501
    )  # fmt: skip


def test_conditions_are_tested_in_front_of_loops_that_do_not_change_them() -> None:
    """The loop over k is inside of that over vectors."""
    a, f = ps.Input("a", ps.float32, (m, n)), ps.Func("f", (n,), ps.float32)
    k = ps.RVar("k", 0, m)
    f[i] = 0
    f[i] += a[k, i]
    s = ps.Schedule(f)
    s[f].update(0).vectorize(i, 8)
    listed(
        s, 3,
        """
        for i in [0, (n - 1) // 8 + 1):
          if 7 < min(n - i * 8, 8):
            for k in [0, m):
              fold ii#1 in [0, 0 + 8):
                f[i * 8 + ii#1] = f[i * 8 + ii#1] + a[k, i * 8 + ii#1]
          else:
            for k in [0, m):
              fold ii#1 in [0, 0 + 8):
                f[i * 8 + ii#1] = f[i * 8 + ii#1 if ii#1 < min(n - i * 8, 8)] + a[k, i * 8 + ii#1 if ii#1 < min(n - i * 8, 8)] where ii#1 < min(n - i * 8, 8)
        """,  # noqa: E501
    )  # fmt: skip


def test_loops_of_one_iteration_are_gone() -> None:
    a, g, f = ps.Input("a", ps.int32, (n, m)), ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = a[i, j] + 1
    f[i, j] = g[i, j] * 2
    s = ps.Schedule(f)
    s[g].compute_root()
    s[g].compute_at(f, i)
    listed(
        s, 1,
        """
        for i in [0, n):
          store g at g.origin0 = i:
            for j in [0, m):
              g[i, j] = a[i, j] + 1
            for j.2 in [0, m):
              f[i, j.2] = g[i, j.2] * 2
        """,
    )  # fmt: skip
