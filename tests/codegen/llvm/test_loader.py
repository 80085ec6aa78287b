"""Code that is brought into the process without LLVM's linker, and what is left to that."""

from __future__ import annotations

import ctypes
import gc
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from polysched.codegen.llvm import compile_module
from polysched.codegen.llvm.machine import binding, loader
from polysched.codegen.llvm.machine.imports import imports
from polysched.targets.host import default_target

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine != "x86_64", reason="LLVM links elsewhere"
)

CONSTANTS = """
@table = private constant [5 x i32] [i32 7, i32 -3, i32 11, i32 2, i32 40]
define i32 @"polysched.at"(i32 %k) nounwind {
  %wide = sext i32 %k to i64
  %place = getelementptr [5 x i32], ptr @table, i64 0, i64 %wide
  %found = load i32, ptr %place
  ret i32 %found
}
define i32 @"polysched.next"(i32 %k) nounwind noinline {
  %found = call i32 @"polysched.at"(i32 %k)
  %more = add i32 %found, 1
  ret i32 %more
}
"""
COUNTED = """
@count = internal global i32 5
define i32 @"polysched.count"() nounwind {
  %old = load volatile i32, ptr @count
  %new = add i32 %old, 1
  store volatile i32 %new, ptr @count
  ret i32 %new
}
"""
COPIED = """
declare ptr @memcpy(ptr, ptr, i64)
define ptr @"polysched.copy"(ptr %to, ptr %from, i64 %size) nounwind {
  %found = call ptr @memcpy(ptr %to, ptr %from, i64 %size)
  ret ptr %found
}
"""
_I32 = ctypes.CFUNCTYPE(ctypes.c_int32)


def code_of(text: str) -> bytes:
    return compile_module(text, default_target()).object_code


def loaded(code: bytes) -> loader.Loaded:
    found = loader.loaded(code, imports(code))
    assert found is not None
    return found


def maps(found: loader.Loaded) -> list[str]:
    """The rights of the pages that hold some code."""
    rows = [line.split()[:2] for line in Path("/proc/self/maps").read_text().splitlines()]
    spans = [(*(int(x, 16) for x in span.split("-")), rights) for span, rights in rows]
    begin, end = found._base, found._base + found._size
    return [rights for low, high, rights in spans if low < end and begin < high]


def relocations(code: bytes) -> Iterator[int]:
    """Where those of the instructions are in a file."""
    (start,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, start + k * size) for k in range(count)]
    for section in sections:
        if section[1] == 4 and sections[section[7]][2] & 4:
            yield from range(section[4], section[4] + section[5], 24)


def test_compiled_code_is_loaded_without_llvm() -> None:
    assert isinstance(compile_module(CONSTANTS, default_target())._library, loader.Loaded)


def test_constants_and_other_functions_are_found() -> None:
    found = loaded(code_of(CONSTANTS))
    at, following = (
        ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(found.address(f"polysched.{name}"))
        for name in ("at", "next")
    )
    assert [at(k) for k in range(5)] == [7, -3, 11, 2, 40]
    assert [following(k) for k in range(5)] == [8, -2, 12, 3, 41]


def test_data_are_written_once_for_each() -> None:
    code = code_of(COUNTED)
    one, other = loaded(code), loaded(code)
    assert [_I32(x.address("polysched.count"))() for x in (one, one, other)] == [6, 7, 6]


def test_functions_of_the_c_library_are_called() -> None:
    found = loaded(code_of(COPIED))
    kind = ctypes.CFUNCTYPE(*[ctypes.c_void_p] * 3, ctypes.c_size_t)
    source, target = ctypes.create_string_buffer(b"some text"), ctypes.create_string_buffer(10)
    kind(found.address("polysched.copy"))(ctypes.addressof(target), ctypes.addressof(source), 10)
    assert target.value == b"some text"


@pytest.mark.parametrize("text", [CONSTANTS, COUNTED, COPIED], ids=["table", "data", "call"])
def test_no_page_is_written_and_run(text: str) -> None:
    rights = maps(loaded(code_of(text)))
    assert any("x" in x for x in rights)
    assert [x for x in rights if "w" in x and "x" in x] == []


def test_its_memory_goes_with_it() -> None:
    system, freed = loader._system(), []

    class Noting:
        mmap, mprotect = system.mmap, system.mprotect

        @staticmethod
        def munmap(base: int, size: int) -> None:
            freed.append((base, size))
            system.munmap(base, size)

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(loader, "_system", Noting)
        found = loaded(code_of(CONSTANTS))
    expected = found._base, found._size
    del found
    gc.collect()
    assert freed[-1:] == [expected]


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"there is no polysched\.nothing"):
        loaded(code_of(CONSTANTS)).address("polysched.nothing")


@pytest.mark.parametrize("kind", [1, 9, 10, 42])
def test_other_relocations_are_left_to_llvm(kind: int) -> None:
    code = bytearray(code_of(CONSTANTS))
    struct.pack_into("<I", code, next(relocations(code)) + 8, kind)
    assert loader.loaded(bytes(code), {}) is None


def test_refuses_a_distance_beyond_the_instructions() -> None:
    code = bytearray(code_of(CONSTANTS))
    struct.pack_into("<Q", code, next(relocations(code)), 1 << 20)
    assert loader.loaded(bytes(code), {}) is None


def test_refuses_a_function_that_it_was_not_given() -> None:
    code = code_of(COPIED)
    assert list(imports(code)) == ["memcpy"]
    assert loader.loaded(code, {}) is None


def test_refuses_data_of_the_c_library() -> None:
    code = bytearray(code_of(COPIED))
    struct.pack_into("<I", code, next(relocations(code)) + 8, 2)
    assert loader.loaded(bytes(code), imports(bytes(code))) is None


def test_refuses_thread_local_data() -> None:
    text = COUNTED.replace("internal global", "internal thread_local global")
    assert loader.loaded(binding.object_code(text, default_target()), {}) is None


@pytest.mark.parametrize("at", [4, 5, 16, 18])
def test_refuses_files_of_other_machines(at: int) -> None:
    code = bytearray(code_of(CONSTANTS))
    code[at] += 1
    assert loader.loaded(bytes(code), {}) is None


def test_refuses_what_is_cut_off() -> None:
    code = code_of(CONSTANTS)
    assert [n for n in range(len(code)) if loader.loaded(code[:n], {}) is not None] == []


def test_refuses_what_unwinding_needs() -> None:
    code = code_of(COUNTED.replace(" nounwind", ""))
    assert loader.loaded(code, {}) is None


def test_llvm_links_what_is_not_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "loaded", lambda *_: None)
    found = binding.link(code_of(COUNTED), {})
    assert isinstance(found, binding.Library)
    assert _I32(found.address("polysched.count"))() == 6
