"""Pickles of Funcs and of what they are made of: the same programs, as identities of their own."""

from __future__ import annotations

import copy
import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
from gallery.case import Case
from gallery.execute import as_tuple, assert_same, interpreted, outputs
from gallery.registry import CASES, some

import polysched as ps
from polysched.lang.nodes.nodes import reachable
from polysched.lang.nodes.serials import next_serial, numbered
from polysched.lang.travel import pickles
from polysched.testing.programs import Sample
from polysched.testing.trials import random_case

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def travelled(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))


def same_program(a: Any, b: Any) -> None:
    """Two Funcs, or tuples of Funcs, are the same program to the last name and serial."""
    p, q = ps.Program(a), ps.Program(b)
    assert p.digest is not None
    assert q.digest == p.digest
    assert q.signature() == p.signature()
    assert [str(f) for f in q.funcs] == [str(f) for f in p.funcs]
    assert _order(q) == _order(p)


def _order(p: ps.Program) -> list[int]:
    """The definitions and arrays of a program in the order in which they were made."""
    made = [d.serial for d in p.definitions] + [t.serial for t in (*p.inputs, *p.funcs)]
    return sorted(range(len(made)), key=made.__getitem__)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_programs_stay_the_same(case: Case) -> None:
    same_program(outputs(case), travelled(outputs(case)))


@pytest.mark.parametrize("case", some(6), ids=lambda case: case.name)
def test_calls_give_the_same_bits(case: Case) -> None:
    arguments = case.arguments(5, np.random.default_rng(0))
    wanted = interpreted(case, arguments)
    read = travelled(outputs(case))
    given = copy.deepcopy(arguments)
    found = ps.interpret(read if len(read) > 1 else read[0], **given)
    assert_same(as_tuple(found), wanted)
    if len(read) == 1:
        assert_same(as_tuple(read[0](**copy.deepcopy(arguments))), wanted)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_stay_the_same(seed: int) -> None:
    case, _ = random_case(seed)
    built = Sample(case.source, case.outputs).build()
    same_program(built, travelled(built))


# identities -------------------------------------------------------------------------------------
def chain() -> tuple[ps.Input, ps.Func, ps.Func]:
    x = ps.Input("x", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[i] + x[i]
    return x, f, g


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_what_is_pickled_together_keeps_sharing(order: tuple[int, ...]) -> None:
    made = chain()
    read = dict(zip(order, travelled(tuple(made[k] for k in order)), strict=True))
    x, f, g = (read[k] for k in range(3))
    assert g.history.recorded[0].values[0].args[0].tensor is f
    assert ps.Program(g).inputs == (x,)
    assert x is not made[0]
    assert x.serial < f.serial < g.serial


def test_what_is_pickled_apart_has_identities_of_its_own() -> None:
    x, f, _ = chain()
    assert ps.Program(travelled(f)).inputs != (travelled(x),)


def test_funcs_that_need_each_other_stay_together() -> None:
    even, odd = (ps.Func(name, dtype=ps.int64) for name in ("even", "odd"))
    even[0], odd[0] = 1, 0
    even[i] = odd[i - 1]
    odd[i] = even[i - 1]
    f = ps.Func("f", (n,))
    f[i] = even[i] + 2 * odd[i]
    a, g, b = travelled((odd, f, even))
    assert {a, b} < set(ps.Program(g).funcs)
    assert g(n=5).tolist() == [1, 2, 1, 2, 1]


def test_updates_in_a_block_stay_together() -> None:
    a, b = ps.InOut("a", ps.int64, (n,)), ps.InOut("b", ps.int64, (n,))
    with ps.sequential("t", 0, 3) as t:
        a[i] += b[i] + t
        b[i] = a[i]
    c, d, loop = travelled((b, a, t))
    assert c.history.recorded[0].block is d.history.recorded[0].block
    assert loop == d.history.recorded[0].block.rvar
    one = np.ones(2, np.int64)
    ps.Schedule((d, c)).compile()(a=one, b=one.copy())
    assert one.tolist() == [12, 12]


def test_the_values_of_an_array_are_its_own() -> None:
    a = ps.InOut("a", ps.int64, (n,))
    a[i] += 1
    initial, final, b = travelled((a.initial, a.final, a))
    assert (b.initial, b.final) == (initial, final)


def test_inline_reductions_are_found_again() -> None:
    x, k = ps.Input("x", ps.float32, (n, m)), ps.RVar("k", 0, m)
    f = ps.Func("f", (n,))
    f[i] = ps.sum(x[i, k] * ps.max(x[i, k], k), k)
    g, inner, outer = travelled((f, *f.history.reductions))
    assert [inner, outer] == g.history.reductions
    same_program(f, g)


def test_params_and_rvars_stay_shared() -> None:
    p = ps.Param("p", ps.float32, default=-0.0)
    ry, rx = ps.rdom("ry rx", (0, 3), (0, 3), where=lambda ry, rx: ry + rx < 4)
    f = ps.Func("f", ())
    f[()] = p
    f[()] += ps.cast(ps.float32, ry * rx) * p
    q, sy, sx, g = travelled((p, ry, rx, f))
    assert (sy, sx) == (ry, rx)
    assert ps.Program(g).params["p"] is q.node
    assert sy.node.domain is sx.node.domain
    assert sy.node in reachable(*g.history.recorded[1].values)
    same_program(f, g)


def test_a_precondition_of_two_funcs_is_checked_once() -> None:
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = 1
    g[i] = f[i]
    ps.require(n >= 2, "two", f, g)
    read = travelled((f, g))
    assert len(ps.Program(read).requirements) == 1
    same_program((f, g), read)


# not complete -----------------------------------------------------------------------------------
def test_a_func_that_is_not_complete_travels_as_it_is() -> None:
    f = ps.Func("f", (n,))
    f[i] = 1.0
    g = travelled(f)
    g[i] += 2.0
    assert g(n=2).tolist() == [3.0, 3.0]
    assert len(f.history.recorded) == 1
    f[i] += 5.0
    assert travelled(f)(n=1).tolist() == [6.0]
    empty = travelled(ps.Func("e", (n,)))
    empty[i] = 0
    assert empty(n=1).tolist() == [0]


def test_a_func_that_is_complete_stays_complete() -> None:
    _, f, _ = chain()
    g = travelled(f)
    with pytest.raises(ps.LanguageError, match=r"f is complete since it was used at .*pickled"):
        g[i] += 1


def test_reading_goes_around_what_is_being_written() -> None:
    """A block, a precondition and serials of whoever reads are not those of what is read."""
    data = pickle.dumps(chain())
    ps.require(n >= 7, "seven")
    with ps.sequential("t", 0, 2):
        _, _, g = pickle.loads(data)
    mine = ps.Func("mine", (n,))
    assert g.history.recorded[0].block is None
    assert not g.requirements
    assert [r.message for r in mine.requirements] == ["seven"]
    assert ps.Func("later").serial > g.history.recorded[0].serial


def test_serials_of_a_pickle_are_new() -> None:
    data = pickle.dumps(chain())
    first, second = pickle.loads(data), pickle.loads(data)
    assert max(t.serial for t in first) < min(t.serial for t in second)


def test_serials_do_not_grow_with_the_pickles_that_are_read() -> None:
    f = chain()
    data = pickle.dumps(f)
    before = next_serial()
    for _ in range(5):
        pickle.loads(pickle.dumps(f))
    assert next_serial() - before <= 6 * pickles.COUNT
    assert pickle.dumps(f) == data


def test_what_was_far_apart_keeps_its_order_in_a_pickle() -> None:
    made = [pickle.loads(pickle.dumps(ps.Input("x", ps.float32, (n,)))) for _ in range(40)]
    made += [ps.Input("y", ps.float32, (n,)) for _ in range(40)]
    for given in (made, made[::-1], made[::2] + made[1::2], made[1::2] + made[::2]):
        back = travelled(given)
        order = sorted(range(len(given)), key=lambda k: given[k].serial)
        assert order == sorted(range(len(back)), key=lambda k: back[k].serial)
        assert len({x.serial for x in back}) == len(back)


def test_serials_for_which_there_is_no_place_are_refused() -> None:
    serials = pickles.NewSerials()
    distances = [1 << k for k in range(300, 0, -3)]
    with pytest.raises(ps.LanguageError, match="more pickles than can be ordered"):
        [serials.of(x) for d in distances for x in (distances[0] - d, distances[0] + d)]


def test_errors_say_what_they_said() -> None:
    _, f, _ = chain()
    s = ps.Schedule(f)
    with pytest.raises(ps.ScheduleError) as refused:
        s[f].vectorize("zz")
    with pytest.raises(ps.CallError) as misused:
        f()
    for error in (refused.value, misused.value):
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is type(error)
        assert str(back) == str(error)
        assert vars(back).keys() == vars(error).keys()
        assert back.hint == error.hint


# depth ------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_long_chains_and_deep_expressions() -> None:
    f: Any = ps.Input("x", ps.float32, (n,))
    value = f[i]
    for k in range(300):
        g = ps.Func(f"f{k}", (n,))
        g[i] = f[i] + 1
        f = g
        value = value * 2 + f[i]
    last = ps.Func("last", (n,))
    last[i] = value
    same_program(last, travelled(last))


def test_shared_expressions_stay_shared() -> None:
    e = ps.Input("x", ps.float32, (n,))[i]
    for _ in range(100):
        e = e + e * 0.5
    assert len(pickle.dumps(e)) < 20_000
    assert len(set(map(id, travelled([e, e])))) == 1


# values -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "uint64", "float32", "float64"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_tables_keep_their_bits(dtype: str, shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(1).integers(0, 2**63, shape or (1,)).astype(dtype).reshape(shape)
    table = ps.Const("t", data)
    read = travelled(table)
    assert (read.data.dtype, read.data.shape) == (data.dtype, data.shape)
    assert read.data.tobytes() == data.tobytes()
    assert not read.data.flags.writeable


@pytest.mark.parametrize("value", [0.0, -0.0, float("inf"), 1e-45, 0.1, True, -(2**63), 2**64 - 1])
def test_literals_keep_their_bits(value: float) -> None:
    f = ps.Func("f", ())
    f[()] = np.uint64(value) if value == 2**64 - 1 else value
    same_program(f, travelled(f))


def test_element_types_are_one_object() -> None:
    for t in (ps.float32, ps.bool_):
        assert travelled(t) is t
        assert copy.deepcopy(t) is t


# copies -----------------------------------------------------------------------------------------
def test_copies_of_what_programs_are_made_of_are_the_same_objects() -> None:
    x, f, _ = chain()
    k, p = ps.RVar("k", 0, n), ps.Param("p", ps.int32)
    for thing in (x, f, k.node, k.node.domain.members[0], x[i].node, ps.Program(f)):
        assert copy.deepcopy(thing) is thing
    for symbol in (k, p, n, i, x[i] + 1):
        assert copy.copy(symbol) is symbol
        assert copy.deepcopy([symbol])[0] is symbol


def double(a: Any) -> Any:
    return a * 2


def test_functions_of_extern_stages_travel_by_name() -> None:
    x = ps.Input("x", ps.float32, (n,))
    for function in (double, np.sort, np.negative):
        f = ps.extern("f", function, [x], (n,), ps.float32)
        g = travelled(f)
        assert g.history.recorded[0].values[0].stage.function is function
        assert g(np.ones(2, np.float32)).shape == (2,)


# refusals ---------------------------------------------------------------------------------------
class Holder:
    @staticmethod
    def __call__(a: Any) -> Any:
        return a


@pytest.mark.parametrize(
    "function", [lambda a: a, Holder()], ids=["a lambda", "an object that is called"]
)
def test_functions_without_a_name_are_refused(function: Any) -> None:
    x = ps.Input("x", ps.float32, (n,))
    f = ps.extern("f", function, [x], (n,), ps.float32)
    message = r"f calls .* another process could not find"
    for write in (pickle.dumps, ps.to_json, lambda f: ps.Schedule(f).source(program=True)):
        with pytest.raises(ps.LanguageError, match=message) as e:
            write(f)
        assert "use a module-level function" in str(e.value)
        assert len(e.traceback) <= 2, "no frames of the package but the one that pickle calls"


def test_a_block_that_is_being_written_is_refused() -> None:
    a = ps.InOut("a", ps.int64, (n,))
    with ps.sequential("t", 0, 3):
        a[i] += 1
        with pytest.raises(ps.LanguageError, match="which has not ended"):
            pickle.dumps(a)


def test_what_a_schedule_has_made_is_refused() -> None:
    _, _, g = chain()
    s = ps.Schedule(g)
    s["f"].compute_root()
    clone = s["f"].clone_in("g")
    with pytest.raises(ps.LanguageError, match="is made by a schedule"):
        pickle.dumps(clone)
    with pytest.raises(
        ps.LanguageError, match="this program does not travel: a schedule has added"
    ):
        pickle.dumps(s.program)
    assert travelled(s) == s


def test_serials_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ps.LanguageError, match="2 serials, and is 1 things"), numbered([1, 2]):
        ps.Func("f")
    with pytest.raises(ps.LanguageError, match="is more than so many things"), numbered([]):
        ps.Func("f")


def _part(text: str, *given: Any) -> Any:
    return pickles._read(pickles.NewSerials(), (), given, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this pickle has no JSON"),
        ("[]", "no pickle of a part"),
        ('{"format": 2}', "is written in format 2, and this version reads 1"),
        ('{"format": true}', "is written in format True"),
        ('{"format": 1, "entries": [], "things": [0]}', "no pickle of a part"),
        ('{"format": 1, "entries": [{"is": "given", "number": 0}], "things": [0]}', "0 are given"),
    ],
)
def test_malformed_parts_are_refused(text: str, message: str) -> None:
    with pytest.raises(ps.LanguageError, match=re.escape(message)):
        _part(text)


def test_tables_and_functions_that_a_pickle_does_not_have_are_refused() -> None:
    table = {"is": "const", "name": "t", "dtype": "int8", "shape": [], "data": 3, "serials": [0]}
    with pytest.raises(ps.LanguageError, match="3 is no object of this pickle"):
        _part(json.dumps({"format": 1, "entries": [table], "things": [0]}))


def test_serials_of_a_pickle_do_not_travel() -> None:
    with pytest.raises(ps.LanguageError, match="the serials of a pickle are part of nothing else"):
        pickle.dumps(pickles.NewSerials())


def test_what_is_given_is_not_changed() -> None:
    _, f, _ = chain()
    entries = [
        {"is": "given", "number": 0}, {"is": "var", "name": "i"},
        {"is": "define", "of": 0, "at": [1], "to": [1], "serials": [1]},
    ]  # fmt: skip
    text = json.dumps({"format": 1, "entries": entries, "things": [0]})
    with pytest.raises(ps.LanguageError, match="it defines f, which is given"):
        _part(text, f)
