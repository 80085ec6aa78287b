"""What native code needs of Python and NumPy to be called without the interpreter: addresses of
their functions, and the words that an object of ours adds to each kernel.

Nothing is compiled and linked against Python: its functions are looked up by ctypes. Where one is
missing, or an array is not laid out as NumPy has promised, calls take the way through Python alone,
which is the same but for the time it takes.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...forks import at_fork
from ..llvm.text.layout import ARRAY, DTYPE, KERNEL, PYTHON
from .threads import get_num_threads

VARIABLE = "POLYSCHED_NATIVE_CALLS"
"""The environment variable that is 0 where all calls shall take the way through Python."""

_FUNCTIONS = {
    "hold": "Py_IncRef", "drop": "Py_DecRef", "clear": "PyErr_Clear", "tuple_size": "PyTuple_Size",
    "tuple_item": "PyTuple_GetItem", "new_tuple": "PyTuple_New", "set_item": "PyTuple_SetItem",
    "as_double": "PyFloat_AsDouble", "as_long": "PyLong_AsLongLongAndOverflow",
    "call_nothing": "PyObject_CallNoArgs", "vectorcall": "PyObject_Vectorcall",
    "release": "PyEval_SaveThread", "acquire": "PyEval_RestoreThread", "allocate": "PyMem_Malloc",
    "free": "PyMem_Free", "no_memory": "PyErr_NoMemory",
}  # fmt: skip
_OF_NUMPY = {"new_array": 94, "set_base": 282}
"""Places of functions in the table that NumPy gives to extension modules, which never change."""


class PythonApi:
    """The table of `PYTHON`, of which there is one in a process."""

    def __init__(self, poll: int) -> None:
        self._words = (ctypes.c_int64 * len(PYTHON))()
        self.address = ctypes.addressof(self._words)
        self._kept = [np.ndarray, tuple, float, int, np.dtype(np.uint8), get_num_threads]
        for name, thing in zip(
            ("array", "tuple", "float", "int", "byte", "threads"), self._kept, strict=True
        ):
            self._set(name, id(thing))
        self._set("poll", poll)
        for name, function in _FUNCTIONS.items():
            self._set(name, _address(getattr(ctypes.pythonapi, function)))
        table = _numpy_table()
        for name, place in _OF_NUMPY.items():
            self._set(name, table[place])

    def _set(self, name: str, word: int) -> None:
        self._words[PYTHON[name] // 8] = word

    @property
    def epoch(self) -> int:
        """The number of forks that led to this process, as far as they were noticed."""
        return self._words[PYTHON["epoch"] // 8]

    def next_epoch(self) -> None:
        """Makes what was remembered before a fork invalid: threads of the pool are gone."""
        self._words[PYTHON["epoch"] // 8] += 1


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _numpy_table() -> Any:
    core = getattr(np, "_core", None) or np.core
    capsule = core._multiarray_umath._ARRAY_API
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_size_t))


_api: PythonApi | None = None


def python_api(poll: int) -> PythonApi | None:
    """The table of this process; None where Python or NumPy is another one than is known.

    Args:
        poll: the address of the function that kernels poll by.
    """
    global _api
    if _api is None and is_known():
        with suppress(AttributeError, ValueError):  # a function that is not there
            _api = PythonApi(poll)
    return _api


def _after_fork() -> None:
    if _api is not None:
        _api.next_epoch()


at_fork(after_in_child=_after_fork)


def is_known() -> bool:
    """Whether this is CPython with objects and arrays that lie in memory as is known."""
    return (
        sys.implementation.name == "cpython"
        and os.environ.get(VARIABLE) != "0"
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and object.__basicsize__ == KERNEL["entry"]
        and _lies_as_known(np.zeros((3, 5), np.float32)[1:, ::2])
    )


def _lies_as_known(array: Any) -> bool:
    def word(name: str, kind: Any = ctypes.c_size_t) -> int:
        return int(kind.from_address(id(array) + ARRAY[name]).value)

    axes = ctypes.c_ssize_t * array.ndim
    return (
        word("type") == id(type(array))
        and word("data") == array.ctypes.data
        and word("rank", ctypes.c_int32) == array.ndim
        and word("dtype") == id(array.dtype)
        and word_of(array.dtype) == _expected(array.dtype)
        and word("flags", ctypes.c_int32) == array.flags.num
        and tuple(axes.from_address(word("shape"))) == array.shape
        and tuple(axes.from_address(word("strides"))) == array.strides
    )


def word_of(dtype: Any) -> int:
    """What the native entry knows a dtype by."""
    return ctypes.c_int64.from_address(id(dtype) + DTYPE["what"]).value


def _expected(dtype: Any) -> int:
    letters = f"{dtype.kind}{dtype.char}{dtype.byteorder}\0".encode()
    return int.from_bytes(letters + dtype.num.to_bytes(4, sys.byteorder), sys.byteorder)


# the type of kernels ----------------------------------------------------------------------------
class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("size", ctypes.c_int), ("item", ctypes.c_int),
        ("flags", ctypes.c_uint), ("slots", ctypes.POINTER(_Slot)),
    )  # fmt: skip


_MEMBERS, _READONLY, _SSIZE, _WORD = 72, 1, 19, 18  # Py_tp_members, T_PYSSIZET, T_ULONGLONG
_BASETYPE, _VECTORCALL, _DEFAULT = 1 << 10, 1 << 11, 1 << 18
_FLAGS = 168
"""Where the flags of a type are. They are compared with what Python says before and behind."""


class _Portable:
    """The base of kernels where calls take the way through Python alone."""

    _entry: int = 0
    _state: int = 0


def _native_type() -> Any:
    """A class whose objects have two words more: what Python calls, if it is not null, and what
    that is to find (`KERNEL`)."""
    members = (_Member * 4)(
        _Member(b"__vectorcalloffset__", _SSIZE, KERNEL["entry"], _READONLY, None),
        _Member(b"_entry", _WORD, KERNEL["entry"], 0, None),
        _Member(b"_state", _WORD, KERNEL["state"], 0, None),
    )
    slots = (_Slot * 2)(_Slot(_MEMBERS, ctypes.addressof(members)))
    flags = _BASETYPE | _DEFAULT
    spec = _Spec(b"polysched.Callable", KERNEL["size"], 0, flags, slots)
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p]
    return make(ctypes.addressof(spec))


if TYPE_CHECKING:
    Callable = _Portable
else:
    Callable = _native_type() if is_known() else _Portable
    """The base of what is called natively once `_entry` is set; before, by its `__call__`."""

T = TypeVar("T", bound=type)


def native_calls(cls: T) -> T:
    """A decorator for subclasses of `Callable` with a `__call__` of their own. Python takes that to
    mean that objects are called by it alone, and is told otherwise: by the flag of their type, by
    which it looks at `_entry` first, and calls `__call__` where that is null."""
    if Callable is not _Portable:
        flags = ctypes.c_ulong.from_address(id(cls) + _FLAGS)
        if flags.value == cls.__flags__:
            flags.value |= _VECTORCALL
    return cls


def is_native(cls: Any) -> bool:
    """Whether objects of a class are called by `_entry`, if that is not null."""
    return Callable is not _Portable and bool(cls.__flags__ & _VECTORCALL)
