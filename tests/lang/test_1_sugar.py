"""Rule 1.7: sums of products by their letters, and Funcs by a function of their indices."""

from __future__ import annotations

import random

import numpy as np
import pytest
from lang.support import refused, run

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


def matrices(*shapes, dtype=ps.float32):
    return tuple(ps.Input("ABCD"[k], dtype, shape) for k, shape in enumerate(shapes))


# einsum: against NumPy ------------------------------------------------------------------------
class Case:
    """Random subscripts and operands for them: some extents symbolic, some literal."""

    DTYPES = (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.bool_)

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.lengths = {c: rng.choice((0, 1, 2, 3, 4)) for c in "abcZ"}
        self.broadcast = tuple(rng.choice((1, 2, 3)) for _ in range(rng.choice((0, 0, 1, 2))))
        self.terms, self.tensors, self.operands, self.passed = [], [], [], {}
        for k in range(rng.choice((1, 1, 2, 2, 3))):
            self._operand(f"T{k}")
        self.subscripts = ",".join(self.terms) + self._output()
        if rng.random() < 0.3:
            self.subscripts = self.subscripts.replace(",", " , ").replace("->", " -> ")

    def _operand(self, name: str) -> None:
        rng = self.rng
        letters = [rng.choice("abcZ") for _ in range(rng.randint(0, 3))]
        shape = [(self.lengths[c], c) for c in letters]
        at = rng.randint(0, len(letters))
        if self.broadcast and rng.random() < 0.7:
            letters.insert(at, "...")
            used = self.broadcast[rng.randint(0, len(self.broadcast)) :]
            ranks = range(len(used), 0, -1)
            shape[at:at] = [
                (1, "") if rng.random() < 0.3 else (length, f"d{k}" if length != 1 else "")
                for k, length in zip(ranks, used, strict=True)
            ]
        dtype = rng.choice(self.DTYPES)
        numbers = np.random.default_rng(rng.randrange(1 << 30))
        array = numbers.integers(0, 100, [s for s, _ in shape]).astype(dtype)
        extents = [ps.size(f"n{c}") if c and rng.random() < 0.7 else s for s, c in shape]
        self.terms.append("".join(letters))
        self.tensors.append(self._tensor(name, array, extents))
        self.operands.append(array)

    def _tensor(
        self, name: str, array: np.ndarray, extents: list[object]
    ) -> ps.Input | ps.Const | ps.Func:
        kind = self.rng.choice(("input", "input", "const", "func"))
        if kind == "const" and array.size:
            return ps.Const(name, array)
        self.passed[name] = array
        source = ps.Input(name, array.dtype, tuple(extents))
        if kind != "func":
            return source
        at = ps.vars("p q r s t u")[: array.ndim]
        func = ps.Func(f"{name}_copy", tuple(extents))
        func[at] = source[at]
        return func

    def _output(self) -> str:
        if self.rng.random() < 0.4:
            return ""
        letters = sorted({c for term in self.terms for c in term.replace("...", "")})
        letters = self.rng.sample(letters, self.rng.randint(0, len(letters)))
        letters.insert(self.rng.randint(0, len(letters)), "...")
        return "->" + "".join(letters)


@pytest.mark.parametrize("seed", range(150))
def test_einsum_computes_what_numpys_does(seed):
    """Symbolic and literal extents of one letter, diagonals, broadcasting, all integer types."""
    case = Case(seed)
    wanted = np.einsum(case.subscripts, *case.operands)
    result = run(ps.einsum(case.subscripts, *case.tensors), **case.passed)
    assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
    assert np.array_equal(result, wanted), case.subscripts


def test_einsum_is_the_program_that_one_would_write():
    """Also its schedule: the product is fused, its loops have the letters for names."""
    A, B = matrices((n, l), (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += A[i, k] * B[k, j]
    found = ps.einsum("ik,kj->ij", A, B, name="C")
    assert str(found) == str(C)
    assert str(ps.Schedule(found)) == str(ps.Schedule(C))


def test_einsum_sums_nothing_without_an_update():
    A, B = matrices((n,), (m,))
    outer = ps.einsum("i,j->ij", A, B)
    assert str(outer).splitlines()[1:] == ["  einsum[i, j] = A[i] * B[j]"]
    assert np.array_equal(run(outer, np.float32([1, 2]), np.float32([3])), [[3], [6]])


def test_einsum_runs_over_the_letter_named_first_outermost():
    (A,) = matrices((n, m, l))
    f = ps.einsum("bac->", A)
    assert str(f).endswith("for b in [0, n), a in [0, m), c in [0, l)")


def test_einsum_takes_scalars():
    half = ps.Const("half", np.float32(0.5))
    (A,) = matrices((n,))
    assert np.array_equal(run(ps.einsum(",i->i", half, A), np.float32([2, 4])), [1, 2])
    assert run(ps.einsum("", half)) == 0.5


def test_einsum_converts_before_it_multiplies():
    """As NumPy does; int8 products of 100 and 100 would wrap."""
    A, B = matrices((n,), (n,), dtype=ps.int8)
    a = np.full(3, 100, np.int8)
    for dtype in (None, ps.int64, np.float32):
        f = ps.einsum("i,i->", A, B, dtype=dtype)
        wanted = np.einsum("i,i->", a, a, dtype=f.dtype.numpy)
        found = run(f, a, a)
        assert (found, found.dtype) == (wanted, wanted.dtype)


def test_einsum_finds_extents_where_they_are_declared():
    """A Func without a shape takes those of its neighbours, and broadcasts with nothing."""
    (A,) = matrices((n, m))
    g = ps.Func("g")
    g[i, j] = A[i, j] + 1
    f = ps.einsum("ij,ij->i", g, A)
    assert [repr(e) for e in f.shape] == ["n"]
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(run(f, a), ((a + 1) * a).sum(1))
    row = ps.Input("row", ps.float32, (1, m))
    free = ps.einsum("...,...", row, g)
    assert free.extents is None
    assert np.array_equal(run(free, row=a[:1], A=a, shape=(2, 3)), a[:1] * (a + 1))


def test_einsum_may_be_read_by_others():
    A, B, D = matrices((n, l), (l, m), (m, n))
    product = ps.einsum("ik,kj->ij", ps.einsum("ik,kj->ij", A, B), D)
    a, b, d = (np.ones(s, np.float32) for s in ((2, 3), (3, 4), (4, 2)))
    assert np.array_equal(run(product, a, b, d), a @ b @ d)


# einsum: axes of one letter -------------------------------------------------------------------
def test_einsum_needs_axes_of_one_letter_to_be_equal():
    A, B = matrices((n, l), (m, n))
    f = ps.einsum("ik,kj->ij", A, B, name="f")
    assert [c.partition(":")[0] for c in map(str, ps.Schedule(f).conditions)] == ["l == m"]
    a, b = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    assert np.array_equal(run(f, a, b), a @ b)
    for call in (f, lambda *args: ps.interpret(f, *args)):
        with refused(
            "einsum('ik,kj->ij'): the axes 'k' of A and B must have one length",
            "l == m is required", "fails at l=4, m=3", error=ps.CallError,
        ):  # fmt: skip
            call(np.ones((2, 4), np.float32), b)


def test_einsum_asks_nothing_of_extents_that_are_equal_as_numbers():
    A, B = matrices((n + 2,), (2 + n,))
    assert not ps.Schedule(ps.einsum("i,i", A, B)).conditions


def test_einsum_stretches_only_what_is_one_as_written():
    """A symbolic extent that happens to be 1 has to equal the others."""
    A, B = matrices((n, m), (l, m))
    f = ps.einsum("...,...", A, B)
    with refused("the axes '...' of A and B", "n == l is required", error=ps.CallError):
        f(np.ones((3, 2), np.float32), np.ones((1, 2), np.float32))


@pytest.mark.parametrize(
    ("shapes", "subscripts", "axes"),
    [
        (((n, n + 1),), "ii", "the axes 'i' of A must have one length, but n is never n + 1"),
        (((2,), (3,)), "i,i", "the axes 'i' of A and B must have one length, but 2 is never 3"),
        (((1,), (3,)), "i,i", "the axes 'i' of A and B must have one length, but 1 is never 3"),
        (((2, 4), (4, 3)), "...,...", "the axes '...' of A and B"),
    ],
)
def test_einsum_refuses_axes_that_are_never_equal(shapes, subscripts, axes):
    tensors = matrices(*shapes)
    with refused(axes, hint="axes of different lengths have letters of their own"):
        ps.einsum(subscripts, *tensors)


def test_einsum_refuses_to_sum_what_has_no_bounds():
    (A,) = matrices((n, m))
    g = ps.Func("g")
    g[i, j] = A[i, j]
    with refused("the sum over 'k' has no bounds, since g has no", hint="ps.Func('g', (n, m))"):
        ps.einsum("ik->i", g)


# einsum: subscripts and operands that are refused ---------------------------------------------
@pytest.mark.parametrize(
    ("subscripts", "what"),
    [
        ("i1,ij", "'1' is not a letter"),
        ("i\tk,kj", "'\\t' is not a letter"),
        ("ik,kj-ij", "'-' is not a letter"),
        ("ié,kj", "'é' is not a letter"),
        ("ik,kj->i->j", "a second output is given"),
        ("ik,kj->i,j", "a second output is given"),
        ("i..k,kj", "'.' occurs only in '...'"),
        ("...i...,kj", "only one '...' is possible in an operand"),
        ("ik", "it names the axes of 1 operand, but is given 2"),
        ("ik,kj,jl", "it names the axes of 3 operands, but is given 2"),
        ("i,kj", "A has 2 axes, but 'i' names 1"),
        ("ik,kjl", "B has 2 axes, but 'kjl' names 3"),
        ("ik,...kjl", "B has 2 axes, but '...kjl' names 3"),
        ("ik,kj->ijx", "'x' is in the output, but in no operand"),
        ("ik,kj->iji", "'i' is twice in the output"),
        ("i...,k...->ik", "the output leaves out the 1 axis of '...'"),
    ],
)
def test_einsum_refuses_wrong_subscripts(subscripts, what):
    A, B = matrices((n, n), (n, n))
    with refused(f"einsum({subscripts!r}): {what}"):
        ps.einsum(subscripts, A, B)


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (lambda A: (A, "ij"), "einsum takes its subscripts first, not Input A"),
        (lambda A: ("ij",), "einsum('ij') has no operands"),
        (lambda A: ("ij", A[i, j]), "a Const or a Func, not A[i, j]"),
        (lambda A: ("ij", np.ones((2, 2))), "a Const or a Func, not a ndarray"),
        (lambda A: ("ij,", A, 2.0), "a Const or a Func, not a float"),
        (lambda A: ("ij", ps.Func("u")), "the dtype of Func u is not known"),
        (lambda A: ("ij", ps.Func("u", dtype=ps.int8)), "the rank of Func u is not known yet"),
        (lambda A: ("i", ps.Func("t", (n,), (ps.int8,) * 2)), "t holds 2 values at each point"),
    ],
)
def test_einsum_refuses_wrong_operands(args, what):
    A = ps.Input("A", ps.float32, (n, n))
    arguments = args(A)
    with refused(what):
        ps.einsum(*arguments)


# compute --------------------------------------------------------------------------------------
def test_compute_names_the_vars_as_the_function_does():
    (A,) = matrices((n, m))
    f = ps.compute("f", (m, n), lambda row, col: A[col, row] + 1)
    assert str(f).splitlines()[1:] == ["  f[row, col] = A[col, row] + 1.0"]
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(run(f, a), a.T + 1)


@pytest.mark.parametrize(
    ("shape", "function", "vars"),
    [
        ((n, m), lambda *at: at[0] + at[1], "i0, i1"),
        ((n, m), lambda y, *rest: y + rest[0], "y, i1"),
        ((), lambda: 1, ""),
        ((), lambda *at: len(at), ""),
        (n, lambda i, scale=3: i * scale, "i"),
        ([n, m], lambda i, /, j, *, scale=3: i * scale, "i, j"),
        (None, lambda i, j: i, "i, j"),
        ((n, m), ps.minimum, "a, b"),
    ],
)
def test_compute_takes_any_function_of_its_indices(shape, function, vars):
    f = ps.compute("f", shape, function)
    assert ", ".join(map(repr, f.vars)) == vars
    assert (f.extents is None) == (shape is None)


def test_compute_makes_tuples_and_casts():
    f = ps.compute("f", (n,), lambda i: (i, i * 0.5), dtype=(ps.int32, ps.float32))
    first, second = run(f, n=3)
    assert (first.dtype, second.dtype) == (np.int32, np.float32)
    assert np.array_equal(second, [0, 0.5, 1])
    assert ps.compute("g", (n,), lambda i: i, dtype=np.float32).dtype == ps.float32


def test_compute_may_be_updated():
    f = ps.compute("f", (n,), lambda i: i)
    f[i] += 1
    assert np.array_equal(run(f, n=3), [1, 2, 3])


@pytest.mark.parametrize(
    ("shape", "function", "what", "hint"),
    [
        ((n, m), lambda i: i, "f has 2 axes, but its function takes 1 index (i)", "lambda i, j:"),
        ((n,), lambda i, j: i, "f has 1 axis, but its function takes 2 indices (i, j)", "lambda i"),
        ((n,), lambda: 1, "f has 1 axis, but its function takes 0 indices (none)", "lambda i"),
        ((), lambda i, *at: i, "f has 0 axes, but its function takes 1 index (i)", "lambda: ..."),
        ((n, m), lambda i, j=0: i, "takes 1 index (i); what has a default is none", "lambda i, j"),
        ((n,), lambda *, i: i, "the function of f takes i by keyword only", "lambda i: ..."),
        ((n,) * 5, 1.0, "by a function of its indices, not by 1.0", "lambda *index: ..."),
        ((n,), ps.Input("A", ps.int8, (n,)), "not by Input A[n] int8", "lambda i: ..."),
        ((n,), max, "Python does not say which arguments", "lambda i: ..."),
        ((n,), lambda i: None, "the function of f returned nothing", "return an expression"),
        ((n,), lambda i: [i], "the function of f returned a list", "or a tuple of them"),
        (None, lambda *at: 1, "f has no declared shape, and *args do not say", "give it a shape"),
        ((n,), lambda i: j, "the Var j is not on the left side", "make it an RVar"),
        ((1.5,), lambda i: i, "an extent must be an integer or a size, not 1.5", "a shape is"),
    ],
)
def test_compute_refuses(shape, function, what, hint):
    with refused(what, hint=hint):
        ps.compute("f", shape, function)
