"""What is said of a schedule that is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..lang.errors import ScheduleError
from ..lang.records import Directive
from .folding import Clobber, Window
from .isl import Set, smallest_point
from .proof import Prover, Violation, Witness, accumulates, instance

Helps = Callable[[Directive, Directive], bool]


def refusal(
    prover: Prover,
    found: Sequence[Violation],
    directive: Directive,
    composite: str | None,
    helps: Helps,
) -> ScheduleError:
    """The error for the smallest of some violations.

    Args:
        composite: what the user asked for, if the directive is a part of it.
        helps: whether the directive would be right with another one before it.
    """
    witness = prover.witness(found)
    asked = composite or directive.text()
    if witness is None:
        v = found[0]
        d = v.dependence
        return ScheduleError(
            f"{asked} is refused: it could not be shown that {d.source.name} runs before "
            f"{d.sink.name} where it must",
            where=directive.span,
            status="unproved",
            kind=_kind(directive, v),
            tensor=d.tensor.name,
            directive=asked,
        )
    v = witness.violation
    d = v.dependence
    return ScheduleError(
        f"{asked} is refused: {_order_text(directive, v)}{witness.text}",
        where=directive.span,
        hint=_hint(directive, witness, helps),
        status="violation" if d.exact else "unproved",
        kind=_kind(directive, v),
        tensor=d.tensor.name,
        source=witness.source,
        sink=witness.sink,
        sizes=witness.sizes,
        directive=asked,
    )


def clobbered(
    lost: Sequence[Clobber],
    window: Window,
    enough: int | None,
    directive: Directive,
    composite: str | None,
    context: Set,
) -> ScheduleError:
    """The error where a plane is overwritten before its last read.

    Args:
        enough: how many planes would do, if that is known.
    """
    asked = composite or directive.text()
    best: tuple[dict[str, int], list[int], Clobber] | None = None
    for c in lost:
        found = smallest_point(c.pairs.intersect_params(context).wrap())
        if found is not None and (best is None or _rank(found) < _rank(best[:2])):
            best = (*found, c)
    func = lost[0].func
    kept = "1 plane" if window.planes == 1 else f"{window.planes} planes"
    what = f"{asked} is refused: {kept} of {func.name} along axis {window.axis}"
    if best is None:
        return ScheduleError(
            f"{what}: it is not shown that this is enough", where=directive.span, status="unproved",
            kind="clobber", tensor=func.name, directive=asked,
        )  # fmt: skip
    sizes, point, c = best
    count = len(c.read.loops)
    reader, writer = instance(c.read, point[:count]), instance(c.write, point[count:])
    at = ", ".join(f"{k}={v}" for k, v in sizes.items())
    return ScheduleError(
        f"{what}: too few, {writer} overwrites what {reader} still reads, at {at}",
        where=directive.span,
        hint=f"keep more planes: fold_storage({window.axis}, {enough})"
        if enough is not None
        else f"keep {func.name} whole",
        status="violation",
        kind="clobber",
        tensor=func.name,
        source=reader,
        sink=writer,
        sizes=sizes,
        directive=asked,
    )


def _rank(found: tuple[dict[str, int], list[int]]) -> tuple[int, list[int], list[int]]:
    sizes, point = found
    return sum(sizes.values()), list(sizes.values()), point


def _kind(directive: Directive, v: Violation) -> str:
    named = {"parallel": "race", "vectorize": "lane"}.get(directive.name, v.dependence.kind)
    return v.kind or named


def _order_text(directive: Directive, v: Violation) -> str:
    if v.is_lost:
        return ""
    if directive.name == "parallel" or v.kind == "race":
        return "two iterations would run at once, and one needs the other: "
    if directive.name == "vectorize":
        return "two lanes would run at once, and one needs the other: "
    return "the first would run after the second: "


def _hint(directive: Directive, witness: Witness, helps: Helps) -> str | None:
    d = witness.violation.dependence
    if witness.violation.is_lost:
        return f"compute {d.tensor.name} at a loop that is around all that read it"
    if witness.violation.kind == "race":
        return "store_at a loop inside of it: each iteration has storage of its own then"
    if not d.exact:
        return "which elements they touch depends on data: trust() takes your word for it"
    if d.source is d.sink and d.tensor is d.source.func and accumulates(d.source.definition):
        if directive.name == "parallel":
            return "every iteration adds to the same element: a loop over its Vars can be parallel"
        return "a float sum keeps its order: reassociate() allows any"
    if directive.name == "parallel":
        return "wavefront(...) makes an inner loop parallel, where all distances go forward"
    if directive.name in ("reorder", "transform"):
        return _skew_hint(directive, witness, helps)
    return None


def _skew_hint(directive: Directive, witness: Witness, helps: Helps) -> str | None:
    """By how much to skew, where the inner loop goes backwards while the outer goes forward."""
    before, after = witness.source.point, witness.sink.point
    if before.keys() != after.keys():
        return None
    steps = {k: after[k] - before[k] for k in before}
    forward = [k for k, x in steps.items() if x > 0]
    backward = [k for k, x in steps.items() if x < 0]
    if not forward or not backward:
        return None
    t, i = forward[0], backward[0]
    factor = -(steps[i] // steps[t])
    skew = Directive(directive.stage, "skew", (("outer", t), ("inner", i), ("factor", factor)))
    if not helps(directive, skew):
        return None
    return f'skew("{t}", "{i}", {factor}) first makes the distance along {i} go forward'
