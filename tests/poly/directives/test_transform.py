"""transform: new coordinates."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, plane, seidel_2d
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    made = s["f"].transform((i, j), lambda i, j: (i + j, j), names=("u", "v"))
    assert [x.name for x in made] == ["u", "v"]
    listed(
        s,
        """
        for u in [0, n + m - 1):
          for v in [max(u + 1 - n, 0), min(u + 1, m)):
            f[i, j] = x[i, j] * 2 + i  # i = u - v
    """,
    )


def test_what_a_loop_counts_is_told_from_a_loop_of_that_name() -> None:
    """The loop i counts columns; no loop is called j."""
    s = ps.Schedule(plane())
    s["f"].transform((i, j), lambda i, j: (j + 1, i + j), names=("i", "v"))
    listed(
        s,
        """
        for i in [1, m + 1):
          for v in [i - 1, n + i - 1):
            f[i, j] = x[i, j] * 2 + i  # f.i = v + 1 - i, j = i - 1
    """,
    )


MAPS = {
    "reversed": lambda i, j: (-i, j),
    "swapped": lambda i, j: (j, i),
    "skewed": lambda i, j: (i, 2 * i + j),
    "not unimodular": lambda i, j: (i + j, i - j),
    "strided": lambda i, j: (3 * i, j + 7),
    "quotients": lambda i, j: (i // 4 * 8 + i % 4, j),
}


@pytest.mark.parametrize("name", MAPS)
def test_values(name: str) -> None:
    s = ps.Schedule(plane())
    s["f"].transform((i, j), MAPS[name])
    same(s)


@pytest.mark.slow
def test_the_order_given_is_that_of_the_arguments() -> None:
    s = ps.Schedule(plane())
    other = s.copy()
    s["f"].transform((j, i), lambda j, i: (j, i))
    other["f"].reorder(j, i)
    same(s)
    same(other)


def test_refuses_a_dependence_that_turns_round() -> None:
    s = ps.Schedule(gauss_seidel())
    with refused(s, "transform(('r', 'c'), lambda r, c: (-r, c)", kind="flow"):
        s["a"].transform(("r", "c"), lambda r, c: (-r, c))


def test_refuses_two_iterations_at_one_place() -> None:
    s = ps.Schedule(plane())
    with refused(s, "two iterations would get the same coordinates", hint="independent"):
        s["f"].transform((i, j), lambda i, j: (i + j, 2 * i + 2 * j))


def test_refuses_what_is_not_affine() -> None:
    s = ps.Schedule(plane())
    with refused(s, "one of the new coordinates is not affine", hint="by small constants"):
        s["f"].transform((i, j), lambda i, j: (i * j, j))


def test_refuses_another_number() -> None:
    s = ps.Schedule(plane())
    with refused(s, "transform of 2 loops gives 1 coordinate and 2 names"):
        s["f"].transform((i, j), lambda i, j: i)
    with refused(s, "transform of 2 loops gives 2 coordinates and 1 names"):
        s["f"].transform((i, j), lambda i, j: (i, j), names=("x",))


@pytest.mark.parametrize("kind", ["parallel", "vector", "unrolled"])
def test_refuses_to_forget_what_a_loop_is(kind: str) -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="guard")
    {"parallel": s["f"].parallel, "vector": s["f"].vectorize, "unrolled": s["f"].unroll}[kind]("ji")
    with refused(
        s, f"the loop ji is {kind} already", hint="change coordinates first", status="malformed"
    ):
        s["f"].transform(("jo", "ji"), lambda a, b: (b, a))
    s["f"].transform((i, "jo"), lambda a, b: (b, a))
    assert s["f"]["ji"].kind == kind


def test_refuses_a_name_that_is_there() -> None:
    s = ps.Schedule(seidel_2d())
    with refused(s, "a.update(0) has a loop t already"):
        s["a"].transform(("i", "j"), lambda i, j: (i, j), names=("t", "j"))
