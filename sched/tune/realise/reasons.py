"""Why a plan is as it is, in sentences: comments on the directives that it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..facts.facts import Facts, StatementFacts
from ..model.cost import Cost
from ..model.model import Model
from ..plans.plan import NONE, NestPlan
from ..plans.planned import Nest
from ..search.decided import Decided, Partial


def heading(facts: Facts, model: Model) -> str:
    """What a schedule is found for, and from what."""
    sizes = ", ".join(f"{name} = {number}" for name, number in facts.sizes.items())
    threads = "one thread" if model.threads == 1 else f"{model.threads} threads"
    machine = model.machine
    return f"Found for {sizes or 'no sizes'} on {threads}; speeds are {machine.source}."


def reason(
    d: Decided, own: Sequence[StatementFacts], costs: Mapping[str, Cost], threads: int
) -> str:
    """What is decided of a Func, and what limits its statements then."""
    lines = [f"{d.plan.func}: {_place(d)}"]
    for s, nest in zip(own, d.nests, strict=True):
        how, limit = _arranged(s, nest, threads), _limit(costs.get(s.name))
        if nest.plan.host is not None:
            how, limit = f"in the loops of {nest.plan.host[0]}", _put_off(d)
        parts = [x for x in (how, limit) if x]
        lines.append(f"{s.name}: {'; '.join(parts)}" if len(own) > 1 else "; ".join(parts))
    if len(own) == 1:
        return ", ".join(lines)
    return "\n".join(lines)


def _put_off(d: Decided) -> str:
    names = " and ".join(d.plan.put_off)
    return f"{names} put off until behind them" if names else ""


def second(best: Partial, other: Partial | None) -> str:
    """What the next best plan does otherwise, and what it costs."""
    if other is None:
        return "No other plan was found."
    changes = [_change(d, other.funcs[name]) for name, d in best.funcs.items()]
    said = "; ".join(x for x in changes if x)
    ratio = other.seconds / best.seconds if best.seconds else 1.0
    return f"The next best takes {ratio:.2f} times as long: {said}."


def _change(a: Decided, b: Decided) -> str:
    if a.plan == b.plan:
        return ""
    if (a.plan.at, a.plan.stored) != (b.plan.at, b.plan.stored):
        return f"{b.plan.func} {_place(b)}"
    if (a.plan.host is None) != (b.plan.host is None):
        whose = "loops of its own" if b.plan.host is None else f"the loops of {b.plan.host[0]}"
        return f"{b.plan.func} in {whose}"
    pairs = zip(a.plan.nests, b.plan.nests, strict=True)
    knobs = dict.fromkeys(x for n, m in pairs for x in _other_knobs(n, m))
    return f"{b.plan.func} with {', '.join(knobs)}" if knobs else f"{b.plan.func} otherwise"


def _other_knobs(a: NestPlan, b: NestPlan) -> Iterator[str]:
    if a.template != b.template:
        yield f"the template {b.template}"
    elif a != b:
        yield from (f"{name} {number}" for name, number in b.knobs if a.knob(name) != number)


def _place(d: Decided) -> str:
    if d.plan.at is None:
        return "computed as a whole"
    stage, loop = d.plan.at
    if d.plan.stored is None:
        return f"computed in loop {loop} of {stage}"
    return f"computed in loop {loop} of {stage}, where its window slides"


def _arranged(s: StatementFacts, nest: Nest, threads: int) -> str:
    plan = nest.plan
    if plan.template == "leave":
        return "loops as written"
    vector, jam = plan.number("vector"), plan.number("jam")
    if plan.template == "lanes":
        width = plan.number("lanes") * plan.number("columns")
        shared = [f"threads share {nest.parts}"] * (nest.parts is not None and threads > 1)
        return ", ".join([f"{width} partial results, in lanes of vectors", *shared])
    parts: list[str] = []
    if vector != NONE:
        across = plan.number("lanes") * plan.number("columns")
        row = [x.name for x in (s.loops[-2:] if nest.row else s.loops[vector : vector + 1])]
        parts.append(f"{across} of {' and '.join(row)}")
    if jam != NONE:
        parts.insert(0, f"{plan.number('rows')} of {s.loops[jam].name}")
    own = ["with results of their own"] * (nest.copies is not None)
    found = [" ".join((" by ".join(parts), "at a time", *own))] if parts else []
    found += _steps(s, nest)
    if nest.accumulates_at is not None and parts:
        found.append("in registers while sums run")
    if nest.skew:
        found.append(f"each {nest.skew} of {s.loops[jam + 1].name} behind the one before")
    if nest.packed is not None:
        found.append(f"panels of {nest.packed} copied")
    if nest.turned is not None:
        found.append(f"{nest.turned} copied so that these lie side by side")
    if nest.streams:
        found.append("past the caches")
    shared = [x.name for x in nest.loops if x.kind == "parallel" and threads > 1]
    found += [f"threads share {name}" for name in shared]
    return ", ".join(found)


def _steps(s: StatementFacts, nest: Nest) -> Iterator[str]:
    """What is said of tiles of several steps."""
    if nest.block is None:
        return
    names = [x.name for x in s.loops]
    steps = f"{nest.block.steps} of {names[0]}"
    if nest.block.pivots:
        pivots = " and ".join(names[k] for k in nest.block.pivots)
        yield f"behind those of {steps} at a time whose {pivots} these are"
        return
    skews = (f"{by} of {names[k]} behind the one before" for k, by in nest.block.skews)
    side = nest.plan.number("rows")
    tiles = " by ".join(f"{side} of {names[k]}" for k, _ in nest.block.skews)
    yield f"in tiles of {steps} by {tiles}, each step {' and '.join(skews)}"


def _limit(cost: Cost | None) -> str:
    return "" if cost is None else f"limited by {cost.limit}"
