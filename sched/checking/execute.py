"""Executes the loop IR with plain Python values, for `check`: slow, but simple enough to trust.

What the IR says is done literally: all indices and values of a joint statement are computed before
its first store, a load happens where its guard holds. Operators mean what the interpreter's mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..codegen.ir.ir import (
    Alloc,
    Buffer,
    Call,
    Count,
    For,
    If,
    Load,
    Module,
    Prefetch,
    Seq,
    Stmt,
    Store,
    Stores,
    dtype_of,
    expressions,
)
from ..interp.evaluate import Env, Evaluator, Faults, Function, Symbols, symbol_value
from ..interp.flow import Key
from ..interp.storage import element, elements, held
from ..lang.arithmetic.scalar import as_value
from ..lang.nodes.dtypes import Array, DType
from ..lang.nodes.nodes import Node, Var, postorder

Element = tuple[int, ...]
Location = tuple[Buffer, Element]
"""Memory: a buffer, and where in it, after folding."""
Step = tuple[str, int]
"""A level of a path: "seq" or "lanes" and a position, or the kind of a loop and the number of an
iteration."""
Path = tuple[Step, ...]


class Touch(NamedTuple):
    """An access: the element as the index says, and the memory that it means."""

    buffer: Buffer
    element: Element
    location: Location


class Write(NamedTuple):
    """A store that happens. `reads` are the loads that its value and its index needed; `atomic`
    says that loading and storing is one atomic step."""

    to: Touch
    key: Key | None
    reads: tuple[Touch, ...]
    atomic: bool = False


class Watcher(Protocol):
    """An observer of an execution."""

    def joint(self, path: Path, writes: list[Write]) -> None:
        """The stores of one statement, after all loads and before the first store."""

    def looked(self, path: Path, reads: list[Touch]) -> None:
        """What a bound or a condition has read."""

    def wrong(self, kind: str, text: str) -> None:
        """An access that must not be."""


class Machine:
    """Runs a module on arrays.

    Args:
        symbols: the sizes and Params.
        arrays: those of inputs and outputs, by the names of their buffers; they are not changed.
            Outputs without one start as garbage.
    """

    def __init__(
        self, module: Module, symbols: Symbols, arrays: Mapping[str, Array], watcher: Watcher
    ) -> None:
        self.module = module
        self.symbols = symbols
        self.watcher = watcher
        self.arrays = {b: arrays[b.name] for b in module.buffers if b.name in arrays}
        self.arrays.update((b, b.data) for b in module.buffers if b.kind == "const")
        self.boxes = {b: self._box(b, {}) for b in module.buffers}
        #: How often the storage of a buffer has begun to live inside of a loop.
        self.lives: dict[Buffer, int] = {}
        self.memory: dict[Location, Any] = {}
        self.path: list[Step] = []
        self.loops: Env = {}
        #: The values of guards at this point: one guard is needed by that of many loads.
        self.guarding: Env = {}
        #: Whether what is evaluated is used, and what has been loaded for it.
        self.needed = False
        self.reads: list[Touch] = []
        self._prepared: dict[int, _Statement] = {}

    def run(self) -> None:
        """Everything, from the first function to the last."""
        with np.errstate(all="ignore"):
            for number, function in enumerate(self.module.functions):
                self._run(function.body, {}, ("seq", number))

    def array(self, buffer: Buffer) -> Array:
        """What is in a buffer; elements that were never written are garbage."""
        found = np.empty([n for _, n in self.boxes[buffer]], buffer.dtype.numpy)
        places = elements(found, buffer.dtype)
        for at in np.ndindex(*found.shape):
            places[at] = held(self._value((buffer, at)), buffer.dtype)
        return found

    # memory -----------------------------------------------------------------------------------
    def _box(self, buffer: Buffer, origin: Mapping[Node, int]) -> list[tuple[int, int]]:
        """The first index and the extent of each axis; 0 where an `Alloc` says it later."""

        def first(lo: Node) -> int:
            if isinstance(lo, Var):
                return origin.get(lo, 0)
            return int(symbol_value(lo, self.symbols))

        return [
            (first(lo), max(int(symbol_value(n, self.symbols)), 0))
            for lo, n in zip(buffer.origin, buffer.extents, strict=True)
        ]

    def touch(self, buffer: Buffer, element: Element) -> Touch | None:
        """The memory of an element; None if it is outside."""
        fold, place = buffer.fold, []
        for axis, (x, (lo, n)) in enumerate(zip(element, self.boxes[buffer], strict=True)):
            at = x - lo
            if fold is not None and fold.axis == axis:
                at %= fold.planes
            if not 0 <= at < n:
                return None
            place.append(at)
        life = self.lives.get(buffer)
        return Touch(buffer, element, (buffer, tuple(place) if life is None else (life, *place)))

    def _value(self, location: Location) -> Any:
        if location not in self.memory:
            buffer, at = location
            given = self.arrays.get(buffer)
            if given is None:
                found = garbage(buffer.dtype)
            else:
                found = element(elements(given, buffer.dtype), at, buffer.dtype)
            self.memory[location] = found
        return self.memory[location]

    def load(self, node: Load, element: Element) -> Any:
        """An element's value; the read is noted."""
        touched = self.touch(node.buffer, element)
        if touched is None:
            self.watcher.wrong("bounds", f"loads {_text(node.buffer, element)}, outside")
            return garbage(node.buffer.dtype)
        self.reads.append(touched)
        return self._value(touched.location)

    def holds(self, guard: Function) -> bool:
        """Whether a guard does; what only that reads is no read of the instance."""
        before, needed = self.reads, self.needed
        self.reads, self.needed = [], False
        found = bool(guard(self.guarding))
        self.reads, self.needed = before, needed
        return found

    # statements -------------------------------------------------------------------------------
    def _run(self, stmt: Stmt, env: Env, at: Step | None = None) -> None:
        """A statement, one level farther inside if `at` says where there."""
        if at is not None:
            self.path.append(at)
            self._run(stmt, env)
            self.path.pop()
            return
        match stmt:
            case Seq(parts=parts):
                for number, part in enumerate(parts):
                    self._run(part, env, ("seq", number))
            case For(var=var, step=step, kind=kind, body=body):
                lo, hi = self._looked(stmt, env)
                for number, value in enumerate(range(lo, hi, step)):
                    self._run(body, {**env, var: value}, (kind, number))
            case Alloc():
                self._alloc(stmt, env)
            case If(body=body, otherwise=otherwise):
                (holds,) = self._looked(stmt, env)
                taken = body if holds else otherwise
                if taken is not None:
                    self._run(taken, env)
            case Stores():
                self._stores(stmt, env)
            case Count() | Call():  # a call is a trace, which prints
                self._looked(stmt, env)
            case Prefetch():
                pass  # a hint

    def _alloc(self, stmt: Alloc, env: Env) -> None:
        """Storage that begins with garbage, and is gone afterwards."""
        found = self._looked(stmt, env)
        named: dict[Node, int] = {
            var: int(x) for (var, _), x in zip(stmt.origin, found, strict=True)
        }
        for b in stmt.buffers:
            self.lives[b] = self.lives.get(b, 0) + 1
            self.boxes[b] = self._box(b, named)
        self._run(stmt.body, {**env, **named})
        for b in stmt.buffers:
            self.lives[b] += 1

    def _functions(self, stmt: Stmt) -> _Statement:
        if id(stmt) not in self._prepared:
            self._prepared[id(stmt)] = _Statement(stmt, self)
        return self._prepared[id(stmt)]

    def _begin(self, stmt: Stmt, env: Env) -> _Statement:
        """The functions of a statement, all of whose loads have been tried."""
        functions = self._functions(stmt)
        self.loops, self.guarding, self.needed = env, dict(env), False
        if functions.loads:
            # Every load happens where its guard holds, whether or not its value is used.
            own = dict(env)
            for node in functions.loads:
                functions[node](own)
        self.needed, self.reads = True, []
        return functions

    def _looked(self, stmt: Stmt, env: Env) -> list[Any]:
        """The values of the expressions of a statement that stores nothing."""
        functions = self._begin(stmt, env)
        own = dict(env)
        values = [functions[e](own) for e in expressions(stmt)]
        if self.reads:
            self.watcher.looked(tuple(self.path), self.reads)
        return values

    def _stores(self, stmt: Stores, env: Env) -> None:
        lanes = stmt.lanes
        if lanes is None:
            return self._joint(stmt, [env])
        first = int(self._functions(stmt)[lanes.lo](dict(env)))
        envs = [{**env, lanes.var: first + k * lanes.step} for k in range(lanes.count)]
        if not lanes.folds:
            return self._joint(stmt, envs)
        for number, one in enumerate(envs):
            self.path.append(("lanes", number))
            self._joint(stmt, [one])
            self.path.pop()

    def _joint(self, stmt: Stores, envs: list[Env]) -> None:
        """All that is stored at once."""
        done: list[tuple[Write, Any]] = []
        for env in envs:
            functions = self._begin(stmt, env)
            for s in stmt.stores:
                found = self._store(s, functions, env)
                if found is not None:
                    done.append(found)
        if done:
            self.watcher.joint(tuple(self.path), [w for w, _ in done])
        for write, value in done:
            self.memory[write.to.location] = value

    def _store(self, s: Store, functions: _Statement, env: Env) -> tuple[Write, Any] | None:
        # Each store is evaluated by itself, so that a load which stores share counts for each.
        if s.guard is not None and not self.holds(functions[s.guard]):
            return None
        own: Env = dict(env)
        self.reads = []
        element = tuple([int(functions[x](own)) for x in s.index])
        value = functions[s.value](own)
        to = self.touch(s.buffer, element)
        if to is None:
            self.watcher.wrong("bounds", f"stores {_text(s.buffer, element)}, outside")
            return None
        key = None
        if s.origin is not None:
            key = (s.origin.serial, tuple(int(functions[x](own)) for x in s.origin.point))
        return Write(to, key, tuple(dict.fromkeys(self.reads)), s.atomic), value


class _Statement:
    """The expressions of one statement as functions."""

    def __init__(self, stmt: Stmt, machine: Machine) -> None:
        roots = expressions(stmt)
        if isinstance(stmt, Stores):
            roots += tuple(x for s in stmt.stores if s.origin for x in s.origin.point)
        self.functions = _LoadEvaluator(roots, machine)
        self.loads = [n for n in postorder(*roots) if isinstance(n, Load)]

    def __getitem__(self, node: Node) -> Function:
        return self.functions[node]


class _LoadEvaluator(Evaluator):
    """The interpreter's evaluator, which reads memory where it would read tensors."""

    def __init__(self, roots: tuple[Node, ...], machine: Machine) -> None:
        self._machine = machine
        super().__init__(roots, machine.symbols, {}, Faults())

    def _function(self, node: Node) -> Function:
        return self._load(node) if isinstance(node, Load) else super()._function(node)

    def _load(self, node: Load) -> Callable[[Env], Any]:
        point, machine = self.point(node.index), self._machine
        zero = as_value(0, dtype_of(node))
        if node.guard is None:
            return lambda env: machine.load(node, point(env))
        guard = self[node.guard]

        def guarded(env: Env) -> Any:
            if machine.holds(guard):
                return machine.load(node, point(env))
            if machine.needed:
                where = f"at {dict(machine.loops)}"
                machine.watcher.wrong("guard", f"a load of {node.buffer.name} is left out {where}")
            return zero

        return guarded


def garbage(dtype: DType) -> Any:
    """The value of uninitialised memory: an arbitrary one."""
    return as_value(float("nan") if dtype.is_float else dtype.max, dtype)


def _text(buffer: Buffer, element: Element) -> str:
    return f"{buffer.name}[{', '.join(map(str, element))}]"


__all__ = ["Location", "Machine", "Path", "Step", "Touch", "Watcher", "Write", "garbage"]
