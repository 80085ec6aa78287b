"""The instances of a definition: values of its Vars, then RVars in running order.

There are two enumerations of the same nest. The exact one evaluates bounds and conditions on data.
The one of may-instances runs before any data is known: an RVar whose bounds depend on data has an
interval in the environment, and only a condition that is certainly false removes an instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..lang.nodes.nodes import Node, RVar
from ..records import dataclass
from .bounds import Bounds
from .evaluate import Env, Evaluator, Function

Touch = Callable[[Env], None]


@dataclass(frozen=True, slots=True)
class Loop:
    """One RVar: `values(env)` are the values (or the interval) it takes, in order."""

    rvar: RVar
    values: Callable[[Env], Iterable[object]]
    #: Called before `values`, to account for the reads in the bounds.
    touch: Touch | None = None


def exact_loops(rvars: tuple[RVar, ...], functions: Evaluator) -> tuple[Loop, ...]:
    """The loops of the exact enumeration."""
    return tuple(Loop(r, _range(functions[r.lo], functions[r.hi])) for r in rvars)


def may_loop(rvar: RVar, bounds: Bounds, exact: Evaluator, touch: Touch) -> Loop:
    """A loop of the enumeration of may-instances: over values where its bounds are static, else one
    iteration with the interval between both bounds."""
    if rvar.lo in bounds.static and rvar.hi in bounds.static:
        return Loop(rvar, _range(exact[rvar.lo], exact[rvar.hi]))
    return Loop(rvar, _hull(bounds[rvar.lo], bounds[rvar.hi]), touch)


def _range(lo: Function, hi: Function) -> Callable[[Env], range]:
    return lambda env: range(lo(env), hi(env))


def _hull(lo: Function, hi: Function) -> Callable[[Env], Iterable[object]]:
    def interval(env: Env) -> Iterable[object]:
        first, last = lo(env)[0], hi(env)[1] - 1
        return ((first, last),) if first <= last else ()

    return interval


def nest(env: Env, loops: tuple[Loop, ...]) -> Iterator[Env]:
    """The environments of all iterations below `env`, in lexicographic order.

    Bounds are evaluated in a copy of the environment: an iteration may change what they have read,
    and reads it anew where the value needs it, too.
    """
    if not loops:
        yield env
        return
    loop, inner = loops[0], loops[1:]
    if loop.touch is not None:
        loop.touch(env)
    rvar: Node = loop.rvar
    for value in loop.values(dict(env)):
        here = {**env, rvar: value}
        if inner:
            yield from nest(here, inner)
        else:
            yield here
