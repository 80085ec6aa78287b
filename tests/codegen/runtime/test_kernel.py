"""Calling native code: every layout of the arguments is right, or a CallError that says why not."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j, x = ps.vars("i j x")
Array = np.ndarray


def stencil() -> ps.Func:
    a = ps.Input("a", ps.float32, (n, m))
    f = ps.Func("f", (n - 2, m))
    f[i, j] = a[i, j] + 2 * a[i + 1, j] + a[i + 2, j]
    return f


def wanted(a: Array) -> Array:
    return a[:-2] + 2 * a[1:-1] + a[2:]


def image(rows: int = 9, columns: int = 7) -> Array:
    return np.random.default_rng(1).standard_normal((rows, columns)).astype(np.float32)


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "contiguous": lambda a: a,
    "transposed": lambda a: np.asfortranarray(a),
    "negative strides": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "every second": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "part of a larger one": lambda a: np.pad(a, 3)[3:-3, 3:-3],
    "field of a record": lambda a: _record(a),
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
    "read-only": lambda a: _frozen(a),
}


def _record(a: Array) -> Array:
    records = np.zeros(a.shape, dtype=[("x", np.float32), ("y", np.float64)])
    records["x"] = a
    return records["x"]


def _frozen(a: Array) -> Array:
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_of_any_layout(layout: str) -> None:
    a = LAYOUTS[layout](image())
    np.testing.assert_allclose(stencil()(a), wanted(a), rtol=1e-6)


@pytest.mark.parametrize("layout", ["transposed", "negative strides", "every second"])
def test_outputs_of_any_layout(layout: str) -> None:
    out = LAYOUTS[layout](np.zeros((7, 7), np.float32))
    result = stencil()(image(), out=out)
    assert result is out
    np.testing.assert_allclose(out, wanted(image()), rtol=1e-6)


def test_writes_nothing_beside_a_strided_output() -> None:
    whole = np.full((7, 14), 5, np.float32)
    stencil()(image(), out=whole[:, ::2])
    assert (whole[:, 1::2] == 5).all()


@pytest.mark.parametrize("shape", [(2, 7), (9, 0), (2, 0)])
def test_empty_arrays(shape: tuple[int, int]) -> None:
    result = stencil()(np.zeros(shape, np.float32))
    assert result.shape == (shape[0] - 2, shape[1])


def test_strides_of_an_empty_array_do_not_matter() -> None:
    a = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (9, 0), (12345, 1))
    assert stencil()(a).shape == (7, 0)


def refusal(call: Callable[[], object], argument: str | None = None) -> str:
    with pytest.raises(ps.CallError) as caught:
        call()
    if argument is not None:
        assert caught.value.argument == argument
    return str(caught.value)


def test_too_small_for_its_stencil() -> None:
    text = refusal(lambda: stencil()(image(1, 7)))
    assert "n - 2 = -1" in text


def test_wrong_dtype_rank_and_byte_order() -> None:
    f = stencil()
    assert "float64, not float32" in refusal(lambda: f(image().astype(np.float64)), "a")
    assert "3 axes" in refusal(lambda: f(image()[None]), "a")
    assert "bytes are not in this machine's order" in refusal(lambda: f(image().astype(">f4")), "a")


def test_unaligned() -> None:
    raw = np.zeros(9 * 7 * 4 + 1, np.uint8)
    a = raw[1:].view(np.float32).reshape(9, 7)
    assert "not aligned" in refusal(lambda: stencil()(a), "a")


def test_read_only_output() -> None:
    assert "read-only" in refusal(lambda: stencil()(image(), out=_frozen(np.zeros((7, 7), "f4"))))


def test_output_that_overlaps_an_input() -> None:
    a = image()
    before = a.copy()
    text = refusal(lambda: stencil()(a, out=a[:-2]))
    assert "shares memory with a" in text
    assert (a == before).all()


def test_interleaved_arrays_do_not_overlap() -> None:
    whole = np.zeros((9, 14), np.float32)
    whole[:, ::2] = image()
    stencil()(whole[:, ::2], out=whole[:7, 1::2])
    np.testing.assert_allclose(whole[:7, 1::2], wanted(image()), rtol=1e-6)


def test_output_whose_elements_share_an_address() -> None:
    out = np.lib.stride_tricks.as_strided(np.zeros(7, np.float32), (7, 7), (0, 4))
    assert "one address" in refusal(lambda: stencil()(image(), out=out))


def test_two_outputs_that_overlap() -> None:
    a = ps.Input("a", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i], g[i] = a[i] + 1, a[i] + 2
    kernel = ps.Schedule((f, g)).compile()
    out = np.zeros(5, np.float32)
    data = np.zeros(5, np.float32)
    assert "shares memory with g" in refusal(lambda: kernel(data, out=(out, out)))
    first, second = kernel(data)
    assert (first == 1).all()
    assert (second == 2).all()


def test_a_condition_on_sizes_is_checked_before_anything_runs() -> None:
    a, b = ps.Input("a", ps.int32, (n,)), ps.Input("b", ps.int32, (m,))
    f = ps.Func("f", (n,))
    f[i] = a[i] + b[i]
    out = np.full(4, 7, np.int32)
    text = refusal(lambda: f(np.zeros(4, np.int32), np.zeros(3, np.int32), out=out))
    assert "n=4, m=3" in text
    assert "m >= n" in text
    assert (out == 7).all()


def test_a_check_of_indices_names_the_offending_element() -> None:
    t, at = ps.Input("t", ps.float32, (m,)), ps.Input("at", ps.int16, (n, l))
    f = ps.Func("f", (n, l))
    f[i, j] = t[at[i, j]]
    table = np.arange(5, dtype=np.float32)
    index = np.array([[0, 4], [1, 2]], np.int16)
    assert (f(at=index, t=table) == index).all()
    index[1, 0] = 5
    assert "at[1, 0] is 5" in refusal(lambda: f(at=index, t=table), "at")
    index[1, 0] = -1
    assert "at[1, 0] is -1" in refusal(lambda: f(at=index, t=table), "at")


def test_output_without_a_shape() -> None:
    a = ps.Input("a", ps.int32, (n,))
    f = ps.Func("f")
    f[i] = a[i] * 2
    data = np.arange(6, dtype=np.int32)
    assert (f(data, shape=(4,)) == data[:4] * 2).all()
    out = np.zeros(3, np.int32)
    assert f(data, out=out) is out
    assert "shape" in refusal(lambda: f(data))
    assert "f.shape[0]=7" in refusal(lambda: f(data, shape=(7,)))


def test_division_by_zero_is_counted_with_checks() -> None:
    a, b = ps.Input("a", ps.int32, (n,)), ps.Input("b", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select(a[i] > 0, a[i] // b[i], 0)
    zeros, data = np.zeros(3, np.int32), np.array([1, -1, 2], np.int32)
    assert (f(data, zeros) == 0).all()
    kernel = ps.Schedule(f).compile(checks=True)
    assert "2 integer divisions by zero" in refusal(lambda: kernel(data, zeros))
    assert (kernel(-data, zeros + 1) == [0, 1, 0]).all()


def test_an_update_guarded_by_data() -> None:
    a = ps.Input("a", ps.int32, (n,))
    r = ps.RVar("r", 0, n, where=lambda r: a[r] > 0)
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += a[r]
    data = np.array([3, -4, 5], np.int32)
    assert f(data) == 8


@pytest.mark.slow
def test_scratch_is_shared_by_stages_that_do_not_overlap_in_time() -> None:
    from polysched.codegen.runtime.arena import plan
    from polysched.codegen.runtime.kernel import Kernel

    a = ps.Input("a", ps.float32, (n,))
    stage: ps.Input | ps.Func = a
    for k in range(20):
        edge = ps.boundary.repeat_edge(stage)
        stage = ps.Func(f"s{k}", (n,))
        stage[i] = edge[i - 1] + edge[i + 1]
    assert isinstance(stage, ps.Func)
    kernel: Kernel = ps.Schedule.default(stage).compile()
    variant = kernel._variants[False]
    sizes = variant.bytes({"n": 1000})
    offsets, total = plan(variant.spans, sizes)
    assert len(sizes) == 39
    assert total < 4 * max(sizes)
    for p, first in enumerate(variant.spans):
        for q, second in enumerate(variant.spans[:p]):
            together = first.first <= second.last and second.first <= first.last
            disjoint = offsets[p] + sizes[p] <= offsets[q] or offsets[q] + sizes[q] <= offsets[p]
            assert disjoint or not together


@pytest.mark.parametrize("size", [1, 1000, 1024, 70000])
def test_copies_of_two_threads_lie_a_page_apart(size: int) -> None:
    """Where lines are fetched ahead behind one of them, the other one does not lie."""
    from polysched.codegen.ir.parallel import pitch_of
    from polysched.codegen.runtime.kernel import Kernel
    from polysched.lang.arithmetic.evaluate import compile_nodes

    a = ps.Input("a", ps.float32, (m, n))
    row = ps.Func("row", (m, n))
    row[i, j] = ps.sqrt(a[i, j])
    f = ps.Func("f", (m, n))
    f[i, j] = row[i, j] + row[i, n - 1 - j]
    s = ps.Schedule(f)
    s[row].compute_at(f, i)
    s[f].parallel(i)
    kernel: Kernel = s.compile()
    variant = kernel._variants[False]
    assert variant.private == [True]
    assert variant.lowered is not None
    (buffer,) = (b for b in variant.lowered.flat.buffers if b.kind == "scratch")
    values = {"n": size, "m": 8}
    (pitch,) = compile_nodes([pitch_of(buffer)])(values)
    (own,) = variant.bytes(values)
    assert pitch >= own + 4096
    for threads in (1, 2, 7):
        _, total = variant._plan(values, threads)
        assert total >= pitch * (threads - 1) + own
        assert total < pitch * (threads - 1) + own + 64


@pytest.mark.slow
def test_concurrent_calls() -> None:
    a = ps.Input("a", ps.float32, (n, m))
    edge = ps.boundary.wrap(a)
    f = ps.Func("f", (n, m))
    f[i, j] = edge[i - 1, j] + edge[i + 1, j]
    failures: list[object] = []

    def run(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for size in range(20, 40):
            data = rng.standard_normal((size, size + seed)).astype(np.float32)
            result = f(data if seed % 2 else data.T.copy().T)
            if not (result == np.roll(data, 1, 0) + np.roll(data, -1, 0)).all():
                failures.append((seed, size))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_compiled_once() -> None:
    f = stencil()
    f(image())
    first = f.__dict__["_default_kernel"]
    f(image(5, 5))
    assert f.__dict__["_default_kernel"] is first
    assert {*first._found.values()} == {first}
    assert list(first._variants) == [False]
    f(np.asfortranarray(image()))
    assert sorted(first._variants) == [False, True]


def test_looking_at_a_kernel() -> None:
    kernel = ps.Schedule(stencil()).compile()
    assert "for i in [0, n - 2)" in kernel.loops
    assert "define" in kernel.llvm
    assert "ret" in kernel.asm
    assert repr(kernel) == "Kernel f(a: float32[n, m]) -> float32[n - 2, m]"
    assert list(inspect.signature(kernel).parameters) == ["a", "out", "shape", "region"]
    assert "for i in [0, n - 2)" in kernel._repr_html_()
    assert {"model", "conditions", "bounds", "build", "emit", "llvm"} <= set(kernel.seconds)


def test_what_does_not_fit_into_memory() -> None:
    f = ps.Func("f", (2**62,))
    f[i] = 0
    assert "does not fit into memory" in refusal(lambda: f(), "f")
    g, h = ps.Func("g", (n, 2**30)), ps.Func("h", (n,))
    r = ps.RVar("r", 0, 4)
    g[i, j] = 1
    g[i, r] += 1
    h[i] = g[i, i] + g[i, 7]
    as_written = ps.Schedule.default(h).compile()
    assert "intermediate results" in refusal(lambda: as_written(n=2**28))


NO_FLAGS = [(np.ones(3), "of type ndarray"), ("x", "'x'"), (1, "1"), (None, "None")]


@pytest.mark.parametrize(("given", "said"), NO_FLAGS)
def test_a_flag_is_true_or_false(given: Any, said: str) -> None:
    schedule = ps.Schedule(stencil())
    with pytest.raises(ps.LanguageError, match=f"^checks is True or False, not {said}"):
        schedule.compile(checks=given)


def test_a_flag_of_numpy_is_one() -> None:
    assert ps.Schedule(stencil()).compile(checks=np.bool_(False))(image()).shape == (7, 7)


def test_a_kernel_of_no_schedule() -> None:
    with pytest.raises(ps.LanguageError, match=r"^a Kernel is made from a Schedule, .* type int"):
        ps.Kernel(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [True, (n > 2,)])
def test_what_is_no_requirement(given: Any) -> None:
    with pytest.raises(ps.LanguageError, match=r"^one of the requirements of a program has type"):
        ps.Program((stencil(),), requirements=given)
