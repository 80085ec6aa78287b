"""How much is looked at for a schedule, and how much code it may become."""

from __future__ import annotations

from ...records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Effort:
    """
    Attributes:
        code: operators and accesses of a tile, all its copies together.
        gathers: elements of a vector's operands that are loaded one by one, all copies together.
        columns: vectors side by side.
        panels: tiles side by side whose common operand is copied.
        strips: rows of a strip down which windows slide.
        terms: of a sum in one iteration, where tiles meet panels: addresses of all rows move once
            for them.
        width: partial plans that are followed.
        tries: plans that are tried before a program is left as it is written.
        moves: whether Funcs may be computed in loops of others.
        calls: over how many calls the time is spread that a plan takes to be proven and compiled;
            0 where it does not count.
        price: by which part of its time a plan may be slower for each second that it is proven and
            compiled sooner, as `build_time` counts them: what is estimated to take less costs less.
        waits: whether a call waits for it: then it may take as long as `build_time.allowed` says.
        descends: whether the best plan is looked at once more, one Func at a time.
    """

    code: int = 400
    gathers: int = 256
    columns: tuple[int, ...] = (1, 2, 4)
    panels: tuple[int, ...] = (1, 2, 4)
    strips: tuple[int, ...] = (16, 64)
    terms: int = 4
    width: int = 6
    tries: int = 16
    moves: bool = True
    calls: int = 0
    price: float = 0.0
    waits: bool = False
    descends: bool = True


THOROUGH = Effort(price=0.02)
"""For a schedule that is asked for."""

QUICK = Effort(
    code=100,
    gathers=32,
    columns=(1, 2),
    panels=(2,),
    strips=(16,),
    terms=1,
    width=4,
    tries=4,
    calls=2000,
    waits=True,
    descends=False,
)
"""For a call that waits for it."""

BRIEF = Effort(
    code=40,
    gathers=16,
    columns=(1,),
    panels=(),
    strips=(),
    terms=1,
    width=3,
    tries=3,
    calls=2000,
    waits=True,
    descends=False,
)
"""For a call that does not take long either way."""

MANY_CALLS = 40_000
"""Calls of who has called a Func often."""

MANY = 40
"""Statements of a program beyond which it is large."""


def unhurried(effort: Effort) -> Effort:
    """The same where no call waits for it, and many are expected: then what takes long is looked at
    as if it was asked for."""
    if effort == QUICK:
        effort = replace(THOROUGH, price=0.0, descends=False)
    return replace(effort, calls=MANY_CALLS, waits=False)


def of_large(effort: Effort) -> Effort:
    """The same for a program of many statements."""
    return replace(effort, columns=(1,), panels=(), strips=(), moves=False)


LITTLE, SOME, MUCH = 150_000, 4_000_000, 1_000_000_000
"""Operators and accesses that as written take about as long as the overhead of a call, some
milliseconds, and a second."""


def effort_for(amount: int) -> Effort | None:
    """What a call is worth that executes an amount of operators and accesses; None where it is not
    worth anything, as the program takes no time as it is written."""
    for most, effort in ((LITTLE, None), (SOME, BRIEF), (MUCH, QUICK)):
        if amount <= most:
            return effort
    return THOROUGH
