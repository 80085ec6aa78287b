"""Arrays of other libraries as NumPy arrays of the same memory.

A kernel reads and writes memory as NumPy describes it. What others hold is taken by the protocols
that NumPy knows (buffers, `__array_interface__`, `__array__`, DLPack), and by the names of a few
classes where these protocols would lose something: a mask, missing values, a gradient. Nothing is
copied in silence: an object that makes a new array each time it is asked is refused. No library is
imported here; an object is of one only if its user has imported that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors.errors import CallTypeError
from ..errors.words import counted, with_article
from ..nodes.bfloat import of_torch
from ..nodes.dtypes import Array, DType, bfloat16


class Place:
    """Where an array is passed, in the words of messages.

    Attributes:
        label: what it is called, as the beginning of a sentence.
        spelt: how the caller writes it, in hints.
        argument: the name of the argument.
        plain: an expression for an array that would do.
        is_written: whether the call writes to it. is_output: whether that is all it does to it.
    """

    __slots__ = ("argument", "is_output", "is_written", "label", "plain", "spelt")

    def __init__(
        self, label: str, spelt: str, argument: str, plain: str, is_written: bool, is_output: bool
    ) -> None:
        self.label, self.spelt, self.argument, self.plain = label, spelt, argument, plain
        self.is_written, self.is_output = is_written, is_output

    def attribute(self, name: str) -> Place:
        """An attribute of what is passed."""
        inner = f"{self.spelt}.{name}"
        return Place(inner, inner, self.argument, self.plain, self.is_written, self.is_output)

    def refused(self, what: str, hint: str | None = None, is_copy: bool = True) -> CallTypeError:
        """The error that says what it is.

        Args:
            hint: what helps; what to do to what is passed, if it begins with a dot.
            is_copy: whether that makes a copy, which is of no use as an output.
        """
        made = self.plain if hint is None or (self.is_output and is_copy) else hint
        made = f"pass {self.spelt}{made}" if made.startswith(".") else made
        return CallTypeError(f"{self.label} {what}", argument=self.argument, hint=made)


def as_array(place: Place, given: Any) -> Array:
    """A NumPy array of the memory of `given`.

    Raises:
        CallTypeError: it is no array, or none whose memory can be read as it is.
    """
    if isinstance(given, np.ndarray):
        check_unmasked(place, given)
        return np.asarray(given)
    if isinstance(given, (list, tuple, str, int, float, complex, np.generic)) or given is None:
        raise _no_array(place, given)
    for module, names, taken in _CLASSES:
        library = sys.modules.get(module)
        if library is not None and isinstance(given, _classes(library, names)):
            array = taken(place, given)
            break
    else:
        array = _shared(place, given)
    check_unmasked(place, array)
    return np.asarray(array)


def check_unmasked(place: Place, given: Any) -> None:
    """Refuses NumPy's masked arrays: a kernel would read their data and ignore the mask."""
    if isinstance(given, np.ma.MaskedArray):
        data = f"{place.plain}, or what is masked: its attribute .data"
        hint = data if place.is_output else f"{place.spelt}.filled(value) is a plain array"
        raise place.refused("is a masked array: the mask would be ignored", hint, is_copy=False)


def converted(given: Any, spelt: str, dtype: DType) -> str:
    """An expression for a copy of an array with another type of elements."""
    library = type(given).__module__.partition(".")[0]
    if isinstance(given, np.ndarray):
        return (
            array_of(spelt, dtype) if dtype is bfloat16 else f"{spelt}.astype({numpy_type(dtype)})"
        )
    if library == "torch":
        return f"{spelt}.to(torch.{dtype})"
    if library in ("pandas", "xarray"):
        return f'{spelt}.astype("{dtype}")'
    if isinstance(given, (bytes, bytearray)) or type(given).__name__ in ("Buffer", "mmap"):
        return f"np.frombuffer({spelt}, {numpy_type(dtype)}) takes its bytes as such numbers"
    if dtype is bfloat16:
        return array_of(spelt, dtype)
    return f"np.asarray({spelt}).astype({numpy_type(dtype)})"


def how_to_write(given: Any, spelt: str, is_output: bool = False) -> str:
    """What to pass in place of an array that must not be written to."""
    library = type(given).__module__.partition(".")[0]
    if library == "pandas":
        return "pandas lets nobody write to its columns: pass an array, and assign that to one"
    if is_output:
        return "pass a writable array"
    if library == "pyarrow":
        return f"Arrow's arrays never change: pass np.array({spelt})"
    if isinstance(given, bytes):
        return f"bytes never change: pass bytearray({spelt})"
    if isinstance(given, np.ndarray):
        return f"pass a writable array: {spelt}.copy()"
    return f"pass a writable array: np.array({spelt})"


def array_of(spelt: str, dtype: DType) -> str:
    """An expression for a plain array of a type, made of what holds numbers of any type."""
    if dtype is bfloat16:  # NumPy has no such type, and no conversion to what stands for it
        return f"ps.bfloat16.array({spelt})"
    return f"np.asarray({spelt}, dtype={numpy_type(dtype)})"


def numpy_type(dtype: DType) -> str:
    """How NumPy's type of such arrays is written."""
    if dtype is bfloat16:
        return "ps.bfloat16.numpy"
    return f"np.{'bool_' if dtype.is_bool else dtype.name}"


def _no_array(place: Place, given: Any) -> CallTypeError:
    kind = "None" if given is None else with_article(type(given).__name__)
    return place.refused(f"is {kind}, not an array")


# protocols ------------------------------------------------------------------------------------
def _shared(place: Place, given: Any) -> Array:
    """The array that a protocol makes, if it has the memory of the object itself.

    An object that makes a copy makes another one when it is asked again.
    """
    _check_kind(place, given)
    failure: str | None = None
    for way in _ways(given):
        try:  # another library's code may raise anything
            first, again = way(), way()
        except Exception as error:
            failure = failure or f"makes no array without a copy: {_text(error)}"
            continue
        if not (isinstance(first, np.ndarray) and isinstance(again, np.ndarray)):
            failure = failure or "makes no array"
        elif first.size and _address(first) != _address(again):
            failure = failure or "makes no array without a copy"
        else:
            return first
    if failure is None:
        raise _no_array(place, given)
    raise place.refused(f"is {with_article(type(given).__name__)}, of which NumPy {failure}")


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _address(array: Array) -> tuple[int, tuple[int, ...]]:
    return array.__array_interface__["data"][0], array.strides


def _ways(given: Any) -> Iterator[Callable[[], Any]]:
    """What may make an array of an object, the surest way first."""
    try:
        view = memoryview(given)
    except TypeError:
        pass
    else:
        yield lambda: np.asarray(view)
    if _has(given, "__array_interface__") or _has(given, "__array_struct__"):
        yield lambda: np.asarray(given, copy=False)
    elif _has(given, "__array__"):
        yield lambda: _by_method(given)
    if _has(given, "__dlpack__") and _has(given, "__dlpack_device__"):
        yield lambda: np.from_dlpack(given)


def _by_method(given: Any) -> Any:
    try:
        return given.__array__(copy=False)
    except TypeError:  # older than NumPy 2, it knows of no copies
        return given.__array__()


def _has(given: Any, name: str) -> bool:
    try:
        return not isinstance(given, type) and getattr(given, name, None) is not None
    except Exception:
        return False


def _asked(given: Any, method: str) -> Any:
    """What a method says, None where there is none or it fails."""
    try:
        return getattr(given, method)()
    except Exception:
        return None


_HOST = frozenset({1, 3, 11, 13})
"""Devices of DLPack whose memory this processor reads: its own, and what CUDA and ROCm pin or
manage."""

_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI", 15: "WebGPU"}


def _check_kind(place: Place, given: Any) -> None:
    """Refuses arrays whose elements do not lie in this processor's memory one by one."""
    kind = _asked(given, "__dlpack_device__")
    if kind is not None and int(kind[0]) not in _HOST:
        raise _elsewhere(place, _DEVICES.get(int(kind[0]), f"number {int(kind[0])} of DLPack"))
    if _has(given, "__cuda_array_interface__"):
        raise _elsewhere(place, "CUDA")
    if _has(given, "nnz") and (_has(given, "toarray") or _has(given, "todense")):
        dense = ".toarray()" if _has(given, "toarray") else ".todense()"
        raise place.refused("is sparse: not all elements lie in memory", dense)
    if _asked(given, "__dask_graph__") is not None:
        raise place.refused("is not computed yet: Dask holds how to do it", ".compute()")
    if _has(given, "__array_interface__") and given.__array_interface__.get("mask") is not None:
        raise place.refused("has a mask, which would be ignored")


def _elsewhere(
    place: Place, device: str, hint: str = "copy it to this machine's memory first"
) -> CallTypeError:
    return place.refused(f"lies in the memory of another device ({device})", hint)


# libraries ------------------------------------------------------------------------------------
def _classes(library: Any, names: tuple[str, ...]) -> tuple[type[Any], ...]:
    found = (getattr(library, name, None) for name in names)
    return tuple(x for x in found if isinstance(x, type))


def _of_torch(place: Place, given: Any) -> Array:
    """A tensor of PyTorch's."""
    torch = sys.modules["torch"]
    if given.device.type == "meta":
        what = "is a tensor on the device meta, which holds no numbers"
        raise place.refused(what, 'make it on another one: device="cpu"', is_copy=False)
    if given.device.type != "cpu":
        raise _elsewhere(place, str(given.device), ".cpu()")
    if given.layout != torch.strided or given.is_nested:
        kind = "nested" if given.is_nested else f"sparse ({given.layout})"
        dense = ".to_padded_tensor(0)" if given.is_nested else ".to_dense()"
        raise place.refused(f"is {kind}: its elements are no grid in memory", dense)
    if given.is_quantized:
        raise place.refused("is quantised: its numbers are not its elements", ".dequantize()")
    if given.requires_grad:
        raise place.refused(
            "requires grad, and no gradient goes through this call: detach it", ".detach()",
            is_copy=False,
        )  # fmt: skip
    for bit, name in (("conj", "conjugate"), ("neg", "negative")):
        if getattr(given, f"is_{bit}")():
            what = f"is a {name} view: its elements are not what lies in memory"
            raise place.refused(what, f".resolve_{bit}()")
    try:
        halves = of_torch(given)
        array: Array = given.numpy() if halves is None else halves
    except Exception as error:
        dtype = str(given.dtype).removeprefix("torch.")
        if isinstance(error, TypeError):  # what PyTorch says of types of its own
            what = f"is a tensor of {dtype}, for which NumPy has no type"
            raise place.refused(what, ".float(), a copy") from error
        what = f"is a {type(given).__name__}, of which PyTorch makes no array: {_text(error)}"
        raise place.refused(what) from error
    if place.is_written and not given.is_inference():
        # What autograd has kept of it for a gradient is not to be used any more.
        torch.autograd.graph.increment_version(given)
    return array


def _of_arrow(place: Place, given: Any) -> Array:
    """An array of Apache Arrow's."""
    if type(given).__name__ == "ChunkedArray":
        if given.num_chunks != 1:
            what = f"is a ChunkedArray of {counted(given.num_chunks, 'piece')}"
            raise place.refused(what, ".combine_chunks(), a copy in one piece")
        given = given.chunk(0)
    if not getattr(given, "is_cpu", True):
        raise _elsewhere(place, "Arrow says that it is not on the CPU")
    if given.null_count:
        nulls = counted(given.null_count, "null")
        what = f"has {nulls}: a kernel would read what stands there in memory"
        raise place.refused(what, ".fill_null(0), or .drop_null()")
    if str(given.type) == "bool":
        what = "is bit-packed: Arrow keeps eight bools in a byte"
        raise place.refused(what, ".to_numpy(zero_copy_only=False), a copy")
    try:
        array: Array = given.to_numpy(zero_copy_only=True)
    except Exception as error:
        what = f"is an Arrow array of {given.type}, of which NumPy makes no array without a copy"
        raise place.refused(what) from error
    return array


def _of_arrow_buffer(place: Place, given: Any) -> Array:
    """A buffer of Apache Arrow's: bytes, as those of Python are."""
    if not getattr(given, "is_cpu", True):
        raise _elsewhere(place, "Arrow says that it is not on the CPU")
    return np.asarray(memoryview(given)).view(np.uint8)


def _of_xarray(place: Place, given: Any) -> Array:
    """A DataArray or Variable of xarray's: what it labels."""
    return as_array(place.attribute("data"), given.data)


def _of_pandas(place: Place, given: Any) -> Array:
    """A column, an index or an array of pandas'."""
    pandas, dtype, kind = sys.modules["pandas"], given.dtype, type(given).__name__
    if isinstance(given, pandas.RangeIndex):
        raise place.refused("is a RangeIndex, whose elements lie nowhere in memory", ".to_numpy()")
    if isinstance(given, pandas.Index) and place.is_written:
        raise place.refused(f"is {with_article(kind)} of pandas', which never changes")
    if isinstance(dtype, np.dtype) or kind == "NumpyExtensionArray":
        return _shared(place, given)
    what = f"is {with_article(kind)} of {dtype}"
    if isinstance(dtype, pandas.SparseDtype):
        raise place.refused(f"{what}, sparse: not all elements lie in memory", ".to_numpy()")
    if dtype.na_value is pandas.NA:
        what += ", which is nullable: a kernel would read what stands where values are missing"
        raise place.refused(what, ".to_numpy(dtype, na_value=...), a copy")
    raise place.refused(f"{what}, which is no type of NumPy's", ".to_numpy(), a copy")


_CLASSES: tuple[tuple[str, tuple[str, ...], Callable[[Place, Any], Array]], ...] = (
    ("torch", ("Tensor",), _of_torch),
    ("xarray", ("DataArray", "Variable"), _of_xarray),
    ("pyarrow", ("Array", "ChunkedArray"), _of_arrow),
    ("pyarrow", ("Buffer",), _of_arrow_buffer),
    ("pandas", ("Series", "Index"), _of_pandas),
    ("pandas.api.extensions", ("ExtensionArray",), _of_pandas),
)
