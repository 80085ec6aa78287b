"""What a program of blocks means, by the contract alone: statements run in order, on dicts.

Expressions are tuples: `("const", 3)`, `("symbol", "t")`, `("read", "A", (index, ...))`, an
operator with its operands, `("select", condition, a, b)` and `("reduce", op, rvar, lo, hi, body)`.
Everything is computed in int64, which wraps, and stored in the type of what is written. What was
read out of bounds is None, and so is all that is computed from it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Expr = tuple[Any, ...]
Point = tuple[int, ...]
Env = dict[str, int]
Value = int | None


@dataclass(frozen=True)
class RVar:
    name: str
    lo: Expr
    hi: Expr
    where: Expr | None = None


@dataclass(frozen=True)
class Update:
    """`left` has an expression an axis; `("var", i, sign, e)` is `e + sign * i` for the Var i,
    which runs wherever that lies inside."""

    target: str
    left: tuple[Expr, ...]
    rvars: tuple[RVar, ...]
    value: Expr


@dataclass(frozen=True)
class Pure:
    """A Func: `first` is a piece where the first index is 0; without extents it is what is read."""

    name: str
    vars: tuple[str, ...]
    value: Expr
    first: Expr | None
    extents: tuple[Expr, ...] | None


@dataclass(frozen=True)
class Block:
    name: str | None
    lo: Expr
    hi: Expr
    step: int
    body: tuple[Item, ...]


Item = Update | Pure | Block


def wrapped(value: Value, dtype: str) -> Value:
    """A value in an integer type of two's complement."""
    if value is None:
        return None
    bits = int(dtype.lstrip("uint"))
    value %= 1 << bits
    return value if dtype[0] == "u" or value < 1 << (bits - 1) else value - (1 << bits)


class Array:
    """Elements inside of a box. `is_broken` says that a write missed it."""

    def __init__(self, dtype: str, shape: Point, values: dict[Point, Value]) -> None:
        self.dtype, self.shape, self.values = dtype, shape, values
        self.is_broken = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing was out of bounds on the way to its elements."""
        return not self.is_broken and None not in self.values.values()

    def __getitem__(self, point: Point) -> Value:
        return self.values.get(point)

    def __setitem__(self, point: Point, value: Value) -> None:
        if point in self.values:
            self.values[point] = wrapped(value, self.dtype)
        else:
            self.is_broken = True

    def copy(self) -> Array:
        return Array(self.dtype, self.shape, dict(self.values))


class Equation:
    """Elements anywhere, computed when they are read from what was there at the definition."""

    def __init__(self, value: Callable[[Point], Value]) -> None:
        self.value = value
        self.changed: dict[Point, Value] = {}

    def __getitem__(self, point: Point) -> Value:
        if point not in self.changed:
            self.changed[point] = wrapped(self.value(point), "int64")
        return self.changed[point]

    def __setitem__(self, point: Point, value: Value) -> None:
        self.changed[point] = wrapped(value, "int64")

    def copy(self) -> Equation:
        made = Equation(self.value)
        made.changed = dict(self.changed)
        return made


State = dict[str, Array | Equation]

_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "minimum": min,
    "maximum": max,
    "<": lambda a, b: int(a < b),
    "==": lambda a, b: int(a == b),
    "&": lambda a, b: a & b,
}
_FOLD: dict[str, Callable[[list[int]], int]] = {
    "sum": sum,
    "prod": math.prod,
    "max": lambda values: max([-7, *values]),
    "min": lambda values: min([7, *values]),
    "any": lambda values: int(any(values)),
    "all": lambda values: int(all(values)),
}


def reads(e: Expr) -> Iterator[str]:
    """The tensors that an expression reads."""
    if e[0] == "read":
        yield e[1]
    for part in e[1:]:
        for inner in (part,) if e[0] != "read" else part if isinstance(part, tuple) else ():
            if isinstance(inner, tuple):
                yield from reads(inner)


def value(e: Expr, env: Env, state: State, before: State) -> Value:
    """The value of an expression; reductions see what was there `before` the statement.

    Both arms of a select whose condition depends on data are looked at: their reads must be
    inside in any case.
    """
    match e:
        case ("const", c):
            return c
        case ("symbol", name):
            return env[name]
        case ("var", name, sign, offset):
            return _int(offset, env, state) + sign * env[name]
        case ("read", name, index):
            point = tuple(value(x, env, state, before) for x in index)
            return None if None in point else state[name][point]
        case ("select", condition, a, b):
            chosen = value(condition, env, state, before)
            if any(reads(condition)) and not _never(condition, env, state):
                values = [value(x, env, state, before) for x in (a, b)]
                return None if None in (chosen, *values) else values[0 if chosen else 1]
            return value(a if chosen else b, env, state, before)
        case ("reduce", op, rvar, lo, hi, body):
            ends = [_int(x, env, state) for x in (lo, hi)]
            found = [value(body, {**env, rvar: r}, before, before) for r in range(*ends)]
            if None in found:
                return None
            if op in ("argmax", "argmin"):
                best = (max if op == "argmax" else min)(found)
                return ends[0] + found.index(best)
            return wrapped(_FOLD[op](found), "int64")
        case (op, a, b):
            x, y = value(a, env, state, before), value(b, env, state, before)
            return None if x is None or y is None else wrapped(_BINARY[op](x, y), "int64")
    raise AssertionError(e)


def _never(condition: Expr, env: Env, state: State) -> bool:
    """Whether a condition fails whatever the data is."""
    if condition[0] == "&":
        return any(_never(c, env, state) for c in condition[1:])
    return not any(reads(condition)) and not _int(condition, env, state)


def _int(e: Expr, env: Env, state: State) -> int:
    """The value of an expression in sizes and symbols."""
    found = value(e, env, state, state)
    assert found is not None
    return found


def run(items: tuple[Item, ...], state: State, env: Env) -> None:
    """Runs statements one after the other."""
    for item in items:
        match item:
            case Block(name=None, body=body):
                run(body, state, env)
            case Block(name=name, lo=lo, hi=hi, step=step, body=body):
                ends = [_int(x, env, state) for x in (lo, hi)]
                for t in range(*ends, step):
                    run(body, state, {**env, name: t})
            case Pure():
                _define(item, state, env)
            case Update():
                _update(item, state, env)


def _define(d: Pure, state: State, env: Env) -> None:
    then = {name: tensor.copy() for name, tensor in state.items()}

    def equation(point: Point) -> Value:
        at = {**env, **dict(zip(d.vars, point, strict=True))}
        chosen = d.first if d.first is not None and point[0] == 0 else d.value
        return value(chosen, at, then, then)

    if d.extents is None:
        state[d.name] = Equation(equation)
        return
    shape = tuple(_int(e, env, state) for e in d.extents)
    points = itertools.product(*map(range, shape))
    made = {p: wrapped(equation(p), "int64") for p in points}
    state[d.name] = Array("int64", shape, made)


def _update(u: Update, state: State, env: Env) -> None:
    target = state[u.target]
    before = {name: tensor.copy() for name, tensor in state.items()}
    moving = [x for x in u.left if x[0] == "var"]
    if isinstance(target, Equation) and moving:
        state[u.target] = Equation(_everywhere(u, env, before))
        return
    assert isinstance(target, Array) or not moving
    axes = [
        range(n) for x, n in zip(u.left, getattr(target, "shape", ()), strict=False) if x in moving
    ]
    for point in itertools.product(*axes):
        at = dict(env)
        for (_, name, sign, offset), p in zip(moving, point, strict=True):
            at[name] = sign * (p - _int(offset, env, state))
        _nest(u, list(u.rvars), at, state, before)


def _everywhere(u: Update, env: Env, before: State) -> Callable[[Point], Value]:
    """An update of an equation at all of its points: another equation."""

    def equation(point: Point) -> Value:
        at = dict(env)
        for (_, name, sign, offset), p in zip(u.left, point, strict=True):
            at[name] = sign * (p - _int(offset, env, before))
        return value(u.value, at, before, before)

    return equation


def _nest(
    u: Update, rvars: list[RVar], env: Env, state: State, before: State, tests: tuple[Any, ...] = ()
) -> None:
    """All points in order. Conditions are tested at each point: it may have changed them."""
    if rvars:
        r, *rest = rvars
        ends = [_int(x, env, state) for x in (r.lo, r.hi)]
        more = tests if r.where is None else (*tests, r.where)
        for x in range(*ends):
            _nest(u, rest, {**env, r.name: x}, state, before, more)
        return
    if not all(value(test, env, state, before) for test in tests):
        return
    new = value(u.value, env, state, before)
    point = tuple(value(x, env, state, before) for x in u.left)
    state[u.target][point] = new
