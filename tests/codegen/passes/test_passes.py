"""What passes make of loops, as listings."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from mutations.run import FAULTS

import polysched as ps
from polysched.codegen import passes
from polysched.codegen.build.build import build
from polysched.codegen.ir.ir import (
    Alloc,
    Buffer,
    Function,
    If,
    Load,
    Module,
    Seq,
    Stmt,
    Store,
    Stores,
    walk,
)
from polysched.codegen.ir.text import stmt_text
from polysched.codegen.lower import ON_LOOPS, PASSES, Pass
from polysched.codegen.passes.fill_tiles import fill_tiles
from polysched.codegen.passes.full_lanes import full_lanes
from polysched.codegen.passes.hoist_conditions import hoist_conditions
from polysched.codegen.passes.single_iterations import single_iterations
from polysched.codegen.passes.split_loops import split_loops
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.nodes import Const, integer

n, m = ps.sizes("n m")
i, j = ps.vars("i j")

FILES = [p.stem for p in sorted(Path(passes.__file__).parent.glob("*.py")) if p.stem != "__init__"]
APART = {"reverse_parallel"}
"""Passes that no kernel has, but those that tests and `check` compare others with."""


def test_each_pass_is_known_everywhere() -> None:
    """It is run, shows before and after, stands in the architecture, and a fault is planted."""
    architecture = Path(__file__).resolve().parents[3] / "docs" / "architecture.md"
    for name in FILES:
        module = import_module(f"{passes.__name__}.{name}")
        assert (getattr(module, name) in PASSES) != (name in APART), name
        assert "->" in (module.__doc__ or ""), name
        assert f"`{name}`" in architecture.read_text(), name
        assert f"the pass {name} does nothing" in {f.name for f in FAULTS}, name


def listed(s: ps.Schedule, last: Pass, wanted: str) -> None:
    """The loops of the last nest, after the passes up to one."""
    module = build(s.loop_program)
    for run in ON_LOOPS[: ON_LOOPS.index(last) + 1]:
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
        rows(), full_lanes,
        """
        for i in [0, n):
          for j in [0, (m - 1) // 8 + 1):
            if 7 + j * 8 < m:
              lanes ji in [0, 0 + 8):
                f[i, j * 8 + ji] = a[i, j * 8 + ji] * 2.0
            else:
              lanes ji in [0, 0 + 8):
                f[i, j * 8 + ji] = a[i, j * 8 + ji if ji < min(m - j * 8, 8)] * 2.0 where ji < min(m - j * 8, 8)
        """,  # noqa: E501
    )  # fmt: skip


def test_whole_vectors_have_a_loop_of_their_own() -> None:
    listed(
        rows(), split_loops,
        """
        for i in [0, n):
          for j in [0, max(min((m - 1) // 8 + 1, (-7 + m - 1) // 8 + 1), 0)):
            lanes ji in [0, 0 + 8):
              f[i, j * 8 + ji] = a[i, j * 8 + ji] * 2.0
          for j.1' in [max(min((m - 1) // 8 + 1, (-7 + m - 1) // 8 + 1), 0), (m - 1) // 8 + 1):
            lanes ji in [0, 0 + 8):
              f[i, j.1' * 8 + ji] = a[i, j.1' * 8 + ji if ji < min(m - j.1' * 8, 8)] * 2.0 where ji < min(m - j.1' * 8, 8)
        """,  # noqa: E501
    )  # fmt: skip


def test_full_vectors_behind_the_first_block_begin_at_its_first_lane() -> None:
    """What lanes touch there is the same in each block: it can be in registers."""
    a, f, r = ps.Input("a", ps.int32, (n,)), ps.Func("f", (8,), ps.int32), ps.RVar("r", 1, n)
    f[i] = 0
    f[r % 8] += a[r]
    s = ps.Schedule(f)
    s[f].update(0).split(r, 8, names=("ro", "ri"))
    s[f].update(0).vectorize("ri")
    module = full_lanes(build(s.loop_program))
    stored = (x for x in walk(module.functions[-1].body) if isinstance(x, Stores))
    assert [ix.constant(x.lanes.lo) for x in stored if x.lanes] == [0, None]


def test_conditions_are_tested_in_front_of_loops_that_do_not_change_them() -> None:
    """The loop over k is inside of that over vectors."""
    a, f = ps.Input("a", ps.float32, (m, n)), ps.Func("f", (n,), ps.float32)
    k = ps.RVar("k", 0, m)
    f[i] = 0
    f[i] += a[k, i]
    s = ps.Schedule(f)
    s[f].update(0).vectorize(i, 8)
    listed(
        s, hoist_conditions,
        """
        for i in [0, (n - 1) // 8 + 1):
          if 7 + i * 8 < n:
            for k in [0, m):
              fold ii in [0, 0 + 8):
                f[i * 8 + ii] = f[i * 8 + ii] + a[k, i * 8 + ii]
          else:
            for k in [0, m):
              fold ii in [0, 0 + 8):
                f[i * 8 + ii] = f[i * 8 + ii if ii < min(n - i * 8, 8)] + a[k, i * 8 + ii if ii < min(n - i * 8, 8)] where ii < min(n - i * 8, 8)
        """,  # noqa: E501
    )  # fmt: skip


def bordered(*border: Any) -> ps.Schedule:
    """A row or a column of its own, in one nest of loops with the rest."""
    x, f = ps.Input("x", ps.int32, (n, m)), ps.Func("f", (n, m))
    f[border] = 0
    f[i, j] = 2 * x[i, j]
    s = ps.Schedule(f)
    s[f].join()
    return s


def test_what_is_done_at_one_index_is_not_tested_elsewhere() -> None:
    """Tiles without the first row have no test for it inside of loops."""
    s = bordered(0, j)
    s["f"].tile(i, j, 4, 8)
    listed(
        s, hoist_conditions,
        """
        for io in [0, (n - 1) // 4 + 1):
          for jo in [0, (m - 1) // 8 + 1):
            for ii in [0, min(n - io * 4, 4)):
              if (0 < ii + io * 4) & (io != 0):
                for ji in [0, min(m - jo * 8, 8)):
                  f[io * 4 + ii, jo * 8 + ji] = 2 * x[io * 4 + ii, jo * 8 + ji]
              else:
                for ji in [0, min(m - jo * 8, 8)):
                  if (io == 0) & (ii == 0):
                    f[0, jo * 8 + ji] = 0
                  if io * 4 + ii >= 1:
                    f[io * 4 + ii, jo * 8 + ji] = 2 * x[io * 4 + ii, jo * 8 + ji]
        """,
    )  # fmt: skip


def test_loads_that_a_border_has_not_are_told_from_it_in_front_of_a_loop() -> None:
    x, f = ps.Input("x", ps.int32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = ps.select((i > 0) & (i < n - 1), x[i - 1, j] + x[i + 1, j], 7)
    s = ps.Schedule(f)
    s["f"].vectorize(j, 4)
    module = build(s.loop_program)
    for run in ON_LOOPS:
        module = run(module)
    inside, _, _ = stmt_text(module.functions[-1].body).partition("else:")
    assert "if (0 < i) & (1 + i < n):" in inside
    assert "select" not in inside


def test_what_is_done_at_an_end_of_a_loop_is_in_a_loop_of_its_own() -> None:
    listed(
        bordered(i, 0), split_loops,
        """
        for i in [0, n):
          for j.1' in [0, min(m, 1)):
            if j.1' == 0:
              f[i, 0] = 0
            if j.1' >= 1:
              f[i, j.1'] = 2 * x[i, j.1']
          for j in [min(m, 1), m):
            f[i, j] = 2 * x[i, j]
        """,
    )  # fmt: skip
    listed(
        bordered(i, m - 1), split_loops,
        """
        for i in [0, n):
          for j in [0, max(min(m, -1 + m), 0)):
            f[i, j] = 2 * x[i, j]
          for j.1' in [max(min(m, -1 + m), 0), m):
            if j.1' + 1 == m:
              f[i, m - 1] = 0
            if m >= j.1' + 2:
              f[i, j.1'] = 2 * x[i, j.1']
        """,
    )  # fmt: skip


def test_what_has_one_iteration_in_the_loop_of_another_is_in_front_of_it() -> None:
    x, a, b = ps.Input("x", ps.int32, (n + 1,)), ps.Func("a", (n + 1,)), ps.Func("b", (1,))
    a[i] = 2 * x[i]
    b[j] = 7
    s = ps.Schedule((a, b))
    s[b].compute_with(a, i)
    listed(
        s, split_loops,
        """
        for i.1' in [0, min(n + 1, 1)):
          a[i.1'] = 2 * x[i.1']
          if i.1' == 0:
            b[i.1'] = 7
        for i in [min(n + 1, 1), n + 1):
          a[i] = 2 * x[i]
        """,
    )  # fmt: skip


def test_loops_of_one_iteration_are_gone() -> None:
    a, g, f = ps.Input("a", ps.int32, (n, m)), ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = a[i, j] + 1
    f[i, j] = g[i, j] * 2
    s = ps.Schedule(f)
    s[g].compute_root()
    s[g].compute_at(f, i)
    listed(
        s, single_iterations,
        """
        for i in [0, n):
          store g at g.origin0 = i:
            for j in [0, m):
              g[i, j] = a[i, j] + 1
            for j.2 in [0, m):
              f[i, j.2] = g[i, j.2] * 2
        """,
    )  # fmt: skip


def test_whole_tiles_are_told_once_and_have_storage_of_their_own() -> None:
    """Not in each iteration over k, and with elements that no loop moves."""
    a, f = ps.Input("a", ps.float32, (n, m)), ps.Func("f", (n, m))
    g = ps.Func("g", (n, m), ps.float32)
    k = ps.RVar("k", 0, m)
    g[i, j] = 0
    g[i, j] += a[i, k]
    f[i, j] = g[i, j] + 1
    s = ps.Schedule(f)
    u = s[g].update(0)
    _, jo, ii, ji = s[f].tile(i, j, 2, 8)
    s[f].vectorize(ji).unroll(ii)
    s[g].compute_at(f, jo)
    u.reorder(k, i, j)
    for stage in (s[g], u):
        stage.vectorize(j, 8).unroll(i)
    module = build(s.loop_program)
    for run in PASSES:
        module = run(module)
    text = stmt_text(module.functions[-1].body)
    whole, border = re.sub(r"ji[.#\d]+", "ji", text).split("else:")
    wanted = """
    for io in [0, (n - 1) // 2 + 1):
      for jo in [0, (m - 1) // 8 + 1):
        if (1 + io * 2 < n) & (7 + jo * 8 < m):
          store g:
            lanes ji in [0, 0 + 8):
              g[ji] = 0.0
            lanes ji in [0, 0 + 8):
              g[8 + ji] = 0.0
            for k in [0, m):
              fold ji in [0, 0 + 8):
                g[ji] = g[ji] + a[io * 2 * m + k]
              fold ji in [0, 0 + 8):
                g[8 + ji] = g[8 + ji] + a[(io * 2 + 1) * m + k]
            lanes ji in [0, 0 + 8):
              f[io * 2 * m + (jo * 8 + ji)] = g[ji] + 1.0
            lanes ji in [0, 0 + 8):
              f[(io * 2 + 1) * m + (jo * 8 + ji)] = g[8 + ji] + 1.0
    """
    assert whole.rstrip() == dedent(wanted).strip()
    assert border.split(":")[0].strip() == "store g.border0"
    filled = """
    lanes ji in [0, 0 + 8):
      g.border0[ji] = 0.0
    lanes ji in [0, 0 + 8):
      g.border0[8 + ji] = 0.0
    for k in [0, m):
    """
    assert dedent(border.split(":", 1)[1].lstrip("\n")).startswith(dedent(filled).strip("\n"))


@pytest.mark.slow
def test_loops_of_a_tile_that_only_its_copies_make_a_border() -> None:
    """Columns are padded where they are summed up, not where they are copied back."""
    a, b = ps.Input("a", ps.float32, (n, m)), ps.Input("b", ps.float32, (m, n))
    f, k = ps.Func("f", (n, n)), ps.RVar("k", 0, m)
    f[i, j] = 0
    f[i, j] += a[i, k] * b[k, j]
    s = ps.Schedule(f)
    u = s[f].update(0)
    with s.batch():
        u.split(i, 2)
        u.split(j, 8, tail="pad")
        u.reorder("io", "jo", k, "ii", "ji")
        s[f].compute_at(u, "jo")
        u.accumulate_at("jo")
        u.stage("b", at="io", layout=("jo", "k", "ji"), pad=True)
    u.vectorize("ji", 8).unroll("ii")
    s[f].vectorize(j, 8).unroll(i)
    module = build(s.loop_program)
    for run in ON_LOOPS:
        module = run(module)
    text = stmt_text(module.functions[-1].body)
    full, border = re.split(r"(?m)^      else:$", text[text.index("if 1 + io * 2 < n:") :])
    begin, _, behind = full.partition("for k.2")
    for part in (begin, behind):
        assert "          if 7 + jo.2 * 8 < n:\n" in part
    inside = re.findall(r"fold .*|if .*", behind)
    assert [x[:4] for x in inside[:3]] == ["fold", "fold", "if 7"]
    begin, _, behind = border.partition("for k.2")
    assert "7 + jo.2 * 8 < n" not in begin
    assert "if 0 < min(n - io * 2, 2)" in behind


def test_copies_of_skewed_rows_are_numbered_from_the_first_one() -> None:
    """In the middle of the rows no copy has conditions, or an index that says which there are."""
    x, f = ps.Input("x", ps.int32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = x[i, j] + ps.select(j > 0, f[i, j - 1], 0)
    s = ps.Schedule(f)
    s["f"].skew(i, j, 1)
    s["f"].split(i, 2)
    s["f"].reorder("io", j, "ii")
    s["f"].unroll("ii")
    module = build(s.loop_program)
    for run in ON_LOOPS:
        module = run(module)
    text = stmt_text(module.functions[-1].body)
    lines = [
        "      f[io * 2, j - io * 2] = x[io * 2, j - io * 2] + f[io * 2, j - io * 2 - 1]",
        "      f[io * 2 + 1, j - (io * 2 + 1)] = x[io * 2 + 1, j - (io * 2 + 1)]"
        " + f[io * 2 + 1, j - (io * 2 + 1) - 1]",
    ]
    assert "\n".join(lines) in text


def test_nothing_is_kept_where_the_loops_around_it_are_empty() -> None:
    """Accumulators that are loaded under a condition of their own live in all loops around, too."""
    a, w = ps.Input("a", ps.float32, (n, m)), ps.Input("w", ps.float32, (m, n))
    f, r, k = ps.Func("f", (n, n)), ps.RVar("r", 0, 3), ps.RVar("k", 0, m)
    f[i, j] = 0
    f[i, j] += a[i, k] * w[k, j] * r
    s = ps.Schedule(f)
    u = s[f].update(0)
    u.split(j, 8)
    u.reorder(i, "jo", r, k, "ji")
    u.accumulate_at("jo")
    module = build(s.loop_program)
    for run in ON_LOOPS:
        module = run(module)
    text = stmt_text(module.functions[-1].body)
    assert re.findall(r"if .*:\n *store", text)
    assert text.count("m >= 1") == 1


TILE = Buffer("t", ps.float32, (integer(8),), (integer(4),), "stack")
OTHER = Buffer("o", ps.float32, (integer(8),), (integer(4),), "stack")


def fill(place: int, value: float = 0.0, to: Buffer = TILE, atomic: bool = False) -> If:
    """if n < 5: to[place] = value"""
    store = Store(to, (integer(place),), Const(value, ps.float32), atomic=atomic)
    return If(ix.compare("lt", n.node, integer(5)), Stores((store,)))


def copied(source: Buffer, target: Buffer) -> Stores:
    """target[4] = source[4]"""
    at = (integer(4),)
    return Stores((Store(target, at, Load(source, at, None, ps.float32)),))


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        pytest.param([fill(4), fill(11)], 2, id="in-bounds"),
        pytest.param([fill(4), fill(5, to=OTHER), fill(6)], 3, id="two-buffers"),
        pytest.param([Seq((fill(4), If(ix.ZERO, fill(5))))], 1, id="nested"),
        pytest.param([fill(4), fill(12)], 1, id="beyond-the-end"),
        pytest.param([fill(3), fill(4)], 0, id="before-the-beginning"),
        pytest.param([fill(4), fill(4, 1.0)], 1, id="another-constant"),
        pytest.param([fill(4), fill(4, -0.0)], 1, id="another-zero"),
        pytest.param([fill(4), copied(TILE, OTHER), fill(5)], 1, id="read-before"),
        pytest.param([copied(OTHER, TILE), fill(4)], 0, id="not-the-first"),
        pytest.param([fill(4, atomic=True)], 0, id="atomic"),
        pytest.param([fill(4, to=replace(TILE, kind="scratch"))], 0, id="shared"),
    ],
)
def test_only_what_nobody_misses_is_filled(parts: list[Stmt], whole: int) -> None:
    body = Alloc((TILE, OTHER), (), Seq(tuple(parts)))
    module = fill_tiles(Module("k", (), (), (Function("f", "f", body),)))
    found = module.functions[0].body
    assert isinstance(found, Alloc)
    assert isinstance(found.body, Seq)
    made = found.body.parts
    assert [x == y for x, y in zip(made, parts, strict=True)] == [
        at >= whole for at in range(len(parts))
    ]
    assert not any(isinstance(s, If) for part in made[:whole] for s in walk(part))


def test_what_a_param_says_may_wrap_around() -> None:
    """p - i would, at the smallest p."""
    p = ps.Param("p", ps.int64)
    f = ps.Func("f", (n,))
    f[i] = ps.select(i < p, 1, 2)
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    kernel = s.compile()
    for value in (-(2**63), -(2**63) + 5, -1, 3, 19, 2**63 - 1):
        assert kernel(n=37, p=value).tolist() == [1 if k < value else 2 for k in range(37)]


def test_products_with_large_factors_may_wrap_around() -> None:
    f = ps.Func("f", (n,))
    f[i] = ps.select(i * 2**61 < 5, 1, 2)
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    wanted = [1 if (k * 2**61 + 2**63) % 2**64 - 2**63 < 5 else 2 for k in range(37)]
    assert s.compile()(n=37).tolist() == wanted


def test_conditions_that_hold_wherever_a_stage_runs_are_gone() -> None:
    """The border is a piece of its own."""
    a = ps.Input("a", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select((i >= 0) & (i < n), a[i], 0) + ps.select(i >= n, 1, 2)
    (only,) = build(ps.Schedule(f).loop_program).functions
    assert stmt_text(only.body).splitlines()[-1].strip() == "f[i] = a[i] + 2.0"


def test_known_sizes_are_constants() -> None:
    a, f = ps.Input("a", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = a[i, j] * 2
    s = ps.Schedule(f).fixed({"m": 7})
    module = build(s.loop_program)
    for run in PASSES:
        module = run(module)
    assert "f[i * 7 + j] = a[i * 7 + j]" in stmt_text(module.functions[-1].body)
