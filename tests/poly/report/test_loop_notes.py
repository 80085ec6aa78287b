"""Notes beside loops: what is computed again, added in parts, or runs one element at a time."""

from __future__ import annotations

import pytest

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n, m))


def notes(s: ps.Schedule) -> dict[str, str]:
    """By loop, as `f` stands in `for f in ...`, what is said beside it."""
    lines = [line.partition("  # ") for line in str(s).splitlines() if " for " in line]
    return {line.split()[1]: said for line, _, said in lines if said}


def explained(s: ps.Schedule) -> list[str]:
    return [line.strip() for line in s.explain().splitlines() if line.startswith("    ")]


def rows(reach: int) -> tuple[ps.Func, ps.Func, ps.Schedule]:
    """g[i], which f reads at i and `reach` rows on."""
    g, f = ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = x[ps.clip(i, 0, n - 1), j] + 1
    f[i, j] = g[i, j] + g[i + reach, j]
    s = ps.Schedule(f)
    return g, f, s


# computed again -----------------------------------------------------------------------------------
def test_rows_that_two_iterations_need_are_said_to_run_twice() -> None:
    g, f, s = rows(1)
    s[g].compute_at(f, i)
    assert notes(s) == {"i": "runs g 1.92 times (1152 for 600, at n=24, m=24)"}
    assert "i runs g 1.92 times (1152 for 600, at n=24, m=24)" in explained(s)


def test_the_note_counts_what_runs() -> None:
    """At the sizes that it names, as many as the loops execute."""
    import numpy as np

    from polysched.show import recorded

    g, f, s = rows(1)
    s[f].split(i, 4)
    s[g].compute_at(f, "io")
    (said,) = (text for text in notes(s).values() if text.startswith("runs g "))
    total, _, rest = said.partition("(")[2].partition(" for ")
    counts = recorded(s, np.zeros((24, 24), np.float32)).funcs["g"].counts
    assert (int(total), int(rest.partition(",")[0])) == (counts.total(), len(counts))


@pytest.mark.parametrize("place", ["root", "slides", "same row"])
def test_what_runs_once_needs_no_note(place: str) -> None:
    g, f, s = rows(0 if place == "same row" else 1)
    if place != "root":
        s[g].compute_root() if s["g"].is_inlined else None
        s[g].compute_at(f, i)
    if place == "slides":
        s[g].store_root()
    assert not any("runs g" in text for text in notes(s).values())


# sums in parts ------------------------------------------------------------------------------------
def tiles(*loops: str) -> ps.Schedule:
    """A product whose sums are kept at the loop in front of the last three."""
    k = ps.RVar("k", 0, l)
    a, b = ps.Input("a", ps.float32, (n, l)), ps.Input("b", ps.float32, (l, m))
    c = ps.Func("c", (n, m))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    s = ps.Schedule(c)
    u = s[c].update(0)
    u.split(i, 4, names=("io", "ii"))
    u.split(k, 256, names=("ko", "ki"))
    u.reorder(*loops)
    u.accumulate_at(loops[-4])
    return s


@pytest.mark.parametrize(
    ("loops", "said"),
    [
        (("ko", "io", "ki", "ii", "j"), {"ko"}), (("io", "ko", "ki", "ii", "j"), {"ko"}),
        (("io", "ko", "ii", "j", "ki"), {"ko"}), (("io", "ii", "ko", "j", "ki"), set()),
    ],
)  # fmt: skip
def test_a_loop_over_parts_of_sums_loads_and_stores_them(loops: tuple[str, ...], said: set) -> None:
    """Only outside of the loop in which they are kept."""
    found = notes(tiles(*loops))
    assert {x for x, text in found.items() if "loads and stores c again" in text} == said


def test_a_pass_that_tiles_do_not_need_is_said_with_what_spares_it() -> None:
    """Of the nest that begins the sums; it is gone once they begin in their tiles."""
    s = tiles("ko", "io", "ki", "ii", "j")
    wanted = 'writes c in a pass of its own, or in its tiles with s["c"].compute_at("c.update(0)", '
    ((loop, said),) = [(x, text) for x, text in notes(s).items() if "writes" in text]
    assert loop == "i"
    assert said.startswith(wanted)
    place = said.removeprefix(wanted).split('"')[1]
    s["c"].compute_at("c.update(0)", place)
    assert not any("writes" in text for text in notes(s).values())


def test_what_tiles_do_not_begin_needs_its_pass() -> None:
    """The first column is not accumulated."""
    c, q, r = ps.Func("c", (n, m)), ps.RVar("q", 1, m), ps.RVar("r", 0, 8)
    c[i, j] = 0.0
    c[i, q] += x[i, r] * x[r, q]
    s = ps.Schedule(c)
    s["c.update(0)"].reorder("i", "q", "r").accumulate_at("q")
    assert "keep c" in str(s)
    assert not any("writes" in text for text in notes(s).values())


def test_what_is_updated_before_its_tiles_needs_its_pass() -> None:
    c, r = ps.Func("c", (n, m)), ps.RVar("r", 0, 8)
    c[i, j] = 0.0
    c[i, j] += x[i, j]
    c[i, j] += x[i, r] * x[r, j]
    s = ps.Schedule(c)
    s["c.update(1)"].accumulate_at("j")
    assert not any("writes" in text for text in notes(s).values())


def test_other_loops_around_an_accumulator_need_no_note() -> None:
    s = tiles("io", "j", "ko", "ii", "ki")
    assert not any("loads and stores" in text for text in notes(s).values())


def test_rvars_that_say_which_element_it_is_split_no_terms() -> None:
    a = ps.InOut("a", ps.float32, (n, n))
    r, c, k = ps.RVar("r", 0, n), ps.RVar("c", 0, n), ps.RVar("k", 0, n)
    b = ps.Input("b", ps.float32, (n, n))
    a[r, c] += b[r, k] * b[k, c]
    s = ps.Schedule(a)
    u = s["a"]
    u.split(r, 4)
    u.reorder("ro", c, k, "ri").accumulate_at(c)
    assert not any("loads and stores" in text for text in notes(s).values())


# one element at a time ----------------------------------------------------------------------------
def product() -> ps.Func:
    k = ps.RVar("k", 0, l)
    a, b = ps.Input("a", ps.float32, (n, l)), ps.Input("b", ps.float32, (l, m))
    c = ps.Func("c", (n, m))
    c[i, j] = ps.sum(a[i, k] * b[k, j], k) + 1
    return c


def test_a_hidden_sum_that_is_left_behind_is_seen() -> None:
    c = product()
    s = ps.Schedule(c)
    s[c].vectorize(j, 8)
    lines = [line for line in str(s).splitlines() if "# one element at a time" in line]
    assert [line.split()[1] for line in lines] == ["j", "k"]
    assert "k one element at a time" in explained(s)
    s["c.sum0"].vectorize(j, 8)
    s["c.sum0"].update(0).reorder(i, "k", j).vectorize(j, 8)
    assert notes(s) == {}


def test_loops_inside_and_around_vectors_are_no_scalar_ones() -> None:
    c = product()
    s = ps.Schedule(c)
    s[c].vectorize(j, 8)
    s["c.sum0"].vectorize(j, 8)
    s["c.sum0"].update(0).vectorize(j, 8)  # k stands inside
    assert notes(s) == {}


def test_an_unrolled_loop_is_a_part_of_the_body() -> None:
    """The copy of a panel, four rows at a time."""
    s = tiles("io", "j", "ko", "ii", "ki")
    copy = s[s["c"].update(0).stage("a", at="io")]
    s["c"].vectorize(j, 8)
    rows, columns = copy.loops[-2:]
    copy.reorder(columns, rows).unroll(rows)
    assert "one element at a time" in notes(s)[columns.name]
    copy.vectorize(columns, 8)
    assert not any("one element" in notes(s).get(x.name, "") for x in copy.loops)


def test_few_iterations_are_not_worth_a_word() -> None:
    f, g = ps.Func("f", (n, 3)), ps.Func("g", (n,))
    f[i, j] = ps.cast(ps.float32, i * j)
    g[i] = x[i, 0] + f[i, 0]
    s = ps.Schedule((f, g))
    s[g].vectorize(i, 8)
    assert "one element" not in notes(s).get("j", "")


def test_a_program_as_written_is_not_shouted_at() -> None:
    s = ps.Schedule(product())
    assert notes(s) == {}
    assert explained(s) == []
    s["c"].parallel(i)
    assert notes(s) == {}, "a note says that no loop is vectorised"
    assert "j one element at a time" in explained(s)


# panels -------------------------------------------------------------------------------------------
def panels(*layout: str, transposed: bool = False) -> tuple[ps.Schedule, ps.StageHandle]:
    """A product whose left operand is copied into panels of six rows."""
    k = ps.RVar("k", 0, l)
    a = ps.Input("a", ps.float32, (l, n) if transposed else (n, l))
    b, c = ps.Input("b", ps.float32, (l, m)), ps.Func("c", (n, m))
    c[i, j] = 0.0
    c[i, j] += (a[k, i] if transposed else a[i, k]) * b[k, j]
    s = ps.Schedule(c)
    u = s[c].update(0)
    u.split(i, 6, names=("it", "ii"))
    u.split("it", 16, names=("ic", "ir"))
    u.reorder("ic", "ir", k, "ii", j).vectorize(j, 8)
    return s, s[u.stage("a", at="ic", layout=layout or ("ir", "k", "ii"))]


def test_a_panel_of_rows_names_the_vectors_that_transpose_it() -> None:
    s, copy = panels()
    fix = 's["a.ic"].unroll("ii").vectorize("k", ps.native)'
    said = f"transposes a, in vectors with {fix}"
    assert said in str(s)
    assert any(said in line for line in explained(s))
    copy.unroll("ii")
    fix = 's["a.ic"].vectorize("k", ps.native)'
    assert f"transposes a, in vectors with {fix}" in str(s)
    eval(fix, {"s": s, "ps": ps})
    assert not {"transposes", "gathers", "scatters"} & set(" ".join(notes(s).values()).split())


def test_copies_that_are_no_transposes_need_no_note() -> None:
    s, _ = panels(transposed=True)  # rows of a panel lie in memory as they do in a
    assert "transposes" not in str(s)
    s, copy = panels("k", "ir", "ii")
    copy.reorder("ir", "k", "ii")  # what is between two k is more than the rows of a panel
    assert "transposes" not in str(s)
    s, copy = panels()
    copy.reorder("ir", "ii", "k")
    assert "transposes" not in str(s), "lanes would scatter, of which there is a note then"


def test_copies_of_several_components_are_listed() -> None:
    x, y = ps.Input("x", ps.float32, (m, n)), ps.Input("y", ps.float32, (m, n))
    pair, total, r = ps.Func("pair"), ps.Func("total", (n,)), ps.RVar("r", 0, m)
    pair[i, j] = x[j, i] * 2, y[j, i] * 3
    total[i] = 0.0
    total[i] += pair[i, r][0] * pair[i, r][1]
    s = ps.Schedule(total)
    s[pair].compute_root()
    u = s[total].update(0)
    u.split(i, 4, names=("io", "ii"))
    u.reorder("io", r, "ii").stage("pair", at="io", layout=(r, "ii"))
    assert "pair.io[io, r, ii] = (pair[" in str(s)
