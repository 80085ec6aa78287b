"""Functions that only find what others need are left alone by LLVM's passes, and are as good."""

from __future__ import annotations

import pytest
from codegen.llvm.harness import buffer, i, load, loop, module, op, param, size, store

from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.codegen.llvm.machine import binding
from polysched.codegen.llvm.text.attributes import PLAIN, SHORT
from polysched.lang.nodes.dtypes import DType, bool_, float16, float32, float64, int64
from polysched.lang.nodes.nodes import integer
from polysched.targets.host import default_target

n = size("n")
x, y = buffer("x", float32, n), buffer("y", float32, n, kind="output")


def text_of(*scalars: DType) -> str:
    """Two loops, one of them parallel, that need scalars."""
    named = [param(f"p{k}", dtype) for k, dtype in enumerate(scalars)]
    value = load(x, i)
    for p in named:
        value = op("add", value, op("cast", p))
    parallel = ir.For(i, integer(0), n, 1, "parallel", store(y, i, value), "i")
    after = loop(i, 0, n, store(y, i, op("mul", load(y, i), value)))
    return emit_module(module([x, y], [n, *named], parallel, after), default_target())


def attributes_of(text: str, name: str) -> str:
    """Those of a function."""
    line = next(x for x in text.splitlines() if x.startswith("define ") and f"{name}(" in x)
    number = line.rsplit("#", 1)[1].split(" ")[0]
    return text.partition(f"attributes #{number} =")[2].partition("\n")[0]


@pytest.mark.parametrize("passed", [2, 3, 4])
def test_what_calls_only_is_plain(passed: int) -> None:
    """Two arrays, a size and what threads need are in registers with two numbers more."""
    text = text_of(*[int64] * passed)
    assert PLAIN in attributes_of(text, '.task"')
    assert PLAIN in attributes_of(text, '@"polysched.kernel"')
    assert (SHORT in attributes_of(text, '@"polysched.kernel"')) == (passed == 2)
    for name in ('f0.i.0"', 'f0"', 'f1"'):
        assert PLAIN not in attributes_of(text, name)


def test_llvm_leaves_it_alone() -> None:
    """The slot of counters has an address also where there are none."""
    text, target = text_of(), default_target()
    slot = "getelementptr inbounds i64, ptr %slots"
    assert binding.optimised(text, target).count(slot) == text.count(slot)
    other = text.replace(PLAIN, "").replace(SHORT, "")
    assert binding.optimised(other, target).count(slot) < text.count(slot)


@pytest.mark.parametrize(
    "scalars",
    [(), (int64,) * 2, (int64,) * 12, (float32,), (float32, float64) * 6, (bool_, float16)],
    ids=["none", "short", "integers", "float", "floats", "of 16 bits"],
)
def test_its_code_is_as_short(scalars: tuple[DType, ...]) -> None:
    text, target = text_of(*scalars), default_target()
    plain, optimised = (
        binding.size_of_instructions(binding.object_code(x, target))
        for x in (text, text.replace(PLAIN, "").replace(SHORT, ""))
    )
    assert plain <= optimised + 16  # where functions begin
