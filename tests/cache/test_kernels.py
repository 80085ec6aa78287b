"""Kernels from disk: the same code, the same results, the same refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gallery import registry
from gallery.execute import assert_same, fresh, kernel, outputs, schedule

import polysched as ps
from polysched.cache import keys, store
from polysched.codegen.build.build import build
from polysched.codegen.llvm.machine import binding
from polysched.codegen.lower import passed
from polysched.codegen.runtime import interface, kept
from polysched.codegen.runtime.kernel import Kernel
from polysched.lang.program.scalars import symbols_of
from polysched.steps import Log
from polysched.targets.host import target_of

from .programs import arrays, gathered, product, smoothed


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of kernels C that LLVM compiles."""
    texts: list[str] = []
    compile = binding.object_code

    def noted(text: str, target: Any, threads: int) -> bytes:
        if "C: unpacks the slots" in text:  # no code that each process needs once
            texts.append(text)
        return compile(text, target, threads)

    monkeypatch.setattr(binding, "object_code", noted)
    return texts


def kinds() -> list[str]:
    return sorted(x.kind for x in store.entries() if x.kind in ("code", "terms"))


def test_a_second_kernel_is_found(compiled: list[str]) -> None:
    a, b = arrays()
    first = ps.Schedule(product()).compile()
    assert not first.cached
    assert len(compiled) == 1
    second = ps.Schedule(product()).compile()
    assert second.cached
    assert second(a, b).tobytes() == first(a, b).tobytes()
    assert len(compiled) == 1
    assert kinds() == ["code", "terms"]


def test_strided_arguments_have_code_of_their_own(compiled: list[str]) -> None:
    a, b = arrays()
    first = ps.Schedule(product()).compile()
    wanted = first(a.T, b[::-1])
    assert len(compiled) == 2
    second = ps.Schedule(product()).compile()
    assert second(a.T, b[::-1]).tobytes() == wanted.tobytes()
    assert second.cached
    assert len(compiled) == 2
    assert second(a, b).tobytes() == first(a, b).tobytes()


def test_what_can_be_read_of_a_kernel_is_the_same() -> None:
    first, second = (ps.Schedule(smoothed()).compile() for _ in range(2))
    assert second.cached
    for name in ("signature", "conditions", "loops", "llvm", "asm"):
        assert getattr(first, name) == getattr(second, name), name
    assert str(first) == str(second)
    assert second.cached  # reading does not change that
    assert "llvm" in first.seconds
    assert "llvm" not in ps.Schedule(smoothed()).compile().seconds


def test_nothing_is_kept_where_the_cache_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE", "0")
    for _ in range(2):
        assert not ps.Schedule(product()).compile().cached
    monkeypatch.delenv("POLYSCHED_CACHE")
    assert kinds() == []


def test_nothing_is_kept_once_sources_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "is_current", lambda: False)
    for _ in range(2):
        assert not ps.Schedule(product()).compile().cached
    assert kinds() == []


# what tells kernels from each other -------------------------------------------------------------
def _split(directive: Callable[[Any], object]) -> Callable[[], ps.Schedule]:
    def made() -> ps.Schedule:
        s = ps.Schedule(product())
        directive(s["C"])
        return s

    return made


OTHERS: dict[str, Callable[[], Kernel]] = {
    "a constant": lambda: ps.Schedule(product(3)).compile(),
    "a type": lambda: ps.Schedule(product(dtype=ps.float64)).compile(),
    "a name": lambda: ps.Schedule(product(name="D")).compile(),
    "checks": lambda: ps.Schedule(product()).compile(checks=True),
    "a size": lambda: ps.Schedule(product()).compile(n=8),
    "another size": lambda: ps.Schedule(product()).compile(n=16),
    "a directive": lambda: _split(lambda c: c.split("j", 8))().compile(),
    "its number": lambda: _split(lambda c: c.split("j", 16))().compile(),
    "a default": lambda: ps.Schedule.default(product()).compile(),
    "a target": lambda: ps.Schedule(product(), target="x86-64-v3").compile(),
    "another target": lambda: ps.Schedule(product(), target="x86-64-v4").compile(),
    "contents": lambda: ps.Schedule(smoothed()).compile(),
    "other contents": lambda: ps.Schedule(smoothed((1.0, 2.0, 3.0))).compile(),
    "a zero": lambda: ps.Schedule(smoothed((0.0, 2.0, 3.0))).compile(),
    "a negative zero": lambda: ps.Schedule(smoothed((-0.0, 2.0, 3.0))).compile(),
}


def test_what_makes_other_code_is_part_of_the_key() -> None:
    ps.Schedule(product()).compile()
    for name, make in OTHERS.items():
        try:
            made = make()
        except ps.TargetError:  # not this machine
            continue
        assert not made.cached, name
    for name, make in OTHERS.items():
        try:
            made = make()
        except ps.TargetError:
            continue
        assert made.cached, name


def test_the_features_of_a_processor_are_part_of_the_key() -> None:
    target = target_of("znver4")
    less = replace(target, features=tuple(x for x in target.features if x != "+avx512vl"))
    assert less != target
    other = replace(target, cpu="another")
    found = {kept.code_key("d", t, False, False) for t in (target, less, other)}
    assert len(found) == 3
    assert kept.code_key(None, target, False, False) is None


def test_the_versions_of_what_makes_code_are_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ps.Schedule(product()).compile()
    monkeypatch.setattr(keys, "environment", lambda: "0" * 64)
    assert not ps.Schedule(product()).compile().cached
    assert ps.Schedule(product()).compile().cached


def test_passes_of_the_caller_are_unknown() -> None:
    def same(module: Any) -> Any:
        return module

    for _ in range(2):
        assert not Kernel(ps.Schedule(product()), first=(same,)).cached
    assert "code" not in kinds()


def doubled(x: np.ndarray, out: np.ndarray) -> None:
    out[...] = 2 * x


def test_what_calls_back_is_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.trace(x[i], "seen")
    for _ in range(2):
        made = ps.Schedule(f).compile()
        assert not made.cached
        made(np.ones(2, np.float32))
    assert capsys.readouterr().out.count("seen") == 4
    assert "code" not in kinds()


# what is kept -----------------------------------------------------------------------------------
CASES = registry.CASES


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_programs_of_the_gallery_are_the_same_from_disk(case: Any) -> None:
    first = schedule(case).compile()
    given = case.make(np.random.default_rng(1), **case.small_sizes(5))
    wanted = first(**fresh(case, given))
    second = schedule(case).compile()
    assert second.cached or first._variants[False].callbacks
    assert second._terms == first._terms
    assert second._variants[False].interface == first._variants[False].interface
    found = second(**fresh(case, given))
    assert_same(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_interfaces_and_preconditions_have_a_json_form(case: Any) -> None:
    made = kernel(case)
    program = made._program
    for about in (
        made._variants[False].interface,
        interface.interface_of(passed(build(made._schedule.loop_program, strided=True), Log())),
    ):
        text = json.dumps(interface.to_json(about), allow_nan=False)
        assert interface.from_json(json.loads(text), symbols_of(program)) == about
    terms = kept._terms_to_json(made._terms, program)
    assert terms is not None
    text = json.dumps(terms, allow_nan=False)
    assert kept._terms_from_json(json.loads(text), program) == made._terms
    assert outputs(case)


def test_variants_of_a_schedule_are_found(compiled: list[str]) -> None:
    def made() -> Any:
        c = product()
        s = ps.Schedule(c)
        thin = s.specialize(ps.size("m") <= 4)
        thin[c].reorder("j", "i")
        return s.compile()

    (a, b), first = arrays(), made()
    wanted = [first(a, b[:, :k].copy()) for k in (3, 20)]
    count = len(compiled)
    assert count == 2
    second = made()
    for k, result in zip((3, 20), wanted, strict=True):
        assert second(a, b[:, :k].copy()).tobytes() == result.tobytes()
    assert second.cached
    assert [k.cached for _, k in second._special] == [True]
    assert len(compiled) == count


# refusals ---------------------------------------------------------------------------------------
def refusal(kernel: Kernel, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(ps.CallError) as refused:
        kernel(*args, **kwargs)
    return str(refused.value)


def test_a_kernel_from_disk_refuses_what_it_must() -> None:
    first, second = (ps.Schedule(gathered()).compile() for _ in range(2))
    assert second.cached
    table = np.ones(4, np.float32)
    for wrong in ([0, 4], [-1, 0], [0, 99]):
        where = np.array(wrong, np.int32)
        assert refusal(first, where, table) == refusal(second, where, table)
    first, second = (ps.Schedule(smoothed()).compile() for _ in range(2))
    assert second.cached
    assert refusal(first, np.ones(3)) == refusal(second, np.ones(3))
    assert refusal(first, np.ones(3, np.float32)) == refusal(second, np.ones(3, np.float32))


def test_divisions_by_zero_are_counted_by_code_from_disk() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    x = ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = 7 // x[i]
    first, second = (ps.Schedule(f).compile(checks=True) for _ in range(2))
    assert second.cached
    given = np.array([0, 1, 0], np.int32)
    assert refusal(first, given) == refusal(second, given)


@pytest.mark.parametrize("kind", ["code", "terms"])
@pytest.mark.parametrize(
    "header",
    [{}, {"name": "C"}, {"nodes": [[], []]}, {"nodes": [[{"symbol": "q"}], [0]]}],
)
def test_an_entry_that_means_nothing_is_made_again(kind: str, header: dict[str, Any]) -> None:
    a, b = arrays()
    wanted = ps.Schedule(product()).compile()(a, b)
    (entry,) = [x for x in store.entries() if x.kind == kind]
    store.write(kind, entry.key, header, b"")
    made = ps.Schedule(product()).compile()
    assert made.cached == (kind == "terms")
    assert made(a, b).tobytes() == wanted.tobytes()
    again = store.read(kind, entry.key)
    assert again is not None
    assert again.header != header


def test_object_code_that_cannot_be_linked_is_made_again() -> None:
    a, b = arrays()
    wanted = ps.Schedule(product()).compile()(a, b)
    (entry,) = [x for x in store.entries() if x.kind == "code"]
    known = store.read("code", entry.key)
    assert known is not None
    for blob in (b"", b"\x7fELF", known.blob[:200], b"no object code at all" * 10):
        store.write("code", entry.key, known.header, blob)
        made = ps.Schedule(product()).compile()
        assert not made.cached
        assert made(a, b).tobytes() == wanted.tobytes()
    assert ps.Schedule(product()).compile().cached


def _changed(data: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**data, **fields}


def test_an_interface_that_is_malformed_is_none() -> None:
    program = ps.Schedule(smoothed()).program
    made = ps.Schedule(smoothed()).compile()._variants[False].interface
    data, symbols = interface.to_json(made), symbols_of(program)
    rows, scalars = data["buffers"], data["scalars"]
    for bad in (
        None,
        [],
        {k: v for k, v in data.items() if k != "counters"},
        _changed(data, name=3),
        _changed(data, counters="0"),
        _changed(data, threaded=1),
        _changed(data, buffers=[[*rows[0][:1], "float99", *rows[0][2:]]]),
        _changed(data, buffers=[[*rows[0][:2], "const", *rows[0][3:]]]),
        _changed(data, buffers=[row[:-1] for row in rows]),
        _changed(data, pitches=[[], []]),
        _changed(data, pitches=[[{"symbol": "q"}], [0]]),
        _changed(data, pitches=[[{"symbol": "n"}], [1]]),
        _changed(data, pitches=[[{"symbol": "n"}], [True]]),
        _changed(data, pitches=[[3], [0]]),
        _changed(data, scalars=[[*scalars[0], 1]]),
        _changed(data, work=1),
        _changed(data, scalars=[["n", "number"]]),
    ):
        with pytest.raises(ps.LanguageError):
            interface.from_json(bad, symbols)


def test_how_long_a_call_takes_is_known_of_code_from_disk() -> None:
    program = ps.Schedule(smoothed()).program
    made = ps.Schedule(smoothed()).compile()._variants[False].interface
    data, symbols = interface.to_json(made), symbols_of(program)
    assert made.work.node is not None
    assert interface.from_json(data, symbols).work.node is made.work.node
    for bad in ([], [3], [[3], [0]], [[{"symbol": "q"}], [0]]):
        assert interface.from_json(_changed(data, work=bad), symbols).work.node is None
