"""The interpreter against a meaning written apart from it, and that meaning against numbers."""

from __future__ import annotations

import ast
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from . import meaning, understood
from .meaning import arithmetic, evaluate, symbols
from .meaning.program import Program, Run
from .meaning.trees import Tree
from .programs import Case
from .vocabulary import InputSpec

PROGRAMS = Path(meaning.__file__).parent


def _run(case: Case) -> Any:
    return understood.run(case, lambda case, phase: None)


def _check(seeds: range) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in seeds:
        report = _run(understood.draw(seed))
        assert not report.findings, f"seed {seed}: {report.findings}"
        counts.update(report.counts)
    return counts


@pytest.mark.parametrize("first", [pytest.param(100, marks=pytest.mark.slow), *range(106, 136, 6)])
def test_random_programs(first: int) -> None:
    counts = _check(range(first, first + 6))
    assert counts["calls: values / values"] > 0  # not all are unknown or refused


@pytest.mark.slow
@pytest.mark.parametrize("first", range(200, 400, 20))
def test_more_random_programs(first: int) -> None:
    _check(range(first, first + 20))


def test_bounds_of_a_reduction_run_loops_though_it_mentions_none() -> None:
    """`r` runs around the reduction, which multiplies a constant."""
    source = """
n, = (ps.sizes("n"),)
f = ps.Func("f", (), dtype=ps.int64)
f[()] = 1
r = ps.RVar("r", 0, n)
q = ps.RVar("q", 0, r)
f[()] += ps.prod(2, q)
"""
    (found,) = Program(source, ("f",))({"n": 4}, {}, {})
    assert found == 1 + 1 + 2 + 4 + 8


def test_shares_no_code_with_the_package() -> None:
    for path in PROGRAMS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import(names=names):
                    modules = [n.name for n in names]
                case ast.ImportFrom(module=module, level=level):
                    assert level < 2, f"{path.name} imports from outside of its folder"
                    modules = [module or ""] if level == 0 else []
                case _:
                    continue
            assert not any("polysched" in m for m in modules), path.name


def _values(text: str, **arrays: Any) -> list[Any]:
    """Of a Func `f` over `n` elements of x, y and z."""
    source = "n = ps.sizes('n')\ni = ps.vars('i')\nr = ps.RVar('r', 0, n)\n"
    source += "".join(
        f"{k} = ps.Input({k!r}, ps.{a.dtype.name}, (n,))\n" for k, a in arrays.items()
    )
    program = Program(f"{source}f = ps.Func('f', (n,))\nf[i] = {text}", ("f",))
    size = len(next(iter(arrays.values())))
    found: list[Any] = program({"n": size}, arrays, {})[0].tolist()
    return found


X = np.float32([1 + 2**-12])
Z = np.float32([1 + 2**-11])
"""X * X, rounded."""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x[i] * y[i] - z[i]", 2.0**-24),
        ("ps.strict(x[i] * y[i]) - z[i]", 0.0),
        ("-(x[i] * y[i]) + z[i]", -(2.0**-24)),
        ("-z[i] - -(x[i] * y[i])", 2.0**-24),
        ("ps.cast(ps.float64, x[i] * y[i]) - z[i]", 0.0),
        ("ps.cast(ps.float64, x[i]) * y[i] - z[i]", 2.0**-24),
        ("ps.cast(ps.float32, x[i] * y[i]) - z[i]", 2.0**-24),
        ("ps.trace(x[i] * y[i], 'p') - z[i]", 0.0),
        ("ps.sum(x[i] * y[i], ps.RVar('r', 0, 1), initial=-z[i])", 2.0**-24),
        ("ps.select(i < 1, x[i] * y[i], 0) - z[i]", 0.0),
    ],
)
def test_products_are_fused_once(text: str, value: float) -> None:
    assert _values(text, x=X, y=X, z=Z) == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x[i] + 127", -2),
        ("x[i] * i + 300", 300),
        ("-x[i] // 2", -64),
        ("x[i] % 0", 0),
        ("x[i] >> 9", 0),
        ("ps.cast(ps.uint8, -x[i])", 129),
        ("ps.cast(ps.int8, 300.5)", 127),
        ("ps.minimum(-0.0, i)", -0.0),
    ],
)
def test_integers_wrap_and_casts_saturate(text: str, value: float) -> None:
    (found,) = _values(text, x=np.int8([127]))
    assert (found, np.signbit(found)) == (value, np.signbit(value))


@pytest.mark.parametrize("t", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("to", ["int32", "uint32", "int64", "uint64"])
def test_floats_saturate_at_the_limits_of_integers(t: str, to: str) -> None:
    """Which most float types round to a number that the integer type has not."""
    lo, hi = (int(limit) for limit in (np.iinfo(to).min, np.iinfo(to).max))
    values = [-np.inf, np.inf, np.nan, 2.0 ** (hi + 1).bit_length()]
    with np.errstate(over="ignore"):  # float16 has infinity there
        x = np.array(values).astype(ml_dtypes.bfloat16 if t == "bfloat16" else t)
    assert _values(f"ps.saturating_cast(ps.{to}, x[i])", x=x) == [lo, hi, 0, hi]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("ps.sum(x[r], r)", [-128 + 127 + 3] * 3),
        ("ps.sum(x[r] > 0, r, dtype=ps.int64)", [2] * 3),
        ("ps.prod(x[(q := ps.RVar('q', i, n))], q)", [-128, 125, 3]),
        ("ps.max(x[r], r, initial=np.int16(200))", [200] * 3),
        ("ps.min(x[(q := ps.RVar('q', i, n))], q)", [-128, 3, 3]),
        ("ps.argmax(x[r], r) + ps.argmin(x[r], r)", [1] * 3),
        ("ps.argmin(r // 2, r)", [0] * 3),
        (
            "ps.any(x[(q := ps.RVar('q', 0, i + 1, where=lambda q: q > 0))] < q + 2, q)",
            [False, False, True],
        ),
        ("ps.all(x[(q := ps.RVar('q', i, n))] > 0, q)", [False, True, True]),
        ("ps.sum(ps.max(x[(q := ps.RVar('q', 0, r + 1))], q), r)", [-128 + 127 + 127] * 3),
        ("ps.sum(ps.max((q := ps.RVar('q', 0, 2)) + r, q), r)", [1 + 2 + 3] * 3),
        ("ps.sum(ps.max(q := ps.RVar('q', 0, n, where=lambda q: q <= r), q), r)", [0 + 1 + 2] * 3),
    ],
)
def test_reductions(text: str, values: list[Any]) -> None:
    """r runs over all elements; the result is as wide as the expression and the start."""
    assert _values(text, x=np.int8([-128, 127, 3])) == values


def test_a_reduction_is_found_once_for_iterations_it_knows_nothing_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Tree] = []
    reduction = Run._reduction

    def noted(run: Run, node: Tree, *others: Any) -> Any:
        found.append(node)
        return reduction(run, node, *others)

    monkeypatch.setattr(Run, "_reduction", noted)
    text = "ps.sum(x[ps.argmax(x[(q := ps.RVar('q', 0, n))], q)], r)"
    assert _values(text, x=np.int8([1, 2, 3])) == [9] * 3
    assert len(found) == 2


@pytest.mark.parametrize("t", ["float32", "float64", "float16", "bfloat16"])
def test_rounds_to_nearest_even(t: str) -> None:
    """Halves between neighbours, the smallest numbers and the largest ones."""
    info = ml_dtypes.finfo(t)
    one, step = Fraction(1), Fraction(float(info.eps))
    assert arithmetic.rounded(one + step / 2, t) == 1
    assert arithmetic.rounded(one + step * 3 / 2, t) == float(one + 2 * step)
    smallest = Fraction(float(info.smallest_subnormal))
    assert arithmetic.rounded(smallest / 2, t) == 0
    assert arithmetic.rounded(smallest * 3 / 4, t) == float(smallest)
    assert np.signbit(arithmetic.rounded(-smallest / 2, t))
    with np.errstate(over="ignore"):
        assert np.isinf(arithmetic.rounded(2 * Fraction(float(info.max)), t))


def test_a_wrong_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unfused(a: Any, b: Any, c: Any, t: str) -> Any:
        return a * b + c

    inputs = tuple(InputSpec(name, "float32", ("n",)) for name in "xyz")
    lines = [f"{s.name} = ps.Input({s.name!r}, ps.float32, (n,))" for s in inputs]
    head = ["n = ps.sizes('n')", "i = ps.vars('i')", "f = ps.Func('f', (n,))"]
    source = "\n".join([*head, *lines, "f[i] = x[i] * y[i] + z[i]"])
    case = Case(source, ("f",), inputs, (), {}, tuple({"n": 50} for _ in range(6)), 1)
    assert not _run(case).findings
    monkeypatch.setattr(evaluate, "fused", unfused)
    assert {f.kind for f in _run(case).findings} == {"different values (meaning)"}


@pytest.mark.parametrize("k", [0, 1])
def test_a_tree_is_not_taken_for_one_that_is_gone(k: int) -> None:
    """Nor is its type: trees that are made in passing have identities of earlier ones."""
    types: evaluate.Known = {}
    point = evaluate.Point({}, lambda x: str(evaluate.type_of(x, lambda _: None, types)), ..., ...)
    numbers = [(x, t) for x, t in enumerate(("int64", "int32", "uint8") * 5)]
    found = [(point.value, point.types)[k](Tree("number", extra=number)) for number in numbers]
    assert found == [number[k] for number in numbers]


def test_a_block_that_fails_is_left() -> None:
    known = symbols.PS()
    with pytest.raises(ValueError, match="inside"), known.sequential():
        raise ValueError("inside")
    assert known.open == []
    assert known.boundary is not None  # which nobody may ask for in a block


@pytest.mark.parametrize("t", ["bfloat16", "float32"])
def test_what_is_divided_in_place_keeps_its_type(t: str) -> None:
    source = f"""
n, i = ps.sizes("n"), ps.vars("i")
x, b = ps.Input("x", ps.{t}, (n,)), ps.Input("b", ps.int8, (n,))
f = ps.Func("f", (n,))
f[i] = x[i]
f[i] /= b[i] != 0
"""
    assert Program(source, ("f",)).outputs[0].types() == (t,)


def _contracted(text: str, *arrays: Any) -> Any:
    """`text` is an einsum of arrays "a" and "b" of n x m elements."""
    lines = [
        f"{x} = ps.Input({x!r}, ps.{a.dtype}, (n, m))" for x, a in zip("ab", arrays, strict=False)
    ]
    source = "\n".join(['n, m = ps.sizes("n m")', *lines, f"f = ps.einsum({text}, name='f')"])
    n, m = arrays[0].shape
    (found,) = Program(source, ("f",))({"n": n, "m": m}, dict(zip("ab", arrays, strict=False)), {})
    return found


def test_a_contraction_is_summed_outermost_over_what_is_named_first() -> None:
    """Column by column the ones would not be lost."""
    a, b = np.float32([[2**24, 1], [-(2**24), 1]]), np.full((2, 2), 1, np.float32)
    assert _contracted("'xy,xy->', a, b", a, b) == 1


def test_a_contraction_rounds_no_product() -> None:
    x = 1 + 2**-12
    a, b = np.float32([[1, x]]), np.float32([[-1, x]])
    assert _contracted("'xy,xy->', a, b", a, b) == 2**-11 + 2**-24


def test_a_contraction_has_the_type_that_holds_all_operands() -> None:
    a, b = np.full((1, 2), 200, np.uint8), np.full((1, 2), -1, np.int8)
    found = _contracted("'xy,xz->yz', a, b", a, b)
    assert found.dtype == np.int16
    assert found.tolist() == [[-200] * 2] * 2


def test_a_diagonal_needs_axes_of_one_length() -> None:
    with pytest.raises(meaning.Refused):
        _contracted("'aa->a', a", np.zeros((2, 3), np.float32))


def test_a_function_of_indices() -> None:
    source = 'f = ps.compute("f", (2, 3), lambda i, j: 10 * i + j)'
    (found,) = Program(source, ("f",))({}, {}, {})
    assert found.tolist() == [[0, 1, 2], [10, 11, 12]]
