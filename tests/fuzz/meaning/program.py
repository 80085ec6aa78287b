"""The values of a program at a call: what is asked for is computed, element by element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from . import Outside, Refused, Unknown
from .arithmetic import converted
from .evaluate import Known, Point, type_of
from .points import Element, Elements, Index, Visible, reached, rvar_values, var_values
from .reductions import is_better, needed
from .symbols import PS, Extended, Extern, Table
from .tensors import Block, Definition, Func, Tensor, is_var, read_type
from .trees import Tree
from .types import concrete, kind, numpy_type


class Program:
    """What a text means."""

    def __init__(self, source: str, outputs: tuple[str, ...]) -> None:
        self.ps = PS()
        names: dict[str, Any] = {"ps": self.ps, "np": np}
        exec(source, names)
        self.outputs = [names[name] for name in outputs]
        self.needed = reached(self.outputs)
        self._known: Known = {}

    def type(self, node: Tree) -> str:
        """Of a tree, once all definitions are there."""
        found = type_of(node, read_type, self._known)
        if found is None:
            raise Unknown("a type that follows from itself")
        return found

    def __call__(
        self, values: Mapping[str, Any], arrays: Mapping[str, Any],
        shapes: Mapping[str, Index],
    ) -> list[Any]:  # fmt: skip
        """The arrays of all outputs, one for each value.

        Args:
            values: of sizes and Params.
            shapes: of the outputs that declare none.
        """
        given = {
            n: numpy_type(t).type(values[n]) if kind(t) == "f" else values[n]
            for n, t in self.ps.params.items()
            if n in values
        }
        run = Run(self, {**values, **given}, arrays, shapes)
        with np.errstate(all="ignore"):
            return [a for f in self.outputs for a in run.array(f)]


class Run:
    """One call."""

    def __init__(
        self, program: Program, values: Mapping[str, Any], arrays: Mapping[str, Any],
        shapes: Mapping[str, Index],
    ) -> None:  # fmt: skip
        self.program = program
        self.values = dict(values)
        self.arrays = arrays
        self.shapes = shapes
        self.current: dict[Func, Elements] = {}
        """Of Funcs with updates: all elements, as they are by now."""
        self.done: dict[Func, int] = {}
        """How many of their updates have run."""
        self.fresh: dict[Func, tuple[dict[str, int], Visible]] = {}
        """Of Funcs that are fresh in a block: its loops, and what was current there."""
        self.externs: dict[Extern, Any] = {}
        self.points: dict[tuple[Func, Index], Element | None] = {}
        """Of others: the elements that were asked for; None while they are computed."""
        self.reductions: dict[tuple[Any, ...], Any] = {}
        """Their values, by those of the symbols they need, where no Func changes meanwhile."""
        self.symbols: dict[Tree, tuple[Any, ...]] = {}
        """Which those are."""
        if not all(self.point({}).value(c) for c in program.ps.required):
            raise Refused

    def array(self, func: Func) -> Iterator[Any]:
        """All values of an output."""
        shape = self.shape(func)
        assert shape is not None
        types = [concrete(str(t)) for t in func.types()]
        made = [np.empty(shape, numpy_type(t)) for t in types]
        for at in np.ndindex(*shape):
            for array, value in zip(made, self.element(func, at), strict=True):
                array[at] = value
        yield from made

    def shape(self, tensor: Tensor) -> Index | None:
        """Its extents; None where it has none."""
        if tensor.extents is None:
            return self.shapes.get(tensor.name)
        point = self.point({})
        return tuple(max(point.index(e), 0) for e in tensor.extents)

    def point(
        self, symbols: Mapping[Any, Any], visible: Visible = MappingProxyType({}),
        before: Visible | None = None,
    ) -> Point:  # fmt: skip
        """Where symbols have these values.

        Args:
            before: what reductions see.
        """
        values = {**self.values, **symbols}
        seen = visible if before is None else before
        return Point(
            values, self.program.type, lambda read, at: self._read(read, at, visible),
            lambda node: self._reduced(node, symbols, seen),
        )  # fmt: skip

    def _reduced(self, node: Tree, symbols: Mapping[Any, Any], visible: Visible) -> Any:
        """The value of a reduction. One inside of another is found once for all iterations that it
        knows nothing of: else each level would multiply what the program takes."""
        if visible or self.fresh:
            return self._reduction(node, symbols, visible)
        key = (node, *(symbols.get(s) for s in self._needed(node)))
        if key not in self.reductions:
            self.reductions[key] = self._reduction(node, symbols, visible)
        return self.reductions[key]

    def _reduction(self, node: Tree, symbols: Mapping[Any, Any], visible: Visible) -> Any:
        made, t = node.extra, concrete(self.program.type(node))
        loops = rvar_values(self, made.rvars, dict(symbols), visible)
        if made.is_place:
            return self._place(node, loops, visible)
        start = node.operands[1] if len(node.operands) > 1 else made.start
        result = None if start is None else self.point(symbols, visible).value(start, t)
        for values in loops:
            step = node.operands[0] if result is None else made.step
            result = self.point({**values, made.held: result}, visible).value(step, t)
        if result is None:
            raise Outside("an extreme of nothing")
        return result

    def _needed(self, reduction: Tree) -> tuple[Any, ...]:
        if reduction not in self.symbols:
            self.symbols[reduction] = tuple(needed(reduction))
        return self.symbols[reduction]

    def _place(self, node: Tree, loops: Iterable[dict[Any, Any]], visible: Visible) -> int:
        """Where the best value is."""
        (r,), best, place = node.extra.rvars, None, None
        for values in loops:
            value = self.point(values, visible).value(node.operands[0])
            if is_better(node.extra.op, value, best):
                best, place = value, int(values[r.name])
        if place is None:
            raise Outside("the place of an extreme of nothing")
        return place

    # reads ------------------------------------------------------------------------------------
    def _read(self, read: Tree, at: Index, visible: Visible) -> Any:
        tensor, component = read.extra
        if isinstance(tensor, Func):
            seen = visible.get(tensor)
            found = self.element(tensor, at) if seen is None else self._element_of(tensor, at, seen)
            return found[component]
        if isinstance(tensor, Extended):
            return self._extended(tensor, at)
        self._check(tensor, at)
        found = self._arrays(tensor)[component][at]
        return found if found.dtype.kind in "fV" else found.item()

    def _arrays(self, tensor: Tensor) -> tuple[Any, ...]:
        """All elements, an array for each value."""
        if isinstance(tensor, Func):
            return tuple(self.array(tensor))
        if isinstance(tensor, Table):
            return (tensor.array,)
        if not isinstance(tensor, Extern):
            return (self.arrays[tensor.name],)
        if tensor not in self.externs:
            self.externs[tensor] = self._opaque(tensor)
        return self.externs[tensor]

    def _opaque(self, tensor: Extern) -> tuple[Any, ...]:
        """What its function returns, or fills if it has a parameter for that."""
        pairs = zip(tensor.reads, tensor.parts, strict=True)
        arrays = [a for read, bounds in pairs for a in self._parts(read, bounds)]
        if not tensor.fills:
            found = tensor.function(*arrays)
            return found if isinstance(found, tuple) else (np.asarray(found),)
        shape = self.shape(tensor)
        assert shape is not None
        out = tuple(np.empty(shape, numpy_type(concrete(str(t)))) for t in tensor.types())
        tensor.function(*arrays, out=out if len(out) > 1 else out[0])
        return out

    def _parts(self, tensor: Tensor, bounds: Any) -> Iterator[Any]:
        """What is read of a tensor by a function that is not looked into."""
        point = self.point({})
        ends = [tuple(map(point.index, pair)) for pair in bounds]
        for array in self._arrays(tensor):
            if any(not 0 <= lo <= hi <= n for (lo, hi), n in zip(ends, array.shape, strict=False)):
                raise Outside(f"{tensor.name}{ends} of {array.shape}")
            yield array[tuple(slice(lo, hi) for lo, hi in ends)]

    def _extended(self, tensor: Extended, at: Index) -> Any:
        inner = list(at)
        for axis, n in enumerate(self.shape(tensor.tensor) or ()):
            if tensor.axes is None or axis in tensor.axes:
                inner[axis] = tensor.at(at[axis], n) if n or tensor.value is not None else 0
        target = concrete(str(tensor.types()[0]))
        if None in inner:
            assert tensor.value is not None
            return self.point({}).value(tensor.value, target)
        found = Tree("read", extra=(tensor.tensor, 0))
        source = concrete(str(tensor.tensor.types()[0]))
        return converted(self._read(found, tuple(inner), {}), source, target)

    def _check(self, tensor: Tensor, at: Index) -> None:
        shape = self.shape(tensor)
        if shape is not None and not all(0 <= x < n for x, n in zip(at, shape, strict=True)):
            raise Outside(f"{tensor.name}{list(at)} of {shape}")

    # elements ---------------------------------------------------------------------------------
    def element(self, func: Func, at: Index) -> Element:
        """The final values."""
        self._check(func, at)
        if not func.updates:
            return self._pure_point(func, at)
        if self.shape(func) is None:
            return self._updated_point(func, at)
        if func not in self.current:
            self._advance(func, len(func.updates))
        if self.done[func] < len(func.updates):
            raise Unknown("a Func that is read while it is updated")
        return self.current[func][at]

    def _element_of(self, func: Func, at: Index, elements: Elements) -> Element:
        self._check(func, at)
        if at not in elements:
            raise Unknown("a Func without a shape that is updated elsewhere")
        return elements[at]

    def _pure_point(self, func: Func, at: Index) -> Element:
        key = func, at
        if key not in self.points:
            self.points[key] = None
            self.points[key] = self._pure(func, at)
        found = self.points[key]
        if found is None:
            raise Unknown("a value that needs itself")
        return found

    def _updated_point(self, func: Func, at: Index) -> Element:
        """Of a Func without a shape whose updates stay where they are."""
        key = func, at
        if key in self.points:
            return self._pure_point(func, at)
        self.points[key] = None
        elements = {at: self._pure(func, at)}
        for update in func.updates:
            if isinstance(update, Block) or not all(map(is_var, update.left)):
                raise Unknown("an update elsewhere of a Func without a shape")
            symbols = dict(zip((x.extra[0] for x in update.left), at, strict=True))
            self._update(update, func, [symbols], {func: elements})
        self.points[key] = elements[at]
        return elements[at]

    def _pure(self, func: Func, at: Index) -> Element:
        """By the piece with the most constants that holds here."""
        if func.initial is not None:
            return (self._read(Tree("read", extra=(func.initial, 0)), at, {}),)
        around, visible = self.fresh.get(func, ({}, {}))
        matched = [(d, self._matched(d, at, around)) for d in func.pieces]
        fitting = [(d, s) for d, s in matched if s is not None]
        definition, symbols = min(fitting, key=lambda found: len(found[1]))
        return self._values(func, definition, self.point({**around, **symbols}, visible))

    def _matched(
        self, definition: Definition, at: Index, around: Mapping[str, int]
    ) -> dict[str, int] | None:
        """The Vars of a piece that holds here, by name."""
        symbols = {}
        for x, value in zip(definition.left, at, strict=True):
            if is_var(x):
                symbols[x.extra[0]] = value
            elif self.point(around).index(x) != value:
                return None
        return symbols

    def _values(self, func: Func, definition: Definition, point: Point) -> Element:
        types = [concrete(str(t)) for t in func.types()]
        return tuple(point.value(v, t) for v, t in zip(definition.values, types, strict=True))

    # updates ----------------------------------------------------------------------------------
    def _advance(self, func: Func, until: int) -> None:
        """The pure definition everywhere, then so many updates."""
        if func not in self.current:
            shape = self.shape(func)
            if shape is None:
                raise Unknown("a Func without a shape that is updated elsewhere")
            self.current[func] = {at: self._pure(func, at) for at in np.ndindex(*shape)}
            self.done[func] = 0
        while self.done[func] < until:
            update = func.updates[self.done[func]]
            if isinstance(update, Block):
                self._outermost(update)
            else:
                visible = {func: self.current[func]}
                self._update(update, func, var_values(self, func, update, {}), visible)
                self.done[func] += 1

    def _outermost(self, block: Block) -> None:
        """A block, once all that it updates is as it finds it."""
        updated = block.updated & self.program.needed
        for func in updated:
            self._advance(func, func.updates.index(block))
        self._block(block, {}, {f: self.current[f] for f in updated})
        for func in updated:
            self.done[func] += 1

    def _block(self, block: Block, around: dict[str, int], visible: Visible) -> None:
        loops = [around]
        if block.loop is not None:
            lo, hi, step = block.bounds
            point = self.point(around)
            values = range(point.index(lo), point.index(hi), step)
            loops = [{**around, block.loop: x} for x in values]
        for symbols in loops:
            for item in block.items:
                self._item(item, symbols, visible)

    def _item(self, item: Any, symbols: dict[str, int], visible: Visible) -> None:
        match item:
            case Block():
                self._block(item, symbols, visible)
            case Func():
                self.points = {k: v for k, v in self.points.items() if k[0] is not item}
                self.fresh[item] = symbols, {f: dict(e) for f, e in visible.items()}
            case func, update if func in visible:  # nobody needs the others
                self._update(update, func, var_values(self, func, update, symbols), visible)

    def _update(
        self, update: Definition, func: Func, vars: Iterable[dict[str, int]], visible: Visible
    ) -> None:
        """Its instances; the symbols of `vars` are all but the RVars. Reductions see what was there
        before the first one."""
        before = {f: dict(e) for f, e in visible.items()} if update.has_reductions else None
        for symbols in vars:
            for values in rvar_values(self, update.rvars, symbols, visible):
                point = self.point(values, visible, before)
                at = tuple(point.index(x) for x in update.left)
                self._element_of(func, at, visible[func])
                visible[func][at] = self._values(func, update, point)
