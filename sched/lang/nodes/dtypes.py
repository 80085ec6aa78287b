"""Element types, and promotion as NumPy 2 has it with weak Python scalars.

Beside the concrete types there are three *weak* ones, which only expressions have:
`WEAK_INT` and `WEAK_FLOAT` (Python literals: they take the other operand's type, and say nothing
about a Func's type) and `INDEX` (Vars, RVars, sizes, integer Params: int64 among integers, the
other's type next to a float).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from ...records import dataclass
from ..errors.errors import InternalError, LanguageTypeError
from . import bfloat
from .shown import Shown

#: Any array. Not numpy.typing's, which takes longer to import than the rest of this package.
Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary format of IEEE 754, and what LLVM calls it.

    Attributes:
        name: what it is called, here and in NumPy.
        precision: bits of the significand; the first of them is not stored.
        bias: the bias of the exponent, which is also the largest exponent.
        llvm: LLVM's name of the type.
        suffix: the type's spelling in names of LLVM's intrinsics.
        computed: the type in which numbers of this one are computed with.
    """

    name: str
    precision: int
    bias: int
    llvm: str
    suffix: str
    computed: str

    @property
    def mantissa(self) -> int:
        """Bits of the significand that are stored."""
        return self.precision - 1

    @property
    def least(self) -> int:
        """The exponent of the smallest denormal number."""
        return 1 - self.bias - self.mantissa

    @property
    def bits(self) -> int:
        """The width of a number."""
        return self.precision + self.bias.bit_length() + 1

    @property
    def limit(self) -> int:
        """The power of two that all finite numbers are below."""
        return 1 << (self.bias + 1)

    @property
    def sign(self) -> int:
        """The bits of -0.0."""
        return 1 << (self.bits - 1)


_FORMATS = {
    form.name: form
    for form in (
        FloatFormat("float32", 24, 127, "float", "f32", "float32"),
        FloatFormat("float64", 53, 1023, "double", "f64", "float64"),
        FloatFormat("float16", 11, 15, "i16", "i16", "float32"),
        FloatFormat("bfloat16", 8, 127, "i16", "i16", "float32"),
    )
}
# Of a float type, what makes a scalar of a number: NumPy has no bfloat16.
_SCALARS = {name: getattr(np, name, bfloat.nearest) for name in _FORMATS}


@dataclass(frozen=True, slots=True, eq=False)
class DType(Shown):
    """An element type: `kind` is NumPy's letter (b, i, u, f), `bits` the width. Each is one object,
    an identity: types are part of the keys of all nodes."""

    name: str
    kind: str
    bits: int

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)  # that one object, in every process

    def __call__(self, *values: object) -> NoReturn:
        raise LanguageTypeError(
            f"{self.name} is an element type, not a function",
            hint=f"ps.cast(ps.{self.name}, x) or x.astype(ps.{self.name}) converts",
        )

    @property
    def numpy(self) -> np.dtype[Any]:
        """The type of NumPy's arrays of it."""
        return bfloat.numpy_type() if self is bfloat16 else np.dtype(self.name)

    @property
    def itemsize(self) -> int:
        """Bytes an element takes in memory."""
        return max(self.bits // 8, 1)

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_int(self) -> bool:
        return self.kind in "iu"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    @property
    def format(self) -> FloatFormat:
        """The binary format of a float type.

        Raises:
            InternalError: the type is not a float, or its format is not known.
        """
        if self.name not in _FORMATS:
            raise InternalError(f"{self.name} has no float format")
        return _FORMATS[self.name]

    def scalar(self, number: Any) -> Any:
        """The number of this float type nearest to a number, ties to even, as NumPy's scalar.

        Raises:
            InternalError: the type is not a float, or its format is not known.
        """
        if self.name not in _SCALARS:
            raise InternalError(f"{self.name} has no float format")
        return _SCALARS[self.name](number)

    def of_bits(self, bits: int) -> Any:
        """The number of this float type that has these bits."""
        if self.format.name == "bfloat16":
            return bfloat.of_bits(bits)
        return np.array(bits, self.unsigned.numpy).view(self.numpy)[()]

    def bits_of(self, number: Any) -> int:
        """The bits of a number of this float type, as an unsigned integer."""
        if self.format.name == "bfloat16":
            return bfloat.bits_of(number)
        return int(np.array(number, self.numpy).view(self.unsigned.numpy)[()])

    def array(self, numbers: Any) -> Array:
        """An array of this type, each number rounded to it by way of float32 if that has no type
        of NumPy's own."""
        if self is bfloat16:
            return bfloat.rounded(numbers).view(self.numpy)
        return np.asarray(numbers).astype(self.numpy)

    @property
    def computed(self) -> DType:
        """The type in which values of this one are computed with."""
        return _BY_NAME[self.format.computed] if self.is_float else self

    @property
    def is_narrow(self) -> bool:
        """Whether it is a float type that another one is computed with for."""
        return self.is_float and self.computed is not self

    @property
    def signed(self) -> DType:
        """The signed integer of as many bytes."""
        return _BY_NAME[f"int{8 * self.itemsize}"]

    @property
    def unsigned(self) -> DType:
        """The unsigned integer of as many bytes."""
        return _BY_NAME[f"uint{8 * self.itemsize}"]

    @property
    def wider(self) -> DType | None:
        """The integer type of twice the width; None if there is none."""
        return _BY_NAME.get(f"{'u' * (self.kind == 'u')}int{2 * self.bits}")

    @property
    def min(self) -> int:
        """Smallest value of a bool or integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "i" else 0

    @property
    def max(self) -> int:
        """Largest value of a bool or integer type."""
        return (1 << (self.bits - (self.kind == "i"))) - 1


bool_ = DType("bool", "b", 1)
int8, int16, int32, int64 = (DType(f"int{b}", "i", b) for b in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DType(f"uint{b}", "u", b) for b in (8, 16, 32, 64))
float32, float64, float16, bfloat16 = (DType(f.name, "f", f.bits) for f in _FORMATS.values())

ALL = (
    bool_,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
)
#: float32 comes first: it is the one where there is no reason for another.
FLOATS = (float32, float64, float16, bfloat16)
_BY_NAME = {t.name: t for t in ALL}
_PYTHON = {bool: bool_, int: int64, float: float64}
_SUPPORTED = "element types are " + ", ".join(t.name for t in ALL)


@dataclass(frozen=True, slots=True, eq=False)
class Weak:
    """A type that only expressions have; see the module's docstring."""

    name: str

    def __repr__(self) -> str:
        return self.name


INDEX, WEAK_INT, WEAK_FLOAT = Weak("an index"), Weak("a Python int"), Weak("a Python float")
Type = DType | Weak


DTypeLike = DType | np.dtype[Any] | type[Any] | str
"""What users may give as an element type."""


def as_dtype(given: object) -> DType:
    """The element type that `given` (ours, NumPy's, PyTorch's, a Python type or a name) is."""
    if isinstance(given, DType):
        return given
    if (type(given).__module__, type(given).__name__) == ("torch", "dtype"):
        given = str(given).removeprefix("torch.")
    if isinstance(given, type) and given in _PYTHON:
        return _PYTHON[given]
    if type(given) is str and given in _BY_NAME:
        return _BY_NAME[given]
    try:
        # NumPy takes None for float64, and lists and tuples for records.
        if given is None or isinstance(given, (list, tuple, dict)):
            raise TypeError
        dtype = np.dtype(given)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise LanguageTypeError(f"{given!r} is not an element type", hint=_SUPPORTED) from None
    name = "bfloat16" if dtype == bfloat16.numpy else dtype.name
    if dtype.kind == "c":
        raise LanguageTypeError(
            "complex numbers are not supported",
            hint="carry the real and the imaginary part as a tuple: dtype=(ps.float32, ps.float32)",
        )
    if name not in _BY_NAME:
        raise LanguageTypeError(f"the element type {name} is not supported", hint=_SUPPORTED)
    return _BY_NAME[name]


def concrete(t: Type) -> DType:
    """The concrete type of a value: a weak type's default, any other type itself."""
    if isinstance(t, DType):
        return t
    return float64 if t is WEAK_FLOAT else int64


def unsigned(t: Type) -> Type:
    """The type of the distance of two values of `t`: for integers the unsigned type of the same
    width, otherwise `t`."""
    c = concrete(t)
    return c.unsigned if c.is_int else t


def promote(a: Type | None, b: Type | None) -> Type | None:
    """The common type of two operands; a type that is not known yet (None) is ignored."""
    return a if a == b else join((a, b))


def join(types: Iterable[Type | None]) -> Type | None:
    """The least type that holds all of `types`, whatever their order; None is ignored.

    As `np.result_type`: int16, uint16 and float32 give float32, though two of them alone, int16
    and uint16, give int32, which with float32 gives float64.
    """
    return _join(frozenset(t for t in types if t is not None))


@lru_cache(None)
def _join(types: frozenset[Type]) -> Type | None:
    if bfloat16 in types:
        return _join_bfloat16(types - {bfloat16})
    strong = {t.numpy for t in types if isinstance(t, DType)}
    weak = next((t for t in (WEAK_FLOAT, INDEX, WEAK_INT) if t in types), None)
    if not strong:
        return weak
    common = np.result_type(*strong)
    if weak is None or common.kind == "f":
        return _BY_NAME[common.name]
    if weak is WEAK_FLOAT:
        return float64
    if weak is INDEX or common.kind == "b":
        common = np.result_type(np.int64, *strong)
    return _BY_NAME[common.name]


def _join_bfloat16(others: frozenset[Type]) -> Type | None:
    """bfloat16 holds what float16 has room for: bools and integers of 8 bits. Whatever is wider
    needs float32, or float64 as beside a float32; so does float16, which has more digits."""
    if all(isinstance(t, Weak) or t.bits <= 8 for t in others):
        return bfloat16
    return _join(others | {float32})


def same_kind(source: Type, target: DType) -> bool:
    """Whether `source` may be stored as `target` without an explicit cast (NumPy's same_kind)."""
    if isinstance(source, Weak):
        return target.is_float or (source is not WEAK_FLOAT and target.is_int)
    if source.is_float or target.is_float:
        return target.is_float
    return bool(np.can_cast(source.numpy, target.numpy, casting="same_kind"))


def for_float_function(t: Type) -> Type:
    """The type in which NumPy computes exp, sqrt, ... of a `t`."""
    if isinstance(t, Weak):
        return WEAK_FLOAT
    if t.is_float:
        return t
    return _HOLDS[t.bits]


#: NumPy computes functions of bools and integers in the least float type that holds them all.
_HOLDS = {1: float16, 8: float16, 16: float32, 32: float64, 64: float64}
