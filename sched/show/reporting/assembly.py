"""LLVM's assembly as functions of lines, each with the line of the loop IR that it is of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...records import dataclass

COMMENTS = {"x86_64": "#", "aarch64": "//"}
"""What begins a comment, by architecture; assemblers of Apple's take a semicolon on AArch64."""

_LOCATION = re.compile(r"\.loc\s+\d+\s+(\d+)")
_BEGIN = re.compile(r"-- Begin function (\S+)")
_END = re.compile(r"-- End function")
_LABEL = re.compile(r'^("[^"]*"|[\w.$@]+):')
_NOT_SHOWN = re.compile(r"^\.?L?(tmp|func_begin|func_end|CPI|cfi|pubnames)\w*:")
_SPILLS = re.compile(r"\b(\d+)-byte (Folded )?(Spill|Reload)\b")
# Where a block stands among the loops is shown by the links, and names of values are LLVM's.
_CHATTER = re.compile(
    r"^(%bb|=>|Parent Loop|Child Loop|in Loop|This|%|\d+:|\S+:\d+:\d+|@|AlignMBB|kill:|implicit)"
)


@dataclass(frozen=True, slots=True)
class AsmLine:
    """An instruction, or a label.

    Attributes:
        text: as it is shown: without what is said of debuggers, and with a comment that counts.
        line: the line of the loop IR, from 1; 0 where LLVM knows none.
        opcode: the mnemonic; empty for a label.
        operands: what stands behind it, without the comment.
        label: the label; empty for an instruction.
        comment: what LLVM says of the instruction.
    """

    text: str
    line: int = 0
    opcode: str = ""
    operands: str = ""
    label: str = ""
    comment: str = ""

    @property
    def spill(self) -> str:
        """`Spill` where a register is stored because too few are left, `Reload` where it is loaded
        again; otherwise empty."""
        found = _SPILLS.search(self.comment)
        return found[3] if found else ""


@dataclass(frozen=True, slots=True)
class AsmFunction:
    """A function: its symbol, and its lines in order."""

    name: str
    lines: tuple[AsmLine, ...]

    @property
    def instructions(self) -> tuple[AsmLine, ...]:
        """The lines that are no labels."""
        return tuple(x for x in self.lines if x.opcode)


def parsed(text: str, arch: str) -> tuple[AsmFunction, ...]:
    """The functions of an assembly that was written with LLVM's comments.

    Args:
        arch: the architecture, as a `Target` has it.
    """
    found: list[AsmFunction] = []
    name, at = "", 0
    lines: list[AsmLine] = []
    mark = _mark(text, arch)
    for raw in text.splitlines():
        if begins := _BEGIN.search(raw):
            name, lines, at = begins[1].strip('"'), [], 0
        elif _END.search(raw) and name:
            found.append(AsmFunction(name, tuple(lines)))
            name = ""
        elif location := _LOCATION.search(raw):
            at = int(location[1])
        elif name:
            lines += _lines(raw, mark, at)
    return tuple(found)


def _mark(text: str, arch: str) -> str:
    """What begins a comment in a text."""
    if arch == "aarch64" and "// -- Begin function" not in text:
        return ";"
    return COMMENTS.get(arch, "#")


def _lines(raw: str, mark: str, at: int) -> Iterator[AsmLine]:
    """The line that is shown of a line of LLVM's, if there is one."""
    code, _, comment = raw.partition(mark)
    code, comment = code.strip(), comment.strip(f"{mark} \t")
    label = _LABEL.match(code)
    if label is not None:
        if not _NOT_SHOWN.match(code):
            yield AsmLine(code, at, label=label[1].strip('"'))
    elif code and not code.startswith("."):
        opcode, _, operands = code.partition("\t")
        while opcode in _PREFIXES:
            opcode, _, operands = operands.strip().partition(" ")
        said = "" if _CHATTER.match(comment) else comment
        shown = f"    {opcode:<12} {operands}".rstrip()
        text = f"{shown}  {mark} {said}" if said else shown
        yield AsmLine(text, at, opcode, operands.strip(), comment=said)


_PREFIXES = frozenset({"lock", "rep", "repne", "notrack"})
