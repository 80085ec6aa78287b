"""What was not accepted before, of this very program, is not taken for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.program.program import Program
from polysched.poly.directives.loops import Split
from polysched.poly.program.rule import once_a_consumer
from polysched.poly.schedule import journal

from .journals import (
    Ran,
    cache,
    chain,
    events,
    journals,
    look,
    off,
    packed,
    product,
    ran,
    sketched,
    twice,
)


@pytest.fixture(autouse=True)
def own_cache() -> Iterator[None]:
    with cache():
        yield


# what is not known ------------------------------------------------------------------------------
def test_a_directive_that_is_not_known_is_proven() -> None:
    def script() -> ps.Schedule:
        s = ps.Schedule(chain())
        s["f"].split("i", 4)
        return s

    def refused(s: ps.Schedule) -> str:
        with pytest.raises(ps.ScheduleError) as error:
            s["f"].parallel("io")
        return str(error.value).replace(str(error.value.where), "")

    first, second = twice(script)
    assert second.is_free
    assert refused(second.given) == refused(first) == refused(off(script))
    second.given.proven_copy()
    assert [x for root in journals() for x in events(root) if "parallel" in x] == []
    third = script()
    assert refused(third) == refused(first)
    assert look(third) == look(off(script))


def test_refuses_a_map_of_pieces_in_the_same_words() -> None:
    """The texts of lambdas do not tell one from another."""

    def script(map: Any) -> str:
        n, m = ps.sizes("n m")
        i, j = ps.vars("i j")
        a = ps.Input("a", ps.float32, (n, m))
        f = ps.Func("f", (n, m))
        f[0, j] = a[0, j]
        f[i, j] = f[i - 1, j] + a[i, j]
        s = ps.Schedule(f)
        try:
            s[f].transform(("i", "j"), map)
        except ps.ScheduleError as error:
            return str(error)
        s.keep()
        return s.source()

    accepted = script(lambda i, j: (i, i + j))
    assert ran(lambda: script(lambda i, j: (i, i + j))) == Ran(accepted, True)
    refused = off(lambda: script(lambda i, j: (i, i)))
    assert "is refused" in refused
    assert script(lambda i, j: (i, i)) == refused


def test_refuses_a_batch_that_is_not_proven_as_a_whole() -> None:
    def script(bad: bool) -> ps.Schedule:
        s = ps.Schedule(chain())
        with s.batch():
            s["f"].split("i", 4)
            s["f"].reverse("io")
            if not bad:
                s["f"].reverse("io")
        return s

    script(False).proven_copy()
    assert ran(lambda: script(False)).is_free
    for _ in range(2):
        with pytest.raises(ps.ScheduleError, match="reverse"):
            script(True)
    assert ran(lambda: script(False)).is_free


def test_refuses_outside_of_a_batch_what_was_accepted_in_one() -> None:
    s = ps.Schedule(chain())
    with s.batch():
        s["f"].reverse("i")
        s["f"].reverse("i")
    s.proven_copy()
    with pytest.raises(ps.ScheduleError, match="reverse"):
        ps.Schedule(chain())["f"].reverse("i")


def test_refuses_to_compile_a_known_sketch() -> None:
    sketched().proven_copy()
    sketch = ps.Schedule(product()[1]).sketch()
    sketch["C"].update(0).reorder("i", "k", "j")
    with pytest.raises(ps.ScheduleError, match="this is a sketch"):
        sketch.proven_copy()


def test_what_is_trusted_is_not_kept() -> None:
    def script() -> ps.Schedule:
        s = ps.Schedule(chain())
        s["f"].split("i", 4)
        with s.trust("to see what becomes of it"):
            s["f"].parallel("io")
        s["f"].unroll("ii")
        return s

    first, second = twice(script)
    assert not second.is_free
    assert second.given.trusted
    assert first.trusted
    assert look(second.given) == look(first)
    kept = [x for root in journals() for x in events(root)]
    assert any("split" in x for x in kept)
    assert not any("parallel" in x or "unroll" in x for x in kept)
    s = ps.Schedule(chain())
    s["f"].split("i", 4)
    with pytest.raises(ps.ScheduleError):
        s["f"].parallel("io")


def test_refuses_an_ill_formed_program_where_it_is_scheduled() -> None:
    def make() -> ps.Schedule:
        n = ps.size("n")
        i = ps.vars("i")
        a = ps.Input("a", ps.int32, (n,))
        f = ps.Func("f", (n,))
        f[i] = a[i + 1]
        return ps.Schedule(f)

    for _ in range(2):
        with pytest.raises(ps.LanguageError, match="a"):
            make()
    assert journals() == []


def test_nothing_is_known_of_functions_of_python() -> None:
    n = ps.size("n")
    i = ps.vars("i")
    a = ps.Input("a", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.extern("sums", np.cumsum, [a], (n,), ps.float32)[i]
    assert journal.journal_of(Program(f), once_a_consumer) is None
    ps.Schedule(f).proven_copy()
    assert journals() == []


def test_nothing_is_kept_behind_directives_of_others() -> None:
    """What a class outside of the package does may change without a trace in any key."""

    @dataclass(frozen=True)
    class Again(Split):
        pass

    def script() -> ps.Schedule:
        s = ps.Schedule(chain())
        s["f"].split("i", 8)
        s._builder.apply(Again("f", loop="io", factor=4))
        return s

    first, second = twice(script)
    assert not second.is_free
    assert look(second.given) == look(first)
    (kept,) = [list(events(root)) for root in journals()]
    assert len(kept) == 1


def test_nothing_is_kept_where_the_cache_is_off() -> None:
    off(lambda: packed().proven_copy())
    assert journals() == []


# other programs ---------------------------------------------------------------------------------
def program(**changed: Any) -> ps.Func:
    """A program, and others that differ from it in one thing."""
    given: dict[str, Any] = {
        "constant": 1, "bound": 8, "dtype": ps.int32, "range": (0, 9), "where": 3, "name": "f",
        "table": [1, 2, 3], "extent": 0, "requires": 2, "loop": "i", "user": "g", "op": "add",
    }  # fmt: skip
    unknown = changed.keys() - given.keys()
    assert not unknown
    given |= changed
    n = ps.size("n")
    i = ps.vars(given["loop"])
    k = ps.RVar("k", 0, given["bound"], where=lambda k: k != given["where"])
    a = ps.Input("a", given["dtype"], (n + 16 + given["extent"],))
    at = ps.Input("at", ps.int32, (n,), range=given["range"])
    table = ps.Const("table", np.array(given["table"], np.int32))
    g = ps.Func(given["user"], (n,))
    g[i] = ps.cast(ps.int32, a[at[i]]) + given["constant"] + table[i % 3]
    f = ps.Func(given["name"], (n,), ps.int32)
    f[i] = g[i]
    if given["op"] == "add":
        f[i] += ps.cast(ps.int32, a[k])
    else:
        f[i] *= ps.cast(ps.int32, a[k])
    ps.require(n >= given["requires"], "there is nothing to do", f)
    return f


OTHERS: dict[str, dict[str, Any]] = {
    "constant": {"constant": 2},
    "bound": {"bound": 9},
    "dtype": {"dtype": ps.int16},
    "range": {"range": (0, 10)},
    "where": {"where": 4},
    "name": {"name": "h"},
    "table": {"table": [1, 2, 4]},
    "extent": {"extent": 1},
    "loop": {"loop": "j"},
    "user": {"user": "e"},
    "op": {"op": "mul"},
    "requires": {"requires": 3},
}


@pytest.mark.parametrize("what", OTHERS)
def test_refuses_what_was_accepted_for_another_program(what: str) -> None:
    twice(lambda: ps.Schedule(program()))
    assert ran(lambda: ps.Schedule(program())).is_free
    assert not ran(lambda: ps.Schedule(program(**OTHERS[what]))).is_free


@pytest.mark.parametrize("other", [chain(2), chain(4)], ids=["2", "4"])
def test_refuses_lanes_that_were_right_for_another_distance(other: ps.Func) -> None:
    def vectorized(f: ps.Func) -> ps.Schedule:
        s = ps.Schedule(f)
        s["f"].vectorize("i", 8)
        return s

    vectorized(chain(8)).proven_copy()
    assert ran(lambda: vectorized(chain(8))).is_free
    with pytest.raises(ps.ScheduleError):
        vectorized(other)


def test_funcs_of_one_name_are_not_told_by_it() -> None:
    """The second program calls a Func by the name that the first one gives to another."""

    def make(name: str) -> ps.Schedule:
        n = ps.size("n")
        i = ps.vars("i")
        g, f, h = ps.Func("g", (n,)), ps.Func(name, (n,)), ps.Func("h", (n,))
        g[i] = i
        f[i] = g[i] * 2
        h[i] = g[i] + f[i]
        return ps.Schedule((g, f, h))

    first = make("g_2")
    assert [first.base.names[f] for f in first.base.funcs] == ["g", "g_2", "h"]
    first["g"].split("i", 4)
    first.proven_copy()
    with pytest.raises(ps.ScheduleError, match="names 2 Funcs"):
        make("g")["g"].split("i", 4)


def test_other_versions_know_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    twice(packed)
    monkeypatch.setattr(journal.keys, "environment", lambda: "of another version")
    assert not ran(packed).is_free
