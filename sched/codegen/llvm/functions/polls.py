"""Polling: long loops check now and then whether they are to stop.

While native code runs on the main thread Python only notes that a signal has come; its handlers,
and Ctrl-C is one, run where Python code runs next. So long loops call back: into an empty function
in Python, on the main thread only, 10 to 50 times a second. What its handlers raise is kept, and
`stop` is set, which all threads of the call read. Nothing is installed, no descriptor is taken, and
handlers of any signal run in time.

    for i in [lo, hi): body   ->   for s in [lo, hi) by strips: (for i in strip: body); poll

Inner loops stay as they are, for LLVM too. A strip of a loop whose iterations are bounded by
constants is about a millisecond of estimated work; a loop around long ones polls every few
iterations, and one around rows of data every 64, which its own variable says. Loops that are short
for certain are left alone, and so are those deep inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....lang.nodes.dtypes import int64
from ....lang.nodes.nodes import has_below
from ....targets.target import Target
from ...ir import ir
from ...ir.cost import Costs
from ..text import control
from ..text.attributes import machine_attributes
from ..text.function_builder import FunctionBuilder
from ..text.layout import CALL, THREADS
from ..text.names import quoted, symbol
from ..text.values import Value, constant

if TYPE_CHECKING:
    from .statements import Emitter

POLL = "threads.poll"
"""The function, by what `CompiledCode.address` calls it."""

POLL_OF = "%poll"
"""Its address, in a function that has begun with `begin_polling`."""

STRIP, FEW, SEVERAL = 1e6, 4, 64
"""Nanoseconds of estimated work between two polls of a loop whose iterations take as long as each
other; iterations between two polls of others, in which there are loops of any length, and of loops
over rows that are mostly short."""
DEPTH = 3
"""How many loops inside of each other poll, the innermost of a nest only if it is the second: each
costs about a millisecond of compiling."""

#: Ticks between two calls of Python: 20 to 100 ms on x86-64, whose clock runs at 1 to 5 GHz, and 1
#: to 50 ms on AArch64, with 20 MHz to 1 GHz.
_TICKS = {"x86_64": 100_000_000, "aarch64": 1_000_000}


def is_polled(stmt: ir.Stmt, costs: Costs) -> bool:
    """Whether there is a loop that may be long."""
    return any(isinstance(x, ir.For) and strip_of(x, costs, 0) is not None for x in ir.walk(stmt))


def strip_of(loop: ir.For, costs: Costs, depth: int) -> int | None:
    """How many iterations there are between two polls of a loop inside of `depth` others; None if
    it is short for certain, or too deep."""
    whole, one = costs.longest(loop), costs.longest(loop.body)
    if whole is not None and whole < STRIP:
        return None
    if one is None:
        return (SEVERAL if _has_short_rows(loop.body, costs) else FEW) if depth < DEPTH else None
    return max(int(STRIP / max(one, 1.0)), 1) if depth < DEPTH - 1 else None


def _has_short_rows(stmt: ir.Stmt, costs: Costs) -> bool:
    """Whether the loops of any length in a statement are those of which data say how long they are,
    none inside of another: rows of a sparse matrix, which are many and mostly short."""
    long = [x for x in ir.walk(stmt) if costs.longest(x) is None]
    if any(isinstance(x, ir.Call) for x in long):
        return False
    loops = [x for x in long if isinstance(x, ir.For)]
    return all(costs.longest(x.body) is not None and _is_of_data(x) for x in loops)


def _is_of_data(loop: ir.For) -> bool:
    return has_below(ir.Load, loop.lo) or has_below(ir.Load, loop.hi)


def clock(target: Target) -> str:
    """What gives the time, an i64 in ticks; in a module that ends with `CLOCK_NAME`."""
    if target.arch == "x86_64":
        return "call i64 @llvm.readcyclecounter()"  # steady on all machines with FMA
    # LLVM's cycle counter is not for programs here, and its steady one is always 0.
    return "call i64 @llvm.read_volatile_register.i64(metadata !0)"


CLOCK_NAME = '!0 = !{!"CNTVCT_EL0"}'
"""The register that is read on AArch64."""


def emit_poll(target: Target) -> str:
    """The text of a module with `poll` alone, for processes whose loops all run on one thread."""
    return f"""\
target triple = "{target.triple}"

{poll_function(target)}

attributes #0 = {{ nounwind {machine_attributes(target)} }}
{CLOCK_NAME}
"""


def poll_function(target: Target) -> str:
    """The text of the function that says whether to stop, `i64 poll(call, thread)`, in a module
    that ends with the attributes #0 and `CLOCK_NAME`. Thread 0 is the caller, and the only one that
    asks Python."""
    b = FunctionBuilder()
    control.set_environment(b, target.arch)  # whoever was called may have changed it
    environment = "\n".join(b.lines[1:])
    return f"""\
define i64 {quoted(symbol(POLL))}(ptr %call, i64 %thread) #0 {{
entry:
  %p.stop = getelementptr i8, ptr %call, i64 {CALL["stop"]}
  %stop = load atomic i64, ptr %p.stop monotonic, align 8
  %p.callback = getelementptr i8, ptr %call, i64 {CALL["callback"]}
  %callback = load ptr, ptr %p.callback, align 8
  %caller = icmp eq i64 %thread, 0
  %there = icmp ne ptr %callback, null
  %on = icmp eq i64 %stop, 0
  %both = and i1 %caller, %there
  %asks = and i1 %both, %on
  br i1 %asks, label %when, label %done
when:
  %p.due = getelementptr i8, ptr %call, i64 {CALL["due"]}
  %due = load i64, ptr %p.due, align 8
  %now = {clock(target)}
  ; A clock that was put back, as by moving to another machine, does not make it wait for ever.
  %late = sub i64 %now, %due
  %passed = add i64 %late, {_TICKS[target.arch]}
  %early = icmp ult i64 %passed, {_TICKS[target.arch]}
  br i1 %early, label %done, label %ask
ask:
  %next = add i64 %now, {_TICKS[target.arch]}
  store i64 %next, ptr %p.due, align 8
  call void %callback(ptr %call)
{environment}
  %asked = load atomic i64, ptr %p.stop monotonic, align 8
  ret i64 %asked
done:
  ret i64 %stop
}}"""


def polling_loop(emitter: Emitter, loop: ir.For, lo: Value, hi: Value, strip: int) -> None:
    """A loop that polls after each strip but the last."""
    is_even = emitter.costs.longest(loop.body) is not None
    (_in_strips if is_even else _counting)(emitter, loop, lo, hi, strip)


def _in_strips(emitter: Emitter, loop: ir.For, lo: Value, hi: Value, strip: int) -> None:
    """A loop around the loop, so that the inner one is as simple as it was."""
    b = emitter.builder
    before, begin, body = b.block, b.label("strip"), b.label(loop.name)
    check, poll, after = b.label("check"), b.label("poll"), b.label("end")
    b.branch(b.compare("slt", lo, hi), begin, after)
    b.start(begin)
    start = Value(b.name("start"), int64)
    # Where it comes from is known at the end: the line is completed below.
    phi = len(b.lines)
    b.emit("")
    length = constant(strip * loop.step, int64)
    end = b.intrinsic("smin", b.binary("add", start, length), hi)
    b.jump(body)
    emitter.iterations(loop, start, end, (begin, body, check))
    b.branch(b.compare("slt", end, hi), poll, after)
    b.start(poll)
    _poll(emitter, begin)
    b.lines[phi] = f"  {start.text} = phi i64 [ {lo.text}, %{before} ], [ {end.text}, %{poll} ]"
    b.start(after)


def _counting(emitter: Emitter, loop: ir.For, lo: Value, hi: Value, strip: int) -> None:
    """The loop's own variable says when to poll: nothing is counted beside the loops inside."""
    b = emitter.builder
    before, body, after = b.block, b.label(loop.name), b.label("end")
    poll, latch = b.label("poll"), b.label("latch")
    b.branch(b.compare("slt", lo, hi), body, after)
    b.start(body)
    var, stepped = Value(b.name(loop.var.name), int64), Value(b.name("next"), int64)
    phi = len(b.lines)
    b.emit("")
    with emitter.evaluator.scope():
        emitter.evaluator.bind(loop.var, var)
        emitter.inside(loop.body)
    b.emit(f"{stepped.text} = add nsw i64 {var.text}, {loop.step}")
    phase = b.binary("and", stepped, constant(_phase(loop.step, strip), int64))
    b.branch(b.compare("eq", phase, constant(0, int64)), poll, latch)
    b.start(poll)
    _poll(emitter, latch)
    b.start(latch)
    b.lines[phi] = f"  {var.text} = phi i64 [ {lo.text}, %{before} ], [ {stepped.text}, %{latch} ]"
    b.branch(b.compare("slt", stepped, hi), body, after)
    b.start(after)


def _phase(step: int, strip: int) -> int:
    """Bits of a loop's variable that are zero once in `strip` iterations, a power of two, wherever
    it begins: odd multiples go through all values of the lowest bits."""
    return (strip - 1) * (step & -step)


def _poll(emitter: Emitter, begin: str) -> None:
    """Goes to a block, or leaves the function."""
    b = emitter.builder
    stop = b.assign(f"call i64 {POLL_OF}(ptr {THREADS}, i64 {emitter.thread})", int64)
    b.branch(b.compare("ne", stop, constant(0, int64)), emitter.stopped(), begin)


def begin_polling(b: FunctionBuilder) -> None:
    """What a function needs in which there are loops that poll."""
    where = b.element(THREADS, constant(CALL["poll"] // 8, int64), int64)
    b.emit(f"{POLL_OF} = load ptr, ptr {where}, align 8")
