"""Values that are not affine are bounded by the operands of their operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps

n, m = ps.sizes("n m")
i = ps.vars("i")
S = ps.Input("S", ps.uint32, (m,), range=(0, m))
T = ps.Input("T", ps.int32, (m,), range=(1 - m, 1))
ANY = ps.Input("ANY", ps.uint32, (m,))


def _wide(tensor: ps.Input) -> ps.Expr:
    return ps.cast(ps.int64, tensor[i])


def _read_at(index: ps.Expr) -> tuple[ps.Func, ps.Schedule]:
    g, f = ps.Func("g"), ps.Func("f", (m,))
    g[i] = 7 * i
    f[i] = g[index]
    s = ps.Schedule(f)
    s[g].compute_root()
    return f, s


@pytest.mark.parametrize(
    ("index", "loop"),
    [
        pytest.param(lambda: _wide(S) // n, "[0, m)", id="quotient by a size"),
        pytest.param(lambda: _wide(T) // n, "[1 - m, 1)", id="negative dividend"),
        pytest.param(lambda: _wide(S) // (n - 2), "[1 - m, m)", id="divisor of any sign"),
        pytest.param(lambda: _wide(S) // _wide(S), "[0, m)", id="quotient of data"),
        pytest.param(lambda: _wide(S) >> n, "[0, m)", id="shift by a size"),
        pytest.param(lambda: _wide(T) >> _wide(ANY), "[1 - m, 1)", id="shift by data"),
        pytest.param(lambda: _wide(ANY) & _wide(S), "[0, m)", id="bits of data"),
        pytest.param(lambda: (_wide(S) // n) >> n, "[0, m)", id="unknown of an unknown"),
    ],
)
def test_an_operator_of_data_reaches_no_farther_than_its_operand(
    index: Callable[[], ps.Expr], loop: str
) -> None:
    """A Func without a shape was computed at all 2**32 values of the type of what is read."""
    f, s = _read_at(index())
    assert f"for i in {loop}:" in str(s)
    kernel = s.compile()
    for count, size in [(0, 6), (1, 6), (2, 6), (7, 6), (3, 1)]:
        given = {
            "n": count,
            "m": size,
            "S": np.arange(size, dtype=np.uint32)[::-1],
            "T": -np.arange(size, dtype=np.int32),
            "ANY": np.arange(size, dtype=np.uint32) * (2**31 // size),
        }
        given = {k: given[k] for k in given.keys() & inspect.signature(kernel).parameters.keys()}
        assert np.array_equal(kernel(**given), ps.interpret(f, **given))


@pytest.mark.parametrize(
    ("index", "begin"),
    [
        pytest.param(lambda: (i - 3) // n, "-3", id="size"),
        pytest.param(lambda: (i - 3) // (n - 2), "-(m + 2)", id="any sign"),
    ],
)
def test_a_quotient_by_what_is_never_negative_keeps_its_side(
    index: Callable[[], ps.Expr], begin: str
) -> None:
    """No element is computed on the other side of zero."""
    _, s = _read_at(index())
    assert f"for i in [{begin}, " in str(s)


@pytest.mark.parametrize(
    "index",
    [lambda: _wide(ANY) // n, lambda: _wide(ANY) & _wide(T), lambda: (_wide(ANY) + 1) >> n],
)
def test_what_only_a_wide_type_bounds_is_refused_behind_a_cast_too(
    index: Callable[[], ps.Expr],
) -> None:
    with pytest.raises(ps.LanguageError, match="has no bounds along axis 0"):
        _read_at(index())
