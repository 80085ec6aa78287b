"""The report on a kernel: its links, what is in it, and that the file is whole or untouched."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gallery.registry import find

import polysched as ps
from polysched.show.reporting import code, page
from polysched.show.reporting.arguments import asked
from polysched.show.reporting.measure import _goes_on, _like
from polysched.show.reporting.subject import Subject, schedule_of

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")

VOID = {"meta", "br", "hr", "img", "input", "link", "col"}


class Page(HTMLParser):
    """A page taken apart: elements with their attributes, in order; wrong nesting is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {k: v or "" for k, v in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {k: v or "" for k, v in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" not in self._open and "style" not in self._open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def having(self, attribute: str) -> list[str]:
        """The values of an attribute, in order."""
        return [a[attribute] for _, a in self.elements if attribute in a]


def _product(**options: Any) -> ps.Kernel:
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    s = ps.Schedule(C)
    u = s[C].update(0)
    u.split(i, 4, names=("io", "ii"))
    u.split(j, 8, names=("jo", "ji"))
    u.reorder("io", "jo", k, "ii", "ji")
    u.vectorize("ji").unroll("ii").parallel("io")
    kernel: ps.Kernel = s.compile(**options)
    return kernel


@pytest.fixture(scope="module")
def product() -> ps.Kernel:
    return _product()


def _page(kernel: ps.Kernel, folder: Path, **options: Any) -> Page:
    return Page(kernel.report(folder / "report.html", **options).read_text())


# the page ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["rnn", "integral_image", "histogram"])
def test_each_link_leads_somewhere(name: str, tmp_path: Path) -> None:
    kernel: ps.Kernel = ps.Schedule.default(find(name).build()).compile()
    found = _page(kernel, tmp_path)
    names = found.having("id")
    assert len(names) == len(set(names))
    targets = {x.removeprefix("#") for x in found.having("href")}
    assert len(targets) > 10
    assert targets <= set(names)


def test_each_line_of_code_names_lines_that_there_are(product: ps.Kernel, tmp_path: Path) -> None:
    found = _page(product, tmp_path)
    lines = {a["data-l"]: a for _, a in found.elements if a.get("id", "").startswith("l")}
    listing = {a["data-n"] for _, a in found.elements if a.get("id", "").startswith("n")}
    assert lines
    assert set(found.having("data-l")) <= set(lines)
    used = {x for a in lines.values() for x in a.get("data-n", "").split()}
    assert used
    assert used <= listing
    ends = [(int(a["data-l"]), int(a["data-e"])) for a in lines.values() if "data-e" in a]
    assert ends
    assert all(line < end <= len(lines) for line, end in ends)


def test_links_lead_from_a_loop_to_its_code(product: ps.Kernel) -> None:
    """The loop over k: its lines in the listing, and instructions that are of its statements."""
    x = Subject(product, product, {}, schedule_of(product))
    k = [a for a, line in enumerate(x.sources.loops, 1) if line.strip().startswith("for k in")]
    assert k
    for line in k:
        (place,) = x.sources.links[line - 1]
        assert x.sources.listing[place - 1].strip().startswith("for k in [0, l)")
        inside = range(line, x.sources.ends[line - 1] + 1)
        assert any(place in inside for chunk in x.sources.assembly for place in chunk.places)
    loops = [loop.line for loop in x.innermost]
    assert set(k) <= set(loops)


def test_most_instructions_have_a_line(product: ps.Kernel) -> None:
    x = Subject(product, product, {}, schedule_of(product))
    body = next(f for f in x.assembly if f.name.endswith("io.0"))
    located = [line for line in body.instructions if line.line]
    assert len(located) > len(body.instructions) / 2


@pytest.mark.slow
def test_the_same_kernel_gives_the_same_page(product: ps.Kernel, tmp_path: Path) -> None:
    once = product.report(tmp_path / "a.html", n=8, m=8, l=8).read_bytes()
    assert product.report(tmp_path / "b.html", n=8, m=8, l=8).read_bytes() == once


def test_a_page_needs_no_network(product: ps.Kernel, tmp_path: Path) -> None:
    text = product.report(tmp_path / "a.html", n=8, m=8, l=8).read_text()
    assert not re.search(r'src=|@import|url\(|href="(?!#)', text)
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_what_a_user_writes_is_text(tmp_path: Path) -> None:
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = x[i] + 1
    s = ps.Schedule(f)
    s.comment("<img src=x onerror=alert(1)>&amp;")
    s[f].split(i, 8)
    text = s.compile().report(tmp_path / "a.html").read_text()
    assert "<img" not in text
    assert "<img src=x onerror=alert(1)>&amp;" in Page(text).text


def test_the_page_has_equations_directives_loops_and_code(
    product: ps.Kernel, tmp_path: Path
) -> None:
    text = _page(product, tmp_path).text
    assert "C[i, j] = fma(A[i, k], B[k, j], C[i, j])  for k in [0, l)" in text
    assert "s[\"C.update(0)\"].parallel('io')" in text
    for line in (*product.loops.splitlines(), "vfmadd" if _is_x86() else "fmla"):
        assert line in text, line
    for step in product.seconds:
        assert step in text


def _is_x86() -> bool:
    return ps.machine().target.arch == "x86_64"


def test_without_pygments_it_says_the_same(
    product: ps.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_colours = product.report(tmp_path / "a.html").read_text()
    monkeypatch.setitem(sys.modules, "pygments", None)
    without = product.report(tmp_path / "b.html").read_text()
    assert Page(with_colours).text == Page(without).text
    assert len(without) < len(with_colours)


def test_long_code_is_cut_and_says_so(
    product: ps.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "MOST", 12)
    found = _page(product, tmp_path)
    assert "lines are left out: kernel.asm has all" in found.text
    assert {x.removeprefix("#") for x in found.having("href")} <= set(found.having("id")) | {
        f"l{k}" for k in range(13, 10_000)
    }


# numbers ----------------------------------------------------------------------------------------
def test_numbers_at_sizes_are_those_of_the_product(product: ps.Kernel, tmp_path: Path) -> None:
    text = _page(product, tmp_path, n=24, m=16, l=10).text
    assert f"{2 * 24 * 16 * 10:,}" in text
    assert "Roofline" in text
    assert "Nothing was run" in text
    assert "It needs sizes" not in text


def test_without_sizes_there_are_formulas(product: ps.Kernel, tmp_path: Path) -> None:
    text = _page(product, tmp_path).text
    assert "It needs sizes" in text
    assert "A report for all sizes" in text


def test_sizes_that_it_was_compiled_for_need_not_be_given(tmp_path: Path) -> None:
    text = _page(_product(n=24, m=16, l=10), tmp_path).text
    assert "A report at " in text
    assert f"{2 * 24 * 16 * 10:,}" in text


def test_a_call_is_measured(product: ps.Kernel, tmp_path: Path) -> None:
    A, B = np.ones((24, 10), np.float32), np.ones((10, 16), np.float32)
    text = _page(product, tmp_path, args={"A": A, "B": B}).text
    assert "median of a call" in text
    assert f"{2 * 24 * 16 * 10:,}" in text


def test_the_variant_that_runs_is_reported(tmp_path: Path) -> None:
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = 2 * x[i]
    s = ps.Schedule(f)
    small = s.specialize(n <= 16)
    small[f].split(i, 4, names=("io", "ii"))
    kernel = s.compile()
    assert "for ii in" in _page(kernel, tmp_path, n=8).text
    found = _page(kernel, tmp_path, n=800).text
    assert "for ii in" not in found
    assert "variants that run where a condition on sizes holds" in found


# arguments stay as they are ---------------------------------------------------------------------
def _added() -> ps.Kernel:
    t = ps.InOut("t", ps.float32, (n,))
    t[i] += 1
    kernel: ps.Kernel = ps.Schedule(t).compile()
    return kernel


@pytest.mark.parametrize("by_name", [False, True])
def test_inouts_of_the_caller_do_not_change(by_name: bool, tmp_path: Path) -> None:
    t = np.zeros(1000, np.float32)
    _page(_added(), tmp_path, args={"t": t} if by_name else (t,))
    assert not t.any()


def test_long_runs_are_repeated_less() -> None:
    assert _goes_on([])
    assert _goes_on([0.1] * 4)
    assert not _goes_on([0.1] * 5)
    assert not _goes_on([9.0])
    assert _goes_on([1e-6] * 199)
    assert not _goes_on([1e-6] * 200)


@pytest.mark.parametrize(
    "part", [slice(None), slice(None, None, 2), slice(None, None, -1), slice(0)]
)
def test_copies_lie_in_memory_as_arrays_do(part: slice) -> None:
    for whole in (np.arange(12.0), np.arange(12.0).reshape(6, 2), np.arange(12.0).reshape(2, 6).T):
        array = whole[part]
        copy = _like(array)
        assert np.array_equal(copy, array)
        assert copy.strides == array.strides
        assert not np.shares_memory(copy, array)


@pytest.mark.slow
def test_the_code_for_strides_is_shown_where_it_runs(product: ps.Kernel, tmp_path: Path) -> None:
    A, B = np.ones((4, 10), np.float32)[:, ::2], np.ones((5, 6), np.float32)
    found = _page(product, tmp_path, args=(A, B)).text
    assert "the code is that for arrays of any strides" in found
    assert "input A: float32[n, l] strided" in found
    assert "of any strides" not in _page(product, tmp_path, args=(A.copy(), B)).text


def test_out_of_the_caller_is_not_written(product: ps.Kernel, tmp_path: Path) -> None:
    A, B = np.ones((4, 5), np.float32), np.ones((5, 6), np.float32)
    out = np.full((4, 6), 7, np.float32)
    _page(product, tmp_path, args={"A": A, "B": B, "out": out})
    assert (out == 7).all()


# refusals ---------------------------------------------------------------------------------------
def test_functions_of_the_user_are_not_called_unasked(tmp_path: Path) -> None:
    calls: list[int] = []
    x = ps.Input("x", ps.float32, (n,))

    def doubled(a: Any) -> Any:
        calls.append(1)
        return 2 * a

    f = ps.extern("f", doubled, [x], (n,), ps.float32)
    kernel = ps.Schedule(f).compile()
    given = np.ones(3, np.float32)
    with pytest.raises(ps.CallValueError, match="side_effects=True allows it"):
        kernel.report(tmp_path / "a.html", args=(given,))
    assert not calls
    assert not list(tmp_path.iterdir())
    kernel.report(tmp_path / "a.html", args=(given,), side_effects=True)
    assert calls


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n": 4}, ps.LanguageTypeError, "l, m missing"),
        ({"q": 4}, ps.LanguageTypeError, "q is no size of this program"),
        ({"n": -1, "m": 2, "l": 2}, ps.ScheduleError, "a size is an integer >= 0"),
        ({"n": 2.5, "m": 2, "l": 2}, ps.ScheduleError, "a size is an integer >= 0"),
        ({"args": np.ones(3)}, ps.CallTypeError, "args= takes a tuple or a dict"),
        ({"args": (), "n": 4}, ps.CallTypeError, "args= or sizes, not both: n"),
        ({"args": ()}, ps.CallError, "A"),
        ({"args": (np.ones((2, 2)), np.ones((2, 2)))}, ps.CallError, "float"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    options: dict[str, Any],
    error: type[Exception],
    words: str,
    product: ps.Kernel,
    tmp_path: Path,
) -> None:
    with pytest.raises(error, match=re.escape(words)):
        product.report(tmp_path / "a.html", **options)
    assert not list(tmp_path.iterdir())


def test_sizes_that_no_call_has_are_refused(tmp_path: Path) -> None:
    kernel = _product(n=24)
    with pytest.raises(ps.CallValueError, match="n"):
        kernel.report(tmp_path / "a.html", n=25, m=1, l=1)


@pytest.mark.parametrize("name", ["", None, 3, b""])
def test_what_is_no_path_is_refused(name: Any, product: ps.Kernel) -> None:
    with pytest.raises(ps.LanguageTypeError, match="a report takes the path of a file"):
        product.report(name)


def test_a_path_that_cannot_be_written_is_refused_before_the_work(
    product: ps.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "report_page", lambda *a: pytest.fail("the work was done"))
    with pytest.raises(OSError, match="no such file or directory"):
        product.report(tmp_path / "missing" / "a.html")
    with pytest.raises(ps.PolyschedError, match=r"it is a folder\n  hint: name a file in it"):
        product.report(tmp_path)


def test_a_report_that_fails_leaves_the_file_that_was_there(
    product: ps.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.html"
    path.write_text("before")

    def fails(*_: Any) -> None:
        assert path.read_text() == "before"
        raise RuntimeError("in the midst")

    monkeypatch.setattr(page, "report_page", fails)
    with pytest.raises(RuntimeError, match="in the midst"):
        product.report(path)
    assert path.read_text() == "before"
    assert [x.name for x in tmp_path.iterdir()] == ["a.html"]


def test_an_existing_file_is_replaced_through_a_link(product: ps.Kernel, tmp_path: Path) -> None:
    path, link = tmp_path / "a.html", tmp_path / "link.html"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    assert product.report(link) == path.resolve()
    assert link.is_symlink()
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert path.stat().st_mode & 0o777 == 0o640
    assert {x.name for x in tmp_path.iterdir()} == {"a.html", "link.html"}


def test_nothing_is_asked_without_need(product: ps.Kernel) -> None:
    found = asked(product, None, False, {})
    assert (found.values, found.bound, found.chosen) == ({}, None, product)
