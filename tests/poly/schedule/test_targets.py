"""Schedules for a target: words become its numbers, and travel as both."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import polysched as ps
from polysched.targets.host import this_machine
from polysched.targets.known import named

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, l)


def product(dtype: ps.DType = ps.float32) -> ps.Func:
    A, B = ps.Input("A", dtype, (n, l)), ps.Input("B", dtype, (l, m))
    C = ps.Func("C", (n, m), dtype)
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    return C


def tiled(target: ps.Target | str | None, dtype: ps.DType = ps.float32) -> ps.Schedule:
    s = ps.Schedule(product(dtype), target=target)
    u = s["C.update(0)"]
    u.tile("i", "j", ps.tile_rows, ps.tile_columns)
    u.vectorize("ji", ps.native).parallel("io", ps.native // 2)
    return s


def factors(s: ps.Schedule) -> list[int]:
    return [d.factor for d in s.directives if d.name == "split"]  # type: ignore[attr-defined]


def lanes(f: ps.Func, loop: str = "i", target: str = "v3") -> int:
    s = ps.Schedule(f, target=target)
    s[f.name].vectorize(loop, ps.native)
    return factors(s)[0]


# numbers ------------------------------------------------------------------------------------------
def test_words_become_numbers_of_the_target() -> None:
    assert factors(tiled("v3")) == [6, 16, 8, 4]
    assert factors(tiled("v4")) == [6, 64, 16, 8]
    assert factors(tiled("aarch64")) == [6, 16, 4, 2]
    assert factors(tiled("v4", ps.float64)) == [6, 32, 8, 4]


def test_a_target_may_be_made_up() -> None:
    wide = replace(named("v4"), name="made up", vector_bytes=128)
    assert factors(tiled(wide))[2] == 32
    assert tiled(wide).target == wide


def test_without_a_target_it_is_the_machine_or_what_the_variable_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("POLYSCHED_TARGET", raising=False)
    assert ps.Schedule(product()).target == this_machine()
    if this_machine().arch == "x86_64":
        monkeypatch.setenv("POLYSCHED_TARGET", "v3")
        assert factors(tiled(None)) == factors(tiled("v3"))


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (lambda x: x[i], 32),
        (lambda x: ps.cast(ps.uint8, ps.cast(ps.uint16, x[i]) * 3 >> 2), 16),
        (lambda x: ps.cast(ps.uint8, ps.cast(ps.float64, x[i]) * 0.5), 4),
        (lambda x: ps.select(i < n // 2, x[i], x[n - 1 - i]), 32),
        (lambda x: x[ps.clip(ps.cast(ps.int64, x[i]), 0, n - 1)], 32),
        (lambda x: ps.cast(ps.int32, x[i]) + 1, 8),
    ],
)
def test_it_counts_lanes_of_the_widest_value(value: Callable[..., ps.Expr], count: int) -> None:
    """Indices, and conditions on them, are no values."""
    x = ps.Input("x", ps.uint8, (n,))
    f = ps.Func("f", (n,))
    f[i] = value(x)
    assert lanes(f) == count


def test_all_stages_of_the_loop_count() -> None:
    x = ps.Input("x", ps.uint8, (n, m))
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[i, j] = ps.cast(ps.float64, x[i, j])
    g[i, j] = ps.cast(ps.uint8, f[i, j] + f[i, j])
    s = ps.Schedule(g, target="v3")
    s["f"].compute_at("g", "i")
    s["g"].split("j", ps.native)
    s["g"].split("i", ps.native)
    assert factors(s) == [4, 4]
    alone = ps.Schedule(g, target="v3")
    alone["f"].compute_root()
    alone["f"].vectorize("j", ps.native)
    assert factors(alone) == [4]


def test_every_directive_takes_words() -> None:
    s = ps.Schedule(product(), target="v4")
    s["C"].unroll_and_jam("i", ps.native // 8)
    s["C.update(0)"].unroll("k", ps.native // 4).prefetch("A", "k", 2 * ps.native)
    assert [d.text() for d in s.directives if "ps." in d.text()] == [
        """s["C"].split('i', ps.native // 8, names=('i', 'ii'))""",
        """s["C.update(0)"].split('k', ps.native // 4, names=('k', 'ki'))""",
        """s["C.update(0)"].prefetch(tensor='A', loop='k', distance=2 * ps.native)""",
    ]


# as text, and for another target ------------------------------------------------------------------
def test_the_source_has_the_words() -> None:
    s = tiled("v3")
    assert 'ps.Schedule(C, target="x86-64-v3")' in s.source()
    assert "ps.tile_columns" in s.source()
    known = {"ps": ps, "C": s.program.outputs[0]}
    exec(s.source(), known)
    assert known["s"] == s


def test_json_replays_the_numbers() -> None:
    """Wherever it is read: the words are kept, and count again for another target."""
    s = tiled("v4")
    text = json.dumps(json.loads(s.to_json()) | {"target": None})
    again = ps.Schedule.from_json(s.program.outputs, text)
    assert factors(again) == factors(s)
    assert again.to_json() == text.replace('"target": null, ', "")
    assert factors(again.for_target("v3")) == factors(tiled("v3"))


def test_json_keeps_the_target() -> None:
    s = tiled("znver3")
    again = ps.Schedule.from_json(s.program.outputs, s.to_json())
    assert again.target == s.target
    assert again.to_json() == s.to_json()


@pytest.mark.slow
def test_another_target_has_its_own_numbers_and_the_same_results() -> None:
    s = tiled("v4")
    v3 = s.for_target("x86-64-v3")
    assert (factors(v3), factors(s)) == (factors(tiled("v3")), factors(tiled("v4")))
    assert v3.directives == tiled("v3").directives
    a = np.arange(35, dtype=np.float32).reshape(7, 5)
    if this_machine().arch == "x86_64":
        assert np.array_equal(v3.compile()(a, a.T), ps.interpret(product(), a, a.T))


def test_variants_and_batches_count_anew_too() -> None:
    s = ps.Schedule(product(), target="v4")
    with s.batch():
        s["C"].split("j", ps.native)
    s.specialize(m == 64)["C.update(0)"].split("j", ps.native)
    (_, variant), = s.for_target("v3").variants  # fmt: skip
    assert factors(variant) == [8, 8]


def test_copies_and_fixed_sizes_keep_the_target() -> None:
    s = tiled("v3")
    assert s.copy().target == named("x86-64-v3", s.target.system)
    assert s.fixed({"n": 12}).target == s.target


# refusals ----------------------------------------------------------------------------------------
def test_a_kernel_for_another_machine_is_refused() -> None:
    other = "aarch64" if this_machine().arch == "x86_64" else "x86-64-v3"
    s = tiled(other)
    assert "vector" in str(s)
    with pytest.raises(ps.TargetError, match=f"a kernel for {other} is of the architecture"):
        s.compile()


def test_a_word_that_becomes_no_number_of_the_directive_is_refused() -> None:
    s = ps.Schedule(product(), target="v3")
    with pytest.raises(ps.ScheduleError, match=r"the factor of split is at least 1, not 0"):
        s["C"].split("j", ps.native // 9)
    with pytest.raises(ps.ScheduleError, match="the factor of vectorize is at most"):
        s["C"].vectorize("j", ps.native * 16384)
    assert not s.directives


def test_a_number_that_is_refused_on_another_target_is_refused_there() -> None:
    s = ps.Schedule(product(), target="v4")
    s["C"].split("j", ps.native // 16)
    with pytest.raises(ps.ScheduleError, match=r"the factor of split is at least 1, not 0"):
        s.for_target("v3")


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(ps.TargetError, match="pdp11 is no machine that is known here"):
        ps.Schedule(product(), target="pdp11")
    with pytest.raises(ps.TargetError, match="pdp11 is no machine that is known here"):
        ps.Schedule(product()).for_target("pdp11")


@pytest.mark.parametrize("number", [True, "8", {"number": 8}, {"number": True, "word": "native"},
                                    {"number": 8, "word": "wide"}])  # fmt: skip
def test_json_with_no_such_number_is_refused(number: object) -> None:
    data = json.loads(tiled("v3").to_json())
    data["steps"][0]["directive"]["options"]["factor"] = number
    with pytest.raises((ps.LanguageError, ps.LanguageTypeError)):
        ps.Schedule.from_json(product(), json.dumps(data))


def test_json_with_a_target_that_is_no_name_is_refused() -> None:
    data = json.loads(tiled("v3").to_json()) | {"target": 3}
    with pytest.raises(ps.LanguageError, match="this is no schedule that to_json wrote"):
        ps.Schedule.from_json(product(), json.dumps(data))
