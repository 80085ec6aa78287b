"""What is told of assembly, against a small one that is written by hand."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.codegen.build.build import build
from polysched.codegen.llvm.machine.listed import listed
from polysched.codegen.lower import passed
from polysched.show.reporting import assembly, llvm_text
from polysched.show.reporting.code_loops import innermost_loops
from polysched.show.reporting.instructions import COUNTED, Counts, counts, kinds, registers
from polysched.steps import Log
from polysched.targets.host import target_of

# Two loops inside of each other, and one that is its own block.
NESTED = """\
\t.text
\t.type\tf,@function                    # -- Begin function f
f:                                      # @f
.Lfunc_begin0:
\t.file\t1 "loops"
\t.loc\t1 3 0
\t.cfi_startproc
# %bb.0:
\tpushq\t%rbx
\txorl\t%eax, %eax
.Ltmp0:
\t.loc\t1 4 0 prologue_end
.LBB0_1:                                # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_2 Depth 2
\tmovq\t8(%rsp), %rcx                   # 8-byte Reload
\tvmovaps\t%zmm3, 64(%rsp)              # 64-byte Spill
.LBB0_2:                                # =>  This Inner Loop Header: Depth=2
\t.loc\t1 5 0
\tvmovups\t(%rdi,%rcx,4), %zmm0
\tvfmadd231ps\t(%rsi,%rcx,4), %zmm0, %zmm1
\tvaddps\t128(%rsp), %ymm2, %ymm2       # 32-byte Folded Reload
\tvaddss\t-4(%rbp), %xmm4, %xmm4
\tvgatherdps\t(%rdi,%xmm5,4), %xmm6 {%k1}
\tvpermps\t%zmm1, %zmm2, %zmm1          # zmm1 = zmm1[1,0]
\taddq\t$16, %rcx
\tcmpq\t%r8, %rcx
\tjl\t.LBB0_2
# %bb.3:
\t.loc\t1 0 0 is_stmt 0
\tincl\t%eax
\t.loc\t1 4 0
\tcmpl\t%r9d, %eax
\tjne\t.LBB0_1
\tcallq\tmemset@PLT
.LBB0_5:
\tvpaddd\t%xmm1, %xmm2, %xmm2
\tdecq\t%rax
\tje\t.LBB0_5
\tretq
.Lfunc_end0:
\t.size\tf, .Lfunc_end0-f
                                        # -- End function
\t.section\t.rodata
.LCPI0_0:
\t.long\t1
"""


def _function() -> assembly.AsmFunction:
    (found,) = assembly.parsed(NESTED, "x86_64")
    return found


def test_lines_are_instructions_and_labels_with_their_locations() -> None:
    f = _function()
    assert f.name == "f"
    assert [(x.label, x.line) for x in f.lines if x.label] == [
        ("f", 0), (".LBB0_1", 4), (".LBB0_2", 4), (".LBB0_5", 4)
    ]  # fmt: skip
    assert [(x.opcode, x.line) for x in f.instructions[:5]] == [
        ("pushq", 3), ("xorl", 3), ("movq", 4), ("vmovaps", 4), ("vmovups", 5)
    ]  # fmt: skip
    assert [x.line for x in f.instructions if x.opcode == "incl"] == [0]
    assert not any("Loop" in x.text or ".loc" in x.text or ".cfi" in x.text for x in f.lines)
    assert "# zmm1 = zmm1[1,0]" in f.instructions[9].text


def test_innermost_loops_are_found_by_branches() -> None:
    first, second = innermost_loops(_function(), "x86_64")
    assert (first.label, first.line, len(first.lines)) == (".LBB0_2", 5, 9)
    assert (second.label, len(second.lines)) == (".LBB0_5", 3)


def test_instructions_of_a_loop_are_counted_by_hand() -> None:
    loop, _ = innermost_loops(_function(), "x86_64")
    assert counts(loop.lines) == Counts(
        all=9, scalar=1, xmm=1, ymm=1, zmm=3, fma=1, gathers=1, shuffles=1, reloads=1, stack=1
    )
    whole = counts(_function().lines)
    assert (whole.spills, whole.reloads, whole.calls, whole.all) == (1, 2, 1, 21)


def test_registers_are_counted_once_whatever_part_is_used() -> None:
    loop, _ = innermost_loops(_function(), "x86_64")
    used = registers(loop.lines)
    assert used.vector == {0, 1, 2, 4, 5, 6}
    assert used.general == {"rdi", "rcx", "rsi", "rbp", "r8"}
    assert used.masks == {"k1"}
    assert registers(_function().lines).general >= {"rax", "rbx", "r9"}


@pytest.mark.parametrize(
    ("opcode", "operands", "wanted"),
    [
        ("vaddps", "%xmm0, %xmm1, %xmm2", ("xmm",)),
        ("vaddsd", "%xmm0, %xmm1, %xmm2", ("scalar",)),
        ("vaddsd", "(%rax), %xmm1, %xmm2", ("scalar",)),
        ("vcvtsi2sd", "%rax, %xmm1, %xmm2", ("scalar",)),
        ("vpabsd", "%xmm1, %xmm2", ("xmm",)),
        ("vpaddsw", "%ymm1, %ymm2, %ymm3", ("ymm",)),
        ("vfnmadd213sd", "%xmm0, %xmm1, %xmm2", ("scalar", "fma")),
        ("vfmsub132pd", "%zmm0, %zmm1, %zmm2", ("zmm", "fma")),
        ("vpgatherqq", "(%rax,%zmm1), %zmm2 {%k1}", ("zmm", "gathers")),
        ("vscatterdps", "%zmm2, (%rax,%zmm1) {%k1}", ("zmm", "scatters")),
        ("vbroadcastss", "(%rax), %zmm2", ("zmm", "shuffles")),
        ("vextractf128", "$1, %ymm0, %xmm1", ("ymm", "shuffles")),
        ("vmovaps", "32(%rsp), %ymm0", ("ymm", "stack")),
        ("leaq", "32(%rsp), %rax", ()),
        ("vzeroupper", "", ()),
        ("addq", "%rax, %rbx", ()),
        ("callq", "*%rax", ("calls",)),
    ],
)
def test_the_kinds_of_an_instruction(opcode: str, operands: str, wanted: tuple[str, ...]) -> None:
    assert kinds(assembly.AsmLine("", 1, opcode, operands)) == wanted


def test_a_loop_whose_branch_has_no_line_is_of_that_of_most_instructions() -> None:
    (f,) = assembly.parsed(NESTED.replace("\tjl\t", "\t.loc\t1 0 0\n\tjl\t"), "x86_64")
    loop, _ = innermost_loops(f, "x86_64")
    assert loop.lines[-1].line == 0
    assert loop.line == 5


def test_code_without_loops_has_none() -> None:
    text = (
        "# -- Begin function g\ng:\n\taddq\t$1, %rax\n\tjne\t.LBB0_1\n"
        ".LBB0_1:\n\tretq\n# -- End function\n"
    )
    (g,) = assembly.parsed(text, "x86_64")
    assert innermost_loops(g, "x86_64") == ()
    assert assembly.parsed("", "x86_64") == ()


def test_a_loop_of_two_entries_is_none() -> None:
    """Both blocks of the circle are reached from outside, so neither is the first one of a loop."""
    text = (
        "# -- Begin function g\ng:\n\tje\t.LBB0_2\n.LBB0_1:\n\tincq\t%rax\n"
        ".LBB0_2:\n\tdecq\t%rax\n\tjne\t.LBB0_1\n\tretq\n# -- End function\n"
    )
    (g,) = assembly.parsed(text, "x86_64")
    assert innermost_loops(g, "x86_64") == ()


def test_a_loop_around_another_that_is_entered_at_two_blocks() -> None:
    """The condition whether there is an iteration inside was copied: before the loop, and to its
    end. What leads back to the first block is no innermost loop, though nothing of it is inside."""
    text = (
        "# -- Begin function g\ng:\n\tje\t.LBB0_2\n"
        ".LBB0_3:\n\tmovq\t%rbx, %rax\n.LBB0_1:\n\tincq\t%rax\n\tjl\t.LBB0_1\n"
        ".LBB0_2:\n\tdecq\t%rbx\n\tje\t.LBB0_4\n"
        "\tcmpq\t$0, %rcx\n\tjns\t.LBB0_3\n\tjmp\t.LBB0_2\n"
        ".LBB0_4:\n\tretq\n# -- End function\n"
    )
    (g,) = assembly.parsed(text, "x86_64")
    (loop,) = innermost_loops(g, "x86_64")
    assert (loop.label, len(loop.lines)) == (".LBB0_1", 2)


AARCH64 = """\
\t.type\tg,@function                    // -- Begin function g
g:                                      // @g
// %bb.0:
\t.loc\t1 7 0
\tmov\tx8, #4                           // =0x4
.LBB0_1:                                // =>This Inner Loop Header: Depth=1
\t.loc\t1 8 0
\tldr\tq0, [x0, x8]
\tfmla\tv1.4s, v0.4s, v2.s[0]
\tstr\tq1, [sp, #16]                    // 16-byte Folded Spill
\tadd\tx8, x8, #16
\tcbnz\tx8, .LBB0_1
\tret
                                        // -- End function
"""


def test_assembly_of_aarch64_has_lines_loops_and_spills() -> None:
    (g,) = assembly.parsed(AARCH64, "aarch64")
    (loop,) = innermost_loops(g, "aarch64")
    assert [x.line for x in g.instructions] == [7, 8, 8, 8, 8, 8, 8]
    assert (len(loop.lines), loop.line) == (5, 8)
    assert [x.spill for x in loop.lines] == ["", "", "Spill", "", ""]
    assert g.instructions[0].operands == "x8, #4"


LLVM = """\
@c = private constant [2 x i8] c"ab"

define internal void @"a b"(ptr %x) #1 !dbg !7 {
entry.1:                                          ; preds = %x
  %a = load i32, ptr %x, align 4, !dbg !9
  %b = add i32 %a, 1
  store i32 %b, ptr %x, align 4, !nontemporal !0, !dbg !10
  ret void, !dbg !9
}

!9 = !DILocation(line: 4, scope: !7)
!10 = !DILocation(line: 12, scope: !7)
"""


def test_lines_of_llvm_have_the_locations_of_their_metadata() -> None:
    (f,) = llvm_text.parsed(LLVM)
    assert f.name == "a b"
    assert [(x.line, x.is_instruction) for x in f.lines] == [
        (0, False), (0, False), (4, True), (0, True), (12, True), (4, True), (0, False)
    ]  # fmt: skip
    assert not any("!dbg" in x.text for x in f.lines)
    assert f.lines[4].text.endswith("align 4, !nontemporal !0")


# what LLVM writes today ---------------------------------------------------------------------------
def _scaled() -> ps.Schedule:
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] * x[i, j] + 2 * x[i, j]
    s = ps.Schedule(f)
    s[f].split(j, 16, names=("jo", "ji"))
    s[f].vectorize("ji")
    return s


@pytest.mark.parametrize(
    ("name", "width"), [("x86-64-v3", "ymm"), ("x86-64-v4", "zmm"), ("aarch64", "")]
)
def test_code_for_each_target_is_taken_apart(name: str, width: str) -> None:
    target = target_of(name)
    s = _scaled().for_target(target)
    found = listed(passed(build(s.loop_program), Log()), target)
    functions = assembly.parsed(found.assembly, target.arch)
    assert len(functions) >= 2  # the nest, the entry, and copies of parts of vectors
    (nest,) = [f for f in functions if f.name.endswith("nest0")]
    assert sum(x.line > 0 for x in nest.instructions) > len(nest.instructions) / 2
    assert {f.name for f in llvm_text.parsed(found.llvm)} == {f.name for f in functions}
    loops = innermost_loops(nest, target.arch)
    assert loops
    vectors = [x for x in loops if found.loops[x.line - 1][0].strip().startswith("for jo")]
    assert vectors
    if target.arch in COUNTED:
        best = max((counts(x.lines) for x in vectors), key=lambda c: getattr(c, width))
        assert best.fma >= 1
        assert getattr(best, width) >= 3
        assert best.reloads == best.spills == 0


@pytest.mark.slow
def test_registers_that_do_not_fit_are_spilled_and_counted() -> None:
    """More accumulators than there are registers: each step loads and stores some."""
    n, l = ps.sizes("n l")
    i = ps.Var("i")
    k = ps.RVar("k", 0, l)
    a, x = ps.Input("a", ps.float32, (l, n)), ps.Input("x", ps.float32, (l,))
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += a[k, i] * x[k]
    s = ps.Schedule(f, target="x86-64-v3")
    u = s[f].update(0)
    u.split(i, 8 * 24, names=("io", "ii"))
    u.split("ii", 8, names=("ii", "v"))
    u.reorder("io", k, "ii", "v")
    u.accumulate_at("io")
    u.vectorize("v").unroll("ii")
    found = listed(passed(build(s.loop_program), Log()), s.target)
    loops = [
        counts(loop.lines)
        for g in assembly.parsed(found.assembly, s.target.arch)
        for loop in innermost_loops(g, s.target.arch)
    ]
    most = max(loops, key=lambda c: c.fma)
    assert most.fma >= 24
    assert most.spills + most.reloads + most.stack > 0
