"""What notebooks show: right, escaped, quick, and never an exception."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from counting import calls, operations
from hypothesis import given, strategies as st
from IPython.lib.pretty import pretty
from show.test_parts import Seen

import polysched as ps
from polysched import show
from polysched.checking.examine import examine
from polysched.lang.errors.errors import LanguageTypeError
from polysched.poly.report.analysis import FEW
from polysched.show.parts.displayed import SMALL
from polysched.show.parts.theme import CLASSES
from polysched.show.rich.bundle import _RENDERERS, _renderer
from polysched.show.rich.formulas import MOST, formula, latex, mathml
from polysched.show.rich.graphs import _bend

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


def product() -> ps.Func:
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = ps.sum(A[i, k] * B[k, j], k)
    return C


def html(shown: Any) -> str:
    """The display, made without the net that catches what a renderer raises."""
    found: str = _renderer(type(shown))(shown)["text/html"]
    assert shown._repr_mimebundle_()["text/html"] == found
    return found


def blur() -> ps.Schedule:
    x = ps.Input("x", ps.int32, (n + 2,))
    rows, out = ps.Func("rows"), ps.Func("out", (n,))
    rows[i] = x[i] + x[i + 1]
    out[i] = rows[i] + rows[i + 1]
    s = ps.Schedule(out)
    s[out].split(i, 8)
    s[rows].compute_at(out, "io")
    s[out].vectorize("ii").parallel("io")
    return s


def things() -> dict[str, Any]:
    s = blur()
    out = s.program.outputs[0]
    return {
        "expression": product()[i, j] / 2, "input": s.program.inputs[0], "func": out,
        "undefined": ps.Func("later"), "dtype": ps.float32, "program": s.program, "schedule": s,
        "stage": s[out], "loop": s[out]["io"], "kernel": s.compile(),
        "halo": ps.halo(out), "dependence": s.dependences()[0], "dependences": s.dependences(),
        "word": 2 * ps.native, "size": n, "var": i,
        "const": ps.Const("table", np.arange(1000000)), "explanation": ps.explain("PS0301"),
        "machine": ps.machine(), "target": ps.machine().target, "facts": ps.facts(out),
        "statement": ps.facts(out).statement("out"),
        "record": show.recorded(s, np.zeros(18, np.int32)),
        "report": examine(s, np.zeros(18, np.int32)),
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(things()))
def test_each_object_has_a_display_of_its_own(name: str) -> None:
    shown = things()[name]
    found = html(shown)
    assert found.startswith(f'<div class="{CLASSES}">')
    assert len(found) < 40_000
    about = getattr(shown, "name", "")
    assert about in Seen(found).words


def test_all_renderers_are_of_classes_that_there_are() -> None:
    found = {
        (base.__module__.partition(".")[2], base.__name__)
        for shown in things().values() for base in type(shown).__mro__
    }  # fmt: skip
    assert _RENDERERS.keys() <= found


def test_an_equation_is_typeset_with_what_it_reads() -> None:
    found = html(product())
    assert "<munder><mo>∑</mo>" in found
    words = Seen(found).words
    assert "Input A float32[n, l]" in words
    assert "Input B float32[l, m]" in words
    (tex,) = (product()._repr_mimebundle_()["text/latex"],)
    assert tex == r"$\displaystyle C[i,\, j]=\sum_{0\le k<l} A[i,\, k]\cdot B[k,\, j]$"


@pytest.mark.parametrize(
    ("expression", "tex"),
    [
        (i // 2 + 1, r"\left\lfloor \frac{i}{2}\right\rfloor +1"),
        ((i + 1) * j, r"(i+1)\cdot j"),
        (i - (j - 1), "i-(j-1)"),
        (ps.select(i < j, 1, ps.sqrt(n)), r"\begin{cases}1 & \text{if }  i<j \\ \sqrt{n} & "
         r"\text{otherwise}\end{cases}"),
        ((i < 3) & (j >= 2), r"(i<3)\wedge (j\ge 2)"),
        (ps.absolute(i - 1) % 3, r"|i-1|\bmod 3"),
    ],
)  # fmt: skip
def test_formulas_keep_the_meaning_of_brackets(expression: Any, tex: str) -> None:
    found = formula(expression.node)
    assert found is not None
    assert latex(found).replace("  ", " ") == tex.replace("  ", " ")
    ElementTree.fromstring(mathml(found))


@pytest.mark.slow
def test_a_long_expression_is_text() -> None:
    x = ps.Input("x", ps.int32, (n,))
    total: Any = x[i]
    for k in range(MOST):
        total = total + x[i + k]
    assert formula(total.node) is None
    assert "<code>" in html(total)
    deep: Any = x[i]
    for _ in range(5000):
        deep = deep * deep
    assert len(html(deep)) < 200_000


names = st.text(st.sampled_from("ab<>&\"'"), min_size=1, max_size=8)


@pytest.mark.slow
@given(names)
def test_what_a_user_wrote_is_never_markup(label: str) -> None:
    x = ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.trace(x[i], label)
    s = ps.Schedule(f).comment(f"a{label}")
    for shown in (f, ps.Program(f), s):
        elements = [name for name, _ in Seen(html(shown)).elements]
        assert not {"a", "b<", "ab"} & set(elements)


def test_a_schedule_shows_its_loops_by_kind_and_its_storage() -> None:
    found = html(blur())
    kinds = [a.get("class") for name, a in Seen(found).elements if name == "details"]
    assert kinds[0] == "parallel"
    assert "storage" in kinds
    assert "vector" in kinds
    words = Seen(found).words
    assert "for io in [0, (n - 1) // 8 + 1) (parallel):" in words
    assert "store rows[9]:" in words
    hints = [a["title"] for _, a in Seen(found).elements if a.get("title")]
    assert "io: parallel, (n - 1) // 8 + 1 iterations" in hints
    assert "computed at io" in words


def chain(length: int) -> ps.Schedule:
    x = ps.Input("x", ps.int32, (n,))
    before: Any = x
    for k in range(length):
        f = ps.Func(f"f{k}", (n,))
        f[i] = before[i] + before[n - 1 - i]  # which is not inlined
        before = f
    return ps.Schedule(before)


def test_long_programs_ask_isl_nothing_and_are_short() -> None:
    s = chain(100)
    assert s.tree is not None
    out = s.program.outputs[0]
    facts = ps.facts(out, {"n": 8})
    made = (s.compile(), facts, ps.halo(out))
    for shown in (s, s.program, out, out[i], s[out], s[out]["i"], *made):
        none = operations(lambda: None)
        assert operations(shown._repr_mimebundle_) - none <= 8
        assert operations(partial(repr, shown)) == none
        with calls(100_000):  # which take 20 ms
            assert shown._repr_mimebundle_()
        assert html(shown).count("<") <= (100 if shown is facts else 40) * 100
    assert "100 stages; print(s) shows bounds and notes" in html(s)
    assert pretty(s[out]) == "stage f99\n  i"


def test_a_dependence_asks_as_much_in_a_long_program() -> None:
    short, long = (operations(chain(k).dependences()[0]._repr_mimebundle_) for k in (2, 100))
    assert short == long <= 40


def test_all_dependences_are_a_table_that_is_folded() -> None:
    found = chain(16).dependences()
    seen = Seen(html(found))
    assert isinstance(found, tuple)
    assert seen.words.count("must run after") == len(found) == 15
    assert "15 dependences" in seen.words
    assert "3 more" in seen.words
    assert "0 dependences" in Seen(html(type(found)())).words


@pytest.mark.parametrize("length", [1, FEW, FEW + 1])
def test_a_display_takes_a_look_that_ends_soon(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it does not find is there when it is known; and what is found is the same."""
    monkeypatch.setattr("polysched.poly.report.analysis.LOOK", 700)
    s, never_shown = chain(length), chain(length)
    loop = s[s.program.outputs[0]].parallel("i")["i"]
    never_shown[never_shown.program.outputs[0]].parallel("i")
    assert operations(s._repr_mimebundle_) < 800
    assert "print(s) shows bounds and notes" in html(s)
    assert pretty(loop) == f"{loop!r}: parallel"
    assert str(s) == str(never_shown)
    assert operations(partial(pretty, loop)) <= 8
    assert pretty(loop) == f"{loop!r}: n iterations, parallel"
    assert "for i in [0, n) (parallel):" in Seen(html(s)).words


def test_a_halo_says_how_far_it_reaches_and_why_not() -> None:
    x, y = ps.Input("x", ps.int32, (n + 2,)), ps.Input("y", ps.int32, (n,))
    f, k = ps.Func("f", (n,)), ps.RVar("k", 0, n)
    f[i] = x[i] + x[i + 2] + ps.sum(y[k], k)
    assert ps.halo(f)["x"] == ((0, 2),)
    assert "<td>x</td><td>0</td><td>0</td><td>0</td><td>2</td>" in html(ps.halo(f))
    words = Seen(html(ps.halo(f))).words
    assert "all of it" in words


def executable(elf: bytes) -> int:
    """Bytes of the sections of an ELF64 file that have the flag of instructions."""
    (start,) = struct.unpack_from("<Q", elf, 0x28)
    size, count = struct.unpack_from("<HH", elf, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", elf, start + k * size) for k in range(count)]
    return sum(length for _, _, flags, _, _, length in sections if flags & 4)


def test_a_kernel_shows_its_threads_and_how_much_code_it_has() -> None:
    f = ps.Func("f", (n,))
    f[i] = i
    s = ps.Schedule(f)
    kernel: Any = s.compile()
    words = Seen(html(kernel)).words
    assert f"{executable(kernel._variant(False)._code.object_code)} bytes of instructions" in words
    assert "one: no loop of this code is parallel" in words
    s.specialize(n % 8 == 0)[f].parallel("i")
    both = s.compile()
    assert (
        "one: no loop of this code is parallel" in Seen(html(both)).words
    )  # the other has no code yet
    both(n=8)
    with ps.threads(3):
        words = Seen(html(both)).words
    assert "up to 3" in words


def test_nothing_is_compiled_for_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    f = product()
    s = ps.Schedule(f)
    with monkeypatch.context() as m_:
        m_.setattr("polysched.codegen.runtime.kernel.lower", None)
        for shown in (f, s, ps.Program(f)):
            html(shown)


def test_pictures_have_bundles_with_drawings_where_these_are_small() -> None:
    small = show.graph(blur())
    found = small._repr_mimebundle_()
    assert found == {
        "text/plain": repr(small), "text/html": str(small.html), "image/svg+xml": small.svg
    }  # fmt: skip
    assert set(small._repr_mimebundle_(exclude=["text/html"])) == {"text/plain", "image/svg+xml"}
    assert len(small.svg) <= SMALL
    s = blur()
    large = show.space(s, "out", n=1000)
    assert set(large._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert large._repr_svg_() is None  # front ends ask for it, whatever a bundle has
    assert set(show.animation(s, n=3)._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_a_broken_object_shows_its_text() -> None:
    f = ps.Func("f", (n,))
    f[i] = 1
    broken = object.__new__(ps.Program)
    assert "Program" in broken._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("kind", [ps.Func, ps.Schedule, ps.Input])
def test_an_object_that_nothing_is_set_of_yet_says_so(kind: Any) -> None:
    """A debugger shows what `__init__` has not made yet."""
    shown = object.__new__(kind)
    with pytest.raises(AttributeError, match="has no attribute"):
        repr(shown)
    assert "has no attribute" in shown._repr_mimebundle_()["text/html"]


def test_bundles_leave_out_what_is_not_wanted() -> None:
    f = product()
    assert set(f._repr_mimebundle_(include=["text/latex"])) == {"text/latex"}
    assert set(f._repr_mimebundle_(exclude=["text/latex"])) == {"text/html"}


def test_a_graph_has_its_nodes_and_arrows(tmp_path: Any) -> None:
    s = blur()
    made = show.graph(s)
    assert [t.name for t in made.data.nodes] == ["x", "rows", "out"]
    assert [(a.name, b.name) for a, b in made.data.edges] == [("x", "rows"), ("rows", "out")]
    assert {t.name: note for t, note in made.data.notes.items()} == {"rows": "computed at io"}
    assert [[t.name for t in layer] for layer in made.data.layers] == [["x"], ["rows"], ["out"]]
    ElementTree.parse(made.save(tmp_path / "graph.svg"))
    assert [t.name for t in show.graph(s.program.outputs[0]).data.nodes] == ["x", "rows", "out"]


def test_a_graph_is_of_a_program() -> None:
    with pytest.raises(LanguageTypeError, match="a graph is of a Schedule, a Program or a Func"):
        show.graph(3)


def test_a_graph_of_many_stages_is_refused() -> None:
    s = chain(61)
    with pytest.raises(LanguageTypeError, match="62 inputs and stages are too many"):
        show.graph(s)
    assert "62 inputs and stages" in html(s.program)


def test_a_wide_layer_of_a_graph_has_several_rows() -> None:
    x = ps.Input("x", ps.int32, (n,))
    parts = [ps.Func(f"part{k}", (n,)) for k in range(20)]
    for k, part in enumerate(parts):
        part[i] = x[i] * k
    f = ps.Func("f", (n,))
    f[i] = sum((part[i] for part in parts[1:]), parts[0][i])
    assert show.graph(f).drawing.width < 1100


def test_an_arrow_passes_the_boxes_between_its_ends() -> None:
    boxes = [[(40.0, 100.0)], [(0.0, 20.0), (50.0, 120.0)]]
    bend = _bend(70.0, 70.0, boxes)
    assert all(70 + 4 * at * (1 - at) * bend > right for at, right in ((1 / 3, 100), (2 / 3, 120)))
    assert _bend(70.0, 70.0, [[(0.0, 20.0)]]) < bend
