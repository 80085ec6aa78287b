"""Element types, and the formats of floats."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.codegen.llvm.text.values import memory_suffix, suffix, type_name
from polysched.lang.arithmetic.math_terms import for_type
from polysched.lang.errors.errors import InternalError
from polysched.lang.nodes import dtypes as dt
from polysched.lang.nodes.dtypes import DType

FLOATS = [t for t in dt.ALL if t.is_float]


@pytest.mark.parametrize("t", [t for t in FLOATS if t is not dt.bfloat16], ids=str)
def test_a_format_is_numpys(t: DType) -> None:
    info, form = np.finfo(t.numpy), t.format
    assert (form.mantissa, form.precision) == (info.nmant, info.nmant + 1)
    assert (form.bias, 1 - form.bias) == (info.maxexp - 1, info.minexp)
    assert 2.0**form.least == float(info.smallest_subnormal)
    assert form.limit == 2**info.maxexp
    assert form.sign == int(t.numpy.type(-0.0).view(t.unsigned.numpy))


@pytest.mark.parametrize("t", [t for t in dt.ALL if not t.is_float], ids=str)
def test_no_other_type_has_a_format(t: DType) -> None:
    with pytest.raises(InternalError, match=f"{t} has no float format"):
        t.format


def test_a_float_whose_format_is_not_known_is_taken_for_no_other_one() -> None:
    half = DType("float8", "f", 8)
    for ask in (lambda: half.format, lambda: type_name(half), lambda: suffix(half, 4)):
        with pytest.raises(InternalError, match="float8 has no float format"):
            ask()
    with pytest.raises(InternalError, match="no formula is for float8"):
        for_type(dict.fromkeys(FLOATS, 0), half)


@pytest.mark.parametrize("t", dt.ALL, ids=str)
def test_integers_of_as_many_bytes(t: DType) -> None:
    for made, kind in ((t.signed, "i"), (t.unsigned, "u")):
        assert (made.kind, made.itemsize, made in dt.ALL) == (kind, t.itemsize, True)


def test_names_of_llvm() -> None:
    assert [type_name(t) for t in (dt.bool_, dt.uint8, dt.int64)] == ["i1", "i8", "i64"]
    assert [type_name(t, 4) for t in FLOATS] == [
        "<4 x i16>", "<4 x i16>", "<4 x float>", "<4 x double>",
    ]  # fmt: skip
    assert [suffix(t) for t in (dt.bool_, *FLOATS)] == ["i1", "i16", "i16", "f32", "f64"]
    assert [memory_suffix(t, 8) for t in (dt.bool_, dt.float64)] == ["v8i8", "v8f64"]
