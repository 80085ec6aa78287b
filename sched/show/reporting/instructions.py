"""What instructions of x86-64 do, told from their text: widths, multiply-adds, shuffles, memory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields

from ...records import dataclass
from .assembly import AsmLine

COUNTED = frozenset({"x86_64"})
"""The architectures whose instructions are told from each other."""

_SHUFFLES = (
    "vperm", "vpshuf", "vshuf", "vunpck", "vpunpck", "vpack", "vpalignr", "valign", "vinsert",
    "vpinsr", "vextract", "vpextr", "vbroadcast", "vpbroadcast", "vblend", "vpblend", "vpslldq",
    "vpsrldq", "vmovddup", "vmovshdup", "vmovsldup", "vmovhlps", "vmovlhps", "vmovlps", "vmovhps",
    "vcompress", "vexpand", "vpcompress", "vpexpand",
)  # fmt: skip
_FMA = re.compile(r"^vfn?m(add|sub|addsub|subadd)\d{3}[ps][sdh]$")
_SCALAR_FLOAT = re.compile(r"^v?[a-z0-9]+s[sdh]$")
_NOT_SCALAR = re.compile(r"^v?(p|movs|broadcast|mov[lh]p|cmp[a-z]*p)")
_GATHER = re.compile(r"^vp?gather")
_SCATTER = re.compile(r"^vp?scatter")
_STACK = re.compile(r"-?\w*\(%r[sb]p[,)]")
_REGISTER = re.compile(r"%(\w+)")
_VECTOR = re.compile(r"^([xyz])mm(\d+)$")
_LETTERS = re.compile(r"^[er]?([abcd])([xlh])$")
_POINTERS = re.compile(r"^[er]?(si|di|bp|sp)l?$")
_NUMBERED = re.compile(r"^(r\d+)[dwb]?$")


@dataclass(frozen=True, slots=True)
class Counts:
    """How many instructions there are of each kind. One may be of several: a multiply-add is one of
    its width, too.

    Attributes:
        all: every instruction.
        scalar: those on one float in a vector register.
        xmm, ymm, zmm: those on vectors of 16, 32 and 64 bytes, by the widest operand.
        fma: multiply-adds, of scalars or vectors.
        gathers, scatters: loads and stores of lanes at addresses of their own.
        shuffles: what moves lanes: permutations, broadcasts, insertions, extractions, blends.
        spills, reloads: registers that are put on the stack because too few are left, and loaded
            again, within other instructions or not.
        stack: other accesses to the stack: arguments, and accumulators that live there.
        calls: calls of functions.
    """

    all: int = 0
    scalar: int = 0
    xmm: int = 0
    ymm: int = 0
    zmm: int = 0
    fma: int = 0
    gathers: int = 0
    scatters: int = 0
    shuffles: int = 0
    spills: int = 0
    reloads: int = 0
    stack: int = 0
    calls: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers that instructions name, each once whatever part of it is used.

    Attributes:
        vector: xmm0, ymm0 and zmm0 are one.
        general: rax, eax, ax and al are one; the stack pointer is not counted.
        masks: k0 to k7.
    """

    vector: frozenset[int] = frozenset()
    general: frozenset[str] = frozenset()
    masks: frozenset[str] = frozenset()


def counts(lines: Iterable[AsmLine]) -> Counts:
    """The instructions among lines of x86-64, counted."""
    total = Counts()
    for line in lines:
        if line.opcode:
            total += Counts(**dict.fromkeys(("all", *kinds(line)), 1))
    return total


def kinds(line: AsmLine) -> tuple[str, ...]:
    """The kinds of an instruction of x86-64, by the attributes of `Counts`."""
    opcode, found = line.opcode, []
    width = _width(line)
    if width:
        found.append(width)
    for name, pattern in (("fma", _FMA), ("gathers", _GATHER), ("scatters", _SCATTER)):
        if pattern.match(opcode):
            found.append(name)
    if opcode.startswith(_SHUFFLES):
        found.append("shuffles")
    if opcode.startswith("call"):
        found.append("calls")
    if line.spill:
        found.append({"Spill": "spills", "Reload": "reloads"}[line.spill])
    elif _STACK.search(line.operands) and not opcode.startswith("lea"):
        found.append("stack")
    return tuple(found)


def _width(line: AsmLine) -> str:
    """What an instruction works on: `zmm`, `ymm`, `xmm`, `scalar`, or nothing of these."""
    letters = {m[1] for r in _REGISTER.findall(line.operands) if (m := _VECTOR.match(r))}
    for letter in "zy":
        if letter in letters:
            return f"{letter}mm"
    if not letters:
        return ""
    opcode = line.opcode
    scalar = _SCALAR_FLOAT.match(opcode) and not _NOT_SCALAR.match(opcode)
    return "scalar" if scalar or opcode in ("vmovss", "vmovsd", "vmovd", "vmovq") else "xmm"


def registers(lines: Iterable[AsmLine]) -> Registers:
    """The registers that instructions of x86-64 name."""
    vector: set[int] = set()
    general: set[str] = set()
    masks: set[str] = set()
    for line in lines:
        for name in _REGISTER.findall(line.operands):
            if found := _VECTOR.match(name):
                vector.add(int(found[2]))
            elif re.fullmatch(r"k[0-7]", name):
                masks.add(name)
            elif (whole := _whole(name)) not in ("", "rsp"):
                general.add(whole)
    return Registers(frozenset(vector), frozenset(general), frozenset(masks))


def _whole(name: str) -> str:
    """The general register of 64 bits that a name is of; empty for others."""
    if found := _LETTERS.match(name):
        return f"r{found[1]}x"
    if found := _POINTERS.match(name):
        return f"r{found[1]}"
    found = _NUMBERED.match(name)
    return found[1] if found else ""
