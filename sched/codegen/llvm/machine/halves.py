"""LLVM text in two halves, each a text of its own, that take about as long to compile.

LLVM looks at one function at a time, so a function becomes the same instructions in whichever text
it is. What refers to each other stays together, as a parallel loop and its body; only the calls of
loop nests by the entry of a kernel go from one object file to another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ....cached import cached_property

LEAST = 500
"""Lines of functions in the smaller half. What a second text takes by itself, a context of LLVM and
a thread, is as much as a few dozen of them take."""

_NAME = re.compile(r'@(?:"[^"]*"|[-\w.$]+)')
_PARAMETER = re.compile(r" %[\w.]+(?=[,)])")


class _Function:
    """A function of a text. The lines of its body are indented, or labels."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.head = lines[0]
        self.text = "\n".join(lines)
        (self.name, *_) = _NAME.findall(self.head)

    @property
    def is_known(self) -> bool:
        """Whether whoever links the code knows it by its name."""
        return not self.head.startswith("define internal ")

    @cached_property
    def names(self) -> frozenset[str]:
        """All global names in it."""
        return frozenset(_NAME.findall(self.text))

    def only_calls(self, name: str) -> bool:
        """Whether all that it does with another function is to call it."""
        calls = self.text.count(f"\n  call void {name}(")
        return calls == _NAME.findall(self.text).count(name)

    def exported(self) -> str:
        """Its text, where code of another object file calls it."""
        return self.text.replace("define internal ", "define ", 1)

    def declaration(self) -> str:
        """What a text that calls it says of it. The call is the same with it as with the body: what
        is known of parameters stands in both."""
        head, _, attributes = self.head.removesuffix(" {").rpartition(")")
        head = head.replace("define internal ", "declare ", 1)
        return _PARAMETER.sub("", f"{head})") + attributes


def halves(text: str) -> tuple[str, str] | None:
    """The text in two. What is known from outside is in the first one, which calls what is in the
    second one. None where that is not possible, or not worth while."""
    if "\n!llvm." in text:  # what debuggers are told is about a text as a whole
        return None
    functions, others = _functions_of(text)
    if _size(functions) < 2 * LEAST or not any(f.is_known for f in functions):
        return None
    first, *groups = _together(functions)
    second: list[_Function] = []
    for group in sorted(groups, key=_size, reverse=True):
        smaller = first if _size(first) <= _size(second) else second
        smaller += group
    if min(_size(first), _size(second)) < LEAST:
        return None
    called = {name for f in first for name in f.names}
    known = [f for f in second if f.name in called]
    exported = [f.exported() if f in known else f.text for f in functions if f in second]
    own = [f.text for f in functions if f in first]
    return (
        _joined(others, first, [*(f.declaration() for f in known), *own]),
        _joined(others, second, exported),
    )


def _size(functions: Sequence[_Function]) -> int:
    return sum(len(f.lines) for f in functions)


def _functions_of(text: str) -> tuple[list[_Function], list[str]]:
    """The functions of a text, and its other lines."""
    functions: list[_Function] = []
    others: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("define "):
            functions.append(_Function([line, *_until_end(lines)]))
        elif line and not line.startswith(";"):
            others.append(line)
    return functions, others


def _until_end(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if line == "}":
            return


def _together(functions: Sequence[_Function]) -> list[list[_Function]]:
    """Functions that refer to each other. First those that are known from outside, without what
    they call and do nothing else with."""
    groups = {f.name: [f] for f in functions}

    def join(one: str, other: str) -> None:
        joined, gone = groups[one], groups[other]
        if joined is not gone:
            joined += gone
            groups.update((f.name, joined) for f in gone)

    entry, *others = [f for f in functions if f.is_known]
    for f in others:
        join(entry.name, f.name)
    for f in functions:
        for name in f.names & groups.keys():
            if not f.is_known or not f.only_calls(name):
                join(f.name, name)
    first = groups[entry.name]
    rest = {id(group): group for group in groups.values() if group is not first}
    return [first, *rest.values()]


def _joined(others: Sequence[str], functions: Sequence[_Function], texts: Sequence[str]) -> str:
    """A text of some functions, with all of the other lines but globals that these do not use."""
    names = frozenset[str]().union(*(f.names for f in functions))
    needed = (
        line
        for line in others
        if not line.startswith(("@", "declare ")) or _NAME.findall(line)[0] in names
    )
    return "\n".join([*needed, *texts, ""])
