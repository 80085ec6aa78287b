"""Rules 1.1 to 1.3: names, symbols, Inputs, Params, Consts, Funcs."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from lang.support import ALL, refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def vector(name="A", dtype=ps.float32):
    return ps.Input(name, dtype, (n,))


# 1.1 symbols ----------------------------------------------------------------------------------
@pytest.mark.parametrize("make", [ps.sizes, ps.vars])
def test_1_1_several_names_give_a_tuple_and_one_name_the_object(make):
    a, b = make("a b")
    assert (a.name, b.name) == ("a", "b")
    assert make("a").name == "a"
    assert isinstance(make("a, b, c"), tuple)


def test_1_1_sizes_and_vars_are_equal_by_name():
    assert ps.vars("i") == i
    assert ps.sizes("n") == n
    assert ps.size("n", default=m // 2) == n
    assert not bool(ps.vars("i") != i)
    assert hash(ps.vars("i")) == hash(i)
    assert len({i, ps.vars("i"), j, n, ps.sizes("n"), m}) == 4
    assert {i: 1, n: 2}[ps.vars("i")] == 1


def test_1_1_rvars_are_equal_by_name_and_bounds():
    k = ps.RVar("k", 0, n)
    same = ps.RVar("k", np.int64(0), ps.size("n", default=3))
    assert k == same
    assert hash(k) == hash(same)
    assert len({k, same, ps.RVar("k", 0, m), ps.RVar("l", 0, n), ps.RVar("k", 1, n)}) == 4


def test_1_1_rvars_are_equal_by_condition_too():
    def even(r):
        return r % 2 == 0

    assert ps.RVar("k", 0, n, where=even) == ps.RVar("k", 0, n, where=even)
    assert len({ps.RVar("k", 0, n, where=even), ps.RVar("k", 0, n)}) == 2
    A, B = vector("T"), vector("T")
    by_a = ps.RVar("k", 0, n, where=lambda r: A[r] > 0)
    by_b = ps.RVar("k", 0, n, where=lambda r: B[r] > 0)
    assert len({by_a, by_b}) == 2, "two Inputs of one name are two Inputs"


def test_1_1_a_var_is_neither_a_size_nor_an_rvar_of_its_name():
    assert len({ps.vars("x"), ps.sizes("x"), ps.RVar("x", 0, 3)}) == 3


def test_1_1_different_symbols_compare_at_run_time():
    f = ps.Func("f", (3, 3))
    f[i, j] = ps.select(i == j, 1, 0)
    assert np.array_equal(run(f), np.eye(3, dtype=int))


@pytest.mark.parametrize(
    "symbol", [i, n, ps.RVar("k", 0, n), ps.RVar("k", 1, n - 1, where=lambda k: k % 3 != i)]
)
def test_1_1_symbols_survive_copies_and_pickles(symbol):
    for other in (pickle.loads(pickle.dumps(symbol)), copy.copy(symbol), copy.deepcopy(symbol)):
        assert other == symbol
        assert hash(other) == hash(symbol)


def test_1_1_an_expression_survives_a_pickle():
    e = ps.exp(i * 2.0 + n)
    assert repr(pickle.loads(pickle.dumps(e))) == repr(e)


def test_1_1_tensors_and_params_are_identities():
    A, p = vector(), ps.Param("p", ps.float32)
    assert copy.deepcopy(A) is A
    assert copy.copy(A) is A
    assert copy.deepcopy(p) == p
    assert vector() != A
    assert len({A, vector()}) == 2


def test_1_1_library_functions_compose():
    def twice(x):
        (size,) = x.shape
        at = ps.vars("i")
        k = ps.RVar("k", 0, size)
        total, made = ps.Func("total", ()), ps.Func("twice", (size,))
        total[()] = 0.0
        total[()] += x[k]
        made[at] = 2 * x[at] + total[()]
        return made

    A = vector()
    f = twice(twice(A))
    a = np.arange(3, dtype=np.float32)
    once = 2 * a + a.sum()
    assert np.array_equal(run(f, A=a), 2 * once + once.sum())


def test_1_1_two_funcs_of_one_name_get_a_suffix():
    A = vector()
    first, second, third = (ps.Func("f", (n,)) for _ in range(3))
    first[i] = A[i] + 1
    second[i] = first[i] * 2
    third[i] = second[i] - first[i]
    names = ps.Program((third,)).names
    assert [names[f] for f in (first, second, third)] == ["f", "f_2", "f_3"]
    assert np.array_equal(run(third, A=np.ones(2, np.float32)), [2, 2])


def test_1_1_a_suffix_does_not_hit_a_name_that_is_taken():
    one, two, three = ps.Func("f", (n,)), ps.Func("f_2", (n,)), ps.Func("f", (n,))
    one[i] = i
    two[i] = one[i]
    three[i] = two[i]
    names = ps.Program((three,)).names
    assert sorted(names.values()) == ["f", "f_2", "f_3"]


def difference():
    A, B, C = vector("A"), vector("A"), vector("A_2")
    f = ps.Func("f", (n,))
    f[i] = A[i] - 2 * B[i] + 0 * C[i]
    return f, (A, B, C)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0)])
def test_1_1_of_inputs_of_one_name_a_call_numbers_all_but_the_first(order):
    f, inputs = difference()
    s = ps.Schedule(f, args=[inputs[k] for k in order])
    a, b, c = (np.arange(4, dtype=np.float32) ** k for k in range(3))
    given = [(a, b, c)[k] for k in order]
    names = ("A", "A_3", "A_2") if order[0] == 0 else ("A", "A_2", "A_3")
    assert tuple(s.program.argument_names.values()) == names
    for k in (s.compile(), f) if order[0] == 0 else (s.compile(),):
        assert np.array_equal(k(*given), a - 2 * b)
        assert np.array_equal(
            k(**dict(zip(reversed(names), reversed(given), strict=True))), a - 2 * b
        )
    assert list(ps.halo(s.program)) == list(names)


def test_1_1_inputs_of_one_name_keep_their_order_when_they_travel():
    f, (A, B, C) = difference()
    s = ps.Schedule(f, args=(C, B, A))
    found: dict[str, Any] = {"f": f, "ps": ps}
    exec(s.source(), found)
    for made in (ps.Schedule.from_json(f, s.to_json()), found["s"]):
        assert made.program.inputs == (C, B, A)
    assert ps.Schedule(f).program.digest != ps.Schedule(f, args=(B, A, C)).program.digest
    copied = pickle.loads(pickle.dumps(s))
    a, b, c = (np.arange(4, dtype=np.float32) ** k for k in range(3))
    assert np.array_equal(copied.compile()(c, b, a), a - 2 * b)


def test_1_1_a_call_without_an_input_of_two_says_where_that_was_made():
    f, _ = difference()
    numbers = np.zeros(3, np.float32)
    with refused(
        "the Input A_3 is not passed", hint="; A_3 is the Input A of ", error=ps.CallTypeError
    ):
        f(A=numbers, A_2=numbers)


def test_1_1_properties():
    A = ps.Input("A", np.uint8, (n, 3))
    f = ps.Func("f", (n, m), dtype=ps.float64)
    f[i, j] = 0
    assert (A.name, A.dtype, A.ndim) == ("A", ps.uint8, 2)
    assert (f.name, f.dtype, f.ndim, f.shape) == ("f", ps.float64, 2, (n, m))
    assert f.vars == (i, j)
    assert A.shape[0] == n
    assert repr(A.shape) == "(n, 3)"
    assert len(A.vars) == 2


def test_1_1_vars_of_a_tensor_index_it():
    A = ps.Input("A", ps.int32, (2, 3))
    f = ps.Func("f", (2, 3))
    f[A.vars] = A[A.vars] * 2
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert np.array_equal(run(f, A=a), 2 * a)


def test_1_1_a_symbol_can_be_made_by_its_class():
    assert ps.Var("i") == i
    assert ps.Size("n") == n


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: ps.vars("i i"), "'i i' names the same Var twice"),
        (lambda: ps.vars(""), "the names of Vars are one string, as \"n m\", not ''"),
        (lambda: ps.vars(["i", "j"]), "not ['i', 'j']"),
        (lambda: ps.sizes(3), "the names of sizes are one string"),
        (lambda: ps.vars("for"), "'for' cannot name a Var: it is not a Python identifier"),
        (lambda: ps.Var("1i"), "'1i' cannot name a Var"),
        (lambda: ps.size("n m"), "'n m' cannot name a size"),
        (lambda: ps.Input("a-b", ps.float32, (n,)), "'a-b' cannot name an Input"),
        (lambda: ps.Func(3), "the name of a Func must be a string, not 3"),
        (lambda: ps.Param("", ps.int32), "'' cannot name a Param"),
    ],
)
def test_1_1_wrong_names_are_refused(make, what):
    with refused(what):
        make()


@pytest.mark.parametrize("name", ["out", "shape", "region"])
def test_1_4_names_that_calls_use_are_refused_for_what_a_call_passes(name):
    for make in (
        ps.sizes,
        lambda x: ps.Input(x, ps.int8, (n,)),
        lambda x: ps.InOut(x, ps.int8, (n,)),
        lambda x: ps.Param(x, ps.int8),
    ):
        with refused(f"{name!r} cannot name a", "calls use it themselves", hint=f"{name}_"):
            make(name)


@pytest.mark.parametrize("name", ["out", "shape", "region", "checks"])
def test_1_4_names_that_calls_use_are_free_for_what_no_call_passes(name):
    at, r, t = ps.Var(name), ps.RVar(name, 0, 3), ps.Const(name, np.arange(4, dtype=np.int32))
    f = ps.Func(name, (4,))
    f[at] = t[at]
    f[r] += 1
    assert np.array_equal(run(f), [1, 2, 3, 3])


def test_1_4_out_means_the_outputs_also_where_one_is_called_out():
    A, f, g = vector(), ps.Func("out"), ps.Func("shape", (n,))
    f[i] = A[i] + 1
    g[i] = A[i] * 2
    kernel, a = ps.Schedule((f, g)).compile(), np.float32([1, 2])
    x, y = np.empty((2, 2), np.float32)
    assert kernel(a, out={"out": x, "shape": y})[0] is x
    assert (x.tolist(), y.tolist()) == ([2, 3], [2, 4])
    for shape in ((1,), {"out": (1,)}):
        assert [r.tolist() for r in kernel(a, shape=shape)] == [[2], [2, 4]]
    part = kernel(a, region={"out": (1, 2), "shape": (0, 1)})
    assert [r.tolist() for r in part] == [[3], [2]]
    with refused("there is no argument 'out_'", hint="did you mean out?", error=ps.CallTypeError):
        kernel(a, out_=x)


@pytest.mark.parametrize("name", ["self", "func", "args", "kwargs", "funcs", "name", "dtype"])
def test_1_4_any_other_name_can_be_passed(name):
    A = ps.Input(name, ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = A[i] + 1
    assert np.array_equal(run(f, **{name: np.arange(3, dtype=np.int32)}), [1, 2, 3])
    kernel = ps.Schedule(f).compile()
    assert np.array_equal(kernel(**{name: np.arange(3, dtype=np.int32)}), [1, 2, 3])


def test_1_1_one_name_for_an_input_and_a_size_is_refused():
    A = ps.Input("n", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = A[i]
    with refused("size n and Input n", "have the same name", hint="rename"):
        ps.Schedule(f)


def test_1_1_two_params_of_one_name_are_refused():
    p, q = ps.Param("p", ps.float32), ps.Param("p", ps.float32)
    f = ps.Func("f", (n,))
    f[i] = p + q
    with refused("two different Params are called p", hint="make the Param once"):
        ps.Schedule(f)


def test_1_1_a_var_and_an_rvar_of_one_name_in_a_definition_are_refused():
    A = vector()
    f = ps.Func("f", (n,))
    f[i] = 0.0
    with refused("a Var and an RVar are both called i in this definition of f", hint="name"):
        f[i] += A[ps.RVar("i", 0, n)]


def test_1_1_two_rvars_of_one_name_in_a_definition_are_refused():
    A = vector()
    f = ps.Func("f", ())
    f[()] = 0.0
    with refused("two different RVars are both called k: over [0, n) and [1, n)", hint="name"):
        f[()] += A[ps.RVar("k", 0, n)] * A[ps.RVar("k", 1, n)]


def test_1_1_vars_may_be_called_as_sizes_and_params():
    A, x, p = vector(), ps.vars("n"), ps.Param("i", ps.int32)
    f = ps.Func("f", (n,))
    f[x] = A[n - 1 - x] * x * p
    assert np.array_equal(run(f, A=np.float32([1, 2, 3]), i=2), [0, 4, 4])


@pytest.mark.slow
def test_1_1_definitions_in_threads():
    """Each thread writes its own program; nodes are shared and requirements are not."""
    A = vector("A", ps.int64)

    def program(k):
        at = ps.vars("i")
        ps.require(n != k, f"not {k}")
        f = ps.Func("f", (n,))
        e = A[at]
        for step in range(50):
            e = e * 3 + step + k
        f[at] = e
        g = ps.Func("g", (n,))
        g[at] = f[at] + k
        return g, len(g.requirements) + len(f.requirements)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(program, range(24)))
    assert {count for _, count in made} == {1}
    x = 1
    for k, (g, _) in enumerate(made[:3]):
        x = 1
        for step in range(50):
            x = x * 3 + step + k
        assert ps.interpret(g, A=np.ones(30, np.int64))[0] == _wrapped(x + k)


def _wrapped(value):
    return (value + 2**63) % 2**64 - 2**63


# 1.2 Inputs, Params, sizes with defaults, Consts ----------------------------------------------
@pytest.mark.parametrize("dtype", ALL)
def test_1_2_dtypes_may_be_numpys_or_names(dtype):
    for given in (dtype, dtype.numpy, dtype.numpy.type, dtype.name):
        assert ps.Input("A", given, (n,)).dtype == dtype


def test_1_2_python_types():
    found = [ps.Input("A", t, (n,)).dtype for t in (bool, int, float)]
    assert found == [ps.bool_, ps.int64, ps.float64]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (None, "None is not an element type"),
        ("float17", "'float17' is not an element type"),
        ([ps.float32], "[float32] is not an element type"),
        ("datetime64[s]", "the element type datetime64[s] is not supported"),
        (np.longdouble, "is not supported"),
        (str, "is not supported"),
        (object, "the element type object is not supported"),
        ("float8", "'float8' is not an element type"),
    ],
)
def test_1_2_other_element_types_are_refused(given, what):
    with refused(what, hint="element types are bool, int8", error=ps.LanguageTypeError):
        ps.Input("A", given, (n,))


@pytest.mark.parametrize("given", [complex, "complex64", np.complex128])
def test_2_1_complex_is_refused(given):
    with refused("complex numbers are not supported", hint="as a tuple: dtype=(ps.float32"):
        ps.Input("A", given, (n,))


@pytest.mark.parametrize(
    ("shape", "what"),
    [
        (None, "the Input A needs a shape"),
        ((n, -1), "Input A: an extent cannot be -1"),
        ((1.5,), "an extent must be an integer or a size, not 1.5"),
        ("n", "an extent must be an integer or a size, not 'n'"),
        ((True,), "an extent must be an integer or a size, not True"),
        (ps.float32, "an extent must be an integer or a size, not float32"),
        ((n / 2,), "n / 2 is a Python float, not an integer"),
        ((n > 2,), "n > 2 is bool, not an integer"),
        ((i,), "an extent is made of integers and sizes, and cannot contain i"),
        ((ps.RVar("k", 0, 3),), "cannot contain k"),
        ((ps.Param("p", ps.float32),), "p is float32, not an integer"),
    ],
)
def test_1_2_wrong_shapes_are_refused(shape, what):
    with refused(what):
        ps.Input("A", ps.float32, shape)


def test_1_2_a_shape_made_of_data_is_refused():
    A = ps.Input("A", ps.int32, (n,))
    with refused("cannot contain A[0]", hint="ps.sizes"):
        ps.Func("f", (A[0],))
    with refused("A is a whole array, not one value"):
        ps.Func("f", (A,))


def test_1_2_a_range_bounds_an_index():
    T = ps.Input("T", ps.float32, (n,))
    at = ps.Input("at", ps.int32, (m,), range=(0, n))
    f = ps.Func("f", (m,))
    f[i] = T[at[i]]
    given = np.array([2, 0, 2], np.int32)
    assert np.array_equal(run(f, T=np.float32([5, 6, 7]), at=given), [7, 5, 7])
    with refused("at[1] is 3", error=ps.CallValueError):
        f(T=np.float32([5, 6, 7]), at=np.array([0, 3], np.int32))


def test_1_2_a_range_of_floats():
    A = ps.Input("A", ps.float32, (n,), range=(0, 1.0))
    f = ps.Func("f", (n,))
    f[i] = A[i] * 2
    assert np.array_equal(run(f, A=np.float32([0, 0.5])), [0, 1])
    with refused("A[1] is 1.0", error=ps.CallValueError):
        f(A=np.float32([0, 1]))


@pytest.mark.parametrize(
    ("dtype", "given", "what"),
    [
        (ps.int32, 5, "range= is a pair (lo, hi), not 5"),
        (ps.int32, (0, i), "range= is made of numbers, sizes and Params, and cannot contain i"),
        (ps.int32, (0, 1.5), "1.5 is a Python float, not an integer"),
        (ps.int32, (5, 5), "no value lies in range=(5, 5)"),
        (ps.float32, (1.0, 0.0), "no value lies in range=(1.0, 0.0)"),
        (ps.bool_, (0, 1), "bools have no range"),
    ],
)
def test_1_2_wrong_ranges_are_refused(dtype, given, what):
    with refused("Input A: " if "Python float" not in what else "", what):
        ps.Input("A", dtype, (n,), range=given)


def test_1_2_params_in_values_indices_and_conditions():
    A = vector("A", ps.int32)
    p = ps.Param("p", ps.int32, default=1, min=0, max=3)
    f = ps.Func("f", (n,))
    f[i] = ps.select(i >= p, A[ps.clip(i - p, 0, n - 1)] * p, -p)
    a = np.arange(1, 6, dtype=np.int32)
    assert np.array_equal(run(f, A=a), [-1, 1, 2, 3, 4])
    assert np.array_equal(run(f, A=a, p=3), [-3, -3, -3, 3, 6])
    with refused("p=4 is outside its declared bounds", error=ps.CallValueError):
        f(A=a, p=4)


def test_1_2_bounds_of_a_param_prove_indices():
    A = vector("A", ps.int32)
    p = ps.Param("p", ps.int32, min=0, max=2)
    f = ps.Func("f", (m,))
    f[i] = A[i + p]
    kernel = ps.Schedule(f).compile()
    assert np.array_equal(kernel(A=np.arange(5, dtype=np.int32), p=2, m=3), [2, 3, 4])
    with refused("out of bounds", error=ps.CallValueError):
        kernel(A=np.arange(5, dtype=np.int32), p=2, m=4)


def test_1_2_a_float_param_keeps_its_dtype_and_an_integer_one_is_an_index():
    alpha = ps.Param("alpha", ps.float64)
    count = ps.Param("count", ps.int8)
    A = vector()
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = A[i] * alpha
    g[i] = A[i] * count
    assert (f.dtype, g.dtype) == (ps.float64, ps.float32)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: ps.Param("p", ps.int32, min=2, max=1), "min=2 is above max=1"),
        (lambda: ps.Param("p", ps.int32, default=5, max=1), "default=5 is outside max=1"),
        (lambda: ps.Param("p", ps.int32, 5, 6, 9), "default=5 is outside min=6 and max=9"),
        (lambda: ps.Param("p", ps.float32, default="x"), "default='x' is not of its dtype"),
        (lambda: ps.Param("p", ps.int32, default=1.5), "default=1.5 is not of its dtype, int32"),
        (lambda: ps.Param("p", ps.int8, default=300), "default=300 does not fit in int8"),
        (
            lambda: ps.Param("p", ps.int8, min=-1000, max=1000),
            "min=-1000 does not fit in int8, which holds -128 to 127",
        ),
        (lambda: ps.Param("p", ps.uint64, max=2**64), "max=18446744073709551616 does not fit"),
        (
            lambda: ps.Param("p", ps.float32, default=1e300),
            "default=1e+300 does not fit in float32, which holds -3.4028235e+38 to 3.4028235e+38",
        ),
        (lambda: ps.Param("p", ps.float64, max=10**400), "does not fit in float64"),
        (lambda: ps.Param("p", ps.float32, min=float("nan")), "min=nan compares with nothing"),
        (lambda: ps.Param("p", ps.bool_, default=1), "default=1 is not of its dtype, bool"),
        (lambda: ps.Param("p", ps.int32, default=n), "default=n is not of its dtype, int32"),
        (lambda: ps.Param("p", ps.float32, max=n), "max=n is not of its dtype, float32"),
    ],
)
def test_1_2_wrong_params_are_refused(make, what):
    with refused("Param p: ", what):
        make()


@pytest.mark.parametrize("t", [ps.float32, ps.float64])
def test_1_2_a_float_param_holds_what_rounds_to_a_finite_value(t):
    """Half a unit above the largest value begins what is rounded to infinity, as in a call."""
    above = (2 << t.format.bias) - (1 << (t.format.bias - t.format.precision))
    assert ps.Param("p", t, default=above - 1).dtype == t
    with refused("Param p: ", f"does not fit in {t}"):
        ps.Param("p", t, default=above)
    for value in (np.inf, -np.inf, np.nan, np.finfo(t.numpy).max):
        assert ps.Param("p", t, default=value).dtype == t


def test_1_2_a_size_has_a_default_over_other_sizes():
    nz = ps.size("nz", default=n // 2 + 1)
    A = vector()
    f = ps.Func("f", (nz,))
    f[i] = A[ps.minimum(2 * i, n - 1)]
    a = np.arange(6, dtype=np.float32)
    assert np.array_equal(run(f, A=a), [0, 2, 4, 5])
    assert np.array_equal(run(f, A=a, nz=2), [0, 2])


@pytest.mark.parametrize(
    ("default", "what"),
    [
        (1.5, "1.5 is a Python float, not an integer"),
        (i, "the default of the size nz is made of integers, sizes and Params"),
        (-3, "the size nz cannot be -3 by default"),
        (n > 2, "n > 2 is bool, not an integer"),
    ],
)
def test_1_2_wrong_defaults_are_refused(default, what):
    with refused(what):
        ps.size("nz", default=default)


def test_1_2_two_defaults_of_one_size_are_refused():
    f = ps.Func("f", (ps.size("nz", default=n // 2), ps.size("nz", default=n // 3)))
    f[i, j] = i
    with refused("the size nz has two defaults: n // 2 and n // 3", hint="make it once"):
        ps.Schedule(f)


def test_1_2_a_const_is_a_copy_in_native_byte_order():
    table = np.array([3, 1, 2], ">i2")
    T = ps.Const("T", table)
    table[0] = 9
    f = ps.Func("f", (3,))
    f[i] = T[2 - i]
    assert T.dtype == ps.int16
    assert np.array_equal(run(f), [2, 1, 3])
    with pytest.raises(ValueError, match="read-only"):
        T.data[0] = 1


def test_1_2_consts_of_other_ranks():
    one, empty = ps.Const("one", np.float32(2.5)), ps.Const("empty", np.zeros((0, 2)))
    f, g = ps.Func("f", (2,)), ps.Func("g", (0, 2))
    f[i] = one[()] * i
    g[i, j] = empty[i, j]
    assert np.array_equal(run(f), np.float32([0, 2.5]))
    assert run(g).shape == (0, 2)


@pytest.mark.parametrize(
    ("array", "what"),
    [
        ([[1, 2], [3]], "Const T: NumPy makes no array of this"),
        (["a"], "is not supported"),
        ([None], "the element type object is not supported"),
        ([1j], "complex numbers are not supported"),
        (vector(), "A is the description of an array and holds no numbers"),
        (i, "i has no value while the program is being written"),
    ],
)
def test_1_2_wrong_tables_are_refused(array, what):
    with refused(what, error=ps.LanguageTypeError):
        ps.Const("T", array)


# 1.3 Funcs ------------------------------------------------------------------------------------
def test_1_3_shape_and_dtype_may_be_left_out():
    A = vector()
    inner, f = ps.Func("inner"), ps.Func("f", (n,))
    inner[i] = A[ps.clip(i, 0, n - 1)] * 2
    f[i] = inner[i - 1] + inner[i + 1]
    assert (inner.dtype, inner.ndim) == (ps.float32, 1)
    a = np.float32([1, 2, 3])
    assert np.array_equal(run(f, A=a), 2 * (a[[0, 0, 1]] + a[[1, 2, 2]]))


def test_1_3_a_region_may_start_below_zero():
    stored, f = ps.Func("stored"), ps.Func("f", (3,))
    stored[i] = i
    stored[i] += 10
    f[i] = stored[i - 5] * stored[-i]
    assert np.array_equal(run(f), [5 * 10, 6 * 9, 7 * 8])


@pytest.mark.slow
def test_1_3_an_output_without_shape_takes_it_from_the_call():
    f = ps.Func("f")
    f[i, j] = i * 10 + j
    assert np.array_equal(run(f, shape=(2, 3)), [[0, 1, 2], [10, 11, 12]])
    out = np.zeros((1, 2), np.int64)
    assert f(out=out) is out
    assert np.array_equal(out, [[0, 1]])


def test_1_3_an_output_without_shape_is_refused_without_one():
    f = ps.Func("f")
    f[i] = i
    with refused("the output f has no declared shape", hint="shape=", error=ps.CallTypeError):
        f()


def test_1_3_zero_dimensional_funcs():
    A, k = vector(), ps.RVar("k", 0, n)
    total, f = ps.Func("total", ()), ps.Func("f", (n,))
    total[()] = 0.0
    total[()] += A[k]
    f[i] = A[i] / total[()]
    assert total.ndim == 0
    assert run(total, A=np.float32([1, 2, 5])) == 8
    assert np.array_equal(run(f, A=np.float32([1, 3])), [0.25, 0.75])


@pytest.mark.parametrize("extents", [(n * m,), (n * n,), (n // m,), (ps.maximum(n, m) * 2, n % m)])
def test_1_3_extents_that_are_not_affine_are_refused_where_they_are_written(extents):
    for make in (
        lambda: ps.Func("f", extents),
        lambda: ps.Input("f", ps.int64, extents),
        lambda: ps.InOut("f", ps.int64, extents),
        lambda: ps.compute("f", extents, lambda *at: 0),
        lambda: ps.extern("f", np.zeros, [], extents, ps.int64),
    ):
        with refused("the extent ", " of f is not affine in sizes", hint="ps.size("):
            make()


def test_1_3_the_size_that_a_hint_asks_for_stands_for_an_extent():
    with refused("the extent n * m of f", hint="nz = ps.size('nz', default=n * m)"):
        ps.Func("f", (n * m,))
    nz = ps.size("nz", default=n * m)
    f = ps.Func("f", (nz,))
    f[i] = i + n - m
    assert list(f(n=2, m=3)) == [-1, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("factor", [2, n - n + 2, ps.maximum(2, 1)])
def test_1_3_extents_that_only_look_like_products_are_no_products(factor):
    assert ps.Func("f", (n * factor,)).ndim == 1


def test_1_3_pieces_lie_where_proofs_can_follow():
    f = ps.Func("f", (n,))
    with refused("n * m on the left of f is not affine in sizes", hint="ps.size("):
        f[n * m] = 1


def test_1_3_extents_may_be_quasi_affine():
    f = ps.Func("f", (n // 2 + 1, ps.maximum(n - 3, 0), n % 4))
    f[i, j, ps.vars("k")] = 1
    assert run(f, n=7).shape == (4, 4, 3)


def test_1_3_what_is_not_known_yet_is_refused():
    f = ps.Func("f")
    with refused("the dtype of Func f is not known: it has no definition yet", hint="dtype="):
        f.dtype
    with refused("the rank of Func f is not known yet", hint="give it a shape"):
        f.ndim
    with refused("Func f has no declared shape", hint="ps.Func('f', (n, m))"):
        f.shape
    with refused("the rank of Func f is not known yet"):
        f.vars


def test_1_3_a_tuple_of_no_dtypes_is_refused():
    with refused("Func f: a tuple of dtypes holds at least one"):
        ps.Func("f", (n,), dtype=())
