"""Programs and schedules as Python: the script makes them again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gallery.case import Case
from gallery.execute import outputs
from gallery.registry import CASES

import polysched as ps
from polysched.lang.travel.script import Script
from polysched.testing.programs import Sample
from polysched.testing.trials import random_case

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def written_again(made: Any) -> str:
    """The script of a program, which makes the same one in a fresh namespace."""
    p = ps.Program(made)
    script = Script(p)
    text = "\n".join([*script.head, *script.lines])
    names: dict[str, Any] = {}
    exec(text, names)
    q = ps.Program([names[script.names[id(f)]] for f in p.outputs])
    assert p.digest is not None
    assert (q.digest, q.signature()) == (p.digest, p.signature())
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_scripts_make_the_same_program(case: Case) -> None:
    written_again(outputs(case))


@pytest.mark.parametrize("seed", range(24, 36))
def test_scripts_of_random_programs(seed: int) -> None:
    case, _ = random_case(seed)
    written_again(Sample(case.source, case.outputs).build())


def test_a_script_reads_as_it_was_written() -> None:
    a, b = ps.Input("a", ps.float32, (n, m)), ps.Input("b", ps.float32, (m, n))
    k = ps.RVar("k", 0, m)
    c = ps.Func("c", (n, n))
    c[i, j] = 0.0
    c[i, j] += a[i, k] * b[k, j]
    assert written_again(c).splitlines() == [
        "import polysched as ps",
        "n = ps.size('n')",
        "m = ps.size('m')",
        "a = ps.Input('a', ps.float32, (n, m))",
        "b = ps.Input('b', ps.float32, (m, n))",
        "c = ps.Func('c', (n, n))",
        "k = ps.RVar('k', 0, m)",
        "i = ps.vars('i')",
        "j = ps.vars('j')",
        "c[i, j] = 0.0",
        "c[i, j] += a[i, k] * b[k, j]",
    ]


def test_extents_keep_their_types() -> None:
    """An extent is an int64 where it is read from a shape, and takes any type in a shape."""
    x = ps.Input("x", ps.float32, (n + 2, 5))
    f, g = ps.Func("f", x.shape), ps.Func("g", (n,))
    f[i, j] = x[i, j] * (x.shape[0] - 1) + x.shape[1]
    g[i] = f[i, 0] + f.shape[0] + ps.Input("other", ps.int8, (3 * n + 1,)).shape[0]
    text = written_again(g)
    assert "x.shape[0] - 1" in text
    assert "extent = ps.Input('extent', ps.int8, (3 * n + 1,)).shape[0]" in text


def test_the_side_that_python_asks_first() -> None:
    """Of two operands the one of a subclass, as a size is one of an expression, is asked first."""
    f = ps.Func("f", (n,))
    f[i] = ps.select(+i + 1 < +n, 1, i * 2 == +n, 2, n > i, 3, n - i < i, 4, 5)
    assert "i + 1 < +n" in written_again(f)


def test_names_that_mean_something_else() -> None:
    ps_, np_ = ps.Input("ps", ps.float32, (n,)), ps.Input("np", ps.float32, (n,))
    first, second = ps.Func("f", (n,)), ps.Func("f", (n,))
    first[i] = ps_[i] + np_[i]
    second[i] = first[i] * np.float32(2)
    written_again(second)


def test_what_is_shared_is_written_once() -> None:
    e = ps.Input("x", ps.float32, (n,))[i]
    for _ in range(60):
        e = e + e * 0.5
    f = ps.Func("f", (n,))
    f[i] = e
    assert len(written_again(f)) < 4_000
    for _ in range(500):
        e = e * 0.5 + i
    deep = ps.Func("deep", (n,))
    deep[i] = e
    written_again(deep)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
@pytest.mark.parametrize("size", [0, 3, 100])
def test_tables(dtype: str, size: int) -> None:
    data = np.arange(size).astype(dtype)
    if data.dtype.kind == "f" and size == 3:
        data[1] = np.inf
    f = ps.Func("f", (n,))
    f[i] = ps.Const("t", data)[ps.clip(i, 0, size - 1)]
    written_again(f)


def test_extern_stages_and_blocks() -> None:
    x, a = ps.Input("x", ps.int64, (n,)), ps.InOut("a", ps.int64, (n,))
    s = ps.extern("s", np.sort, [x], (n,), ps.int64)
    with ps.sequential("t", n, 0, -2) as t, ps.sequential():
        a[i] += s[i] * t
    with ps.sequential("empty", 0, 3):
        pass
    f = ps.Func("f", (n,))
    f[i] = a.final[i] + a.initial[i]
    ps.require(n >= 2, "two", f)
    assert "s = ps.extern('s', np.sort, reads=[(x, ((0, n),))]" in written_again(f)


# schedules --------------------------------------------------------------------------------------
def ran(s: ps.Schedule) -> ps.Schedule:
    """The schedule that its script ends with."""
    names: dict[str, Any] = {}
    exec(s.source(program=True), names)
    (made,) = [x for k, x in names.items() if isinstance(x, ps.Schedule) and k[0] == "s"]
    return made


def test_a_script_of_program_and_schedule() -> None:
    x, p = ps.Input("x", ps.float32, (n, m)), ps.Param("p", ps.int32, 1, 0, 3)
    f, g = ps.Func("s", (n, m)), ps.Func("v0", (n, m))
    f[i, j] = x[i, j] * 2
    g[i, j] = f[i, j] + p
    s = ps.Schedule((g, f), target="x86-64-v3")
    s[g].tile(i, j, ps.factor("rows", 4), ps.native)
    with s.batch():
        s[f].parallel(i)
        s[f].vectorize(j, 8)
    s.specialize(n > 64)[g].unroll("ii")
    again = ran(s)
    assert again == s
    assert again.digest == s.digest
    assert again.source(program=True) == s.source(program=True)


def test_the_order_of_arguments_is_written() -> None:
    x, y = (ps.Input(name, ps.float32, (n,)) for name in "xy")
    a = ps.InOut("a", ps.float32, (n,))
    a[i] += x[i] - y[i]
    s = ps.Schedule(a, args=(y, a, x))
    assert ran(s).program.signature() == s.program.signature()


@pytest.mark.parametrize("case", CASES[::6], ids=lambda case: case.name)
def test_scripts_of_default_schedules(case: Case) -> None:
    s = ps.Schedule.default(outputs(case))
    again = ran(s)
    assert again.key == s.key
    assert again.digest == s.digest


# refusals ---------------------------------------------------------------------------------------
def in_the_script(a: Any) -> Any:
    return a


def test_a_function_of_the_script_that_runs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import __main__

    monkeypatch.setattr(__main__, "in_the_script", in_the_script, raising=False)
    monkeypatch.setattr(in_the_script, "__module__", "__main__")
    x = ps.Input("x", ps.float32, (n,))
    f = ps.extern("f", in_the_script, [x], (n,), ps.float32)
    for write in (ps.to_json, lambda f: ps.Schedule(f).source(program=True)):
        with pytest.raises(ps.LanguageError, match="f calls in_the_script of the script that runs"):
            write(f)


def test_what_python_would_evaluate_is_refused() -> None:
    x = ps.Input("x", ps.float32, (5,))
    f = ps.Func("f", (5,))
    f[i] = x[i] + ps.Expr(ps.cast(ps.int8, 1).node.args[0]) * 2
    with pytest.raises(ps.LanguageError, match="mul of the literal 1 cannot be written"):
        Script(ps.Program(f))


def test_a_size_with_the_name_of_a_module_is_refused() -> None:
    x = ps.Input("x", ps.float32, (ps.size("numpy"),))
    f = ps.extern("f", np.sort, [x], x.shape, ps.float32)
    with pytest.raises(ps.LanguageError, match="numpy is a module, and a size or Param"):
        Script(ps.Program(f))
