"""The errors with which directives are refused."""

from __future__ import annotations

from ...lang.errors.errors import ScheduleError
from ...records import dataclass
from ..directives.mapping import Skew
from ..placement.folding import Clobber
from ..program.accumulation import accumulates
from ..proof.instance_pairs import InstancePair
from ..proof.proof import Violation, witness_text
from ..state.record import Directive
from ..tree.memory import Window
from .advice import Helps


@dataclass(frozen=True)
class Request:
    """A directive as a user gave it.

    Attributes:
        directive: the one that is carried out; it may be a part of a compound directive.
        text: the directive, or the compound one, as it was written.
        among: what it is proven together with: a batch, or a sketch.
    """

    directive: Directive
    text: str
    among: str = ""

    @property
    def subject(self) -> str:
        """What a refusal begins with."""
        return f"{self.text} in a {self.among}" if self.among else self.text


def refusal(
    found: Violation, pair: InstancePair | None, request: Request, helps: Helps
) -> ScheduleError:
    """The error for a violation.

    Args:
        pair: its instances, where they are known.
        helps: whether the directive would be right with another one before it.
    """
    directive, d = request.directive, found.dependence
    if pair is None:
        return ScheduleError(
            f"{request.subject} is refused: it could not be shown that {d.source.name} runs before "
            f"{d.sink.name} where it must",
            where=directive.span,
            status="unproved",
            kind=_kind(directive, found),
            tensor=d.tensor.name,
            directive=request.text,
        )
    return ScheduleError(
        f"{request.subject} is refused: {_order_text(directive, found)}{witness_text(found, pair)}",
        where=directive.span,
        hint=_hint(directive, found, pair, helps),
        status="violation" if d.exact else "unproved",
        kind=_kind(directive, found),
        tensor=d.tensor.name,
        source=pair.source,
        sink=pair.sink,
        sizes=pair.sizes,
        directive=request.text,
    )


def clobbered(
    found: Clobber, pair: InstancePair | None, window: Window, enough: int | None, request: Request
) -> ScheduleError:
    """The error where a plane is overwritten before its last read.

    Args:
        pair: the reader and the writer, where they are known.
        enough: how many planes would do, if that is known.
    """
    func, span = found.func, request.directive.span
    kept = "1 plane" if window.planes == 1 else f"{window.planes} planes"
    what = f"{request.subject} is refused: {kept} of {func.name} along axis {window.axis}"
    if pair is None:
        return ScheduleError(
            f"{what}: it is not shown that this is enough", where=span, status="unproved",
            kind="clobber", tensor=func.name, directive=request.text,
        )  # fmt: skip
    reader, writer = pair.source, pair.sink
    at = ", ".join(f"{k}={v}" for k, v in pair.sizes.items())
    if found.races:
        wrong = f"{reader} and {writer} write one element of it concurrently"
    else:
        wrong = f"{writer} overwrites what {reader} still reads"
    return ScheduleError(
        f"{what}: too few, {wrong}, at {at}",
        where=span,
        hint=f"keep more planes: fold_storage({window.axis}, {enough})"
        if enough is not None
        else f"keep {func.name} whole",
        status="violation",
        kind="clobber",
        tensor=func.name,
        source=reader,
        sink=writer,
        sizes=pair.sizes,
        directive=request.text,
    )


def _kind(directive: Directive, v: Violation) -> str:
    named = {"parallel": "race", "vectorize": "lane"}.get(directive.name, v.dependence.kind)
    return v.kind or named


def _order_text(directive: Directive, v: Violation) -> str:
    if v.is_lost:
        return ""
    if directive.name in ("parallel", "accumulate_at") or v.kind == "race":
        return "two iterations would run concurrently, and one needs the other: "
    if directive.name == "vectorize":
        return "two lanes would run concurrently, and one needs the other: "
    return "the first would run after the second: "


def _hint(directive: Directive, v: Violation, pair: InstancePair, helps: Helps) -> str | None:
    d = v.dependence
    if v.is_lost and d.source.func.history.home is not None:
        return f"{d.tensor.name} is new in each iteration: use it in the iteration that computes it"
    if v.is_lost:
        return f"compute {d.tensor.name} at a loop that is around all that read it"
    if v.kind == "race":
        return "store_at that loop, or one inside of it: each iteration has storage of its own then"
    if v.has_non_atomic_copies:
        return (
            "copy-in and copy-out of a private accumulator are not atomic: accumulate_at a loop "
            "around the parallel one"
        )
    if d.source is d.sink and d.tensor is d.source.func and accumulates(d.source.definition):
        if directive.name == "parallel":
            return (
                "atomic() lets iterations add to the same element concurrently; rfactor(...) gives "
                "each a partial sum"
            )
        if directive.name == "accumulate_at":
            return (
                "accumulate_at a loop around the parallel one; rfactor(...) gives each a partial "
                "sum"
            )
        return "a float sum keeps its order: reassociate() allows any"
    if d.source.func.is_reduction and d.source is d.sink:
        return "rfactor(...) gives each iteration a partial result"
    if not d.exact:
        return "which elements they touch depends on data: trust() takes your word for it"
    if directive.name == "parallel":
        return _wavefront_hint(pair)
    if directive.name in ("reorder", "transform"):
        return _skew_hint(directive, pair, helps)
    return None


def _wavefront_hint(pair: InstancePair) -> str | None:
    """Diagonals take two loops at least, and no distance that goes backwards."""
    before, after = pair.source.point, pair.sink.point
    goes_backwards = before.keys() == after.keys() and any(after[k] < before[k] for k in before)
    if goes_backwards or max(len(before), len(after)) < 2:
        return None
    return "wavefront(...) makes an inner loop parallel, where all distances go forward"


def _skew_hint(directive: Directive, pair: InstancePair, helps: Helps) -> str | None:
    """By how much to skew, where the inner loop goes backwards while the outer goes forward."""
    before, after = pair.source.point, pair.sink.point
    if before.keys() != after.keys():
        return None
    steps = {k: after[k] - before[k] for k in before}
    forward = [k for k, x in steps.items() if x > 0]
    backward = [k for k, x in steps.items() if x < 0]
    if not forward or not backward:
        return None
    t, i = forward[0], backward[0]
    factor = -(steps[i] // steps[t])
    skew = Skew(directive.stage, t, i, factor)
    if not helps(directive, [skew]):
        return None
    return f'skew("{t}", "{i}", {factor}) first makes the distance along {i} go forward'
