"""Schedules as Python and as JSON: what is read back is what was written."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Iterator
from typing import Any

import pytest

import polysched as ps
from polysched.poly.tree.edits import stages

from ..directives.cases import i, j, jacobi, l, m, n, plane, product
from ..directives.support import same
from ..directives.test_values import PROGRAMS, random_directive

SYMBOLS = {"ps": ps, "n": n, "m": m, "l": l, "T": ps.size("T")}


def executed(s: ps.Schedule, /, **names: Any) -> ps.Schedule:
    """What the Python of a schedule makes, where sizes and outputs have their names."""
    known = {**SYMBOLS, **{f.name: f for f in s.program.outputs}, **names}
    exec(s.source(), known)
    made = known[s.source().partition(" = ")[0]]
    assert isinstance(made, ps.Schedule)
    return made


def family(s: ps.Schedule) -> Iterator[ps.Schedule]:
    yield s
    for _, variant in s.variants:
        yield from family(variant)


def survives(s: ps.Schedule, /, **names: Any) -> None:
    """Both texts make an equal schedule, also in what it prints and writes."""
    read = ps.Schedule.from_json(s.program.outputs, s.to_json())
    for made in (executed(s, **names), read):
        assert made == s
        assert [str(x) for x in family(made)] == [str(x) for x in family(s)]
        assert (made.source(), made.to_json()) == (s.source(), s.to_json())


# factors ----------------------------------------------------------------------------------------
def test_a_factor_is_said_once() -> None:
    s = ps.Schedule(plane())
    rows = ps.factor("rows", 4)
    s["f"].split(i, rows)
    s["f"].split(j, 2 * rows)
    assert s.source().splitlines() == [
        "s = ps.Schedule(f)",
        "rows = ps.factor('rows', 4)",
        "s[\"f\"].split('i', rows)",
        "s[\"f\"].split('j', 2 * rows)",
    ]
    survives(s)
    changed = s.source().replace("'rows', 4", "'rows', 6")
    known: dict[str, Any] = {**SYMBOLS, **{f.name: f for f in s.program.outputs}}
    exec(changed, known)
    assert [d.factor for d in known["s"].directives] == [6, 12]


@pytest.mark.parametrize("name", ["f", "n", "ps", "jo", "T", "v0"])
def test_a_factor_whose_name_is_taken_has_another_one(name: str) -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, ps.factor(name, 4), names=("jo", "T"))
    s.specialize(n > 3)
    assert f"\n{name}_2 = ps.factor({name!r}, 4)\n" in s.source() or name == "v0"
    survives(s)


def test_factors_of_one_name_have_numbers() -> None:
    s = ps.Schedule(plane())
    s["f"].split(i, ps.factor("k", 4))
    s["f"].split(j, ps.factor("k", 8))
    lines = s.source().splitlines()
    assert lines[1:3] == ["k = ps.factor('k', 4)", "k_2 = ps.factor('k', 8)"]
    survives(s)


# variants ---------------------------------------------------------------------------------------
@pytest.mark.slow
def test_python_with_variants() -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 4)
    v = s.specialize(n >= 64)
    s["f"].parallel(i)
    v["f"].unroll("ji", 2)
    w = v.specialize(m % 8 == 0)
    v.specialize(m == 1)
    w["f"].unroll(i, 2)
    s.specialize(n == 1)
    s["f"].rename("jo", "block")
    assert s.source().splitlines() == [
        "s = ps.Schedule(f)",
        "s[\"f\"].split('j', 4)",
        "v0 = s.specialize(n >= 64)",
        "v0[\"f\"].split('ji', 2, names=('ji', 'jii'))",
        "v0[\"f\"].unroll('jii')",
        "v1 = v0.specialize(m % 8 == 0)",
        "v1[\"f\"].split('i', 2, names=('i', 'ii'))",
        "v1[\"f\"].unroll('ii')",
        "v2 = v0.specialize(m == 1)",
        "s[\"f\"].parallel('i')",
        "v3 = s.specialize(n == 1)",
        "s[\"f\"].rename('jo', name='block')",
    ]
    survives(s)
    survives(v)
    same(executed(s), over=(1, 8, 64))


CONDITIONS = (n >= 4, m % 4 == 0, (n < m) & (m != 3), ps.minimum(n, m) == 2, n == 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_random_families(name: str, seed: int) -> None:
    """Directives and variants in any order, on any member, some of them in batches."""
    rng = random.Random(f"{seed}{name}")
    s = ps.Schedule(PROGRAMS[name]())
    for _ in range(12):
        member = rng.choice(list(family(s)))
        try:
            random_step(rng, member)
        except ps.PolyschedError:
            continue
    survives(s)
    survives(s.copy())
    size = rng.choice(list(s.program.sizes))
    survives(s.fixed({size: 5}))


def random_step(rng: random.Random, s: ps.Schedule) -> None:
    match rng.randrange(6):
        case 0:
            known = [c for c in CONDITIONS if all(x in s.program.sizes for x in names_in(c))]
            s.specialize(rng.choice(known or [next(iter(s.program.sizes.values()))]))
        case 1:
            with s.batch():
                for _ in range(2):
                    random_step(rng, s)
        case _:
            stage = s[rng.choice(list(stages(s.tree))).name]
            random_directive(rng, s, stage)


def names_in(condition: ps.Expr) -> set[str]:
    return {x for x in ("n", "m") if x in str(condition).replace("minimum", "")}


def test_a_variant_made_inside_of_a_batch() -> None:
    s = ps.Schedule(jacobi())
    with s.batch():
        s["f"].transform(("t",), lambda t: -t)
        s["f"].transform(("t",), lambda t: -t)
        v = s.specialize(n >= 8)
        with v.batch():
            v["f"].split(i, 4)
        inside = s.copy()
        s["f"].parallel(i)
    assert s.source().splitlines()[1:] == [
        "with s.batch():",
        "    s[\"f\"].transform(('t',), lambda t: (-t), names=('t',))",
        "    s[\"f\"].transform(('t',), lambda t: (-t), names=('t',))",
        "    v0 = s.specialize(n >= 8)",
        "    with v0.batch():",
        "        v0[\"f\"].split('i', 4)",
        "    s[\"f\"].parallel('i')",
    ]
    for x in (s, v, inside):
        survives(x)


def test_what_variants_trust() -> None:
    x, h = ps.Input("x", ps.int64, (n,), range=(0, n)), ps.InOut("h", ps.int64, (n,))
    r = ps.RVar("r", 0, n)
    h[x[r]] = r
    s = ps.Schedule(h)
    with s.trust("one"):
        s["h"].parallel("r")
    v = s.specialize(n >= 8)
    with v.batch(), v.trust("two"):
        v["h"].split("r", 4)
    assert s.source().splitlines()[-2:] == [
        "with v0.batch():",
        "    with v0.trust('two'): v0[\"h.update(0)\"].split('r', 4)",
    ]
    survives(s)


def test_nothing_that_the_text_has_is_shadowed() -> None:
    """A size called as the schedule would be, and one called as the variant would be."""
    s_, v0 = ps.sizes("s v0")
    f = ps.Func("f", (s_, v0))
    f[i, j] = i + j
    made = ps.Schedule(f)
    made.assume(s_ >= 2)
    made.specialize(v0 >= 8)["f"].parallel(i)
    assert made.source().splitlines()[0] == "s0 = ps.Schedule(f)"
    survives(made, s=s_, v0=v0)


# sizes, Params and arguments --------------------------------------------------------------------
def test_known_sizes() -> None:
    s = ps.Schedule(product())
    s["C"].split(j, 8)
    s.specialize(m >= 8)["C"].vectorize("ji", 8)
    s.specialize(n == 3)
    fixed = s.fixed({"n": 64, "l": 2})
    assert fixed.source().splitlines()[-2:] == ["s.assume(n == 64)", "s.assume(l == 2)"]
    assert len(fixed.variants) == 1
    survives(fixed)
    made = executed(fixed)
    assert made.analysis.constants == fixed.analysis.constants
    assert set(made.analysis.constants) == {"n", "l"}
    assert "for i in [0, 64):" in str(made)


def test_conditions_on_params() -> None:
    """Of any type, with functions and casts."""
    p, q, b = ps.Param("p", ps.float32), ps.Param("q", ps.int16), ps.Param("b", ps.bool_)
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = ps.select(b, x[i] * p, x[i] + q)
    s = ps.Schedule(f)
    for condition in (
        b,
        ~b & (p > 0.5),
        ps.maximum(q, n) == 3,
        ps.cast(ps.int32, ps.sqrt(p)) < 3,
        ps.rint(p) == 2,
        abs(q) * 2 >= n,
    ):
        s.specialize(condition)
    survives(s, p=p, q=q, b=b)


def test_a_size_with_a_default() -> None:
    """It is the program's own, however it was written."""
    f = ps.Func("f", (ps.size("z", default=8),))
    f[i] = i
    s = ps.Schedule(f)
    s.specialize(ps.size("z") >= 4)["f"].parallel(i)
    survives(s, z=ps.size("z"))


def test_the_order_of_arguments() -> None:
    C = product()
    A, B = ps.Schedule(C).program.inputs
    s = ps.Schedule(C, args=[B, A])
    assert s.source() == "s = ps.Schedule(C, (B, A,))"
    survives(s, A=A, B=B)
    survives(ps.Schedule.default(C, args=[B, A]), A=A, B=B)
    assert ps.Schedule(C, args=[A, B]).source() == "s = ps.Schedule(C)"


def test_an_argument_that_is_not_read() -> None:
    C, D = product(), ps.Input("D", ps.float32, (n,))
    args = [*ps.Schedule(C).program.inputs, D]
    s = ps.Schedule(C, args=args)
    with pytest.raises(ps.LanguageError, match="the program reads no D"):
        ps.Schedule.from_json(C, s.to_json())
    assert ps.Schedule.from_json(C, s.to_json(), args=args) == s


def swapped() -> ps.Func:
    """B is made before A, which is read first."""
    B, A = ps.Input("B", ps.float32, (l, m)), ps.Input("A", ps.float32, (n, l))
    k, C = ps.RVar("k", 0, l), ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += A[i, k] * B[k, j]
    return C


def test_an_order_that_was_not_said_is_the_one_in_which_inputs_were_made() -> None:
    s = ps.Schedule(swapped())
    assert [x.name for x in s.program.inputs] == ["B", "A"]
    assert json.loads(s.to_json())["inputs"] is None
    assert s.source() == "s = ps.Schedule(C)"
    survives(s)


@pytest.mark.parametrize("number", [{}, {"format": 1}])
def test_in_format_1_it_is_that_of_first_reading(number: dict[str, int]) -> None:
    """Kernels take their arguments as they did, and format 2 says so."""
    C = swapped()
    text = json.dumps({**number, "default": True, "inputs": None, "steps": []})
    s = ps.Schedule.from_json(C, text)
    B, A = ps.Schedule(C).program.inputs
    assert s.program.inputs == (A, B)
    assert json.loads(s.to_json())["inputs"] == ["A", "B"]
    survives(s, A=A, B=B)
    assert ps.Schedule.from_json(C, text, args=(B, A)).program.inputs == (B, A)
    named = json.dumps({**number, "default": True, "inputs": ["B", "A"], "steps": []})
    assert ps.Schedule.from_json(C, named).program.inputs == (B, A)


# refusals ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("number", [0, 3, -1, 1.0, True, "2", None, [2]])
def test_refuses_other_formats(number: Any) -> None:
    text = json.dumps({"format": number, "default": False, "inputs": None, "steps": []})
    with pytest.raises(ps.LanguageError, match="and this version reads 1 to 2") as info:
        ps.Schedule.from_json(plane(), text)
    assert f"written in format {number!r}," in str(info.value)


def test_refuses_variants_that_are_wrong_for_another_program() -> None:
    s = ps.Schedule(plane())
    s.specialize(n >= 8)["f"].reorder(j, i)
    other = ps.Func("f", (n, m))
    other[i, j] = ps.select((i > 0) & (j < m - 1), other[i - 1, j + 1], i)
    with pytest.raises(ps.ScheduleError, match=r"reorder\('j', 'i'\) is refused"):
        ps.Schedule.from_json(other, s.to_json())


def test_refuses_conditions_on_what_the_program_lacks() -> None:
    f, p = ps.Func("f", (n,)), ps.Param("p", ps.int64)
    f[i] = i + p
    s = ps.Schedule(f)
    s.specialize(p > 3)
    g = ps.Func("f", (n,))
    g[i] = i
    with pytest.raises(ps.LanguageError, match="the program has no size or Param p"):
        ps.Schedule.from_json(g, s.to_json())
    with pytest.raises(ps.ScheduleError, match="the program has no size or Param T") as info:
        s.specialize(ps.size("T") > 3)
    assert info.value.hint == "its sizes and Params are n, p"


@pytest.mark.parametrize("text", ["{}", "[]", '{"default": 1, "inputs": null, "steps": []}'])
def test_refuses_other_text(text: str) -> None:
    with pytest.raises(ps.LanguageError, match="no schedule that to_json wrote"):
        ps.Schedule.from_json(plane(), text)


def test_refuses_steps_that_say_nothing() -> None:
    text = json.dumps({"default": False, "inputs": None, "steps": [{"run": "rm"}]})
    with pytest.raises(ps.LanguageError, match="says nothing to a schedule"):
        ps.Schedule.from_json(plane(), text)


def _chosen_in_part() -> ps.Schedule:
    """Its first two directives are a model's; behind them stand one of the user's, and a variant
    with one more."""
    s = ps.Schedule(f := plane())
    s[f].split(i, 4)
    s[f].split(j, 4)
    s.chosen = 2
    s.specialize(n < 100)[f].parallel("io")
    s[f].unroll("ji")
    return s


def test_json_and_pickles_know_what_a_model_has_chosen() -> None:
    s = _chosen_in_part()
    read = ps.Schedule.from_json(s.program.outputs, s.to_json())
    for again in (read, pickle.loads(pickle.dumps(s)), ps.from_json(ps.to_json(s))):
        assert [x.chosen for x in family(again)] == [x.chosen for x in family(s)] == [2, 2]
        assert again.to_json() == s.to_json()


def test_who_has_chosen_changes_no_code() -> None:
    s = _chosen_in_part()
    by_hand = s.copy()
    by_hand.chosen = 0
    assert (s.digest, s.key) == (by_hand.digest, by_hand.key)
    assert s.to_json() != by_hand.to_json()


@pytest.mark.parametrize("chosen", [4, -1, True, "2", None])
def test_refuses_more_choices_than_directives(chosen: Any) -> None:
    text = json.dumps({**json.loads(_chosen_in_part().to_json()), "chosen": chosen})
    with pytest.raises(ps.LanguageError, match="no number of directives that a model has chosen"):
        ps.Schedule.from_json(plane(), text)


def test_vars_that_only_a_copy_has() -> None:
    """The text makes them."""
    n, i = ps.size("n"), ps.vars("i")
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f"), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[i] + 1
    s = ps.Schedule(g)
    s["f"].compute_root()
    s["g"].stage("f", at=i)
    s["f.i"].partition(ps.vars("x0") % 2 == 0)
    names = {"ps": ps, "f": f, "g": g}
    exec(s.source(), names)
    assert names["s"] == s
    assert s.source().endswith("partition(ps.vars('x0') % 2 == 0)")


def test_vars_of_library_functions() -> None:
    """The text makes them, too, whatever has their names: errors were raised."""
    n, i = ps.size("n"), ps.vars("i")
    x, g = ps.Input("x", ps.int64, (n,)), ps.Func("g", (n,))
    g[i] = ps.boundary.constant(x, 0)[i - 1]
    s = ps.Schedule(g)
    s["x_constant"].compute_root()
    s["x_constant"].partition(ps.vars("b0") < n - 3)
    names = {"ps": ps, "g": g, "n": n, "b0": x}
    exec(s.source(), names)
    assert names["s"] == s


def test_stages_of_funcs_that_share_a_name() -> None:
    """Their names alone are refused."""
    h, first, second, f = (ps.Func(name) for name in "hggf")
    h[i] = i
    first[i] = h[i] + h[i + 1]
    second[i] = first[i] + first[i + 1]
    f[i] = second[i] + second[i + 1]
    s = ps.Schedule(f)
    s[second].split(i, 2)
    s[first].split(i, 4)
    s["h"].compute_at(s[first], "io")
    survives(s)
    assert s.source().splitlines()[1:] == [
        "s[\"g_2\"].split('i', 2)",
        "s[s.program.funcs[1]].split('i', 4)",
        "s[\"h\"].compute_at(s.program.funcs[1], 'io')",
    ]


# comments ---------------------------------------------------------------------------------------
def test_comments_are_kept_and_change_nothing() -> None:
    f = plane()
    s, bare = ps.Schedule(f), ps.Schedule(f)
    s.comment("rows\nof eight")
    for x in (s, bare):
        x["f"].split(j, 8)
    with s.batch():
        s.comment("lanes")
        s["f"].vectorize("ji")
    with bare.batch():
        bare["f"].vectorize("ji")
    s.comment("the end")
    assert s == bare
    assert s.digest == bare.digest
    assert s.source().splitlines() == [
        "s = ps.Schedule(f)",
        "# rows",
        "# of eight",
        """s["f"].split('j', 8)""",
        "with s.batch():",
        "    # lanes",
        """    s["f"].vectorize('ji')""",
        "# the end",
    ]
    read = ps.Schedule.from_json(s.program.outputs, s.to_json())
    assert read.source() == s.source() == s.copy().source()
    assert executed(s) == s
    assert s.explain().endswith("comments:\n  rows\n  of eight\n  lanes\n  the end")


def test_comments_of_variants_are_explained() -> None:
    s = ps.Schedule(plane())
    s.comment("for all")
    v = s.specialize(n > 3)
    v.comment("for many\nrows")
    s.specialize(n == 1)
    assert s.explain().endswith("comments:\n  for all\n  where n > 3:\n    for many\n    rows")
    assert v.explain().endswith("comments:\n  for all\n  for many\n  rows")


def test_comments_go_with_a_batch_that_is_refused() -> None:
    s = ps.Schedule(plane())
    s.comment("before")

    def refused() -> None:
        with s.batch():
            s.comment("inside")
            s["f"].split("nothing", 8)

    with pytest.raises(ps.ScheduleError):
        refused()
    assert [text for _, text in s.comments] == ["before"]


def test_comments_of_a_variant_are_its_own() -> None:
    s = ps.Schedule(plane())
    s.comment("for all")
    s["f"].split(j, 8)
    variant = s.specialize(n >= 64)
    variant.comment("for large ones")
    variant["f"].parallel(i)
    s.comment("for all others")
    s["f"].vectorize("ji")
    assert s.source().splitlines() == [
        "s = ps.Schedule(f)",
        "# for all",
        """s["f"].split('j', 8)""",
        "# for all others",
        "v0 = s.specialize(n >= 64)",
        "# for large ones",
        """v0["f"].parallel('i')""",
        """s["f"].vectorize('ji')""",
    ]
    read = ps.Schedule.from_json(s.program.outputs, s.to_json())
    assert read.source() == s.source()
