"""The symbols that object code imports: a few functions of the C library, and nothing else.

An unknown name would fail in the middle of linking, with a message on stderr; so the symbols of
the object file are read before.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache

from ....lang.errors.errors import InternalError

_ON_MACOS = ("memset_pattern4", "memset_pattern8", "memset_pattern16")
#: What LLVM's code generator may call: loops that it takes for memory functions.
ALLOWED = ("memset", "memcpy", "memmove", *_ON_MACOS)


def imports(object_code: bytes, beside: Callable[[str], int] | None = None) -> dict[str, int]:
    """The addresses of all functions that the object code calls.

    Args:
        beside: gives those of the functions of another object file.
    """
    # Elsewhere more than is called; the linker finds what is missing.
    needed = undefined(object_code) if object_code.startswith(b"\x7fELF") else [*ALLOWED]
    addresses = {name: _address(name) for name in needed if name in ALLOWED}
    unknown = sorted(set(needed) - set(ALLOWED))
    if beside is not None:
        addresses.update({name: beside(name) for name in unknown})
    elif unknown:
        raise InternalError(f"the generated code calls {', '.join(unknown)}")
    return {name: address for name, address in addresses.items() if address is not None}


@cache
def _address(name: str) -> int | None:
    """Where a function of the C library is, or None if this system has no such function."""
    for library in _libraries():
        with suppress(AttributeError):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    return None


def _libraries() -> Iterator[ctypes.CDLL]:
    if sys.platform == "win32":
        yield ctypes.CDLL("ucrtbase")
    else:
        yield ctypes.CDLL(None)  # Python itself, which is linked to what it needs
        yield ctypes.CDLL(ctypes.util.find_library("m"))  # slow to find, so it comes last


_SYMTAB = 2
_SECTION = struct.Struct("<IIQQQQIIQQ")  # name type flags addr offset size link info align entsize
_SYMBOL = struct.Struct("<IBBHQQ")  # name info other section value size


def undefined(elf: bytes) -> list[str]:
    """The names that a relocatable ELF64 file uses and does not define.

    Source: the System V ABI, object files, chapters 4.5 (sections) and 4.9 (symbols).
    """
    try:
        return list(_undefined(elf))
    except (struct.error, IndexError, ValueError) as error:
        raise InternalError("the object code is damaged") from error


def _undefined(elf: bytes) -> Iterator[str]:
    (start,) = struct.unpack_from("<Q", elf, 0x28)
    size, count = struct.unpack_from("<HH", elf, 0x3A)
    sections = [_SECTION.unpack_from(elf, start + i * size) for i in range(count)]
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind != _SYMTAB:
            continue
        names = sections[link][4]
        for at in range(offset + _SYMBOL.size, offset + length, _SYMBOL.size):  # 0 is reserved
            name, _, _, section, _, _ = _SYMBOL.unpack_from(elf, at)
            if section == 0:
                yield elf[names + name : elf.index(b"\0", names + name)].decode()
