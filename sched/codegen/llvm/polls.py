"""Loops that look up now and then: whether somebody wants them to stop.

While native code runs on the main thread Python only notes that a signal has come; its handlers,
and Ctrl-C is one, run where Python code runs next. So long loops call back: into an empty function
in Python, on the main thread only, 10 to 50 times a second. What its handlers raise is kept, and
`stop` is set, which all threads of the call read. Nothing is installed, no descriptor is taken, and
handlers of any signal run in time.

    for i in [lo, hi): body   ->   for s in [lo, hi) by strips: (for i in strip: body); poll

A strip is about a millisecond of estimated work, so inner loops stay as they are, for LLVM too. Of
loops inside of each other the outer three may be long; those that are short for certain are left
alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.dtypes import float64, int64
from ...lang.nodes import Const, Node, Op, integer
from .. import ir
from ..cost import cost, cost_of_iteration
from . import control
from .builder import Builder
from .layout import CALL
from .names import quoted, symbol
from .target import Target
from .values import Value, constant

if TYPE_CHECKING:
    from .statements import Emitter

STRIP = 1e6
"""Nanoseconds of estimated work between two polls."""
DEPTH = 3
"""How many loops inside of each other poll."""

#: Ticks between two calls of Python: 20 to 100 ms on x86-64, whose clock runs at 1 to 5 GHz, and 1
#: to 50 ms on AArch64, with 20 MHz to 1 GHz.
_TICKS = {"x86_64": 100_000_000, "aarch64": 1_000_000}


def is_polled(stmt: ir.Stmt) -> bool:
    """Whether there is a loop that may be long."""
    return any(isinstance(x, ir.For) and strip_of(x) is not None for x in ir.walk(stmt))


def strip_of(loop: ir.For) -> Node | None:
    """How many iterations there are between two polls; None if the loop is short for certain."""
    whole, one = cost(loop), cost_of_iteration(loop)
    if isinstance(whole, Const) and whole.value < STRIP:
        return None
    if isinstance(one, Const):
        return integer(max(int(STRIP / one.value), 1))
    count = Op("div", (Const(STRIP, float64), one), float64)
    return Op("max", (Op("cast", (count,), int64), integer(1)), int64)


def poll_name(module: str) -> str:
    """The quoted name of a module's function that polls."""
    return quoted(symbol(module, "poll"))


def clock(target: Target) -> str:
    """The intrinsic for the time in ticks: the cycle counter of AArch64 is not for programs, that
    of x86-64 is steady."""
    return "llvm.readcyclecounter" if target.arch == "x86_64" else "llvm.readsteadycounter"


def poll_text(name: str, target: Target) -> str:
    """The function that says whether to stop: `i64 poll(call, thread)`. Thread 0 is the caller,
    and the only one that asks Python."""
    b = Builder()
    control.set_environment(b, target.arch)  # whoever was called may have changed it
    environment = "\n".join(b.lines[1:])
    return f"""\
define internal i64 {name}(ptr %call, i64 %thread) #1 {{
entry:
  %alone = icmp eq ptr %call, null
  br i1 %alone, label %on, label %look
look:
  %p.stop = getelementptr i8, ptr %call, i64 {CALL["stop"]}
  %stop = load atomic i64, ptr %p.stop monotonic, align 8
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %off, label %who
who:
  %p.callback = getelementptr i8, ptr %call, i64 {CALL["callback"]}
  %callback = load ptr, ptr %p.callback, align 8
  %caller = icmp eq i64 %thread, 0
  %there = icmp ne ptr %callback, null
  %asks = and i1 %caller, %there
  br i1 %asks, label %when, label %on
when:
  %p.due = getelementptr i8, ptr %call, i64 {CALL["due"]}
  %due = load i64, ptr %p.due, align 8
  %now = call i64 @{clock(target)}()
  %late = sub i64 %now, %due
  %early = icmp slt i64 %late, 0
  br i1 %early, label %on, label %ask
ask:
  %next = add i64 %now, {_TICKS[target.arch]}
  store i64 %next, ptr %p.due, align 8
  call void %callback(ptr %call)
{environment}
  %asked = load atomic i64, ptr %p.stop monotonic, align 8
  ret i64 %asked
on:
  ret i64 0
off:
  ret i64 %stop
}}"""


def loop_in_strips(emitter: Emitter, loop: ir.For, lo: Value, hi: Value, strip: Value) -> None:
    """A loop that polls after each strip but the last."""
    b = emitter.builder
    before, begin, body = b.block, b.label("strip"), b.label(loop.name)
    check, poll, after = b.label("check"), b.label("poll"), b.label("end")
    b.branch(b.compare("slt", lo, hi), begin, after)
    b.start(begin)
    start = Value(b.name("start"), int64)
    # Where it comes from is known at the end: the line is completed below.
    phi = len(b.lines)
    b.emit("")
    length = strip if loop.step == 1 else b.binary("mul", strip, constant(loop.step, int64))
    end = b.intrinsic("smin", b.binary("add", start, length), hi)
    b.jump(body)
    emitter.iterations(loop, start, end, (begin, body, check))
    b.branch(b.compare("slt", end, hi), poll, after)
    b.start(poll)
    arguments = f"ptr {emitter.threads}, i64 {emitter.thread}"
    stop = b.assign(f"call i64 {emitter.poll}({arguments})", int64)
    b.lines[phi] = f"  {start.text} = phi i64 [ {lo.text}, %{before} ], [ {end.text}, %{poll} ]"
    b.branch(b.compare("ne", stop, constant(0, int64)), emitter.stopped(), begin)
    b.start(after)
