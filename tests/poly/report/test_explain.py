"""explain: what a schedule does, keeps and asks, section by section."""

from __future__ import annotations

import pytest

import polysched as ps

from ..directives.cases import T, gauss_seidel, i, j, m, n, plane, product, t


def sections(s: ps.Schedule) -> dict[str, list[str]]:
    """The lines of each section by its title, behind the line that says what is explained."""
    head, *lines = s.explain().splitlines()
    assert head == f"Schedule of {s.program.signature()}"
    found: dict[str, list[str]] = {}
    title = ""
    for line in lines:
        if line.startswith("  "):
            found[title].append(line[2:])
        else:
            title = line.removesuffix(":")
            found[title] = []
    return found


def two_rows() -> ps.Schedule:
    """g is stored for f, which comes a row behind it."""
    x = ps.Input("x", ps.float32, (n + 1, m))
    g, f = ps.Func("g", (n + 1, m)), ps.Func("f", (n, m))
    g[i, j] = x[i, j] * 2
    f[i, j] = g[i, j] + g[i + 1, j]
    return ps.Schedule(f)


# stages -----------------------------------------------------------------------------------------
def test_a_program_as_written() -> None:
    assert sections(ps.Schedule(plane())) == {"stages": ["f: i [n], j [m]"]}


def test_stages() -> None:
    s = ps.Schedule(product())
    u = s["C"].update(0)
    io, jo, ii, ji = u.tile(i, j, 4, 8)
    u.reorder(io, jo, "k", ii, ji).vectorize(ji).unroll(ii).parallel(io)
    assert sections(s)["stages"] == [
        "C: i [n], j [m]",
        "  j one element at a time",
        "C.update(0): io [(n - 1) // 4 + 1] parallel, jo [(m - 1) // 8 + 1], k [l], "
        "ii [min(n - io * 4, 4)] unrolled, ji [min(m - jo * 8, 8)] vector",
    ]


def test_a_loop_with_steps() -> None:
    """Its last step may be a short one: 3 * n - 2 numbers hold n multiples of 3."""
    s = ps.Schedule(plane())
    s["f"].transform((i, j), lambda i, j: (3 * i, j))
    assert sections(s)["stages"][0] == "f: i [n * 3 // 3], j [m]"


def test_a_stage_without_loops() -> None:
    f = ps.Func("f", ())
    f[()] = 3
    assert sections(ps.Schedule(f)) == {"stages": ["f: once"]}


def test_what_is_inlined() -> None:
    x, g, f = ps.Input("x", ps.int64, (n,)), ps.Func("g"), ps.Func("f", (n,))
    g[i] = x[i] * 2
    f[i] = g[i] + 1
    found = sections(ps.Schedule(f))
    assert found == {"stages": ["f: i [n]", "g: inlined into f"]}


# storage ----------------------------------------------------------------------------------------
def test_storage() -> None:
    assert sections(two_rows())["storage"] == ["g: float32[n + 1, m]"]


def test_storage_that_is_folded() -> None:
    s = two_rows()
    s["f"].compute_with("g", i, shift=1)
    s["g"].fold_storage(0, 2)
    assert sections(s)["storage"] == ["g: float32[n + 1, m], 2 kept along axis 0"]


def test_storage_of_a_recurrence() -> None:
    x, f, last = ps.Input("x", ps.int32, (n,)), ps.Func("f", (T + 1, n)), ps.Func("last", (n,))
    f[0, i] = x[i]
    f[t, i] = f[t - 1, n - 1 - i]
    last[i] = f[T, i]
    assert sections(ps.Schedule(last))["storage"] == ["f: int32[T + 1, n], 2 kept along axis 0"]


def test_a_copy_of_an_array_in_place() -> None:
    a, f = ps.InOut("a", ps.int64, (n,)), ps.Func("f", (n,))
    r = ps.RVar("r", 0, n)
    a[r] = a[r] * 2
    f[i] = a.final[i] - a.initial[n - 1 - i]
    assert "a.initial: a copy, made first" in sections(ps.Schedule((a, f)))["storage"]


def test_outputs_are_not_listed() -> None:
    assert "storage" not in sections(ps.Schedule(product()))


# requires ---------------------------------------------------------------------------------------
def test_requires() -> None:
    x, f = ps.Input("x", ps.int64, (m,)), ps.Func("f", (n,))
    f[i] = x[i + 2]
    s = ps.Schedule(f)
    s.assume(n >= 4)
    s["f"].split(i, 4, tail="round_up")
    found = sections(s)["requires"]
    assert found == list(s.conditions)
    assert len(found) == 3


def test_nothing_is_required() -> None:
    assert "requires" not in sections(ps.Schedule(plane()))


# notes ------------------------------------------------------------------------------------------
def notes(s: ps.Schedule) -> list[str]:
    return sections(s).get("notes", [])


def test_an_update_that_is_forgotten() -> None:
    s = ps.Schedule(product())
    s["C"].vectorize(j, 8)
    assert notes(s) == ["C is scheduled, C.update(0) is not"]
    s["C"].update(0).parallel(i)
    assert notes(s) == []


def test_no_vectors() -> None:
    s = ps.Schedule(plane())
    assert notes(s) == []
    s["f"].parallel(i)
    assert notes(s) == ["no loop is vectorised"]
    s["f"].vectorize(j, 8)
    assert notes(s) == []


def test_what_is_not_exact() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).reassociate().vectorize("k", 8)
    assert notes(s) == ["not bit-exact: C.update(0) may be summed in any order"]


def test_what_is_trusted() -> None:
    s = ps.Schedule(gauss_seidel())
    with s.trust("a is all zeros"):
        s["a"].vectorize("c", 4)
    found = notes(s)
    assert len(found) == 2, "a split and its lanes"
    assert all(x.startswith("trusted, a is all zeros: ") for x in found)


def test_variants() -> None:
    s = ps.Schedule(plane())
    s.specialize(n > 8)
    assert notes(s) == ["where n > 8: another variant"]


def test_wider_floats() -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = ps.cast(ps.float64, x[i]) * 2
    (note,) = notes(ps.Schedule(f))
    assert note.startswith("f computes in float64 from narrower floats (")
    assert "test_explain.py:" in note


@pytest.mark.parametrize("make", ["same type", "narrower", "from integers"])
def test_floats_that_are_not_wider(make: str) -> None:
    types = {
        "same type": (ps.float32, ps.float32),
        "narrower": (ps.float64, ps.float32),
        "from integers": (ps.int32, ps.float64),
    }
    of, to = types[make]
    x, f = ps.Input("x", of, (n,)), ps.Func("f", (n,))
    f[i] = ps.cast(to, x[i])
    assert notes(ps.Schedule(f)) == []


def test_iterations_in_which_nothing_is_done() -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="guard")
    s["f"].vectorize("ji")
    assert notes(s) == ["the loops of f have 21% idle iterations (175 of 800, at n=25, m=25)"]
    s = ps.Schedule(plane())
    s["f"].split(j, 8)
    s["f"].vectorize("ji")
    assert notes(s) == []


def test_a_condition_around_a_nest_costs_nothing() -> None:
    s = ps.Schedule(plane())
    s["f"].bound(j, 8).vectorize(j)
    assert notes(s) == []


# as text ----------------------------------------------------------------------------------------
def test_sections_stand_in_one_order() -> None:
    s = two_rows()
    s["g"].split(j, 8, tail="round_up")
    assert list(sections(s)) == ["stages", "storage", "requires", "notes"]


def test_nothing_changes_by_it() -> None:
    s = two_rows()
    before = s.key, str(s)
    assert s.explain() == s.explain()
    assert (s.key, str(s)) == before
