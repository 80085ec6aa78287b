"""Debug locations: which line of a listing of the loop IR each instruction is of.

LLVM carries them through its optimiser into the assembly, where `.loc` says them. They are told
only to a compilation that somebody looks at; without them the same code is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from ....records import dataclass

FIRST = 100
"""The first number of metadata: other parts of a module have those before."""

FILE = "loops"
"""What the listing is called in assembly."""


@dataclass(slots=True)
class Locations:
    """The locations in one module.

    Attributes:
        lines: of functions and statements, by their identities: the numbers of their first lines.
            Each of these objects must stand at one place only.
    """

    lines: Mapping[int, int]
    _nodes: list[str] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._node(f'!DIFile(filename: "{FILE}", directory: "")')
        self._node(
            f'distinct !DICompileUnit(language: DW_LANG_C, file: !{FIRST}, producer: "polysched", '
            "isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)"
        )
        self._node('!{i32 2, !"Debug Info Version", i32 3}')
        self._node(f"!DISubroutineType(types: !{FIRST + 4})")
        self._node("!{}")

    def _node(self, text: str) -> int:
        """The number of a node of metadata."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = FIRST + len(self._nodes)
            self._nodes.append(f"!{found} = {text}")
        return found

    def line(self, what: object) -> int:
        """The line of a function or a statement; 0 if it has none."""
        return self.lines.get(id(what), 0)

    def places(self, what: object) -> Places:
        """Those in a function that is made for a statement or a nest."""
        return Places(self, self.line(what))

    def scope(self, name: str, line: int) -> int:
        """The metadata of an LLVM function."""
        return self._node(
            f'distinct !DISubprogram(name: "{name}", scope: !{FIRST}, file: !{FIRST}, '
            f"line: {line}, type: !{FIRST + 3}, scopeLine: {line}, unit: !{FIRST + 1}, "
            "spFlags: DISPFlagDefinition)"
        )

    def location(self, line: int, scope: int) -> int:
        """The metadata of an instruction."""
        return self._node(f"!DILocation(line: {line}, scope: !{scope})")

    def metadata(self) -> str:
        """What stands at the end of the module."""
        named = [f"!llvm.dbg.cu = !{{!{FIRST + 1}}}", f"!llvm.module.flags = !{{!{FIRST + 2}}}"]
        return "\n".join([*named, *self._nodes])


@dataclass(slots=True)
class Places:
    """Where the instructions of one LLVM function belong.

    Attributes:
        line: the one that instructions are of now.
        changes: from which line of the text on another one holds, in order.
    """

    locations: Locations
    line: int
    changes: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.changes.append((0, self.line))

    @contextmanager
    def of(self, what: object, text: Sequence[str]) -> Iterator[None]:
        """What is written meanwhile is of a statement.

        Args:
            text: what has been written before.
        """
        before, line = self.line, self.locations.line(what) or self.line
        self._change(line, len(text))
        yield
        self._change(before, len(text))

    def _change(self, line: int, at: int) -> None:
        self.line = line
        self.changes.append((at, line))

    def located(self, head: str, lines: Sequence[str]) -> tuple[str, list[str]]:
        """The head of a function and its lines, with their locations."""
        name = head[head.index("@") + 1 : head.index("(")].strip('"')
        scope = self.locations.scope(name, self.changes[0][1])
        found: list[str] = []
        changes = iter(self.changes)
        change: tuple[int, int] | None = next(changes)
        node = 0
        for number, text in enumerate(lines):
            while change is not None and change[0] <= number:
                node = self.locations.location(change[1], scope)
                change = next(changes, None)
            is_instruction = text.startswith("  ") and bool(text.strip())
            found.append(f"{text}, !dbg !{node}" if is_instruction else text)
        return f"{head} !dbg !{scope}", found
