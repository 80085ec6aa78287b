"""Marks: what a thread is at, and for how long it was at what.

A mark reads the clock once and enters the time since the last one to the region that ends, so the
regions of a thread add up to its time by construction. A mark without a clock only says where the
thread is, for somebody who looks at random moments. The words are those of `ir.mark_words`.
"""

from __future__ import annotations

from ....lang.nodes.dtypes import int64
from ....targets.target import Target
from ...ir.ir import Mark
from ...ir.mark_words import EVENTS, FIRST_EVENT, FIRST_REGION, WORDS
from ..text.function_builder import FunctionBuilder
from ..text.values import constant
from .polls import CLOCK_NAME, clock

CLOCK = '@"polysched.clock"'


def clock_text(target: Target) -> str:
    """The function that gives the time, in ticks."""
    name, _, value = CLOCK_NAME.partition(" = ")
    read = clock(target).replace(f"metadata {name}", f"metadata {value}")
    return (
        f"define internal i64 {CLOCK}() alwaysinline nounwind {{\n  %t = {read}\n  ret i64 %t\n}}"
    )


def emit_mark(b: FunctionBuilder, mark: Mark, pointer: str, thread: str) -> None:
    """The mark, at the builder's place."""
    offset = b.assign(f"mul i64 {thread}, {mark.pitch}", int64)
    base = b.element(pointer, offset, int64)

    def word(number: int, of: str = base) -> str:
        return b.element(of, constant(number, int64), int64)

    region, one = constant(mark.region, int64), constant(1, int64)
    if not mark.clock:
        # Volatile: another thread reads it, and other stores may still be moved across it.
        b.emit(f"store volatile {region.typed}, ptr {word(WORDS['part'])}, align 8")
        return
    now = b.assign(f"call i64 {CLOCK}()", int64)
    ended, since = (b.load(word(WORDS[name]), int64) for name in ("region", "since"))
    ticks = word(FIRST_REGION, b.element(base, b.binary("shl", ended, one), int64))
    b.store(b.binary("add", b.load(ticks, int64), b.binary("sub", now, since)), ticks)
    begun = word(FIRST_REGION + 2 * mark.region + 1)
    b.store(b.binary("add", b.load(begun, int64), one), begun)
    count = b.load(word(WORDS["events"]), int64)
    place = b.binary("shl", b.intrinsic("umin", count, constant(EVENTS, int64)), one)
    event = word(FIRST_EVENT, b.element(base, place, int64))
    b.store(now, event)
    b.store(region, word(1, event))
    b.store(b.binary("add", count, one), word(WORDS["events"]))
    b.store(region, word(WORDS["region"]))
    b.store(now, word(WORDS["since"]))
