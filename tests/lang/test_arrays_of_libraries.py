"""Arrays of PyTorch, pandas, xarray, Arrow, Dask and SciPy: read and written where they lie, or
refused with the reason. Each test needs its library, and is skipped without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lang.foreign import WAYS, passed, programs, refused, shares

import polysched as ps

from .support import ALL

pytestmark = pytest.mark.xdist_group("libraries")  # each is imported in one process

Plain = np.ndarray[Any, Any]
ONES = np.ones(3, np.float32)


def library(name: str) -> Any:
    return pytest.importorskip(name, exc_type=ImportError)


# PyTorch --------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_tensors_share_memory(dtype: ps.DType) -> None:
    torch = library("torch")

    def wrap(plain: Plain) -> Any:
        return torch.from_numpy(plain) if min(plain.strides) >= 0 else None

    assert shares(dtype, wrap) == 5


TENSORS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "grad": (
        lambda torch: torch.ones(3, requires_grad=True),
        "X requires grad, and no gradient goes through this call: detach it",
        "pass X.detach()",
    ),
    "parameter": (
        lambda torch: torch.nn.Parameter(torch.ones(3)),
        "X requires grad, and no gradient goes through this call: detach it",
        "pass X.detach()",
    ),
    "float8": (
        lambda torch: torch.ones(3).to(torch.float8_e4m3fn),
        "X is a tensor of float8_e4m3fn, for which NumPy has no type",
        "pass X.float(), a copy",
    ),
    "conjugate": (
        lambda torch: torch.ones(3, dtype=torch.complex64).conj(),
        "X is a conjugate view: its elements are not what lies in memory",
        "pass X.resolve_conj()",
    ),
    "negative": (
        lambda torch: torch.ones(3, dtype=torch.complex64).conj().imag,
        "X is a negative view: its elements are not what lies in memory",
        "pass X.resolve_neg()",
    ),
    "sparse": (
        lambda torch: torch.ones(3).to_sparse(),
        "X is sparse (torch.sparse_coo): its elements are no grid in memory",
        "pass X.to_dense()",
    ),
    "nested": (
        lambda torch: torch.nested.nested_tensor([torch.ones(3)] * 2),
        "X is nested: its elements are no grid in memory",
        "pass X.to_padded_tensor(0)",
    ),
    "quantised": (
        lambda torch: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8),
        "X is quantised: its numbers are not its elements",
        "pass X.dequantize()",
    ),
    "meta": (
        lambda torch: torch.ones(3, device="meta"),
        "X is a tensor on the device meta, which holds no numbers",
        'make it on another one: device="cpu"',
    ),
}


@pytest.mark.filterwarnings("ignore:.*quantize:UserWarning", "ignore:.*nested:UserWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", TENSORS)
def test_refuses_tensors(kind: str, way: str) -> None:
    make, what, hint = TENSORS[kind]
    refused(way, make(library("torch")), what, hint, ps.float32)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("device", ["cuda:1", "mps"])
def test_refuses_tensors_on_other_devices(device: str, way: str) -> None:
    torch = library("torch")

    class Elsewhere(torch.Tensor):  # type: ignore[misc, name-defined]
        """What says of itself what a tensor on a device says, on a machine that has none."""

        device = property(lambda self: torch.device(device))

    given = torch.ones(3).as_subclass(Elsewhere)
    what = f"X lies in the memory of another device ({device})"
    refused(way, given, what, "pass X.cpu()", ps.float32)


def test_a_tensor_of_another_type_is_not_converted() -> None:
    torch = library("torch")
    with pytest.raises(ps.CallError) as error:
        passed("input", torch.ones(3, dtype=torch.float64), ps.float32, ONES)
    assert error.value.what == "x has the dtype float64, not float32"
    assert error.value.hint == "x.to(torch.float32), or declare it as float64"


def test_elements_of_a_tensor_that_are_one_are_not_written() -> None:
    torch = library("torch")
    with pytest.raises(ps.CallError, match="several elements of a lie at one address"):
        passed("in place", torch.ones(1).expand(3), ps.float32, ONES)


@pytest.mark.parametrize("way", WAYS)
def test_autograd_learns_what_was_written(way: str) -> None:
    torch = library("torch")
    kept, w = torch.ones(3), torch.ones(3, requires_grad=True)
    product = (w * kept).sum()
    passed(way, kept, ps.float32, ONES)
    if way in WAYS[:2]:
        product.backward()
        assert w.grad.tolist() == [1, 1, 1]
    else:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


def test_tensors_of_inference_are_written() -> None:
    torch = library("torch")
    with torch.inference_mode():
        given = torch.ones(3)
    assert passed("in place", given, ps.float32, ONES) is given
    assert given.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_params_are_tensors_without_axes(dtype: str) -> None:
    torch = library("torch")
    kind = getattr(torch, dtype)
    n, i, k = ps.size("n"), ps.vars("i"), ps.Param("k", kind)
    x, f = ps.Input("x", ps.float64, (n,)), ps.Func("f", (n,))
    f[i] = x[i] * k
    assert k.dtype == ps.Input("y", dtype, (n,)).dtype
    assert ps.interpret(f, np.ones(2), k=torch.tensor(3, dtype=kind)).tolist() == [3, 3]


@pytest.mark.parametrize("kind", ["grad", "meta"])
def test_refuses_tensors_as_params(kind: str) -> None:
    torch = library("torch")
    made = {"grad": {"requires_grad": True}, "meta": {"device": "meta"}}[kind]
    n, i, k = ps.size("n"), ps.vars("i"), ps.Param("k", ps.float32)
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] * k
    _, what, hint = TENSORS[kind]
    with pytest.raises(ps.CallError) as error:
        ps.interpret(f, ONES, k=torch.tensor(3.0, **made))
    assert error.value.what == what.replace("X", "k")
    assert error.value.hint == hint.replace("X", "k")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_tables_are_tensors(dtype: str) -> None:
    torch = library("torch")
    table = ps.Const("table", torch.tensor([1.5, -2, 3], dtype=getattr(torch, dtype)))
    i, f = ps.vars("i"), ps.Func("f", (3,))
    f[i] = table[i]
    assert str(f.dtype) == dtype
    assert np.asarray(ps.interpret(f)).astype(np.float32).tolist() == [1.5, -2, 3]


def test_refuses_a_table_of_which_there_is_no_array() -> None:
    torch = library("torch")
    learnt = [torch.ones(3, dtype=t, requires_grad=True) for t in (torch.float32, torch.bfloat16)]
    for given in (*learnt, torch.ones(3).to(torch.float8_e4m3fn)):
        with pytest.raises(ps.LanguageError, match="Const t: NumPy makes no array of this"):
            ps.Const("t", given)


# xarray ---------------------------------------------------------------------------------------
@pytest.mark.slow  # to import it takes longer than all else here, as in the next
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_labelled_arrays_share_memory(dtype: ps.DType) -> None:
    xarray = library("xarray")
    assert shares(dtype, lambda plain: xarray.DataArray(plain)) == 6
    assert shares(dtype, lambda plain: xarray.Variable(("x", "y")[: plain.ndim], plain)) == 6


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_refuses_what_is_not_computed(way: str) -> None:
    dask, xarray = library("dask.array"), library("xarray")
    given = dask.ones(3, dtype=np.float32)
    says = "is not computed yet: Dask holds how to do it"
    refused(way, given, f"X {says}", "pass X.compute()", ps.float32)
    refused(way, xarray.DataArray(given), f"X.data {says}", "pass X.data.compute()", ps.float32)


def test_dask_names_its_tasks_by_funcs_and_kernels() -> None:
    dask, xarray = library("dask.array"), library("xarray")
    n, i = ps.size("n"), ps.vars("i")
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] + 1
    parts = dask.ones((4, 3), dtype=np.float32, chunks=(2, 3))
    for called in (f, ps.Schedule(f).compile()):
        assert called.__name__ == "f"
        made = dask.apply_gufunc(called, "(i)->(i)", parts[0], output_dtypes=np.float32)
        assert made.compute().tolist() == [2, 2, 2]
        again = dask.apply_gufunc(called, "(i)->(i)", parts[0], output_dtypes=np.float32)
        assert made.name == again.name
    axes = [["x"]]
    found = xarray.apply_ufunc(
        f, xarray.DataArray(parts[0], dims=("x",)), input_core_dims=axes, output_core_dims=axes,
        dask="parallelized", output_dtypes=[np.float32],
    )  # fmt: skip
    assert found.compute().values.tolist() == [2, 2, 2]
    with pytest.raises(ps.LanguageError, match="not a Kernel"):
        ps.Schedule(ps.Schedule(f).compile())  # type: ignore[arg-type]


def test_refuses_a_dataset() -> None:
    xarray = library("xarray")
    with pytest.raises(ps.CallError, match="x is a Dataset, of which NumPy makes no array"):
        passed("input", xarray.Dataset({"a": ("x", ONES)}), ps.float32, ONES)


# pandas ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_columns_share_memory(dtype: ps.DType) -> None:
    pandas = library("pandas")

    def column(plain: Plain) -> Any:
        return pandas.Series(plain, copy=False) if plain.ndim == 1 else None

    def one_of_several(plain: Plain) -> Any:
        return pandas.DataFrame(plain, copy=False)[1] if plain.ndim == 2 else None

    newest = np.lib.NumpyVersion(pandas.__version__) >= "3.0.0"  # what others see is not written
    assert shares(dtype, column, not newest) == 4
    for plain in [np.arange(12).reshape(4, 3).astype(dtype.numpy)]:
        taken = one_of_several(plain)
        assert np.shares_memory(np.asarray(taken), plain)
        wanted = programs(dtype, 1)[0](plain[:, 1])
        assert np.array_equal(programs(dtype, 1)[0](taken), wanted)


NULLABLE = ", which is nullable: a kernel would read what stands where values are missing"
TO_NUMPY = "pass X.to_numpy(), a copy"
COLUMNS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "nullable": (
        lambda pandas: pandas.Series([1, 2, 3], dtype="Int64"),
        "X is a Series of Int64" + NULLABLE,
        "pass X.to_numpy(dtype, na_value=...), a copy",
    ),
    "nullable bool": (
        lambda pandas: pandas.Series([True, None, False], dtype="boolean"),
        "X is a Series of boolean" + NULLABLE,
        "pass X.to_numpy(dtype, na_value=...), a copy",
    ),
    "nullable array": (
        lambda pandas: pandas.array([1.5, 2.5, 3.5], dtype="Float32"),
        "X is a FloatingArray of Float32" + NULLABLE,
        "pass X.to_numpy(dtype, na_value=...), a copy",
    ),
    "sparse": (
        lambda pandas: pandas.Series([0.0, 1, 0], dtype="Sparse[float32]"),
        "X is a Series of Sparse[float32, nan], sparse: not all elements lie in memory",
        "pass X.to_numpy()",
    ),
    "category": (
        lambda pandas: pandas.Series(["a", "b", "a"]).astype("category"),
        "X is a Series of category, which is no type of NumPy's",
        TO_NUMPY,
    ),
    "time zone": (
        lambda pandas: pandas.Series(pandas.to_datetime(["2020"] * 3).tz_localize("UTC")),
        "",
        TO_NUMPY,
    ),
    "range": (
        lambda pandas: pandas.RangeIndex(3),
        "X is a RangeIndex, whose elements lie nowhere in memory",
        "pass X.to_numpy()",
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", COLUMNS)
def test_refuses_columns(kind: str, way: str) -> None:
    make, what, hint = COLUMNS[kind]
    given = make(library("pandas"))
    what = what or f"X is a Series of {given.dtype}, which is no type of NumPy's"
    refused(way, given, what, hint, ps.float32)


def test_refuses_frames_of_several_types() -> None:
    pandas = library("pandas")
    given = pandas.DataFrame({"a": [1.0, 2], "b": [3, 4]})
    with pytest.raises(ps.CallError, match="x is a DataFrame, of which NumPy makes no array with"):
        passed("input", given, ps.float64, np.ones((2, 2)))


@pytest.mark.parametrize("way", WAYS)
def test_refuses_other_elements_of_columns(way: str) -> None:
    pandas = library("pandas")
    for given in (pandas.Series([1, "a", 2], dtype=object), pandas.Series(np.ones(3, ">f4"))):
        with pytest.raises(ps.CallError, match=r"has the dtype (object, not|>f4: its bytes)"):
            passed(way, given, ps.float32, ONES)


def test_an_index_is_read_and_never_written() -> None:
    pandas = library("pandas")
    given = pandas.Index([1, 2, 3])
    plain = np.ones(3, np.int64)
    assert passed("input", given, ps.int64, plain).tolist() == [-2, -3, -4]
    for way in WAYS[2:]:
        refused(way, given, "X is an Index of pandas', which never changes", None, ps.int64)
    assert given.tolist() == [1, 2, 3]


def test_what_pandas_keeps_is_not_written() -> None:
    pandas = library("pandas")
    given = pandas.Series(ONES)
    if np.asarray(given).flags.writeable:
        pytest.skip("this pandas lets others write to its columns")
    with pytest.raises(ps.CallError) as error:
        passed("in place", given, ps.float32, ONES)
    assert error.value.what == "a is updated in place, and this array is read-only"
    assert error.value.hint == (
        "pandas lets nobody write to its columns: pass an array, and assign that to one"
    )


# Arrow ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [t for t in ALL if not t.is_bool], ids=str)
def test_arrow_shares_memory(dtype: ps.DType) -> None:
    arrow = library("pyarrow")

    def array(plain: Plain) -> Any:
        if plain.ndim > 1 or not plain.flags.c_contiguous or not plain.size:
            return None  # what Arrow would copy
        return arrow.array(plain)

    def tensor(plain: Plain) -> Any:
        return arrow.Tensor.from_numpy(plain) if min(plain.strides) >= 0 else None

    assert shares(dtype, array, is_writable=False) == 1
    assert shares(dtype, lambda p: (a := array(p)) and arrow.chunked_array([a]), False) == 1
    assert shares(dtype, tensor) == 5
    part = array(np.arange(9).astype(dtype.numpy))[2:5]
    assert np.array_equal(programs(dtype, 1)[0](part), programs(dtype, 1)[0](part.to_numpy()))


def test_arrow_buffers_are_bytes() -> None:
    arrow = library("pyarrow")
    plain = np.ones(3, np.uint8)
    assert passed("input", arrow.py_buffer(b"abc"), ps.uint8, plain).tolist() == [158, 157, 156]
    memory = bytearray(b"abc")
    given = arrow.py_buffer(memory)
    assert passed("in place", given, ps.uint8, plain) is given
    assert list(memory) == [158, 157, 156]
    with pytest.raises(ps.CallError, match=r"np.frombuffer\(x, np.float32\) takes its bytes as"):
        passed("input", given, ps.float32, ONES)
    with pytest.raises(ps.CallError, match=r"Arrow's arrays never change: pass np.array\(a\)"):
        passed("in place", arrow.py_buffer(b"abc"), ps.uint8, plain)


ARROWS: dict[str, tuple[Callable[[Any], Any], str, str | None]] = {
    "nulls": (
        lambda arrow: arrow.array([1, None, None], arrow.float32()),
        "X has 2 nulls: a kernel would read what stands there in memory",
        "pass X.fill_null(0), or .drop_null()",
    ),
    "bits": (
        lambda arrow: arrow.array([True, False, True]),
        "X is bit-packed: Arrow keeps eight bools in a byte",
        "pass X.to_numpy(zero_copy_only=False), a copy",
    ),
    "pieces": (
        lambda arrow: arrow.chunked_array([[1.0], [2.0, 3.0]]),
        "X is a ChunkedArray of 2 pieces",
        "pass X.combine_chunks(), a copy in one piece",
    ),
    "text": (
        lambda arrow: arrow.array(["a", "b", "c"]),
        "X is an Arrow array of string, of which NumPy makes no array without a copy",
        None,
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ARROWS)
def test_refuses_arrow(kind: str, way: str) -> None:
    make, what, hint = ARROWS[kind]
    refused(way, make(library("pyarrow")), what, hint, ps.float32)


# others ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["csr_array", "coo_matrix"])
def test_refuses_sparse_matrices(kind: str, way: str) -> None:
    given = getattr(library("scipy.sparse"), kind)(np.eye(3, dtype=np.float32))
    what = "X is sparse: not all elements lie in memory"
    refused(way, given, what, "pass X.toarray()", ps.float32)


def test_refuses_pictures_that_are_copied() -> None:
    image = library("PIL.Image").new("L", (3, 2))
    with pytest.raises(ps.CallError, match="x is an Image, of which NumPy makes no array without"):
        passed("input", image, ps.uint8, np.ones((2, 3), np.uint8))
