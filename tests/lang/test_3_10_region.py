"""Rule 3.10: a call may ask for a part of an output, and computes only what that needs."""

from __future__ import annotations

import inspect
import itertools
import threading

import numpy as np
import pytest
from gallery.case import Case
from gallery.execute import as_tuple, assert_same, kernel, outputs
from gallery.registry import CASES
from hypothesis import HealthCheck, given, settings, strategies as st
from lang.support import refused

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, n)
A = ps.Input("A", ps.float32, (n,))
B = ps.Input("B", ps.float32, (n, m))
a = np.float32([3, -1, 2, 7])
b = np.arange(12, dtype=np.float32).reshape(4, 3)


def flat(results):
    return tuple(x for r in as_tuple(results) for x in as_tuple(r))


def func(value, *shape, name="f"):
    f = ps.Func(name, shape or (n,))
    f[ps.vars("i")] = value
    return f


def both(program, /, *args, **kwargs):
    """A call with `region=`: the interpreter and both schedules give the same bits."""
    wanted = ps.interpret(program, *args, **kwargs)
    for schedule in (ps.Schedule.default(program), ps.Schedule(program)):
        found = schedule.compile()(*args, **kwargs)
        assert_same(flat(found), flat(wanted))
    return wanted


# the part equals the slice of the whole --------------------------------------------------------
CHOSEN = [
    case
    for number, case in enumerate(CASES)
    if (number % 4 == 0 or case.has("multiple") or case.has("gather"))
    and not case.has("inplace")
    and not case.name.endswith("_pyramid")  # half a minute each
    and case.name != "csr_transposed_matvec"  # the shape of its output fixes a size
]


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
@settings(deadline=None, max_examples=5, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_3_10_a_part_equals_the_slice(case: Case, data: st.DataObject) -> None:
    program, run = outputs(case), kernel(case)
    sizes = {s: data.draw(st.integers(0, min(9, case.limits.get(s, 9)))) for s in case.size_names}
    arguments = case.arguments(sizes, np.random.default_rng(1))
    whole = iter(flat(run(**arguments)))
    arguments.pop("shape", None)
    regions, wanted = [], []
    for f in program:
        components = [next(whole) for _ in f.dtypes]
        ends = [data.draw(st.integers(0, extent)) for extent in components[0].shape]
        region = tuple((data.draw(st.integers(0, end)), end) for end in ends)
        regions.append(region)
        wanted += [np.array(c[tuple(itertools.starmap(slice, region))]) for c in components]
    found = run(**arguments, region=tuple(regions) if len(regions) > 1 else regions[0])
    assert_same(flat(found), tuple(wanted))


PARTS = [(0, 4), (1, 3), (3, 4), (0, 0), (2, 2), (4, 4)]


def recurrence():
    f = ps.Func("f", (n,))
    f[0] = A[0]
    f[i] = f[i - 1] + A[i]
    return f


def block():
    f = ps.Func("f", (n,))
    f[i] = A[i]
    with ps.sequential("t", 0, 2) as t:
        f[i] = f[i] * 2 + t
    return f


def scan():
    f = ps.Func("f", (n,))
    f[i] = A[i]
    r = ps.RVar("r", 1, n)
    f[r] += f[r - 1]
    f[i] *= 2
    return f


def pieces():
    f = ps.Func("f", (n + 2,))
    f[0], f[n + 1] = 1.0, 2.0
    f[i] = A[i - 1]
    return f


def reduced():
    return func(ps.sum(A[k] * (i + 1), k) + ps.max(A[k], k, initial=0))


def pair():
    f = ps.Func("f", (n,), dtype=(ps.float32, ps.int64))
    f[i] = (A[i], i)
    return f


def sorted_():
    return ps.extern("s", np.sort, [A], (n,), ps.float32)


@pytest.mark.parametrize("make", [recurrence, block, scan, pieces, reduced, pair, sorted_])
@pytest.mark.parametrize("part", PARTS)
def test_3_10_every_kind_of_definition(make, part):
    program = make()
    wanted = [x[slice(*part)] for x in flat(ps.interpret(program, a))]
    assert_same(flat(both(program, a, region=part)), tuple(wanted))


@pytest.mark.slow
def test_3_10_one_axis_needs_no_inner_pair():
    f = func(A[i] * 2)
    for region in ((1, 3), ((1, 3),), [[1, 3]], (np.int64(1), np.int8(3)), {"f": (1, 3)}):
        assert both(f, a, region=region).tolist() == [-2, 4]


def test_3_10_several_axes():
    f = ps.Func("f", (n, m))
    f[i, j] = B[i, j] + B[n - 1 - i, j]
    found = both(f, b, region=((1, 3), (2, 3)))
    assert found.tolist() == (b + b[::-1])[1:3, 2:3].tolist()


def test_3_10_without_axes():
    f = ps.Func("f", ())
    f[()] = ps.sum(A[k], k)
    assert both(f, a, region=()) == a.sum()


def test_3_10_an_output_without_a_shape():
    f = ps.Func("f")
    f[i] = A[i] * 2
    assert both(f, a, region=(1, 3)).tolist() == [-2, 4]
    for call in (f, lambda *x, **y: ps.interpret(f, *x, **y)):
        with refused("out of bounds", error=ps.CallValueError):
            call(a, region=(1, 5))


def test_3_10_sizes_that_only_the_extent_has():
    f = func(i * 3)
    assert both(f, n=5, region=(2, 4)).tolist() == [6, 9]
    with refused("nothing in this call fixes the size n", error=ps.CallTypeError):
        f(region=(2, 4))


@pytest.mark.slow
def test_3_10_several_outputs():
    f = func(A[i] + 1)
    g = func(f[i] * 2, name="g")
    for region in (((0, 1), (2, 4)), [(0, 1), (2, 4)], {"g": (2, 4), "f": (0, 1)}):
        first, second = both((f, g), a, region=region)
        assert (first.tolist(), second.tolist()) == ([4], [6, 16])


def test_3_10_outputs_of_the_same_name():
    f, g = func(A[i]), func(A[i] * 2)
    first, second = both((f, g), a, region=((0, 1), (2, 4)))
    assert (first.tolist(), second.tolist()) == ([3], [4, 14])


def test_3_10_arguments_by_position_keep_their_order():
    x, y = ps.Input("x", ps.float32, (n,)), ps.Input("y", ps.float32, (n,))
    f = func(x[i] - y[i])
    run = ps.Schedule(f, args=(y, x)).compile()
    assert run(a, 2 * a, region=(0, 2)).tolist() == [3, -1]
    assert list(inspect.signature(run).parameters) == ["y", "x", "out", "shape", "region"]


def test_3_10_strided_arguments():
    f = func(A[i] * 2)
    assert both(f, a[::-2], region=(1, 2)).tolist() == [-2]


def test_3_10_out():
    f = func(A[i] * 2)
    for call in (f, lambda *x, **y: ps.interpret(f, *x, **y)):
        for wrapped in (lambda x: x, lambda x: (x,), lambda x: {"f": x}):
            room = np.zeros(6, np.float32)
            target = room[1:5:2]
            assert call(a, region=(1, 3), out=wrapped(target)) is target
            assert room.tolist() == [0, -2, 0, 4, 0, 0]


def test_3_10_other_calls_of_the_kernel_are_not_disturbed():
    f = func(A[i] * 2)
    run = ps.Schedule(f).compile()
    for part in PARTS:
        assert np.array_equal(run(a, region=part), 2 * a[slice(*part)])
        assert np.array_equal(run(a), 2 * a)


def test_3_10_several_threads():
    f = func(ps.sum(A[k] * (i + 1), k))
    run, found = ps.Schedule(f).compile(), {}

    def work(part):
        found[part] = run(a, region=part)

    threads = [threading.Thread(target=work, args=(part,)) for part in PARTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in PARTS:
        assert np.array_equal(found[part], run(a)[slice(*part)])


# only what it needs ----------------------------------------------------------------------------
def printed(capsys, program, /, *args, **kwargs):
    """The points at which something was traced; the same for whoever runs the program."""
    capsys.readouterr()
    ps.interpret(program, *args, **kwargs)
    wanted = sorted(x.split(" at ")[1] for x in capsys.readouterr().out.splitlines())
    for schedule in (ps.Schedule.default(program), ps.Schedule(program)):
        schedule.compile()(*args, **kwargs)
        assert sorted(x.split(" at ")[1] for x in capsys.readouterr().out.splitlines()) == wanted
    return wanted


def test_3_10_only_the_part_of_the_output_is_computed(capsys):
    f = func(ps.trace(A[i], "x"))
    assert printed(capsys, f, a, region=(1, 3)) == ["f[i=1]", "f[i=2]"]
    assert printed(capsys, f, a, region=(2, 2)) == []


@pytest.mark.slow
@pytest.mark.parametrize("shape", [None, (n,)])
def test_3_10_only_what_it_needs_of_others_is_computed(capsys, shape):
    """Of those with a declared shape, too."""
    g = ps.Func("g", shape)
    g[i] = ps.trace(A[i] + 1, "g")
    f = ps.Func("f", (n - 1,))
    f[i] = g[i] + g[i + 1]
    assert printed(capsys, f, a, region=(0, 1)) == ["g[i=0]", "g[i=1]"]
    assert printed(capsys, f, a, region=(1, 3)) == ["g[i=1]", "g[i=2]", "g[i=3]"]


def test_3_10_only_what_it_needs_of_updates_is_computed(capsys):
    f = ps.Func("f", (n,))
    f[i] = A[i]
    f[i] += ps.trace(A[i], "u")
    assert printed(capsys, f, a, region=(1, 2)) == ["f.update(0)[i=1]"]


def test_3_10_a_recurrence_is_computed_whole(capsys):
    f = ps.Func("f", (n,))
    f[0] = A[0]
    f[i] = ps.trace(f[i - 1], "x") + A[i]
    assert len(printed(capsys, f, a, region=(1, 2))) == 3


def test_3_10_what_is_not_needed_may_be_out_of_bounds():
    C = ps.Input("C", ps.float32, (m,))
    f = func(A[i] + C[i])
    c = np.float32([1, 2])
    assert both(f, a, c, region=(0, 2)).tolist() == [4, 1]
    with refused("out of bounds at", "f reads C[i]", error=ps.CallValueError):
        f(a, c, region=(0, 3))


# refusals --------------------------------------------------------------------------------------
@pytest.mark.slow
def test_3_10_a_declared_shape_holds_for_parts_too():
    """f has no element n, whoever asks for it; a part that does not need it is fine."""
    f = func(i * 2)
    g = func(f[i + 1], m, name="g")
    for program in ((f, g), g):
        one = isinstance(program, ps.Func)
        for call in (
            lambda p=program, **x: ps.interpret(p, **x),
            ps.Schedule.default(program).compile(),
        ):
            inside, beyond = ((0, 2), (0, 3)) if one else (((0, 3), (0, 2)), ((0, 3), (0, 3)))
            assert flat(call(n=3, m=3, region=inside))[-1].tolist() == [2, 4]
            with pytest.raises(ps.CallValueError, match="out of bounds"):
                call(n=3, m=3, region=beyond)


@pytest.mark.slow
def test_3_10_indices_from_data_are_checked_in_parts_too():
    I = ps.Input("I", ps.int32, (n,))
    f = func(A[i] * 2)
    g = func(f[I[i]], name="g")
    found = both((f, g), A=a, I=np.int32([3, 0, 1, 2]), region=((0, 1), (0, 2)))
    assert [x.tolist() for x in found] == [[6], [14, 6]]
    for call in (lambda **x: ps.interpret((f, g), **x), ps.Schedule((f, g)).compile()):
        with pytest.raises(ps.CallValueError, match=r"I\[0\]"):
            call(A=a, I=np.int32([4, 0, 1, 2]), region=((0, 1), (0, 2)))


BAD = [
    ((0, 5), "region= reaches beyond f", ps.CallValueError),
    ((5, 5), "region= reaches beyond f", ps.CallValueError),
    ((2, 1), "f has no elements from 2 to 1", ps.CallValueError),
    ((-1, 2), "f has no elements from -1 to 2", ps.CallValueError),
    (((0, 1), (0, 1)), "has 2 axes, and f has 1", ps.CallValueError),
    ((), "has 0 axes, and f has 1", ps.CallValueError),
    ((0, 1, 2), "has 3 axes, and f has 1", ps.CallValueError),
    (((0, 2, 1),), "(0, 2, 1) is no pair of integers", ps.CallTypeError),
    (5, "5 is no pair of integers", ps.CallTypeError),
    ("ab", "'ab' is no pair of integers", ps.CallTypeError),
    (slice(0, 2), "slice(0, 2, None) is no pair of integers", ps.CallTypeError),
    (((0.0, 2.0),), "(0.0, 2.0) is no pair of integers", ps.CallTypeError),
    (((None, 2),), "(None, 2) is no pair of integers", ps.CallTypeError),
    ((False, True), "(False, True) is no pair of integers", ps.CallTypeError),
    ({"g": (0, 1)}, "region= names g, and the outputs are f", ps.CallTypeError),
    ({"f": (0, 1), "g": 0}, "region= names f, g, and the outputs are f", ps.CallTypeError),
    ({}, "the outputs are f", ps.CallTypeError),
    ((0, 2**70), "a size is at least 0 and below 2**40", ps.CallValueError),
]


@pytest.mark.parametrize(("region", "said", "error"), BAD, ids=[repr(r) for r, _, _ in BAD])
def test_3_10_bad_regions(region, said, error):
    f = func(A[i] * 2)
    for call in (f, lambda *x, **y: ps.interpret(f, *x, **y)):
        with refused(said, error=error):
            call(a, region=region)


def test_3_10_as_many_regions_as_outputs():
    f, g = func(A[i]), func(A[i] * 2, name="g")
    run = ps.Schedule((f, g)).compile()
    for region in ((0, 1), ((0, 1),), ((0, 1),) * 3):
        with pytest.raises((ps.CallTypeError, ps.CallValueError)):
            run(a, region=region)
    with refused("region= names f, and the outputs are f, g", error=ps.CallTypeError):
        run(a, region={"f": (0, 1)})


def test_3_10_wrong_out_and_shape():
    f = func(A[i] * 2)
    for call in (f, lambda *x, **y: ps.interpret(f, *x, **y)):
        with refused("has length 4, but its extent", "is 2", error=ps.CallValueError):
            call(a, region=(1, 3), out=np.zeros(4, np.float32))
        with refused("out= names 'g', which is no output", hint="are f", error=ps.CallTypeError):
            call(a, region=(1, 3), out={"g": np.zeros(2, np.float32)})
        with refused("region= says what is computed, and shape= too", error=ps.CallTypeError):
            call(a, region=(1, 3), shape=4)
        with refused("there is no argument 'q'", hint="region", error=ps.CallTypeError) as found:
            call(a, region=(1, 3), q=1)
        assert "f.from" not in found.text


def test_3_10_arrays_in_place_are_updated_whole():
    X = ps.InOut("X", ps.float32, (n,))
    X[i] += 1.0
    f = func(X.final[i] * 2)
    mine = a.copy()
    for program in (X, f):
        for call in (ps.Schedule(program).compile(), lambda p=program, **y: ps.interpret(p, **y)):
            with refused("X is updated in place", error=ps.CallTypeError):
                call(X=mine, region=(0, 2))
    assert np.array_equal(mine, a)


def test_3_10_an_array_that_is_only_read():
    X = ps.InOut("X", ps.float32, (n,))
    assert both(func(X[i] * 2), X=a, region=(0, 2)).tolist() == [6, -2]


def test_3_10_region_is_no_name_for_a_size():
    with refused("'region' cannot name a size"):
        ps.size("region")
