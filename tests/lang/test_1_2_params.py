"""Rule 1.2: integer Params whose range is all that an index or a bound lacks."""

from __future__ import annotations

import re
from contextlib import contextmanager

import pytest

import polysched as ps

n, m = ps.sizes("n m")
i = ps.vars("i")
T, I = ps.Input("T", ps.int32, (n,)), ps.Input("I", ps.int32, (m,))


def func(*shape):
    return ps.Func("f", shape)


@contextmanager
def wraps(what, hint):
    """Refused so, at a line of this file."""
    with pytest.raises(ps.LanguageError, match=re.escape(what)) as found:
        yield
    assert hint in found.value.hint
    assert found.value.where.file == __file__


def _region(p):
    inner, f = ps.Func("inner"), func(m)
    inner[i] = i * 2
    f[i] = inner[i + p]
    return f


def _bound(p):
    f = func(m)
    f[i] = ps.sum(T[k := ps.RVar("k", 0, 2 * p)] * 2, k)
    return f


def _loop(p):
    f = func(m)
    f[i] = 0
    with ps.sequential("t", 0, 2 * p):
        f[i] += 1
    return f


def _extent(p):
    f = func(2 * p)
    f[i] = i
    return f


def _read(index):
    f = func(m)
    f[i] = T[index]
    return f


WRAPS = "may not fit in 64 bits, since the Param p has no "


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda p: _read(i + p), "T[i + p] is read at an index that " + WRAPS),
        (lambda p: _read(ps.minimum(2 * p, n - 1)), "] is read at an index that " + WRAPS),
        (_region, "along axis 0: the index of inner[i + p] " + WRAPS),
        (_bound, "a bound of the RVar k over [0, 2 * p) " + WRAPS),
        (_loop, "the bound 2 * p of sequential('t', 0, 2 * p) " + WRAPS),
        (_extent, "the extent 2 * p of f " + WRAPS),
    ],
)
def test_1_2_a_param_that_lacks_only_a_range_is_named(make, what):
    """What the hint asks for is enough, and so is an int32."""
    for p, lacks, ends in (
        (ps.Param("p", ps.int64), "min= and no max=", "min=0, max=2**20"),
        (ps.Param("p", ps.int64, max=9), "min=", "min=0, max=9"),
        (ps.Param("p", ps.int64, min=3), "max=", "min=3, max=2**20"),
    ):
        with wraps(what + lacks, hint=f"ps.Param('p', ps.int64, {ends})"):
            ps.Schedule(make(p))
    ps.Schedule(make(ps.Param("p", ps.int64, min=0, max=2**20)))


def test_1_2_a_param_with_a_range_that_is_too_wide_is_named():
    p = ps.Param("p", ps.int64, min=0, max=2**63 - 1)
    with wraps("since the Param p may be anything in 0..9223372036854775807", hint="2**40 of 0"):
        ps.Schedule(_read(i + p))


def test_1_2_only_the_params_that_lack_a_range_are_named():
    p, q, s = ps.Param("p", ps.int64), ps.Param("q", ps.int64), ps.Param("s", ps.int32)
    with wraps("Param p has no min= and no max= and the Param q has", hint="the range of each"):
        ps.Schedule(_read(i + p + q + s))


@pytest.mark.parametrize("index", [lambda p: p * i, lambda p: I[i] + p])
def test_1_2_a_param_whose_range_would_not_help_is_not_named(index):
    with wraps("is read at an index that depends on data", hint="ps.clip(x, 0, n - 1)"):
        ps.Schedule(_read(index(ps.Param("p", ps.int64))))


LONG = 10**5000
"""An integer of more digits than Python writes."""

SAID = r"\(an integer of 16610 bits\)"


@pytest.mark.parametrize("dtype", [ps.int32, ps.float32, ps.float16], ids=str)
def test_refuses_integers_of_thousands_of_digits(dtype):
    p, f = ps.Param("p", dtype), func(n)
    f[i] = p
    for call in (f, lambda **given: ps.interpret(f, **given)):
        with pytest.raises(ps.CallValueError, match=f"^p={SAID} does not fit"):
            call(n=1, p=LONG)
    with pytest.raises(ps.CallValueError, match=f"^n={SAID}: a size is"):
        f(n=LONG, p=1)
    with pytest.raises(ps.LanguageError, match=f"default={SAID} does not"):
        ps.Param("p", dtype, default=-LONG)
