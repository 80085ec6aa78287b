"""What notebooks show of facts, machines, runs, checks and automatic schedules."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
from show.test_parts import Seen

import polysched as ps
from polysched import show
from polysched.checking.examine import examine
from polysched.targets.facts import Machine, Measured

from .test_displays import blur, chain, html, i, j, m, n, product


class Rows(HTMLParser):
    """The rows of tables, as the texts of their cells."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.is_in_cell = False
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.is_in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self.is_in_cell = self.is_in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.is_in_cell:
            self.rows[-1][-1] += data


def skewed() -> ps.Func:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    before = f[ps.clip(i - 1, 0, n - 1), ps.clip(j + 1, 0, m - 1)]
    f[i, j] = ps.select(i > 0, before * 2, x[i, j])
    return f


def test_facts_show_loops_operations_strides_and_distances() -> None:
    rows = Rows(html(ps.facts(skewed(), sizes={"n": 8, "m": 6}))).rows
    assert ["i", "8", ""] in rows
    assert ["j", "6", "parallel, skewed by 1 along i it goes forward"] in rows
    assert ["writes", "f", "4", "48", "6", "1"] in rows
    assert ["f", "f", "f", "(1, -1 to 0)"] in rows
    words = Seen(html(ps.facts(skewed()))).words
    assert "Facts of 1 statement at n = 1024, m = 1024" in words
    assert "Operations of an instance: 1 multiply float32" in words


def test_facts_of_many_statements_are_folded() -> None:
    found = html(ps.facts(chain(40)))
    assert "open" not in {key for _, a in Seen(found).elements for key in a}
    assert len(found) < 100_000


def test_a_machine_says_what_is_measured_and_what_is_estimated() -> None:
    target = ps.machine("x86-64-v3").target
    estimated = html(Machine(target))
    assert "Speeds are estimated for x86-64-v3. python -m polysched calibrate" in estimated
    speeds = tuple(1e9 * k for k in range(1, len(target.caches) + 2))
    found = html(Machine(target, Measured("2026-01-02", {"float32": 5e9}, speeds, 3e-6)))
    assert "Speeds are measured on 2026-01-02." in found
    (row,) = (r for r in Rows(found).rows if r[0] == "a core")
    assert (row[1], row[3], row[-1]) == ("5 GFLOP/s", "1 GB/s", "3 us")


def test_a_run_says_what_was_computed_twice_and_kept() -> None:
    s = blur()
    rows = Rows(html(show.recorded(s, np.zeros(18, np.int32)))).rows
    assert ["rows", "17", "18 times", "0", "18", "9 at most", "36 bytes"] in rows
    assert ["out, an output", "16", "once each", "9", "19", "16 at most", "64 bytes"] in rows


def test_a_check_says_what_is_wrong() -> None:
    a, r = ps.InOut("a", ps.int32, (n,)), ps.RVar("r", 1, n)
    a[r] += a[r - 1]
    s = ps.Schedule(a)
    with s.trust("it is tried"):
        s[a].parallel(r)
    words = Seen(html(examine(s, np.ones(3, np.int32)))).words
    assert "The schedule is wrong" in words
    assert "race: iterations that run concurrently share a[1]" in words
    right = Seen(html(examine(ps.Schedule(a), np.ones(3, np.int32)))).words
    assert "The schedule does what the program means" in right


def test_an_automatic_schedule_shows_why_it_is_as_it_is() -> None:
    s = ps.Schedule.auto(product(), threads=1, sizes={"n": 64, "m": 64, "l": 64})
    words = Seen(html(s)).words
    assert s.comments
    assert [text for _, text in s.comments if text not in words] == []


def test_an_extern_stage_shows_the_regions_that_it_reads() -> None:
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.extern("f", np.sort, [(x, ((0, n), (1, 3)))], (n,), ps.float32)
    found = f._repr_mimebundle_()
    assert ["Input x float32[n, m]", "x[0:n, 1:3]  "] in Rows(found["text/html"]).rows
    assert r"f(x[0:n,\, 1:3])" in found["text/latex"]


def test_a_trace_is_typeset_around_its_value_and_its_label_is_text() -> None:
    x = ps.Input("x", ps.float32, (n,))
    found = ps.trace(x[i] / 2, "half <i> of $x$")._repr_mimebundle_()
    assert "<mfrac>" in found["text/html"]
    assert "'half <i> of $x$'" in Seen(found["text/html"]).words
    assert r"\mathrm{'half\ <i>\ of\ \$x\$'}" in found["text/latex"]


def test_a_program_says_how_it_is_called() -> None:
    assert repr(blur().program) == "Program out(x: int32[n + 2]) -> int32[n]"
