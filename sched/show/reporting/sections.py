"""The parts of a report that are text and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...lang.tensors.definitions import Definition
from ...targets.facts import machine
from ..parts.markup import Content, Markup, tag, text
from .code import joined
from .code_loops import CodeLoop
from .colours import coloured
from .instructions import COUNTED, Counts, Registers, counts, registers
from .subject import Subject

FOLDED = 40
"""Lines up to which a part is unfolded."""


def section(title: str, *content: Content, name: str) -> Markup:
    """A part of the page under a title."""
    return tag("section", tag("h2", title), text(content), id=name)


def table(heads: Sequence[str], rows: Iterable[Sequence[Content]], numbers: int = 1) -> Markup:
    """A table.

    Args:
        numbers: from which column on cells are numbers.
    """
    kinds = ["number" if k >= numbers else None for k in range(len(heads))]
    head = tag("tr", [tag("th", h, class_=k) for h, k in zip(heads, kinds, strict=True)])
    body = [
        tag("tr", [tag("td", cell, class_=k) for cell, k in zip(row, kinds, strict=True)])
        for row in rows
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="wide")


# what is computed ---------------------------------------------------------------------------------
def algorithm(x: Subject) -> Markup:
    """The equations."""
    definitions = x.program.definitions
    made = table(("equation", "defined at"), (_equation(x, d) for d in definitions), numbers=2)
    if len(definitions) > FOLDED:
        made = tag("details", tag("summary", f"{len(definitions)} equations"), made)
    return section(
        "Algorithm", tag("p", tag("code", x.program.signature())), made, name="algorithm"
    )


def _equation(x: Subject, d: Definition) -> tuple[Content, Content]:
    equation = d.listing(x.program.names, domain=True)
    if d.opaque is not None:
        equation = f"{d.name} is computed by an extern stage"
    return joined(equation.splitlines()), tag("span", str(d.span), class_="faint")


def schedule(x: Subject) -> Markup:
    """The directives, and what a call must meet."""
    lines = x.schedule.source().splitlines()
    code = tag("pre", Markup("\n".join(coloured("python")(lines))), class_="code")
    if len(lines) > FOLDED:
        code = tag("details", tag("summary", f"{len(lines)} lines"), code)
    notes = list(_schedule_notes(x))
    conditions = [tag("li", tag("code", c)) for c in x.chosen.conditions]
    return section(
        "Schedule",
        code,
        [tag("p", note) for note in notes],
        [tag("p", "A call requires:"), tag("ul", conditions)] if conditions else None,
        name="schedule",
    )


def _schedule_notes(x: Subject) -> Iterator[str]:
    if not x.schedule.directives:
        yield "There are no directives: the program runs as it is written."
    if x.chosen is not x.kernel:
        yield "This is the variant that runs at the sizes of this report."
    elif x.kernel._special:
        yield (
            "There are variants that run where a condition on sizes holds: give sizes or arguments "
            "that meet it to see them. This is what runs elsewhere."
        )
    if x.strided:
        yield "Not all of the arrays are contiguous: the code is that for arrays of any strides."
    if x.chosen._checks:
        yield "Integer divisions by zero are counted (checks=True)."


# how it is compiled -------------------------------------------------------------------------------
def code_facts(x: Subject) -> Markup:
    """How much code there is, and how much of it is linked."""
    asm = [line for f in x.assembly for line in f.instructions]
    llvm = [line for f in x.llvm for line in f.lines if line.is_instruction]
    return tag(
        "p",
        f"{_of(asm, 'instruction')} of machine code and {_of(llvm, 'instruction')} of LLVM's IR. "
        f"{_without(asm)} of the former and {_without(llvm)} of the latter have no location: LLVM "
        "has moved or made them, or they are part of the call. They are pale. Pointing at a line "
        "marks what belongs to it on all levels; a click keeps it and brings the others into view.",
    )


def _of(things: Sequence[object], what: str) -> str:
    return f"{len(things):,} {what}" + ("" if len(things) == 1 else "s")


def _without(lines: Sequence[object]) -> str:
    count = sum(getattr(x, "line", 0) == 0 for x in lines)
    return f"{count:,} ({count / max(len(lines), 1):.0%})"


COLUMNS = (
    ("all", "instructions"), ("scalar", "scalar"), ("xmm", "xmm"), ("ymm", "ymm"), ("zmm", "zmm"),
    ("fma", "fma"), ("gathers", "gathers"), ("scatters", "scatters"), ("shuffles", "shuffles"),
    ("calls", "calls"), ("spills", "spills"), ("reloads", "reloads"), ("stack", "other stack"),
)  # fmt: skip


def innermost(x: Subject) -> Markup:
    """The innermost loops: what they are made of, registers, spills."""
    title, name = "Innermost loops", "innermost"
    if x.target.arch not in COUNTED:
        return section(
            title,
            tag("p", f"Instructions are told from each other on x86-64 only, not {x.target.arch}."),
            name=name,
        )
    every = [(loop, counts(loop.lines), registers(loop.lines)) for loop in x.innermost]
    shown = [c for c in COLUMNS if c[0] == "all" or any(getattr(n, c[0]) for _, n, _ in every)]
    whole = counts(line for f in x.assembly for line in f.lines)
    if not every:
        return section(title, tag("p", "The machine code has no loops."), name=name)
    heads = ("loop", "function", *(c[1] for c in shown), "vector registers", "general registers")
    rows = [_loop_row(x, *one, [c[0] for c in shown]) for one in every]
    return section(title, _loops_text(x, every, whole), table(heads, rows, numbers=2), name=name)


def _loop_row(
    x: Subject, loop: CodeLoop, n: Counts, used: Registers, columns: Sequence[str]
) -> list[Content]:
    line = x.listed.loops[loop.line - 1][0].strip()
    short = line if len(line) <= 60 else f"{line[:60]}..."
    cells: list[Content] = [
        tag("a", tag("code", f"{loop.line}: {short}"), href=f"#l{loop.line}"),
        tag("code", loop.function.removeprefix("polysched."), class_="faint"),
    ]
    for c in columns:
        number = getattr(n, c)
        is_bad = c in ("spills", "reloads", "gathers", "scatters", "calls") and number
        cells.append(tag("span", number, class_="bad" if is_bad else None))
    cells.append(f"{len(used.vector)} of {x.target.vector_registers}")
    cells.append(f"{len(used.general)} of {_GENERAL}")
    return cells


_GENERAL = 15
"""General registers of x86-64 beside the stack pointer."""


def _loops_text(
    x: Subject, every: Sequence[tuple[CodeLoop, Counts, Registers]], whole: Counts
) -> Markup:
    bad = [loop for loop, n, _ in every if n.spills or n.reloads]
    do = "stores or loads" if len(bad) == 1 else "store or load"
    spilled = (
        f"{len(bad)} of them {do} registers that were spilled to the stack."
        if bad
        else "None of them spills registers."
    )
    widths = ", ".join(
        f"{getattr(whole, c):,} {name}" for c, name in COLUMNS[1:9] if getattr(whole, c)
    )
    return tag(
        "p",
        f"The machine code has {_of(every, 'innermost loop')}; a row counts the instructions of "
        f"one, whether an iteration runs them or not. {spilled} In all of the code: "
        f"{widths or 'no vectors'}.",
    )


# time ---------------------------------------------------------------------------------------------
def compile_time(x: Subject) -> Markup:
    """The steps of the compiler, the longest first."""
    seconds = {**x.chosen.seconds, **x.lowered.seconds}
    total = sum(seconds.values())
    order = sorted(seconds.items(), key=lambda item: -item[1])
    rows = [
        (name, f"{taken * 1e3:.2f} ms", _bar(taken / max(total, 1e-9))) for name, taken in order
    ]
    cached = (
        " Its code was found on disk; the steps of its code are those of making it once more."
        if x.chosen.cached
        else ""
    )
    shown, rest = rows[:12], rows[12:]
    heads = ("step", "time", "share")
    more = None
    if rest:
        title = tag("summary", f"{len(rest)} shorter steps")
        more = tag("details", title, table(heads, rest))
    return section(
        "Time of the compiler",
        tag("p", f"{total * 1e3:.1f} ms in all.{cached}"),
        table(heads, shown),
        more,
        name="seconds",
    )


def _bar(share: float) -> Markup:
    bar = tag("span", class_="bar", style=f"width:{100 * share:.1f}px")
    return text([f"{share:.0%} ", tag("span", bar, class_="bars")])


def machine_facts(x: Subject) -> Markup:
    """For which machine."""
    known = machine(x.target)
    caches = ", ".join(f"L{c.level} {c.bytes >> 10:,} KiB" for c in x.target.caches)
    registers_text = (
        f"{x.target.vector_registers} vector registers of {x.target.vector_bytes} bytes"
    )
    return tag(
        "p",
        f"For {x.target.name} ({x.target.triple}): {registers_text}, {caches}. "
        f"What it can do is {known.source}.",
        class_="faint",
    )
