"""fold_storage: planes of a Func that share storage."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import polysched as ps
from polysched.poly.placement import folding
from polysched.poly.tree.memory import Window

from .cases import T, i, j, m, n, t
from .support import refused, same, witness


def last_of_jacobi() -> ps.Func:
    """Two points in each of T steps; the last step is asked for."""
    x = ps.Input("x", ps.int64, (n,))
    f, last = ps.Func("f", (T + 1, n), ps.int64), ps.Func("last", (n,))
    f[0, i] = x[i]
    f[t, i] = f[t - 1, ps.clip(i - 1, 0, n - 1)] + f[t - 1, ps.clip(i + 1, 0, n - 1)]
    last[i] = f[T, i]
    return last


def rows(*, together: bool = True) -> ps.Schedule:
    """g needs two rows of f, and comes one row behind it."""
    x = ps.Input("x", ps.int64, (n + 1, m))
    f, g = ps.Func("f", (n + 1, m)), ps.Func("g", (n, m))
    f[i, j] = x[i, j] * 2
    g[i, j] = f[i, j] + f[i + 1, j]
    s = ps.Schedule(g)
    if together:
        s["g"].compute_with("f", i, shift=1)
    return s


def window(s: ps.Schedule, name: str) -> Window:
    return next(w for f, w in s.windows.items() if f.name == name)


# accepted ---------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("planes", [2, 3])
def test_jacobi_needs_two_planes(planes: int) -> None:
    s = ps.Schedule(last_of_jacobi())
    assert window(s, "f") == Window(0, 2), "without being asked"
    assert s["f"].fold_storage(0, planes).name == "f.piece(1)"
    assert window(s, "f") == Window(0, planes)
    assert f"  keeps {planes} of f" in str(s).splitlines()
    same(s, over=(0, 1, 2, 3, 7))


@pytest.mark.slow
@pytest.mark.parametrize("planes", [2, 3, 5])
def test_of_a_func_that_is_no_recurrence(planes: int) -> None:
    s = rows()
    assert not s.windows
    s["f"].fold_storage(0, planes)
    same(s)
    sizes = s.compile()._variants[False].bytes({"n": 100, "m": 50})
    assert sum(sizes) == planes * 50 * 8


@pytest.mark.slow
def test_the_last_of_several_counts() -> None:
    s = ps.Schedule(last_of_jacobi())
    s["f"].fold_storage(0, 4).fold_storage(0, 2)
    assert window(s, "f") == Window(0, 2)
    same(s, over=(0, 1, 2, 5))


@pytest.mark.slow
def test_directives_that_leave_the_planes_alone() -> None:
    s = rows()
    s["f"].fold_storage(0, 2).vectorize(j, 4)
    s["g"].vectorize(j, 4)
    same(s)


def test_under_an_assumption() -> None:
    """Without a step there is one plane."""
    s = ps.Schedule(last_of_jacobi())
    s.assume(T == 0)
    s["f"].fold_storage(0, 1)
    same(s, T=0)


def test_written_down_and_read_back() -> None:
    g = rows()
    g["f"].fold_storage(0, 2)
    back = ps.Schedule.from_json(g.program.outputs[0], g.to_json())
    assert back == g
    assert window(back, "f") == Window(0, 2)


# refused ----------------------------------------------------------------------------------------
def test_refuses_one_plane_of_jacobi() -> None:
    s = ps.Schedule(last_of_jacobi())
    with refused(
        s, "fold_storage(axis=0, planes=1) is refused", "1 plane of f along axis 0: too few",
        "f.piece(1)[t=1, i=0] overwrites what f.piece(1)[t=1, i=1] still reads, at n=2, T=1",
        hint="fold_storage(0, 2)", status="violation", kind="clobber", tensor="f",
        sizes={"n": 2, "T": 1},
    ) as errors:  # fmt: skip
        s["f"].fold_storage(0, 1)
    assert witness(errors[0]) == ({"n": 2, "T": 1}, (1, 1), (1, 0))
    assert window(s, "f") == Window(0, 2)


def test_the_hint_is_enough() -> None:
    """Four rows of f are between what g reads first and last."""
    x, f, g = ps.Input("x", ps.int64, (n + 3,)), ps.Func("f", (n + 3,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[i] + f[i + 3]
    s = ps.Schedule(g)
    s["g"].compute_with("f", i, shift=3)
    with refused(s, "1 plane of f", hint="keep more planes: fold_storage(0, 4)", kind="clobber"):
        s["f"].fold_storage(0, 1)
    s["f"].fold_storage(0, 4)
    same(s)


def test_refuses_in_time_though_no_hint_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "HINT", 1)
    s = ps.Schedule(last_of_jacobi())
    with refused(s, "1 plane of f", hint="keep f whole", kind="clobber", status="violation"):
        s["f"].fold_storage(0, 1)


def test_refuses_a_batch_of_nothing_else() -> None:
    """It moves no instance, and still has to be proven."""
    s = ps.Schedule(last_of_jacobi())
    with refused(s, "planes=1) in a batch is refused: ", "too few", kind="clobber"), s.batch():
        s["f"].fold_storage(0, 1)


def test_what_is_trusted_of_a_fold_is_not_asked_again() -> None:
    """Too few planes, also for what is said later; in a variant, too."""
    s = ps.Schedule(last_of_jacobi())
    with s.trust("a reason"):
        s["f"].fold_storage(0, 1)
    s["last"].split(i, 4)
    s["f"].split(i, 4)
    s.assume(n >= 2)
    s.specialize(n >= 8)["f"].rename("io", "block")


def test_refuses_what_spoils_more_than_is_trusted_of_a_fold() -> None:
    """Elements to the right overwrite what those to the left read, too."""
    s = ps.Schedule(last_of_jacobi())
    with s.trust("a reason"):
        s["f"].fold_storage(0, 1)
    with refused(s, "parallel('i') is refused: 1 plane of f", kind="clobber") as errors:
        s["f"].parallel(i)
    assert witness(errors[0]) == ({"n": 2, "T": 1}, (1, 0), (1, 1))


def test_refuses_a_copy_inside_of_a_batch() -> None:
    s = ps.Schedule(last_of_jacobi())
    with refused(s, "too few", kind="clobber"), s.batch():
        s["f"].fold_storage(0, 1)
        s.compile()


@pytest.mark.slow
def test_refuses_what_makes_a_fold_wrong_later() -> None:
    s = rows()
    s["f"].fold_storage(0, 2)
    with refused(
        s, """s["f"].fission('i', after='f')""", "2 planes of f along axis 0: too few",
        kind="clobber", status="violation", tensor="f",
    ):  # fmt: skip
        s["f"].fission(i)
    same(s)


@pytest.mark.slow
def test_refuses_a_parallel_loop_later_at_its_line() -> None:
    s = row_by_row()
    s["f"].fold_storage(0, 1)
    same(s)
    with refused(
        s, """s["f"].parallel('i') is refused: 1 plane of f along axis 0: too few""",
        "f[i=1, j=0] overwrites what g[i=0, j=0] still reads, at n=2, m=1",
        hint="keep f whole", status="violation", kind="clobber", tensor="f",
        sizes={"n": 2, "m": 1},
    ) as errors:  # fmt: skip
        s["f"].parallel(i)  # refused here
    source, first = inspect.getsourcelines(test_refuses_a_parallel_loop_later_at_its_line)
    where = errors[0].where
    assert where is not None
    assert where.line == first + next(k for k, x in enumerate(source) if "# refused here" in x)
    same(s)


@pytest.mark.slow
def test_refuses_a_fold_below_a_parallel_loop() -> None:
    s = row_by_row()
    s["f"].parallel(i)
    with refused(s, "fold_storage(axis=0, planes=2) is refused", "too few", kind="clobber"):
        s["f"].fold_storage(0, 2)
    same(s)


def test_refuses_writes_at_the_same_time_whoever_reads_them() -> None:
    """No element of f is read: the loop over r never runs."""
    f, g, r = ps.Func("f", (n, 4)), ps.Func("g", (n,)), ps.RVar("r", 0, 0)
    f[j, i] = i + j
    g[j] = 0
    g[j] += f[j, r]
    for is_parallel in (True, False):
        s = ps.Schedule(g)
        s[f].compute_root()
        if is_parallel:
            s[f].parallel(i)
            with refused(
                s, "1 plane of f along axis 1: too few, f[j=0, i=0] and f[j=0, i=1] write one "
                "element of it concurrently, at n=1", hint="fold_storage(1, 4)", kind="clobber",
            ):  # fmt: skip
                s[f].fold_storage(1, 1)
            s[f].fold_storage(1, 4)
        else:
            s[f].fold_storage(1, 1)
            with refused(s, 's["f"].parallel', "concurrently", kind="clobber"):
                s[f].parallel(i)
            s[f].parallel(j)
        same(s)


def row_by_row() -> ps.Schedule:
    """g needs the row of f that has just been computed, from both ends."""
    x = ps.Input("x", ps.int64, (n, m))
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[i, j] = x[i, j] * 2
    g[i, j] = f[i, j] + f[i, m - 1 - j]
    s = ps.Schedule(g)
    s["g"].compute_with("f", i)
    return s


def test_refuses_where_all_is_needed_later() -> None:
    s = rows(together=False)
    with refused(
        s, "2 planes of f", "f[i=2, j=0] overwrites what g[i=0, j=0] still reads, at n=2, m=1",
        kind="clobber",
    ):  # fmt: skip
        s["f"].fold_storage(0, 2)


def test_refuses_outputs() -> None:
    s = ps.Schedule(last_of_jacobi())
    with refused(s, "the storage of last cannot be folded: it is an output", status="malformed"):
        s["last"].fold_storage(0, 2)


def test_refuses_what_an_extern_stage_is_given() -> None:
    x = ps.Input("x", ps.float64, (n,))
    f = ps.Func("f", (T + 1, n), ps.float64)
    f[0, i] = x[i]
    f[t, i] = f[t - 1, i] * 2
    last = ps.extern("last", lambda a: a[0], [(f, ((T, T + 1), (0, n)))], (n,), ps.float64)
    s = ps.Schedule(last)
    with refused(s, "f cannot be folded: an extern stage is given all of it", status="malformed"):
        s["f"].fold_storage(0, 2)


def test_refuses_what_data_place() -> None:
    x = ps.Input("x", ps.int64, (n,), range=(0, n))
    f, g, r = ps.Func("f", (n,), ps.int64), ps.Func("g", (n,)), ps.RVar("r", 0, n)
    f[i] = 0
    f[x[r]] += 1
    g[i] = f[i] + f[n - 1 - i]
    s = ps.Schedule(g)
    with refused(s, "f cannot be folded: data say where it is written", status="malformed"):
        s["f"].fold_storage(0, 2)


@pytest.mark.parametrize("axis", [-1, 2])
def test_refuses_no_such_axis(axis: int) -> None:
    s = rows()
    with refused(s, f"f has 2 axes, and no axis {axis}", status="malformed"):
        s["f"].fold_storage(axis, 2)


def test_refuses_what_is_no_number() -> None:
    s = rows()
    with refused(s, "the number of planes of fold_storage is at least 1, not 0"):
        s["f"].fold_storage(0, 0)
    with pytest.raises(TypeError, match="the number of planes of fold_storage is a Python integer"):
        s["f"].fold_storage(0, n)
    with pytest.raises(TypeError, match=r"the axis of fold_storage is .*, not 0\.5"):
        s["f"].fold_storage(0.5, 2)


def test_what_an_iteration_made_is_not_kept_for_the_next_one() -> None:
    """f has elements of its own in each step: the second one's do not clobber the first one's."""
    n, t_ = ps.sizes("n T")
    i = ps.vars("i")
    a, b = ps.Input("a", ps.int32, (n,)), ps.InOut("b", ps.int32, (n,))
    r = ps.RVar("r", 0, n)
    with ps.sequential("t", 0, t_):
        f = ps.Func("f", (n,), ps.int32)
        f[i] = a[i] + b[i]
        b[r] += f[n - 1]
    s = ps.Schedule(b)
    s["f"].fold_storage(0, 2)
    given = np.arange(7, dtype="int32")
    wanted, found = np.zeros(7, "int32"), np.zeros(7, "int32")
    ps.Schedule(b).compile()(given, wanted, T=3)
    s.compile()(given, found, T=3)
    assert np.array_equal(found, wanted)
