"""Programs as JSON: what is read is what was written, and what is malformed is refused."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from gallery.case import Case
from gallery.execute import outputs
from gallery.registry import CASES, some

import polysched as ps
from polysched.lang.travel.reader import _READ
from polysched.testing.programs import Sample
from polysched.testing.trials import random_case

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def funcs(read: Any) -> tuple[ps.Func, ...]:
    return read if isinstance(read, tuple) else (read,)


def survives(made: tuple[ps.Func, ...]) -> None:
    text = ps.to_json(made)
    read = funcs(ps.from_json(text))
    p, q = ps.Program(made), ps.Program(read)
    assert p.digest is not None
    assert (q.digest, q.signature()) == (p.digest, p.signature())
    assert ps.to_json(read) == text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_programs_stay_the_same(case: Case) -> None:
    survives(outputs(case))
    assert ps.to_json(case.build()) == ps.to_json(case.build())


@pytest.mark.parametrize("seed", range(12, 24))
def test_random_programs_stay_the_same(seed: int) -> None:
    case, _ = random_case(seed)
    survives(Sample(case.source, case.outputs).build())


def everything() -> tuple[ps.Func, ...]:
    """A program with each kind of entry."""
    k = ps.size("k", default=n // 2)
    x = ps.Input("x", ps.float32, (n, m), range=(0, 1))
    at = ps.Input("at", ps.int32, (n + 1,), range=(0, n))
    table, p = ps.Const("table", np.arange(3, dtype=np.int16)), ps.Param("p", ps.float32, 0.5, 0, 1)
    a = ps.InOut("a", ps.int64, (n,))
    r = ps.RVar("r", at[i], at[i + 1], where=lambda r: r % 2 == 0)
    ry, rx = ps.rdom("ry rx", (0, 2), (0, 2), where=lambda ry, rx: ry + rx < 3)
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,), (ps.float32, ps.int64))
    f[0] = p
    f[i] = ps.sum(x[i, r], r, initial=1.0, dtype=ps.float32) + table[ps.clip(i, 0, 2)] * k
    g[i] = (f[i], 0)
    g[i] = (ps.trace(g[i][0] + ps.cast(ps.float32, ry * rx), "g"), g[i][1])
    with ps.sequential("t", n, 0, -2) as t, ps.sequential():
        a[i] += t
        a[i] = ps.maximum(a[i], g[i][1])
    s = ps.extern("s", np.sort, [(a.final, ((0, n),))], (n,), ps.int64)
    last = ps.Func("last", (n,))
    last[i] = s[i] + a.initial[i]
    ps.require(n >= 2, "two", last)
    return last, f


def test_each_kind_of_entry_stays_the_same() -> None:
    made = everything()
    survives(made)
    kinds = {e["is"] for e in json.loads(ps.to_json(made))["entries"]}
    assert kinds == set(_READ) - {"given", "member"}, "these refer to other parts of a pickle"


def test_what_was_written_is_what_is_read() -> None:
    g, f = everything()
    one, several = ps.from_json(ps.to_json(f)), ps.from_json(ps.to_json([f, g]))
    assert isinstance(one, ps.Func)
    assert isinstance(several, tuple)
    x = ps.Input("x", ps.float32, (n,))
    y = ps.InOut("y", ps.float32, (n,))
    y[i] += x[i]
    p = ps.from_json(ps.to_json(ps.Program(y, args=(x, y))))
    assert isinstance(p, ps.Program)
    assert [a.name for a in p.inputs] == ["x", "y"]


def test_the_text_says_nothing_of_when_and_where() -> None:
    f = ps.Func("f", (n,))
    f[i] = 1
    text = ps.to_json(f)
    assert text == (
        '{"polysched": "func", "format": 1, "entries": [{"is": "size", "name": "n"}, '
        '{"is": "func", "name": "f", "shape": [0], "serials": [0]}, {"is": "var", "name": "i"}, '
        '{"is": "literal", "value": 1, "type": "int"}, '
        '{"is": "define", "of": 1, "at": [2], "to": [3], "serials": [1]}, '
        '{"is": "complete", "of": 1}], "outputs": [1]}'
    )


def test_the_order_of_arguments_stays() -> None:
    """It comes from when definitions were written, which is not the order in which they run."""
    x, y = (ps.Input(name, ps.float32, (n,)) for name in "xy")
    f, g, h = (ps.Func(name, (n,)) for name in "fgh")
    f[i] = y[i]
    g[i] = x[i]
    h[i] = g[i] + f[i]
    survives((h,))
    assert ps.from_json(ps.to_json(h))(np.float32([1]), np.float32([2])).tolist() == [3]


def test_nothing_is_imported() -> None:
    text = ps.to_json(everything()[0]).replace('["numpy", "sort"]', '["antigravity", "fly"]')
    with pytest.raises(ps.LanguageError, match="fly of the module antigravity, which is not loade"):
        ps.from_json(text)
    missing = text.replace('["antigravity", "fly"]', '["numpy", "sort.nothing"]')
    with pytest.raises(ps.LanguageError, match=r"calls sort.nothing, which numpy does not have"):
        ps.from_json(missing)


# refusals ---------------------------------------------------------------------------------------
def changed(change: Callable[[dict[str, Any]], Any]) -> str:
    data = json.loads(ps.to_json(everything()))
    change(data)
    return json.dumps(data)


def entry(kind: str, **fields: Any) -> Callable[[dict[str, Any]], None]:
    """Changes the first entry of a kind; None takes a field away."""

    def change(data: dict[str, Any]) -> None:
        found = next(e for e in data["entries"] if e["is"] == kind)
        found |= fields
        for name in [k for k, v in fields.items() if v is None]:
            del found[name]

    return change


SIZE, VAR = {"is": "size", "name": "n"}, {"is": "var", "name": "i"}
FUNC = {"is": "func", "name": "f", "shape": [0], "serials": [0]}
RVAR = {"is": "rvar", "name": "r", "lo": 0, "hi": 0, "serials": [1]}
ONE = {"is": "literal", "value": 1, "type": "int"}
BLOCK = {"is": "sequential"}
ENTRIES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "another kind": ([SIZE, {"is": "read", "of": 0, "at": []}], "and entry 0 is no Indexable"),
    "a complete domain": (
        [SIZE, RVAR, {"is": "domain", "of": [1]}, RVAR | {"beside": 1, "serials": [2]}],
        "is an RVar of a domain that is complete",
    ),
    "inside of a domain": (
        [SIZE, FUNC, RVAR, {"is": "define", "of": 1, "at": [2], "to": [2], "serials": [2]}],
        "stands inside of a domain",
    ),
    "a member": (
        [SIZE, RVAR | {"serials": [0]}, {"is": "domain", "of": [1]},
         {"is": "member", "of": 2, "number": 1}],
        "is member 1 of a domain of 1",
    ),
    "a loop": ([BLOCK, {"is": "loop", "of": 0}], "is the loop of a sequential that has none"),
    "a cast": ([ONE, {"is": "op", "op": "cast", "of": [0], "type": "index"}], "cast to index"),
    "blocks": (
        [BLOCK, BLOCK, {"is": "begin", "of": 0}, {"is": "begin", "of": 1}, {"is": "end", "of": 0}],
        "ends a sequential that is not the innermost one",
    ),
    "an update": (
        [SIZE, FUNC, VAR, ONE,
         {"is": "define", "of": 1, "at": [2], "to": [3], "op": "min", "serials": [1]}],
        "is no update by min",
    ),
    "a serial": ([SIZE, FUNC | {"serials": [-1]}], "has a serial below 0"),
    "twice": ([SIZE, FUNC, FUNC], "has the serial 0, which is not its own"),
    "a stage": (
        [{"is": "func", "name": "f", "serials": [0]},
         {"is": "extern", "of": 0, "function": ["numpy", "sort"], "reads": [], "serials": [1]}],
        "computes f, which has no shape or no dtype",
    ),
    "a requirement": (
        [VAR, ONE, {"is": "op", "op": "lt", "of": [0, 1]},
         {"is": "requirement", "that": 2, "message": "", "addressed": True}],
        "is a requirement that is not about sizes and Params",
    ),
    "a type": ([SIZE, FUNC | {"dtypes": ["index"]}], "which is no element type"),
    "a condition": (
        [SIZE, {"is": "requirement", "that": 0, "message": "", "addressed": True}],
        "not a condition",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRIES)
def test_malformed_entries_are_refused(name: str) -> None:
    entries, message = ENTRIES[name]
    whole = {"polysched": "func", "format": 1, "entries": entries, "outputs": [1]}
    with pytest.raises(ps.LanguageError, match=re.escape(message)):
        ps.from_json(json.dumps(whole))


def test_a_reduction_that_is_read_elsewhere_is_refused() -> None:
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = ps.sum(i * 2, ps.RVar("r", 0, i))
    g[i] = f.history.reductions[0][i + 1]
    with pytest.raises(ps.LanguageError, match="is read outside of the definition in which"):
        ps.to_json(g)


def _without(data: dict[str, Any], *kinds: str) -> None:
    """Takes entries away that nothing refers to, and keeps the numbers of others."""
    none = {"is": "var", "name": "nothing"}
    data["entries"] = [none if e["is"] in kinds else e for e in data["entries"]]


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "newer": (lambda d: d.update(format=2), "is written in format 2, and this version reads 1"),
    "a bool": (lambda d: d.update(format=True), "is written in format True"),
    "no format": (lambda d: d.pop("format"), "this is no program that to_json wrote"),
    "another kind": (lambda d: d.update(polysched="graph"), "no program that to_json wrote"),
    "no outputs": (lambda d: d.update(outputs=[]), "no program that to_json wrote"),
    "an output": (lambda d: d.update(outputs=[0]), "0 is no Func of the program"),
    "beyond": (lambda d: d.update(outputs=[10**9]), "is no Func of the program"),
    "one of several": (lambda d: d.update(polysched="func"), "no program that to_json wrote"),
    "more": (lambda d: d.update(code="import os"), "no program that to_json wrote"),
    "entries": (lambda d: d.update(entries={}), "no program that to_json wrote"),
    "no object": (
        lambda d: d["entries"].insert(0, 7),
        "entry 0 of the program is malformed: it is 7, not an object",
    ),
    "unknown": (entry("var", **{"is": "loop nest"}), "is a 'loop nest', which this version"),
    "name": (entry("var", name=None), "lacks 'name'"),
    "no name": (entry("input", name="2x"), "'2x' cannot name an Input"),
    "keyword": (entry("func", name="lambda"), "'lambda' cannot name a Func"),
    "dtype": (entry("input", dtype="complex64"), "there is no type 'complex64'"),
    "shape": (entry("input", shape=[0.5]), "has shape = 0.5, which is no int"),
    "cycle": (entry("op", of=[500, 0]), "entries before it"),
    "itself": (entry("size", default=0), "has default = 0, and there are 0 entries before it"),
    "negative": (entry("op", of=[-1, 0]), "has of = -1"),
    "arity": (entry("op", of=[0]), "of 1 operands"),
    "operator": (entry("op", op="eval"), "there is no operator 'eval'"),
    "literal": (entry("literal", value="ten"), "has value = 'ten', which is no number"),
    "too large": (entry("literal", value=1 << 70, type="int"), "does not fit in 64 bits"),
    "typed": (entry("literal", value=300, type="int8"), "300 is no int8"),
    "type": (entry("literal", type="float8"), "there is no type 'float8'"),
    "field": (entry("define", note="x"), "has 'note', which is no field of define"),
    "serial": (entry("define", serials=[10**6]), "which is not its own"),
    "serials": (entry("define", serials=[]), "is more than so many things"),
    "no serials": (entry("define", serials=None), "lacks 'serials'"),
    "a serial": (entry("define", serials="abc"), "has serials = 'abc'"),
    "base64": (entry("const", data="?"), "are no base64"),
    "short": (entry("const", data="AAA="), "has 6 bytes, and 2 are given"),
    "huge": (entry("const", shape=[1 << 70]), "has the shape"),
    "bytes": (entry("const", data=7), "are text in base64"),
    "reduction": (entry("reduce", op="mean"), "is a reduction 'mean'"),
    "over": (entry("reduce", over=[]), "sum needs at least one RVar"),
    "update": (entry("define", op="add"), "is no update by add"),
    "domain": (entry("domain", of=[]), "lists other RVars than were made together"),
    "value": (entry("value", which="best"), "is a value 'best' of a"),
    "step": (entry("sequential", step=0), "the step of a sequential cannot be 0"),
    "place": (entry("func", place=["x"]), "has a place that is no file and line"),
    "function": (entry("extern", function="numpy.sort"), "is no module and name of a function"),
    "region": (entry("extern", reads=[[1, [[0]]]]), "which is no region of a tensor"),
    "rank": (entry("read", at=[]), "is indexed with 0"),
    "component": (entry("read", component=3), "reads component 3"),
    "range": (entry("input", range=[0]), "range= is a pair"),
    "limits": (entry("param", min=2), "min=2 is above max=1"),
    "unclosed": (lambda d: _without(d, "end", "complete"), "ends inside of a sequential"),
    "given": (lambda d: d["entries"].insert(0, {"is": "given", "number": 0}), "0 are given"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_malformed_is_refused(name: str) -> None:
    change, message = REFUSED[name]
    with pytest.raises(ps.LanguageError, match=re.escape(message)):
        ps.from_json(changed(change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is no JSON"), ("{", "this is no JSON"), ("[" * 100_000, "this is no JSON"),
        ("null", "no program that to_json wrote"), ("[1]", "no program that to_json wrote"),
        ('{"polysched": []}', "no program that to_json wrote"),
        ('{"format": 1, "default": true, "steps": []}', "a schedule without its program"),
        (b"\xff\xff", "this is no JSON"),
    ],
)  # fmt: skip
def test_what_is_no_program_is_refused(text: Any, message: str) -> None:
    with pytest.raises(ps.LanguageError, match=message):
        ps.from_json(text)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="from_json reads a text, not 7"):
        ps.from_json(7)  # type: ignore[arg-type]


def test_truncated_texts_are_refused() -> None:
    text = ps.to_json(everything())
    for end in range(0, len(text), 97):
        with pytest.raises(ps.LanguageError):
            ps.from_json(text[:end])


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in JSON: what holds it, and the key there."""
    keys = list(data) if isinstance(data, dict) else range(len(data))
    for key in keys:
        yield data, key
        if isinstance(data[key], dict | list):
            yield from _places(data[key])


OTHERS = (None, True, -1, 0, 3, 10**6, 0.5, "", "x", "0x1p+0", [], [0], [[0, 1]], {}, {"is": "var"})


@pytest.mark.parametrize("case", some(2), ids=lambda case: case.name)
def test_no_change_ends_in_a_foreign_exception(case: Case) -> None:
    """It is refused, or it is another program; whatever it is, nothing else happens."""
    whole = (ps.to_json(everything()), ps.to_json(outputs(case)))
    rng = random.Random(len(case.name))
    for _ in range(150):
        data = json.loads(rng.choice(whole))
        holder, key = rng.choice(list(_places(data)))
        match rng.randrange(3):
            case 0:
                holder[key] = rng.choice(OTHERS)
            case 1:
                del holder[key]
            case _:
                other, at = rng.choice(list(_places(data)))
                holder[key] = json.loads(json.dumps(other[at]))
        with suppress(ps.LanguageError):
            ps.from_json(json.dumps(data))
