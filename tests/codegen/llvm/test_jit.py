"""From text to code: errors, what is kept, what is linked, threads."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from codegen.llvm.harness import (
    add,
    buffer,
    call,
    compiled,
    entry,
    i,
    load,
    loop,
    module,
    size,
    slots_of,
    store,
)

from polysched.codegen.ir import ir
from polysched.codegen.llvm import compile_module, load_object
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.codegen.llvm.machine.imports import imports, undefined
from polysched.lang.errors.errors import InternalError
from polysched.lang.nodes.dtypes import float64, int64
from polysched.targets.host import default_target

n = size("n")
ELF = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="object files are not ELF")


def plus(number: int) -> ir.Module:
    """out[i] = x[i] + number"""
    x, out = buffer("x", int64, n), buffer("out", int64, n, kind="output")
    return module([x, out], [n], loop(i, 0, n, store(out, i, add(load(x, i), number))))


def copy() -> ir.Module:
    """A loop of which LLVM makes a call of memcpy."""
    x, out = buffer("x", float64, n), buffer("out", float64, n, kind="output")
    return module([x, out], [n], loop(i, 0, n, store(out, i, load(x, i))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define void @f( {", "expected type"),
        ("define i32 @f() { ret float 0.0 }", "function result type"),
        (
            "define i32 @f(i32 %x) { a: br label %c b: br label %c c: ret i32 %y }",
            "undefined value",
        ),
        (
            "define i32 @f(i1 %c) {\n br i1 %c, label %a, label %b\na:\n %x = add i32 1, 2\n"
            " br label %b\nb:\n ret i32 %x\n}",
            "does not dominate all uses",
        ),
    ],
)
def test_invalid_text_is_an_internal_error(text: str, message: str) -> None:
    with pytest.raises(InternalError, match="LLVM refuses the generated code") as caught:
        compile_module(text, default_target())
    assert message in str(caught.value)


def test_unknown_kernel() -> None:
    code = compiled(plus(1))
    assert code.address("kernel") == code.address("kernel") != 0
    with pytest.raises(InternalError, match=r"no function 'polysched\.colonel' in the code"):
        code.address("colonel")


@ELF
def test_undefined_symbols_are_found_before_linking(capfd: pytest.CaptureFixture[str]) -> None:
    text = """
    declare double @sin(double)
    declare void @nosuchthing()
    define double @"polysched.f"(double %x) {
      call void @nosuchthing()
      %y = call double @sin(double %x)
      ret double %y
    }
    """
    with pytest.raises(InternalError, match="the generated code calls nosuchthing, sin"):
        compile_module(text, default_target())
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_failures_may_be_garbage() -> None:
    """LLVM's objects are disposed of in the right order, whatever holds on to the traceback."""
    for _ in range(20):
        with pytest.raises(InternalError) as caught:
            compile_module(
                "define i32 @f() {\n ret i32 %x\na:\n %x = add i32 1, 2\n ret i32 %x\n}",
                default_target(),
            )
        caught.value.cycle = caught.value.__context__  # type: ignore[attr-defined]
        caught.value.__context__.cycle = caught.value  # type: ignore[union-attr]
    del caught
    gc.collect()


@ELF
def test_imports_are_only_what_is_called() -> None:
    assert list(imports(compiled(plus(1)).object_code)) == []
    assert undefined(compiled(copy()).object_code) == ["memcpy"]


def test_memory_functions_are_linked() -> None:
    kernel = copy()
    code = compiled(kernel)
    got = np.zeros(9)
    call(code, kernel, x=np.arange(9.0), out=got, n=9)
    assert got.tolist() == list(range(9))


@ELF
@pytest.mark.parametrize("length", [0, 3, 60, 200, 700])
def test_damaged_object_code_is_an_internal_error(length: int) -> None:
    with pytest.raises(InternalError):
        load_object(compiled(copy()).object_code[:length])


def test_text_optimised_and_assembly() -> None:
    kernel = plus(1)
    code = compiled(kernel)
    assert code.text == emit_module(kernel, default_target())
    assert "define internal void" in code.optimised
    assert code.optimised != code.text
    assert "polysched.kernel:" in code.assembly()
    assert compiled(kernel).object_code == code.object_code  # the same bytes each time


@pytest.mark.slow
def test_object_code_works_in_another_process() -> None:
    """As the disk cache will do it."""
    code = compiled(copy())
    script = f"""
import ctypes, sys
import numpy as np
sys.path[:0] = {[p for p in sys.path if p]!r}
from polysched.codegen.llvm import load_object
code = load_object(bytes.fromhex(sys.stdin.read()))
from polysched.codegen.runtime.calls import Call
call = Call(1)
x, out = np.array([3, 4, 8.5]), np.zeros(3)
slots = np.array([x.ctypes.data, out.ctypes.data, 3, call.address])
ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("kernel"))(slots.ctypes.data)
print(out.tolist(), repr(code.text))
try:
    code.assembly()
except RuntimeError as error:
    print(error.what)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=code.object_code.hex(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = ["[3.0, 4.0, 8.5] ''", "the code was loaded without its text"]
    assert (done.returncode, done.stdout.splitlines()) == (0, lines), done.stderr


@pytest.mark.slow
def test_code_lives_as_long_as_its_owner() -> None:
    """Other modules of the same name come and go."""
    kept = {number: compiled(plus(number)) for number in range(5)}
    for number in range(100, 110):
        compiled(plus(number)).address("kernel")
    gc.collect()
    x, out = np.arange(4), np.zeros(4, np.int64)
    slots = slots_of(plus(0), {"x": x, "out": out, "n": 4})
    for number, code in kept.items():
        entry(code)(slots)
        assert out.tolist() == [number, number + 1, number + 2, number + 3]


@pytest.mark.slow
def test_compiles_from_several_threads() -> None:
    def work(number: int) -> list[int]:
        kernel = plus(number)
        out = np.zeros(3, np.int64)
        call(compiled(kernel), kernel, x=np.arange(3), out=out, n=3)
        return out.tolist()  # type: ignore[no-any-return]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(40)))
    assert results == [[number, number + 1, number + 2] for number in range(40)]


def test_calls_from_several_threads() -> None:
    kernel = plus(7)
    code = compiled(kernel)

    def work(count: int) -> bool:
        out = np.zeros(count, np.int64)
        call(code, kernel, x=np.arange(count), out=out, n=count)
        return out.tolist() == list(range(7, count + 7))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(1, 200)))


def test_helper_functions_by_hand() -> None:
    """Any text will do, as long as its entry carries the prefix."""
    code = compile_module('define i32 @"polysched.six"() { ret i32 6 }', default_target())
    assert ctypes.CFUNCTYPE(ctypes.c_int)(code.address("six"))() == 6
