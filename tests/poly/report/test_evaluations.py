"""What is inlined by the rule of a Schedule, and how often it is evaluated then."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import pytest

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n,))
y = ps.Input("y", ps.float32, (n, m))
at = ps.Input("at", ps.int32, (n,), range=(0, n))

EXPENSIVE: dict[str, Callable[[ps.Expr], ps.Expr]] = {
    "exp": ps.exp, "log": ps.log, "sqrt": ps.sqrt, "rsqrt": ps.rsqrt, "tanh": ps.tanh,
    "sigmoid": ps.sigmoid, "a division": lambda v: v / 3, "an inverse": lambda v: 1 / v,
    "a remainder": lambda v: ps.cast(ps.int32, v) % 7,
    "integers divided": lambda v: ps.cast(ps.int32, v) // 7,
    "in a select": lambda v: ps.select(v > 0, ps.exp(v), 0),
}  # fmt: skip
CHEAP: dict[str, Callable[[ps.Expr], ps.Expr]] = {
    "a product": lambda v: v * 3,
    "a clamp": lambda v: ps.clip(v, 0, 1),
    "arithmetic of indices": lambda v: x[i // 2] + (i % 3),
}


def along(value: ps.Expr, *reads: tuple[object, ...]) -> ps.Schedule:
    """e[i], which o[i, j] reads at some points."""
    e, o = ps.Func("e"), ps.Func("o", (n, m))
    e[i] = value
    o[i, j] = sum((e[r] for r in reads), y[i, j])
    return ps.Schedule(o)


def said(s: ps.Schedule) -> list[str]:
    return [t.strip() for t in str(s).splitlines() if " is inlined into " in t]


# the rule -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", EXPENSIVE.values(), ids=EXPENSIVE)
def test_what_takes_long_is_not_repeated(value: Callable[[ps.Expr], ps.Expr]) -> None:
    s = along(value(x[i]), (i,))
    assert not s["e"].is_inlined
    assert said(s) == []
    assert [loop.name for loop in s["e"].loops] == ["i"]


@pytest.mark.parametrize("value", CHEAP.values(), ids=CHEAP)
def test_what_is_cheap_is_repeated_and_this_is_said(value: Callable[[ps.Expr], ps.Expr]) -> None:
    s = along(value(x[i]), (i,))
    assert s["e"].is_inlined
    assert said(s) == ["note: e is inlined into o, evaluated m times for each element"]
    assert "  e: inlined into o, evaluated m times for each element" in s.explain().splitlines()


def test_two_consumers_repeat_it() -> None:
    for value, stays in ((ps.exp(x[i]), True), (x[i] * 3, False)):
        e, a, b = ps.Func("e"), ps.Func("a", (n,)), ps.Func("b", (n,))
        e[i] = value
        a[i], b[i] = e[i] + 1, e[i] * 2
        s = ps.Schedule((a, b))
        assert s["e"].is_inlined is not stays
        text = "note: e is inlined into a and b, evaluated 2 times for each element"
        assert said(s) == ([] if stays else [text])


@pytest.mark.parametrize(
    "index", [lambda: i, lambda: i + 1, lambda: n - 1 - i, lambda: 2 * i + 1, lambda: 3 - 2 * i]
)
def test_each_element_once_is_inlined(index: Callable[[], ps.Expr]) -> None:
    e, o = ps.Func("e"), ps.Func("o", (n,))
    e[i] = ps.exp(x[ps.clip(i, 0, n - 1)])
    o[i] = e[index()] + 1
    s = ps.Schedule(o)
    assert s["e"].is_inlined
    assert said(s) == []
    assert "  e: inlined into o" in s.explain().splitlines()


@pytest.mark.parametrize(
    "index", [lambda: i // 2, lambda: ps.minimum(i, 3), lambda: at[i], lambda: 0 * i, lambda: i % 4]
)
def test_where_elements_may_be_read_again_it_stays(index: Callable[[], ps.Expr]) -> None:
    e, o = ps.Func("e", (n + 9,)), ps.Func("o", (n,))
    e[i] = ps.exp(x[ps.clip(i, 0, n - 1)])
    o[i] = e[index()] + 1
    assert not ps.Schedule(o)["e"].is_inlined


def test_an_index_of_two_loops_tells_the_second_one() -> None:
    """Of i + j at a known i."""
    for second, stays in ((i, False), (2 * j, True)):
        e, o = ps.Func("e"), ps.Func("o", (n, m))
        e[i, j] = ps.exp(x[ps.clip(i + j, 0, n - 1)])
        o[i, j] = e[i + j, second] if second is i else e[0 * i, second]
        assert ps.Schedule(o)["e"].is_inlined is not stays


def test_loops_around_count_for_what_is_fresh_in_them() -> None:
    a = ps.InOut("a", ps.float32, (n,))
    with ps.sequential("t", 0, m):
        e = ps.Func("e")
        e[i] = ps.exp(a[i])
        a[i] = e[i] * 2
    s = ps.Schedule(a)
    assert said(s) == []


def test_a_chain_is_judged_by_what_reads_it_in_the_end() -> None:
    e, g, o = ps.Func("e"), ps.Func("g"), ps.Func("o", (n, m))
    e[i] = ps.exp(x[i])
    g[i] = e[i] * 2
    o[i, j] = g[i] + y[i, j]
    s = ps.Schedule(o)
    assert (s["g"].is_inlined, s["e"].is_inlined) == (True, False)


def test_the_default_and_the_user_decide_for_themselves() -> None:
    e, o = ps.Func("e"), ps.Func("o", (n, m))
    e[i] = ps.exp(x[i])
    o[i, j] = e[i] + y[i, j]
    assert not ps.Schedule.default(o)["e"].is_inlined
    s = ps.Schedule(o)
    s[e].compute_inline()
    assert said(s) == ["note: e is inlined into o, evaluated m times for each element"]


# the number ---------------------------------------------------------------------------------------
INDICES: dict[str, Callable[..., object]] = {
    "i": lambda i, j: i,
    "j": lambda i, j: j,
    "j + 2": lambda i, j: j + 2,
    "3 * i": lambda i, j: 3 * i,
    "0 * i + 1": lambda i, j: 0 * i + 1,
    "i // 2": lambda i, j: i // 2,
    "i + j": lambda i, j: i + j,
    "i - j": lambda i, j: i - j + 40,
}
SIZES = ((4, 7), (5, 3))


@pytest.mark.parametrize(
    "names", [*((a,) for a in INDICES), *itertools.combinations(INDICES, 2)], ids=" and ".join
)
def test_the_number_is_what_is_counted(names: tuple[str, ...]) -> None:
    e, o = ps.Func("e"), ps.Func("o", (n, m))
    e[i] = x[ps.clip(i, 0, n - 1)] + 1
    o[i, j] = sum((e[INDICES[name](i, j)] for name in names), y[i, j])
    s = ps.Schedule(o)
    if not s["e"].is_inlined:
        s["e"].compute_inline()
    (evaluation,) = s.evaluations
    text = evaluation.times.removesuffix(" for each element")
    for sizes in SIZES:
        counts = _counted(names, *sizes)
        if "(" in text:
            ratio, _, at = text.partition(" times for each element (")
            total, _, rest = at.partition(" for ")
            distinct = int(rest.partition(",")[0])
            here = dict(part.split("=") for part in rest[:-1].split("at ")[1].split(", "))
            counts = _counted(names, int(here.get("n", 1)), int(here.get("m", 1)))
            if len(here) == 2:
                assert (int(total), distinct) == (counts.total(), len(counts))
            assert ratio == f"{int(total) / distinct:.2f}"
        elif text.startswith("up to "):
            bound = text.removeprefix("up to ").removesuffix(" times")
            assert max(counts.values()) <= _at(bound, *sizes)
        else:
            number = _at(text.removesuffix(" times") or "1", *sizes)
            assert set(counts.values()) == {number}


def _counted(names: tuple[str, ...], rows: int, columns: int) -> Counter[object]:
    """How often each element is evaluated."""
    points = itertools.product(range(rows), range(columns))
    return Counter(INDICES[name](i, j) for i, j in points for name in names)


def _at(text: str, rows: int, columns: int) -> int:
    return int(eval(text, {"n": rows, "m": columns}))


def test_a_triangle_is_said_to_be_at_most_its_longest_row() -> None:
    k = ps.RVar("k", 0, i + 1)
    e, o = ps.Func("e"), ps.Func("o", (n,))
    e[i] = x[i] * 3
    o[i] = ps.sum(e[i] * x[k], k)
    (text,) = said(ps.Schedule(o))
    assert text.endswith("evaluated up to n times for each element")


def test_where_data_say_which_element_is_meant_there_is_no_number() -> None:
    e, o = ps.Func("e"), ps.Func("o", (n,))
    e[i] = x[i] * 3
    o[i] = e[at[i]]
    assert said(ps.Schedule(o)) == ["note: e is inlined into o, evaluated wherever it is read"]


def test_known_sizes_are_numbers() -> None:
    s = along(x[i] * 3, (i,)).fixed({"m": 12})
    assert said(s) == ["note: e is inlined into o, evaluated 12 times for each element"]
