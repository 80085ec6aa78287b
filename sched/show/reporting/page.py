"""`kernel.report("report.html")`: one page about a kernel, which needs no network and no script."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...codegen.runtime.kernel import Kernel
from ..parts.markup import Content, Markup, tag
from ..parts.place import page_at
from ..parts.theme import page
from ..system import version
from . import code, colours, sections
from .arguments import Asked, asked
from .measure import Timed, measured
from .subject import Subject, schedule_of
from .work import work


def report(
    kernel: Kernel,
    path: str | os.PathLike[str],
    args: Any = None,
    side_effects: bool = False,
    sizes: Mapping[str, int] = {},
) -> Path:
    """Writes a report; see `Kernel.report`."""
    with page_at(path, "report", 'kernel.report("report.html")') as place:
        found = asked(kernel, args, side_effects, sizes)
        place.write(str(report_page(found, measured(found))))
        return place.path


def report_page(found: Asked, times: Sequence[Timed] = ()) -> Markup:
    """The page.

    Args:
        times: what was measured.
    """
    x = Subject(found.kernel, found.chosen, found.values, schedule_of(found.chosen), found.strided)
    names = ", ".join(x.program.names[f] for f in x.program.outputs)
    title = f"{names} for {x.target.name}"
    return page(
        title,
        tag("h1", title),
        tag("p", _summary(found), class_="faint"),
        sections.machine_facts(x),
        _contents(),
        sections.algorithm(x),
        sections.schedule(x),
        sections.section("Code", sections.code_facts(x), code.panes(x.sources), name="code"),
        sections.innermost(x),
        work(x, found.values, times),
        sections.compile_time(x),
        style=code.STYLE + colours.STYLE + STYLE,
        script=code.SCRIPT,
    )


PARTS = (
    ("algorithm", "Algorithm"), ("schedule", "Schedule"), ("code", "Code"),
    ("innermost", "Innermost loops"), ("work", "Work"), ("seconds", "Time of the compiler"),
)  # fmt: skip


def _contents() -> Markup:
    links: list[Content] = []
    for name, title in PARTS:
        links += [" · "] if links else []
        links.append(tag("a", title, href=f"#{name}"))
    return tag("nav", links)


def _summary(found: Asked) -> str:
    sizes = ", ".join(f"{k} = {v}" for k, v in found.values.items())
    at = f"at {sizes}" if sizes else "for all sizes"
    return f"A report {at}, by polysched {version()}."


STYLE = (
    ".polysched.page>main{max-width:1760px}"
    ".polysched h1{font-size:20px;margin:4px 0}"
    ".polysched h2{font-size:15px;margin:26px 0 6px;padding-bottom:3px;"
    "border-bottom:1px solid var(--ps-line)}"
    ".polysched h3{font-size:13px;margin:16px 0 4px}"
    ".polysched p{margin:6px 0;max-width:100ch}"
    ".polysched ul{margin:4px 0;padding-left:22px}"
    ".polysched a{color:var(--ps-accent)}"
    ".polysched nav{margin:8px 0}"
    ".polysched .bad{color:var(--ps-bad);font-weight:600}"
    ".polysched .wide{overflow-x:auto}"
    ".polysched .bars{display:inline-block;width:100px;text-align:left}"
    ".polysched .bar{display:inline-block;height:8px;background:var(--ps-accent);"
    "vertical-align:baseline;min-width:1px}"
    ".polysched td pre{white-space:pre-wrap}"
)
