"""`kernel.profile(*args)`: runs a call with marks, and says where its time goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ...codegen.ir.counts import WEIGHTS, Counts
from ...codegen.runtime.arguments import is_contiguous
from ...codegen.runtime.kernel import Kernel
from ...codegen.runtime.threads import get_num_threads, threads as pinned
from ...lang.nodes.dtypes import FLOATS
from ...targets.facts import machine
from ..advice.predicted import Figures, Hint, hints
from ..reporting.arguments import Asked, of_call
from ..reporting.measure import Repeated
from .instrumented import STATE, Instrumented, instrumented, plain
from .marking import LIMITS, Limits
from .profile import Profile, StageTime
from .runs import Runs, Steps, Timed, clear, runs
from .totals import StageTotal, Totals, error, spans, totals

OVERHEAD, TRIES, FACTOR = 0.05, 3, 8.0
"""What marks may add to the time of a call, how often they are made rarer to come below it, and by
which factor."""


def profile(
    kernel: Kernel, args: tuple[Any, ...], kwargs: Mapping[str, Any], side_effects: bool
) -> Profile:
    """See `Kernel.profile`."""
    asked = of_call(kernel, args, kwargs, side_effects, asker="profile")
    call = Repeated(asked)
    out, shape = call.kwargs.get("out"), call.kwargs.get("shape")
    given = {k: x for k, x in call.kwargs.items() if k not in ("out", "shape")}
    bound = kernel._binder.bind(call.args, given, shape=shape, out=out)
    chosen = kernel._chosen(bound)
    variant, prepared, inputs, outputs, _ = chosen._fitted(bound)
    arrays = {**inputs, **outputs}
    loops = plain(chosen, not all(map(is_contiguous, arrays.values())))
    threads = get_num_threads() if variant.is_threaded else 1
    limits = LIMITS
    for _ in range(TRIES):
        code = instrumented(loops, prepared.values, limits, threads)
        with_state = {**arrays, STATE: code.state}
        marked = code.variant.prepared(dict(prepared.values), with_state)
        ready = partial(clear, code.state)
        run = Timed(code.variant, marked, with_state, chosen._pool, ready)
        ordinary = Timed(variant, prepared, arrays, chosen._pool)
        repeats = not (call.restores or variant.callbacks)
        # There are words for so many threads, whoever asks for more of them meanwhile.
        with pinned(threads):
            found = runs(code, Steps(call.restore, call.run, ordinary, run, repeats))
        found.native = kernel._native.has(variant)
        if found.overhead <= OVERHEAD:
            break
        limits = Limits(limits.least * FACTOR, limits.part * FACTOR)
    made = _profile(kernel, found, prepared.values, threads)
    return replace(made, hints=_hints(asked, made, prepared.values))


def _profile(kernel: Kernel, found: Runs, values: Mapping[str, Any], threads: int) -> Profile:
    code, middle = found.code, found.middle
    ticks = found.ticks / found.share
    sums = totals(code, middle.state, ticks, found.looks)
    if found.native and sums.inside:
        # Such a call is its loops and the way to them; the clock around runs has more between, for
        # the way back into Python is cold.
        ticks *= sums.inside / (middle.seconds * found.share)
        sums = totals(code, middle.state, ticks, found.looks)
    peak, source = _peak(code)
    happened, cut = spans(code, middle.state, ticks)
    stages = [*_stages(code, sums, values, peak * threads), *_inlined(code, sums)]
    seconds = sorted(r.seconds * found.share + found.way for r in found.profiled)
    whole = sums.inside * threads
    return Profile(
        signature=kernel.signature,
        seconds=middle.seconds * found.share + found.way,
        least=seconds[0],
        most=seconds[-1],
        runs=len(seconds),
        plain=found.usual,
        overhead=found.overhead,
        inside=sums.inside,
        stages=tuple(stages),
        loops=sums.loops,
        threads=threads,
        efficiency=sum(sums.busy) / whole if whole else 0.0,
        spans=happened,
        cut=cut,
        peak=peak * threads,
        machine=source,
        samples=sum(found.looks.values()),
        least_region=code.limits.least,
    )


def _hints(asked: Asked, p: Profile, values: Mapping[str, Any]) -> tuple[Hint, ...]:
    """What the figures of a profile speak for."""
    shares = {s.name: s.seconds / p.seconds for s in p.stages if p.seconds}
    rates = {
        s.name: (s.loaded + s.stored) / s.seconds
        for s in p.stages
        if s.loaded is not None and s.stored is not None and s.seconds > 0
    }
    every = [((stage, x.name), (x.efficiency, x.imbalance)) for x in p.loops for stage in x.stages]
    names = Counter(name for name, _ in every)
    loops = {name: figures for name, figures in every if names[name] == 1}
    figures = Figures(shares, rates, loops)
    return hints(asked.kernel, asked.chosen, values, get_num_threads(), figures)


def _stages(
    code: Instrumented, sums: Totals, values: Mapping[str, Any], peak: float
) -> list[StageTime]:
    """Stages with times, in the order of the program."""
    known = dict.fromkeys((*code.plain.counts, *sums.stages))
    made = []
    for name in known:
        total = sums.stages.get(name, StageTotal())
        stage = StageTime(
            name, total.seconds, error(total), total.how, tuple(total.threads), total.begun
        )
        made.append(_counted(stage, code.plain.counts.get(name), values, peak))
    return made


def _counted(
    stage: StageTime, counts: Counts | None, values: Mapping[str, Any], peak: float
) -> StageTime:
    """A stage with what it does."""
    if counts is None or counts.at_most:
        return stage
    n = counts.at(values)
    rate = None
    if n.arithmetic is not None and stage.seconds > 0:
        rate = n.arithmetic / stage.seconds
    return replace(
        stage,
        instances=n.instances,
        operations=n.arithmetic,
        loaded=n.loaded,
        stored=n.stored,
        rate=rate,
        of_peak=None if rate is None else rate / peak,
    )


def _inlined(code: Instrumented, sums: Totals) -> list[StageTime]:
    """Funcs that are computed inside of others."""
    program = code.plain.kernel._schedule.base
    own = {name.split(".update")[0] for name in (*code.plain.counts, *sums.stages)}
    names = [program.names[f] for f in program.funcs]
    return [
        StageTime(name, 0.0, how="inlined")
        for name in names
        if not any(x == name or x.startswith(f"{name}.") for x in own)
    ]


def _peak(code: Instrumented) -> tuple[float, str]:
    """Operations a second of one core, in the type of float of most kinds of operations."""
    known = machine(code.plain.kernel._target)
    kinds = [
        k for c in code.plain.counts.values() for k in c.operations if WEIGHTS.get(k.split()[0])
    ]
    dtype = max(FLOATS, key=lambda t: sum(k.split()[-1] == t.name for k in kinds))
    return known.peak(dtype), known.source
