"""Debug locations: the code is what it is without them, and they name lines of the loop IR."""

from __future__ import annotations

import re

import pytest
from gallery.case import Case
from gallery.execute import schedule
from gallery.registry import some

import polysched as ps
from polysched.codegen.ir import ir
from polysched.codegen.ir.text import module_text, stmt_text
from polysched.codegen.llvm import assembly_of
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.codegen.llvm.machine.listed import listed, located
from polysched.codegen.llvm.text.locations import Locations
from polysched.lang.nodes.nodes import Const, integer

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, l)


def _without_locations(text: str) -> str:
    """LLVM text without what belongs to locations."""
    start, end = text.index("!llvm.dbg.cu"), text.index("attributes #0")
    return re.sub(r",? !dbg !\d+", "", text[:start].rstrip() + "\n\n" + text[end:])


def _instructions(assembly: str) -> list[str]:
    code = (re.sub(r"\s*#.*", "", line).strip() for line in assembly.splitlines())
    return [x for x in code if x and not x.startswith(".") and not x.endswith(":")]


def _product() -> ps.Schedule:
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    C = ps.Func("C", (n, m))
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    s = ps.Schedule(C)
    u = s[C].update(0)
    u.split(i, 4, names=("io", "ii"))
    u.split(j, 8, names=("jo", "ji"))
    u.reorder("io", "jo", k, "ii", "ji")
    u.vectorize("ji").unroll("ii").parallel("io")
    return s


@pytest.mark.parametrize("case", some(24), ids=lambda case: case.name)
def test_located_text_is_the_text_of_the_kernel_and_locations(case: Case) -> None:
    s = schedule(case)
    lowered = s.compile()._lowered
    loops, text = located(lowered.flat, s.target)
    assert _without_locations(text) == emit_module(lowered.flat, s.target, once=False)
    assert "\n".join(line for line, _ in loops) == module_text(lowered.flat)


@pytest.mark.slow
def test_located_code_is_the_code_instruction_by_instruction() -> None:
    s = _product()
    lowered = s.compile()._lowered
    found = listed(lowered.flat, s.target)
    plain = assembly_of(lowered.text, s.target)
    assert _instructions(found.assembly) == _instructions(plain)
    assert len(_instructions(plain)) > 100
    assert ".loc" not in plain
    assert "!dbg" not in lowered.text


def test_each_instruction_is_of_the_statement_that_it_was_written_for() -> None:
    """Before LLVM moves anything, stores are of lines with stores, and a branch back is of its
    loop."""
    s = _product()
    loops, text = located(s.compile()._lowered.flat, s.target)
    lines = {
        x[1]: int(x[2]) for x in re.finditer(r"^!(\d+) = !DILocation\(line: (\d+)", text, re.M)
    }
    stores = phis = 0
    for code, node in re.findall(r"^  (.*), !dbg !(\d+)$", text, re.M):
        of = loops[lines[node] - 1][1]
        if re.match(r"store (<\d+ x )?float", code):
            assert isinstance(of, ir.Stores), code
            stores += 1
        if match := re.match(r"%(\w+?)\.\d+ = phi i64", code):
            assert isinstance(of, ir.For), code
            assert match[1] in (of.var.name, "start", "left"), code
            phis += 1
    assert stores >= 5
    assert phis >= 5


def test_a_statement_at_two_places_has_two_lines() -> None:
    out = ir.Buffer("o", ps.float32, (integer(4),), (integer(0),), "output")
    store = ir.Stores((ir.Store(out, (integer(0),), Const(1.0, ps.float32)),))
    body = ir.Seq((store, ir.If(Const(True, ps.bool_), store)))
    module = ir.Module("f", (out,), (), (ir.Function("nest0", "f", body),))
    loops, text = located(module, ps.machine().target)
    numbers = [k for k, (_, x) in enumerate(loops, 1) if isinstance(x, ir.Stores)]
    assert len(numbers) == 2
    assert all(f"!DILocation(line: {k}," in text for k in numbers)


def test_what_has_no_line_is_of_the_line_around() -> None:
    locations = Locations({})
    places = locations.places(object())
    head, lines = places.located("internal void @f() #1", ["entry:", "  ret void"])
    assert re.fullmatch(r"internal void @f\(\) #1 !dbg !\d+", head)
    assert lines[0] == "entry:"
    assert "line: 0," in locations.metadata()


def test_a_sequence_of_nothing_is_a_line_without_a_statement_to_show() -> None:
    """Digests of many schedules are those of this listing."""
    nothing = ir.If(Const(True, ps.bool_), ir.Seq(()))
    assert stmt_text(nothing) == "if True:\n"
    assert stmt_text(ir.Seq(())) == ""
