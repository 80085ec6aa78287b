"""Machines: what code is made for, and what it can do."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.nodes.dtypes import float32, float64
from ...targets.facts import Machine
from ...targets.host import default_target
from ...targets.target import Cache, Target
from ...targets.words import Word
from ..parts.markup import Content, Markup, tag
from ..parts.theme import display


def machine(shown: Machine) -> dict[str, str]:
    """A target with what a core of it does in a second."""
    head = tag("div", "Machine ", tag("code", shown.target.name), class_="head")
    found = f"Speeds are {shown.source}."
    if shown.measured is None:
        found += " python -m polysched calibrate measures them on this machine."
    html = display(
        head,
        tag("table", list(map(_row, _facts(shown.target)))),
        tag("table", list(_speeds(shown))),
        tag("div", found, class_="faint"),
    )
    return {"text/html": str(html)}


def target(shown: Target) -> dict[str, str]:
    """A target."""
    head = tag("div", "Target ", tag("code", shown.name), class_="head")
    has = [x[1:] for x in shown.features if x.startswith("+")]
    features = tag(
        "details",
        tag("summary", f"{len(has)} features"),
        tag("code", ", ".join(has), style="white-space:normal"),
    )
    rows = list(map(_row, _facts(shown)))
    return {"text/html": str(display(head, tag("table", rows), features))}


def word(shown: Word) -> dict[str, str]:
    """A number that depends on the machine, with what it is for the default target."""
    here = default_target()
    numbers = ", ".join(f"{int(shown.resolve(here, t))} for {t}" for t in (float32, float64))
    about = tag("span", f"{numbers} on {here.name}", class_="faint")
    return {"text/html": str(display(tag("code", repr(shown)), " ", about))}


def _row(fact: tuple[str, str]) -> Markup:
    return tag("tr", tag("th", fact[0]), tag("td", fact[1]))


def _facts(shown: Target) -> Iterator[tuple[str, str]]:
    tune = f", in the order that is good for {shown.tune}" if shown.tune else ""
    yield "code for", f"{shown.cpu}, {shown.triple}{tune}"
    yield "vectors", f"{shown.vector_registers} registers of {shown.vector_bytes} bytes"
    yield "caches", ", ".join(map(_cache, shown.caches)) or "none are known"
    yield "cores", str(shown.cores)


def _cache(cache: Cache) -> str:
    shared = "" if cache.shared_by == 1 else f" for {cache.shared_by} cores"
    return f"{size(cache.bytes)}{shared}"


def size(count: int) -> str:
    """A number of bytes as it is read most easily."""
    units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
    unit, name = next((x for x in units if count >= x[0]), (1, "bytes"))
    return f"{count / unit:.4g} {name}"


def _speeds(shown: Machine) -> Iterator[Content]:
    levels = len(shown.target.caches)
    heads = ["float32", "float64", *(f"L{k + 1}" for k in range(levels)), "memory", "wake"]
    numbers = [f"{shown.peak(t) / 1e9:.3g} GFLOP/s" for t in (float32, float64)]
    numbers += [f"{shown.bandwidth(k + 1) / 1e9:.3g} GB/s" for k in range(levels + 1)]
    numbers.append(f"{shown.wake * 1e6:.3g} us")
    yield tag("tr", tag("th"), [tag("th", x, class_="number") for x in heads])
    yield tag("tr", tag("th", "a core"), [tag("td", x, class_="number") for x in numbers])
