"""Text that is compiled as two: what stays together, what comes of it, and who compiles it."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.llvm import compile_module, load_object
from polysched.codegen.llvm.machine import binding, halves, jit, loader
from polysched.codegen.llvm.machine.archive import archived, objects_of
from polysched.codegen.llvm.machine.beside import both
from polysched.lang.errors.errors import InternalError
from polysched.targets.host import default_target

ELF = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="object files are not ELF")

TEXT = """\
@table = internal constant [2 x i64] [i64 3, i64 5], align 8
@other = internal constant [2 x i64] [i64 7, i64 9], align 8
declare ptr @memcpy(ptr, ptr, i64)

; the body of a loop
define internal void @"polysched.f.0.body"(ptr %to, i64 %k) #0 {
  %x = load i64, ptr @table, align 8
  %y = add i64 %x, %k

  store i64 %y, ptr %to, align 8
  ret void
}

; a nest
define internal void @"polysched.f.0"(ptr noalias align 8 %to.1, i64 %k.2) #0 {
  call void @"polysched.f.0.body"(ptr %to.1, i64 %k.2)
  ret void
}

; another nest
define internal void @"polysched.f.1"(ptr noalias align 8 %to.1) #0 {
  %place = getelementptr i8, ptr %to.1, i64 8
  %found = call ptr @memcpy(ptr %place, ptr @other, i64 8)
  ret void
}

; f: the entry
define void @"polysched.f"(ptr %to) #0 {
  call void @"polysched.f.0"(ptr %to, i64 4)
  call void @"polysched.f.1"(ptr %to)
  ret void
}

attributes #0 = { nounwind noinline }
"""


@pytest.fixture(autouse=True)
def small_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "LEAST", 4)


def run(code: jit.CompiledCode) -> list[int]:
    """What the entry writes."""
    found = np.zeros(2, np.int64)
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("f"))
    entry(found.ctypes.data)
    return found.tolist()


def names(text: str, kind: str) -> list[str]:
    return re.findall(rf'^{kind} .*?@"polysched\.(\S+)"\(', text, re.MULTILINE)


def parts(text: str = TEXT) -> tuple[str, str]:
    found = halves.halves(text)
    assert found is not None
    return found


# the texts --------------------------------------------------------------------------------------
def test_what_refers_to_each_other_stays_together() -> None:
    first, second = parts()
    assert [names(x, "define") for x in (first, second)] == [["f.1", "f"], ["f.0.body", "f.0"]]
    assert [names(x, "declare") for x in (first, second)] == [["f.0"], []]


def test_only_what_is_called_from_the_other_half_is_known_outside() -> None:
    _, second = parts()
    assert names(second, "define internal") == ["f.0.body"]


def test_each_half_has_the_globals_that_it_uses() -> None:
    first, second = parts()
    assert ["@table =" in x for x in (first, second)] == [False, True]
    assert ["@memcpy(ptr, ptr" in x for x in (first, second)] == [True, False]


def test_a_call_is_told_the_same_of_parameters() -> None:
    first, _ = parts()
    assert 'declare void @"polysched.f.0"(ptr noalias align 8, i64) #0\n' in first


def test_a_function_whose_address_is_taken_stays_with_the_entry() -> None:
    taken = TEXT.replace("(ptr %to, i64 4)\n", '(ptr @"polysched.f.0", i64 4)\n')
    assert names(parts(taken)[1], "define") == ["f.1"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("load i64, ptr @table", 'load i64, ptr @"polysched.f.1"'),
        ("attributes #0", "!llvm.module.flags = !{}\n\nattributes #0"),
        ("define void", "define internal void"),
    ],
    ids=["nests are connected", "debugging information", "no entry"],
)
def test_what_is_left_whole(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "LEAST", 6)  # more than the entry
    assert old in TEXT
    assert halves.halves(TEXT.replace(old, new)) is None


def test_a_small_text_is_left_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "LEAST", 12)
    assert halves.halves(TEXT) is None


# the code ---------------------------------------------------------------------------------------
@ELF
@pytest.mark.parametrize("threads", [1, 2])
def test_two_object_files_do_the_same(threads: int) -> None:
    code = compile_module(TEXT, default_target(), threads)
    assert len(objects_of(code.object_code)) == 2
    assert run(code) == run(load_object(code.object_code)) == [7, 7]


@ELF
def test_llvm_links_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "loaded", lambda *_: None)
    code = compile_module(TEXT, default_target(), 2)
    assert isinstance(code._library, binding.Library)
    assert run(code) == [7, 7]


@ELF
def test_object_code_does_not_depend_on_threads() -> None:
    one, two = (binding.object_code(TEXT, default_target(), k) for k in (1, 2))
    assert one == two


def instructions(text: str) -> dict[str, str]:
    """By function, its instructions, with labels that do not count functions; a call may be of a
    function of another file."""
    found = re.findall(r'^"?(polysched\.[\w.]+)"?:.*?\n(.*?)\n\.Lfunc_end', text, re.DOTALL | re.M)
    return {
        name: re.sub(r"\.L\w+?\d+(_\d+)?", r".L\1", body.replace("@PLT", ""))
        for name, body in found
    }


@ELF
def test_functions_become_the_same_instructions() -> None:
    target = default_target()
    whole = instructions(binding.assembly(TEXT, target))
    found = [instructions(binding.assembly(x, target)) for x in parts()]
    assert whole == found[0] | found[1]
    assert len(whole) == 4


@ELF
@pytest.mark.parametrize("number", [0, 1])
def test_a_damaged_file_of_an_archive_is_an_internal_error(number: int) -> None:
    files = objects_of(binding.object_code(TEXT, default_target()))
    files[number] = files[number][:200]
    with pytest.raises(InternalError):
        load_object(archived(files))


@ELF
def test_code_that_lacks_its_other_half_is_an_internal_error() -> None:
    first, _ = objects_of(binding.object_code(TEXT, default_target()))
    with pytest.raises(InternalError, match=r"calls polysched\.f\.0\b"):
        load_object(first)


@ELF
def test_kernels_are_compiled_so() -> None:
    n, i = ps.size("n"), ps.Var("i")
    x = ps.Input("x", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 3.0
    g[i] = f[n - 1 - i] + 1.0
    s = ps.Schedule(g)
    s[f].compute_root()
    kernel = s.compile()
    assert len(objects_of(kernel._variant(False)._code.object_code)) == 2
    assert kernel(np.arange(3, dtype=np.float32)).tolist() == [7.0, 4.0, 1.0]


@ELF
def test_the_other_half_of_other_code_is_an_internal_error() -> None:
    first, second = objects_of(binding.object_code(TEXT, default_target()))
    other = second.replace(b"polysched.f.0", b"polysched.g.0")
    with pytest.raises(InternalError, match=r"no function 'polysched\.f\.0' in the code"):
        load_object(archived([first, other]))


# archives ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("files", [[b"one"], [b"odd", b"even"], [b"", b"x", b"yz"]])
def test_files_of_an_archive_are_found(files: list[bytes]) -> None:
    assert objects_of(archived(files)) == files


@pytest.mark.parametrize("end", [9, 67, 70, 135])
def test_an_archive_that_is_cut_off_is_refused(end: int) -> None:
    with pytest.raises(InternalError, match="damaged"):
        objects_of(archived([b"some", b"text"])[:end])


# who does it ------------------------------------------------------------------------------------
def test_two_threads_are_at_it_at_once() -> None:
    met = threading.Barrier(2, timeout=60)

    def work() -> str:
        met.wait()
        return threading.current_thread().name

    assert both(work, work, True) == (threading.current_thread().name, "polysched-compile")


def test_one_thread_does_both() -> None:
    me = threading.current_thread
    assert both(me, me, False) == (me(), me())


def test_where_no_thread_begins_this_one_does_both(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    me = threading.current_thread
    assert both(me, me, True) == (me(), me())


def test_what_fails_in_the_other_thread_is_raised_here() -> None:
    def fail() -> int:
        raise InternalError("no code")

    with pytest.raises(InternalError, match="no code"):
        both(lambda: 1, fail, True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_child_does_it_itself() -> None:
    """The thread that was at it is not there."""
    begun, go_on = threading.Event(), threading.Event()
    parent = os.getpid()
    child: list[int] = []

    def second() -> int:
        if os.getpid() == parent:
            begun.set()
            go_on.wait(60)
        return 2

    def first() -> int:
        begun.wait(60)
        child.append(os.fork())
        go_on.set()
        return 1

    found = both(first, second, True)
    if child == [0]:
        os._exit(sum(found))
    assert os.waitstatus_to_exitcode(os.waitpid(child[0], 0)[1]) == 3 == sum(found)
