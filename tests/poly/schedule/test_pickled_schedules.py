"""Schedules as pickles and as one text with their programs; copies; what makes them equal."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

import polysched as ps
from polysched.poly.schedule import travel

from ..directives.cases import i, j, m, n, plane, product

MAKE = {"pickle": lambda s: pickle.loads(pickle.dumps(s)), "json": lambda s: ps.from_json(
    ps.to_json(s))}  # fmt: skip


def scheduled() -> ps.Schedule:
    """Everything that can be said to a schedule."""
    C = product()
    s = ps.Schedule(C, target="x86-64-v3")
    s.comment("tiles")
    s[C].update(0).tile(i, j, ps.tile_rows, ps.tile_columns)
    with s.batch():
        s[C].split(i, ps.factor("rows", 4))
        s[C].vectorize(j, ps.native)
    with s.trust("it is known"):
        s[C].update(0).parallel("io")
    s.specialize(n > 64)[C].unroll("ii")
    s.specialize(m > 64)[C].update(0).unroll("ii")
    return s


def others() -> dict[str, ps.Schedule]:
    f = plane()
    sketch = ps.Schedule(f).sketch()
    sketch["f"].parallel(i)
    native = ps.Schedule(f)
    native["f"].vectorize(j, ps.native)
    return {
        "everything": scheduled(),
        "fixed": scheduled().fixed({"n": 100}),
        "default": ps.Schedule.default(f),
        "auto": ps.Schedule.auto(product(), sizes={"n": 256, "m": 256, "l": 256}),
        "for a target": native.for_target("x86-64-v4"),
        "sketch": sketch,
    }


@pytest.mark.slow
@pytest.mark.parametrize("how", MAKE)
@pytest.mark.parametrize(
    "kind", ["everything", "fixed", "default", "auto", "for a target", "sketch"]
)
def test_schedules_travel_whole(kind: str, how: str) -> None:
    s = others()[kind]
    if (kind, how) == ("sketch", "json"):
        return  # a text is proven when it is read
    again = MAKE[how](s)
    assert again == s
    assert again.key == s.key
    assert hash(again.key) == hash(s.key)
    assert again.digest == s.digest
    assert again.source() == s.source()
    assert again.to_json() == s.to_json()
    assert str(again) == str(s)
    assert again.program.signature() == s.program.signature()
    assert [r for _, r in again.trusted] == [r for _, r in s.trusted]
    assert again.target == s.target


def test_a_sketch_stays_a_sketch() -> None:
    f = plane()
    s = ps.Schedule(f).sketch()
    s["f"].parallel(i)
    again = MAKE["pickle"](s)
    with pytest.raises(ps.ScheduleError, match=r"prove\(\)"):
        again.compile()
    assert again.prove() == s.prove()


def test_schedules_of_one_func_keep_sharing_it() -> None:
    f = plane()
    s, t = ps.Schedule(f), ps.Schedule(f)
    s["f"].parallel(i)
    g, u, v = MAKE["pickle"]((f, s, t))
    assert u.program.outputs == v.program.outputs == (g,)
    assert (u, v) == (s, t)
    assert u != v


def test_keys_compare_by_content() -> None:
    assert ps.Schedule(plane()) == ps.Schedule(plane())
    other = ps.Func("g", (n, m))
    other[i, j] = 1
    assert ps.Schedule(plane()) != ps.Schedule(other)
    assert ps.Schedule(plane()) != ps.Schedule.default(plane())
    s, t = ps.Schedule(plane()), ps.Schedule(plane())
    s["f"].split(i, 8)
    assert s != t
    t["f"].split(i, ps.factor("rows", 8))
    assert s == t
    s.specialize(n > 3)
    assert s != t
    t.specialize(n > 4)
    assert s != t


def test_keys_of_programs_without_a_digest_are_those_of_their_funcs() -> None:
    def made() -> ps.Func:
        x = ps.Input("x", ps.float32, (n,))
        return ps.extern("f", lambda a: a, [x], (n,), ps.float32)

    f = made()
    assert ps.Schedule(f) == ps.Schedule(f)
    assert ps.Schedule(f) != ps.Schedule(made())


def test_copies_are_independent_and_about_the_same_funcs() -> None:
    s = ps.Schedule(plane())
    for made in (copy.copy(s), copy.deepcopy(s), copy.deepcopy([s])[0]):
        made["f"].parallel(i)
        assert made != s
        assert made.program.outputs == s.program.outputs
    assert s == ps.Schedule(plane())


def test_handles_and_records_travel() -> None:
    s = scheduled()
    stage, records = MAKE["pickle"]((s["C"], s.directives))
    assert str(stage) == str(s["C"])
    assert records == s.directives


# refusals ---------------------------------------------------------------------------------------
def test_what_was_proven_is_proven_again() -> None:
    """A pickle says what was asked for, and not that it was right."""
    x = ps.InOut("x", ps.float32, (n,))
    r = ps.RVar("r", 1, n)
    x[r] += x[r - 1]
    s = ps.Schedule(x)
    with s.trust("a lie"):
        s["x"].update(0).parallel("r")
    kind, (schedule, program, target, is_sketch, text) = s.__reduce__()
    assert kind is travel.read
    text = text.replace('"a lie"', "null")
    with pytest.raises(ps.ScheduleError, match="parallel"):
        travel.read(schedule, program, target, is_sketch, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is no JSON"),
        ('{"format": 9}', "is written in format 9"),
        ('{"default": true, "inputs": null, "steps": [7]}', "7 says nothing to a schedule"),
    ],
)
def test_malformed_pickles_are_refused(text: str, message: str) -> None:
    program = ps.Program(plane())
    with pytest.raises(ps.LanguageError, match=message):
        travel.read(ps.Schedule, program, None, False, text)
    with pytest.raises(ps.LanguageError, match="for a program"):
        travel.read(ps.Schedule, 7, None, False, ps.Schedule(plane()).to_json())  # type: ignore[arg-type]


def test_a_text_without_its_schedule_is_refused() -> None:
    data = json.loads(ps.to_json(ps.Schedule(plane())))
    said: Any = data.pop("schedule")
    with pytest.raises(ps.LanguageError, match="of which only the program is there"):
        ps.from_json(json.dumps(data))
    with pytest.raises(ps.LanguageError, match="is written in format 9"):
        ps.from_json(json.dumps(data | {"schedule": said | {"format": 9}}))
