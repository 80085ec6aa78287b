"""Object code brought into this process without LLVM's linker, which takes longer to begin with
than all else that a process does for a kernel that it finds on disk.

What kernels are made of is of a plain kind: instructions, constants, and distances between these
and to a few functions of the C library. Anything else is left to LLVM, and so are other systems.

Sources: the System V ABI, object files, chapters 4.4 to 4.6; its supplement for AMD64, chapter 4.4.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from weakref import finalize

_HEADER = struct.Struct("<4sBB10xHH20xQ10xHHH")  # name class order type machine sections size count
_SECTION = struct.Struct("<IIQQQQIIQQ")  # name type flags addr offset size link info align entsize
_SYMBOL = struct.Struct("<IBBHQQ")  # name info other section value size
_RELOCATION = struct.Struct("<QQq")  # offset, symbol and kind, addend
_BEGIN = (b"\x7fELF", 2, 1, 1, 62)  # 64 bits, little-endian, to be linked, x86-64
_PROGBITS, _SYMTAB, _RELA, _NOBITS, _REL = 1, 2, 4, 8, 9
_WRITE, _ALLOC, _EXEC = 1, 2, 4
_KNOWN = _WRITE | _ALLOC | _EXEC | 0x10 | 0x20  # and what may be merged, or has texts
_RESERVED = 0xFF00  # from here on numbers of sections mean something else
_PC32, _PLT32 = 2, 4  # both are distances; the second one is that of a call
_STUB = b"\xff\x25\2\0\0\0\xcc\xcc"  # jmp [rip + 2]; the address stands behind it
_PAGES = {_EXEC: 5, 0: 1, _WRITE: 3}  # what may be done with them: read and run, read, write


class Loaded:
    """Linked object code. It is there for as long as this lives."""

    def __init__(self, base: int, size: int, symbols: Mapping[str, int]) -> None:
        self._base, self._size, self._symbols = base, size, symbols
        # At the end of the process threads may be in it.
        finalize(self, _system().munmap, base, size).atexit = False

    def address(self, symbol: str) -> int:
        """Where a function is; RuntimeError if it is not there."""
        if symbol not in self._symbols:
            raise RuntimeError(f"there is no {symbol}")
        return self._base + self._symbols[symbol]


def loaded(object_code: bytes, imports: Mapping[str, int]) -> Loaded | None:
    """Object code in this process; it sees no symbols but `imports`. None where it is not of the
    plain kind, is damaged, or cannot be brought here."""
    if sys.platform != "linux" or os.uname().machine != "x86_64" or sys.maxsize < 1 << 32:
        return None
    try:
        image = _Image(object_code, imports)
    except (struct.error, IndexError, KeyError, ValueError):
        return None
    base = _mapped(image.bytes, image.pages)
    return None if base is None else Loaded(base, len(image.bytes), image.symbols)


class _Image:
    """Sections side by side, with all distances between them.

    Attributes:
        pages: from where to where which rights are needed.
        symbols: where functions begin.

    Raises:
        ValueError, IndexError, KeyError, struct.error: the code is not of the plain kind.
    """

    def __init__(self, code: bytes, imports: Mapping[str, int]) -> None:
        *begin, start, size, count, _ = _HEADER.unpack_from(code)
        if tuple(begin) != _BEGIN or size != _SECTION.size:
            raise ValueError("another kind of file")
        self._code = code
        self._sections = [_SECTION.unpack_from(code, start + k * size) for k in range(count)]
        self._stubs: dict[str, int] = {}
        self._at: dict[int, int] = {}
        self.pages: list[tuple[int, int, int]] = []
        self.bytes = bytearray()
        for rights in _PAGES:
            self._put_pages(rights, imports if rights == _EXEC else {})
        self.symbols: dict[str, int] = {}
        for k, section in enumerate(self._sections):
            if section[1] == _SYMTAB:
                self._read_symbols(k)
            elif section[1] == _REL:
                raise ValueError("relocations of another kind")
            elif section[1] == _RELA and section[7] in self._at:
                self._relocate(section)

    def _put_pages(self, rights: int, imports: Mapping[str, int]) -> None:
        """The sections of some rights, and what jumps to imports."""
        page, begin = os.sysconf("SC_PAGE_SIZE"), len(self.bytes)
        for k, (_, kind, flags, _, offset, size, _, _, align, _) in enumerate(self._sections):
            if not flags & _ALLOC or flags & (_WRITE | _EXEC) != rights:
                if flags & _ALLOC and flags & (_WRITE | _EXEC) not in _PAGES:
                    raise ValueError("pages that are written and run")
                continue
            if flags & ~_KNOWN or kind not in (_PROGBITS, _NOBITS) or align > page:
                raise ValueError("another kind of section")
            content = bytes(size) if kind == _NOBITS else self._code[offset : offset + size]
            if len(content) != size:
                raise ValueError("the file ends before")
            self._at[k] = self._put(content, max(align, 1))
        for name, address in imports.items():
            self._stubs[name] = self._put(_STUB + struct.pack("<Q", address), 16)
        self._put(b"", page)
        if len(self.bytes) > begin:
            self.pages.append((begin, len(self.bytes), _PAGES[rights]))

    def _put(self, content: bytes, align: int) -> int:
        """Where some bytes lie, behind all others."""
        self.bytes += bytes(-len(self.bytes) % align)
        at = len(self.bytes)
        self.bytes += content
        return at

    def _symbol(self, table: Sequence[int], k: int) -> tuple[str, int, int]:
        """The name of a symbol, the number of its section, and where it is in that."""
        if not 0 <= k * _SYMBOL.size < table[5]:
            raise IndexError("no symbol")
        name, _, _, section, value, _ = _SYMBOL.unpack_from(self._code, table[4] + k * _SYMBOL.size)
        begin = self._sections[table[6]][4] + name
        return self._code[begin : self._code.index(b"\0", begin)].decode(), section, value

    def _read_symbols(self, k: int) -> None:
        table = self._sections[k]
        for number in range(1, table[5] // _SYMBOL.size):  # 0 is reserved
            name, section, value = self._symbol(table, number)
            if section in self._at and name:
                self.symbols[name] = self._at[section] + value

    def _relocate(self, about: Sequence[int]) -> None:
        """Writes the distances that a section of relocations asks for."""
        table, (_, _, _, _, _, size, *_), base = (
            self._sections[about[6]], self._sections[about[7]], self._at[about[7]],
        )  # fmt: skip
        if table[1] != _SYMTAB:
            raise ValueError("no symbols")
        for offset, of, addend in self._relocations(about):
            name, section, value = self._symbol(table, of >> 32)
            kind = of & 0xFFFFFFFF
            if kind not in (_PC32, _PLT32) or section >= _RESERVED or offset + 4 > size:
                raise ValueError("another kind of relocation")
            if section:
                to = self._at[section] + value
            elif kind == _PLT32:
                to = self._stubs[name]
            else:
                raise ValueError("data of another library")
            struct.pack_into("<i", self.bytes, base + offset, to + addend - base - offset)

    def _relocations(self, about: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        for at in range(about[4], about[4] + about[5], _RELOCATION.size):
            yield _RELOCATION.unpack_from(self._code, at)


@cache
def _system() -> Any:
    """The system's functions for memory."""
    library = ctypes.CDLL(None)
    address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.argtypes = address, size, number, number, number, ctypes.c_long
    library.mmap.restype = address
    library.mprotect.argtypes = address, size, number
    library.munmap.argtypes = address, size
    return library


_PRIVATE, _ANONYMOUS = 0x02, 0x20
_NOWHERE = ctypes.c_void_p(-1).value


def _mapped(image: bytearray, pages: Sequence[tuple[int, int, int]]) -> int | None:
    """Where a copy of the image is; None where the system refuses that. Nothing is ever written to
    that may be run."""
    system, size = _system(), len(image)
    base = system.mmap(None, size, 3, _PRIVATE | _ANONYMOUS, -1, 0) if size else _NOWHERE
    if base is None or base == _NOWHERE:
        return None
    ctypes.memmove(base, bytes(image), size)
    if any(system.mprotect(base + begin, end - begin, may) for begin, end, may in pages):
        system.munmap(base, size)
        return None
    return int(base)
