"""What a report is about: a kernel as it runs at some sizes, and its code on all levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...cached import cached_property
from ...codegen.ir import ir
from ...codegen.llvm.machine.listed import Listed, listed
from ...codegen.lower import Lowered
from ...codegen.runtime.kernel import Kernel
from ...lang.program.program import Program
from ...poly.schedule.recorded import Recorded
from ...poly.schedule.schedule import Schedule
from ...records import dataclass
from ...targets.target import Target
from . import assembly, llvm_text
from .code import Chunk, Sources
from .code_loops import CodeLoop, innermost_loops
from .nest_links import NestLines, links, nest_lines


@dataclass
class Subject:
    """A kernel that is reported.

    Attributes:
        kernel: what a call asks.
        chosen: what runs at the sizes: a variant of the kernel, or itself.
        values: sizes and Params by name, as far as they are given.
        schedule: that of what runs.
        strided: whether it is about the code for arrays that are not contiguous.
    """

    kernel: Kernel
    chosen: Kernel
    values: Mapping[str, Any]
    schedule: Schedule
    strided: bool = False

    @property
    def program(self) -> Program:
        """What is computed."""
        return self.kernel._program

    @property
    def target(self) -> Target:
        """For which machine."""
        return self.chosen._target

    @cached_property
    def lowered(self) -> Lowered:
        """How the code is made; made once more where it was found on disk."""
        if not self.strided:
            return self.chosen._lowered
        return self.chosen._variant(True).lowered or self.chosen._lower(True)

    @cached_property
    def listed(self) -> Listed:
        """The code once more, with locations."""
        return listed(self.lowered.flat, self.target)

    @cached_property
    def assembly(self) -> tuple[assembly.AsmFunction, ...]:
        """The functions of machine code."""
        return assembly.parsed(self.listed.assembly, self.target.arch)

    @cached_property
    def llvm(self) -> tuple[llvm_text.LlvmFunction, ...]:
        """The functions of LLVM's IR, after its optimiser."""
        return llvm_text.parsed(self.listed.llvm)

    @cached_property
    def innermost(self) -> tuple[CodeLoop, ...]:
        """The innermost loops of the machine code that are of the loop IR."""
        loops = (x for f in self.assembly for x in innermost_loops(f, self.target.arch))
        return tuple(x for x in loops if x.line)

    @cached_property
    def sources(self) -> Sources:
        """What is shown of the code, linked."""
        listing = tuple(str(self.schedule).splitlines())
        nests = self.schedule.analysis.nests_if_known
        known = NestLines() if nests is None else nest_lines(nests, self.program.names, 2)
        loops = self.listed.loops
        return Sources(
            listing,
            tuple(line for line, _ in loops),
            tuple(links(loops, known)),
            tuple(ends(loops)),
            tuple(
                Chunk(f.name, tuple(x.text for x in f.lines), tuple(x.line for x in f.lines))
                for f in self.llvm
            ),
            tuple(
                Chunk(f.name, tuple(x.text for x in f.lines), tuple(x.line for x in f.lines))
                for f in self.assembly
            ),
        )


def schedule_of(kernel: Kernel) -> Schedule:
    """The schedule of a kernel, which may be known by its text only."""
    found = kernel._schedule
    if isinstance(found, Recorded):
        return found.schedule
    assert isinstance(found, Schedule)
    return found


def ends(loops: tuple[tuple[str, ir.Function | ir.Stmt | None], ...]) -> list[int]:
    """For each line of the loop IR, counted from 1, the last line of what it begins; of the further
    lines of a statement, and of `else`, itself."""
    depths = [len(text) - len(text.lstrip()) for text, _ in loops]
    seen: set[int] = set()
    found = []
    for k, (_, what) in enumerate(loops):
        end = k
        if what is not None and id(what) not in seen:
            seen.add(id(what))
            while end + 1 < len(loops) and (depths[end + 1] > depths[k] and loops[end + 1][0]):
                end += 1
        found.append(end + 1)
    return found
