"""What print, repr and a notebook show of a program."""

from __future__ import annotations

import polysched as ps
from polysched.demo_programs import harris, matrix_product


def _matmul() -> ps.Func:
    return matrix_product()


def _lines(*lines: str) -> str:
    return "\n".join(lines)


MATMUL = (
    "  C[i, j] = 0.0",
    "  C[i, j] = fma(A[i, k], B[k, j], C[i, j])  for k in [0, l)",
)
LOOPS = (
    "  for i in [0, n):",
    "    for j in [0, m):",
    "      C[i, j] = 0.0",
    "  for i in [0, n):",
    "    for j in [0, m):",
    "      for k in [0, l):",
    "        C[i, j] = fma(A[i, k], B[k, j], C[i, j])",
)
SIGNATURE = "C(A: float32[n, l], B: float32[l, m]) -> float32[n, m]"


def test_func() -> None:
    C = _matmul()
    assert repr(C) == f"Func {SIGNATURE}"
    assert str(C) == _lines(f"Func {SIGNATURE}", *MATMUL)


def test_func_without_definition() -> None:
    n = ps.sizes("n")
    assert str(ps.Func("f")) == "Func f[], not defined yet"
    assert repr(ps.Func("f", (n, 3))) == "Func f[n, 3], not defined yet"


def test_schedule() -> None:
    s = ps.Schedule(_matmul())
    assert repr(s) == f"Schedule of {SIGNATURE}"
    assert str(s) == _lines(f"Schedule of {SIGNATURE}", *LOOPS)


def test_kernel() -> None:
    kernel = ps.Schedule(_matmul()).compile()
    assert repr(kernel) == f"Kernel {SIGNATURE}"
    assert str(kernel).startswith(repr(kernel))
    assert kernel.loops.endswith(_lines(*LOOPS))
    assert "define " in kernel.llvm
    assert "vfmadd" in kernel.asm or "fmadd" in kernel.asm


def test_input_and_expression() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    x = ps.Input("x", ps.uint8, (2 * n + 1,))
    assert repr(x) == str(x) == "Input x[2 * n + 1] uint8"
    assert repr((x[i] - 1) * x[i + n]) == "(x[i] - 1) * x[i + n]"
    assert repr(n) == "n"


def test_markup_is_escaped() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    x = ps.Input("x", ps.int32, (n,))
    html = (x[i] < 3)._repr_html_()
    assert html is not None
    assert "<mo>&lt;</mo>" in html


def test_an_update_says_over_what_it_runs() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    x = ps.Input("x", ps.uint8, (n, n))
    a, b = ps.rdom("a b", (0, n), (1, n), where=lambda a, b: a <= b)
    f = ps.Func("f", (256,), ps.int32)
    f[i] = 0
    f[x[a, b]] += 1
    assert str(f).splitlines()[2] == (
        "  f[x[a, b]] = f[x[a, b]] + 1  for a in [0, n), b in [1, n) if a <= b"
    )


def test_literals_are_as_short_as_their_type_allows() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    for dtype in (ps.float32, ps.float64):
        x = ps.Input("x", dtype, (n,))
        f = ps.Func("f", (n,))
        f[i] = 0.1 + x[i] / -3
        assert str(f).endswith("f[i] = 0.1 + x[i] / -3.0")


def test_repeated_parts_of_long_lines_are_named_once() -> None:
    lines = str(ps.Schedule.default(harris())).splitlines()
    at = next(k for k, line in enumerate(lines) if line.strip().startswith("response["))
    assert lines[at].strip() == (
        "response[y, x] = fma(-0.05, (t0 + t1) * (t0 + t1), fma(-t2, t2, t0 * t1))"
    )
    for k, name in enumerate(("xx", "yy", "xy"), 1):
        assert f"t{k - 1} = {name}_row[y - 2, x] + {name}_row[y - 1, x] + " in lines[at + k]
    assert lines[at + 1].index("t0 =") == lines[at + 2].index("t1 =")


def test_names_of_parts_do_not_hide_others() -> None:
    n, i = ps.sizes("n"), ps.vars("i")
    x = ps.Input("x", ps.float32, (n,))
    t0 = ps.Param("t0", ps.float32)
    part = (x[i] + t0) / 2 + x[i] * x[i]
    for _ in range(6):
        part = part * part + t0
    f = ps.Func("f", (n,))
    f[i] = part
    text = str(f)
    assert "where t1 = (x[i] + t0) / 2.0" in text or "where t1 = fma(x[i], x[i]" in text
    assert " t0 = " not in text
    assert max(map(len, text.splitlines())) < 100
