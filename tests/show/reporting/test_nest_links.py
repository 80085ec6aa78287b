"""Which lines of a schedule's listing the lines of the loop IR are made from."""

from __future__ import annotations

import re

import pytest
from gallery.case import Case
from gallery.execute import schedule
from gallery.registry import some

import polysched as ps
from polysched.codegen.ir import ir
from polysched.codegen.ir.text import module_lines
from polysched.show.reporting.nest_links import Numbers, links, nest_lines

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def _linked(
    s: ps.Schedule,
) -> tuple[list[str], list[tuple[str, ir.Stmt | ir.Function | None]], list[Numbers]]:
    """The listing, the lines of the loop IR, and their links."""
    loops = list(module_lines(s.compile()._lowered.flat))
    known = nest_lines(s.analysis.nests, s.program.names, 2)
    return str(s).splitlines(), loops, links(loops, known)


@pytest.mark.parametrize("case", some(16), ids=lambda case: case.name)
def test_loops_are_linked_to_loops_and_stores_to_stages(case: Case) -> None:
    s = schedule(case)
    listing, loops, found = _linked(s)
    end = nest_lines(s.analysis.nests, s.program.names, 2).end
    assert 1 < end <= len(listing) + 1
    # Behind the nests there are notes, which are indented once and no statements.
    assert not any(re.match(r"  (for|if|store|keep) ", x) for x in listing[end - 1 :])
    for (text, what), numbers in zip(loops, found, strict=True):
        if isinstance(what, ir.For):
            assert numbers, text
            for number in numbers:
                assert listing[number - 1].strip().startswith("for "), text


def test_loops_of_one_name_are_those_of_their_nests() -> None:
    """Variables of loops are unique in a nest only."""
    x = ps.Input("x", ps.float32, (n, m))
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[i, j] = x[i, j] + 1
    g[i, j] = f[i, j] * f[i, j]
    s = ps.Schedule(g)
    s[f].compute_root()
    listing, loops, found = _linked(s)
    at = [
        numbers for (_, what), numbers in zip(loops, found, strict=True) if isinstance(what, ir.For)
    ]
    assert at == [(2,), (3,), (5,), (6,)]
    assert [listing[k - 1].strip()[:5] for (k,) in at] == ["for i", "for j"] * 2


def test_parts_of_a_loop_are_linked_to_it() -> None:
    """Full and partial vectors are two loops, of one."""
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] + 1
    s = ps.Schedule(f)
    s[f].split(j, 8, names=("jo", "ji"))
    s[f].vectorize("ji")
    listing, loops, found = _linked(s)
    of_jo = [k + 1 for k, line in enumerate(listing) if line.strip().startswith("for jo")]
    parts = [
        numbers
        for (text, what), numbers in zip(loops, found, strict=True)
        if isinstance(what, ir.For) and text.strip().startswith("for jo")
    ]
    assert len(parts) == 2
    assert parts == [tuple(of_jo)] * 2
    stores = [x for (_, what), x in zip(loops, found, strict=True) if isinstance(what, ir.Stores)]
    stage = next(k + 1 for k, line in enumerate(listing) if line.strip().startswith("f[i, j] ="))
    assert set(stores) == {(stage,)}


def test_loops_that_copy_operands_are_linked_to_them() -> None:
    """What a schedule has added stores elements of no definition of the program."""
    l = ps.size("l")
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    s = ps.Schedule(C)
    u = s[C].update(0)
    u.split(j, 8, names=("jo", "ji"))
    u.reorder("jo", i, k, "ji")
    u.stage(B, at="jo", layout=(k, "ji"))
    listing, loops, found = _linked(s)
    (copy,) = (k for k, line in enumerate(listing, 1) if line.strip().startswith("B.jo["))
    stores = [
        numbers
        for (text, what), numbers in zip(loops, found, strict=True)
        if isinstance(what, ir.Stores) and text.strip().startswith("B.jo[")
    ]
    assert stores
    assert set(stores) == {(copy,)}
    for (text, what), numbers in zip(loops, found, strict=True):
        if isinstance(what, ir.For):
            assert {listing[x - 1].strip().split()[1] for x in numbers} == {what.name}, text
