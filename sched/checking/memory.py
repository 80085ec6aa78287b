"""Which version of an element each place in memory holds while a module runs."""

from __future__ import annotations

from ..interp.flow import Version, after, merged, untouched
from ..lang.nodes.tensor import Tensor
from ..lang.tensors.inout import Initial, InOut
from ..lang.tensors.tensors import Func
from .execute import Location, Touch, Write
from .memory_reads import Element
from .report import NOTHING
from .subject import Subject

Seen = dict[Element, set[Version]]
"""The versions that were read, by element."""


class Memory:
    """The version in each location, and the element that it stands for where it holds a copy."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._versions: dict[Location, Version] = {}
        self._sources: dict[Location, Element] = {}

    def keeper(self, tensor: Tensor) -> str:
        """The name of what keeps a tensor: an InOut and its initial value may share memory."""
        program = self.subject.program
        if isinstance(tensor, Initial) and tensor.array not in self.subject.copied:
            tensor = tensor.array if tensor.array in program.inouts else tensor
        return program.names[tensor]

    def element(self, touch: Touch) -> Element:
        """The element that a location holds, or holds a copy of."""
        here = (self.keeper(self.subject.tensors[touch.buffer]), touch.element)
        return self._sources.get(touch.location, here)

    def version(self, touch: Touch) -> Version:
        return self._versions.get(touch.location) or self._start(touch) or NOTHING

    def seen(self, w: Write) -> Seen:
        """What a store has read."""
        found: Seen = {}
        for touch in w.reads:
            found.setdefault(self.element(touch), set()).add(self.version(touch))
        return found

    def made(self, w: Write) -> Version:
        """The version that a store makes: a copy's is that of its source, and merging partial
        results makes one of all that were accumulated."""
        if w.key is not None:
            before = self._versions.get(w.to.location) or self._start(w.to)
            return after(w.key, before, w.key[0] in self.subject.free)
        if not w.reads:
            return NOTHING
        if self.subject.tensors[w.to.buffer] in self.subject.copies:
            self._sources[w.to.location] = self.element(w.reads[0])
        if len(w.reads) > 1:
            old = next((r for r in w.reads if r.location == w.to.location), w.reads[0])
            new = next((r for r in w.reads if r.location != w.to.location), w.reads[-1])
            return merged(self.version(old), self.version(new))
        return self.version(w.reads[0])

    def write(self, to: Touch, version: Version) -> None:
        self._versions[to.location] = version

    def _start(self, touch: Touch) -> Version | None:
        """What an argument or a table holds at first; of other memory nothing is known."""
        tensor = self.subject.tensors[touch.buffer]
        if isinstance(tensor, Func) and not isinstance(tensor, InOut):
            return None
        if touch.buffer.kind in ("scratch", "stack"):
            return None
        return untouched(self.subject.program, tensor, touch.element)
