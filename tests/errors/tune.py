"""Messages of facts about programs."""

from __future__ import annotations

import polysched as ps
from polysched.show.explained import explained
from polysched.tune.plans.plan import Plan

from .case import says

n, m = ps.sizes("n m")
i = ps.vars("i")


def paired() -> ps.Func:
    """Two sizes, of which one is three times the other."""
    x, f = ps.Input("x", ps.int32, (m,)), ps.Func("f", (n,))
    f[i] = x[i]
    ps.require(m == 3 * n, "three for each", f)
    return f


@says(
    """
    q is no size of this program
      at FILE:LINE
      hint: they are m, n
    """,
    ps.LanguageTypeError,
)
def facts_at_a_size_of_nobody() -> None:
    ps.facts(paired(), sizes={"q": 3})


@says(
    """
    the program accepts no call with n=4, m=13
      at FILE:LINE
      hint: ps.Schedule(f).conditions are what sizes must meet
    """
)
def facts_at_sizes_that_do_not_go_together() -> None:
    ps.facts(paired(), sizes={"n": 4, "m": 13})


@says(
    """
    sizes=1000 is no mapping
      at FILE:LINE
      hint: sizes={"n": 1000}
    """,
    ps.LanguageTypeError,
)
def facts_at_a_number() -> None:
    ps.facts(paired(), sizes=1000)  # type: ignore[arg-type]


# automatic schedules ----------------------------------------------------------------------------
@says(
    """
    q is no size of this program
      at FILE:LINE
      hint: they are m, n
    """,
    ps.LanguageTypeError,
)
def schedule_for_a_size_of_nobody() -> None:
    ps.Schedule.auto(paired(), sizes={"q": 3})


@says(
    """
    sizes=1000 is no mapping
      at FILE:LINE
      hint: sizes={"n": 1000}
    """,
    ps.LanguageTypeError,
)
def schedule_for_a_number() -> None:
    ps.Schedule.auto(paired(), sizes=1000)  # type: ignore[arg-type]


@says(
    """
    threads='2' is no number of threads
      at FILE:LINE
      hint: threads=2
    """,
    ps.LanguageTypeError,
)
def schedule_for_threads_as_text() -> None:
    ps.Schedule.auto(paired(), threads="2")  # type: ignore[arg-type]


@says(
    """
    threads=0: a call uses one thread or more
      at FILE:LINE
    """
)
def schedule_for_no_threads() -> None:
    ps.Schedule.auto(paired(), threads=0)


@says(
    """
    reassociate=1 is neither True nor False
      at FILE:LINE
    """,
    ps.LanguageTypeError,
)
def schedule_with_a_number_for_a_choice() -> None:
    ps.Schedule.auto(paired(), reassociate=1)  # type: ignore[arg-type]


@says(
    """
    this text is no plan that to_json wrote
      at FILE:LINE
    """,
    ps.LanguageError,
)
def plan_of_other_text() -> None:
    Plan.from_json("{}")


@says(
    r"""
    comment takes a text, and not 'two\x00words'
      at FILE:LINE
    """,
    ps.LanguageTypeError,
)
def comment_that_no_file_can_hold() -> None:
    ps.Schedule(paired()).comment("two\0words")


@says(
    """
    comment takes a text, and not 5
      at FILE:LINE
    """,
    ps.LanguageTypeError,
)
def comment_without_a_text() -> None:
    ps.Schedule(paired()).comment(5)  # type: ignore[arg-type]


@says(
    """
    there is no code PS0492
      hint: near are PS0409, PS0402, PS0901
    """,
    ps.PolyschedError,
)
def code_that_is_none() -> None:
    explained("PS0492")
