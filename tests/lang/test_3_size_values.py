"""Expressions over sizes and Params: all who evaluate them at a call find the same value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.interp.evaluate import Symbols, symbol_value
from polysched.lang.arithmetic import evaluate
from polysched.lang.arithmetic.evaluate import compile_nodes, compile_over_loops, size_value
from polysched.lang.expr.expr import as_node
from polysched.lang.nodes.dtypes import DType, bool_, float64, int64, uint8
from polysched.lang.nodes.nodes import Const, Node, Op, Param, Size, Var, postorder
from polysched.poly.report.requires import on_sizes
from polysched.testing.choices import Choices

n = ps.sizes("n")
z, p, b = ps.Param("z", ps.int16), ps.Param("p", ps.float64), ps.Param("b", ps.bool)
SIZES = {"n": (0, 1, 7, 300, 2**40 - 1)}
PARAMS: dict[str, tuple[Any, ...]] = {
    "z": (-(2**15), -3, 0, 5),
    "p": (0.25, -0.0, -3.5, 1e30, float("inf"), float("nan")),
    "b": (False, True),
}
INTS, FLOATS = (ps.int8, ps.int64, ps.uint8, ps.uint32, ps.uint64), (ps.float32, ps.float64)
BINARY: tuple[Callable[..., Any], ...] = (
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x // y,
    lambda x, y: x % y, ps.minimum, ps.maximum,
)  # fmt: skip
ON_INTS: tuple[Callable[..., Any], ...] = (
    *BINARY, lambda x, y: x << y, lambda x, y: x >> y, lambda x, y: x & y, lambda x, y: x ^ y,
    ps.pow,
)  # fmt: skip
ON_FLOATS: tuple[Callable[..., Any], ...] = (*BINARY, lambda x, y: x / y, ps.pow)
UNARY: tuple[Callable[..., Any], ...] = (
    ps.floor, ps.round, ps.sqrt, ps.exp, ps.tanh, ps.sin, ps.erf, ps.lgamma, abs,
)  # fmt: skip


def integer(c: Choices, depth: int) -> Any:
    if depth == 0:
        return c.pick((n, z, 3, -1, ps.cast(ps.uint8, n)))
    match c.below(6):
        case 0:
            return ps.cast(c.pick(INTS), number(c, depth - 1))
        case 1:
            return ps.bitcast(ps.int64, ps.cast(ps.float64, floating(c, depth - 1)))
        case 2:
            return ps.select(condition(c, depth - 1), integer(c, depth - 1), integer(c, depth - 1))
        case 3:
            return -integer(c, depth - 1)
        case _:
            return c.pick(ON_INTS)(integer(c, depth - 1), integer(c, depth - 1))


def floating(c: Choices, depth: int) -> Any:
    if depth == 0:
        return ps.cast(c.pick(FLOATS), c.pick((p, n, 0.5)))
    match c.below(4):
        case 0:
            return ps.cast(c.pick(FLOATS), number(c, depth - 1))
        case 1:
            return ps.fma(*(floating(c, depth - 1) for _ in range(3)))
        case 2:
            return c.pick(UNARY)(floating(c, depth - 1))
        case _:
            return c.pick(ON_FLOATS)(floating(c, depth - 1), floating(c, depth - 1))


def number(c: Choices, depth: int) -> Any:
    return c.pick((integer, floating))(c, depth)


def condition(c: Choices, depth: int) -> Any:
    if depth == 0:
        return c.pick((b, n > 5, p > 0))
    match c.below(4):
        case 0:
            return condition(c, depth - 1) & condition(c, depth - 1)
        case 1:
            return ~condition(c, depth - 1) | (condition(c, depth - 1) == b)
        case 2:
            return integer(c, depth - 1) < integer(c, depth - 1)
        case _:
            return floating(c, depth - 1) <= floating(c, depth - 1)


def values(node: Node, sizes: dict[str, int], params: dict[str, Any]) -> list[bool]:
    with np.errstate(all="ignore"):
        meant = symbol_value(node, Symbols(sizes, params))
    given = {**sizes, **params}
    found = [
        bool(meant),
        bool(size_value(node, sizes, params)),
        bool(compile_nodes([node])(given)[0]),
    ]
    over_loops = compile_over_loops(node)
    if over_loops is not None:
        symbols = (x for x in postorder(node) if isinstance(x, (Size, Param)))
        found.append(bool(over_loops({x: given[x.name] for x in symbols})))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_all_evaluators_agree(seed: int) -> None:
    c = Choices.from_seed(seed)
    found = 0
    while found < 10:
        try:
            node = on_sizes("assume", condition(c, 3))
        except (ps.LanguageError, ArithmeticError, ValueError):  # Python's own, of two literals
            continue
        found += 1
        for _ in range(6):
            sizes = {k: c.pick(v) for k, v in SIZES.items()}
            params = {k: c.pick(v) for k, v in PARAMS.items()}
            assert len(set(values(node, sizes, params))) == 1, (node, sizes, params)


@pytest.mark.parametrize(
    ("condition", "at", "wanted"),
    [
        (ps.cast(ps.uint8, n) < 10, {"n": 300}, False),
        (ps.cast(ps.uint8, n) < 10, {"n": 260}, True),
        (ps.bitcast(ps.int64, p) == 0, {"p": -0.0}, False),
        (ps.cast(ps.int8, p) == 127, {"p": np.inf}, True),
        (ps.cast(ps.int64, p) == 0, {"p": np.nan}, True),
        (ps.fma(p, p, -1.0) > 0, {"p": 1 + 2**-30}, True),
        (n >> (n * 40) == 0, {"n": 2}, True),
        (ps.exp(p) < 1, {"p": 0.25}, False),
    ],
)
@pytest.mark.parametrize("way", ["assume", "specialize", "require"])
def test_a_call_decides_as_a_kernel_would(way: str, condition: Any, at: Any, wanted: bool) -> None:
    """Casts were left out, and bitcast ended in an error, at the call."""
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,))
    i = ps.vars("i")
    f[i] = x[i] + ps.select(p > 0, 1, 4) + ps.select(condition, 2, 0)
    given = {"x": np.arange(at.get("n", 3)), "p": at.get("p", 0.5)}
    if way == "require":
        ps.require(condition, "it holds", f)
    s = ps.Schedule(f)
    if way == "specialize":
        s.specialize(condition)["f"].vectorize("i", 4)
    if way == "assume":
        s.assume(condition)
    kernel = s.compile()
    if way == "specialize" or wanted:
        more = (1 if given["p"] > 0 else 4) + 2 * wanted
        assert kernel(**given).tolist() == (given["x"] + more).tolist()
        return
    with pytest.raises(ps.CallError):
        kernel(**given)


# over loops -------------------------------------------------------------------------------------
N, I = Size("n", None), Var("i")


def op(name: str, *operands: Node, dtype: DType = int64) -> Node:
    return Op(name, operands, dtype)


@pytest.mark.parametrize(
    ("node", "at", "wanted"),
    [
        (op("floordiv", I, N), {I: -7, N: 2}, -4),
        (op("mod", I, N), {I: -7, N: 2}, 1),
        (op("floordiv", I, N), {I: 3, N: 0}, 0),
        (op("mod", I, N), {I: 3, N: 0}, 0),
        (op("min", op("neg", I), op("max", N, Const(2, int64))), {I: -5, N: 1}, 2),
        (op("select", op("lt", I, N, dtype=bool_), I, op("abs", N)), {I: 3, N: -2}, 2),
        (op("not", op("ge", I, N, dtype=bool_), dtype=bool_), {I: 0, N: 1}, True),
        (op("mul", I, N), {I: 2**40, N: 2**40}, 2**80),
    ],
)
def test_loops_have_values_by_node(node: Node, at: dict[Node, int], wanted: int) -> None:
    compiled = compile_over_loops(node)
    assert compiled is not None
    assert compiled(at) == wanted


def test_two_loops_of_one_name_are_two() -> None:
    r = ps.RVar("i", 0, n)
    compiled = compile_over_loops(op("sub", I, as_node(r)))
    assert compiled is not None
    assert compiled({I: 5, as_node(r): 3}) == 2


def test_python_compiles_once_for_expressions_that_are_alike() -> None:
    """But for the symbols they are about, which the text does not name: each has its own value."""
    evaluate._code_of.cache_clear()
    doubled = [compile_over_loops(op("mul", symbol, Const(2, int64))) for symbol in (I, N)]
    assert evaluate._code_of.cache_info().misses == 1
    assert [function({I: 5, N: 7}) for function in doubled if function is not None] == [10, 14]


def test_what_has_no_value_is_a_key_error() -> None:
    for function in (compile_over_loops(op("add", I, N)), compile_nodes([op("add", N, N)])):
        assert function is not None
        with pytest.raises(KeyError):
            function({})


def test_other_arithmetic_is_not_compiled_over_loops() -> None:
    x = ps.Input("x", ps.int64, (n,))
    narrow = op("add", *(op("cast", I, dtype=uint8),) * 2, dtype=uint8)
    wraps = op("lt", op("mul", N, op("mul", N, N)), Const(5, int64), dtype=bool_)
    for node in (narrow, wraps, Const(0.5, float64), as_node(x[ps.vars("i")])):
        assert compile_over_loops(node) is None
