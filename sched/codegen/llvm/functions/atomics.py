"""Atomic accumulations: a loop that repeats a compare-and-swap until no other thread interferes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir import ir
from ...ir.parallel import accumulation, is_atomic
from ..text.function_builder import FunctionBuilder
from ..text.values import Value, constant

if TYPE_CHECKING:
    from .statements import Emitter


def write_atomic(emitter: Emitter, stmt: ir.Stores) -> bool:
    """Writes an accumulation; False if the statement is none, and nothing has been written."""
    found = accumulation(stmt) if is_atomic(stmt) else None
    if found is None:
        return False
    store, loads = found
    b, evaluator = emitter.builder, emitter.evaluator
    guards = () if store.guard is None else (store.guard,)
    computed = evaluator.compute(*store.index, *guards)
    after = b.label("stored")
    if guards:
        inside = b.label("store")
        b.branch(computed[-1], inside, after)
        b.start(inside)
    with evaluator.scope():
        _swap(emitter, store, loads, after)
    b.start(after)
    return True


def _swap(emitter: Emitter, store: ir.Store, loads: tuple[ir.Load, ...], after: str) -> None:
    """Computes the value from what is there until that is still there when it is stored."""
    b, evaluator = emitter.builder, emitter.evaluator
    address = evaluator.address(store.buffer, store.index)
    dtype = store.buffer.dtype.unsigned
    bits, align = f"i{dtype.bits}", dtype.itemsize
    first = b.assign(f"load atomic {bits}, ptr {address} monotonic, align {align}", dtype)
    before, again = b.block, b.label("again")
    b.jump(again)
    b.start(again)
    old = Value(b.name("old"), dtype)
    # The phi's second operand is computed at the end of the loop: the line is completed below.
    phi = len(b.lines)
    b.emit("")
    with evaluator.scope():
        there = _from_word(b, old, store.buffer)
        for load in loads:
            evaluator.bind(load, there)
        (value,) = evaluator.compute(store.value)
        new = _to_word(b, value, old)
    swap = f"cmpxchg weak ptr {address}, {old.typed}, {new.typed} monotonic monotonic"
    pair = b.name("swapped")
    b.emit(f"{pair} = {swap}")
    seen = b.assign(f"extractvalue {{ {bits}, i1 }} {pair}, 0", dtype)
    done = b.name("done")
    b.emit(f"{done} = extractvalue {{ {bits}, i1 }} {pair}, 1")
    b.lines[phi] = (
        f"  {old.text} = phi {bits} [ {first.text}, %{before} ], [ {seen.text}, %{b.block} ]"
    )
    b.emit(f"br i1 {done}, label %{after}, label %{again}")


def _from_word(b: FunctionBuilder, word: Value, buffer: ir.Buffer) -> Value:
    if buffer.dtype.is_bool:
        return b.compare("ne", word, constant(0, word.dtype))
    if buffer.dtype.is_float:
        return b.convert("bitcast", word, buffer.dtype)
    return Value(word.text, buffer.dtype)


def _to_word(b: FunctionBuilder, value: Value, word: Value) -> Value:
    if value.dtype.is_bool:
        return b.convert("zext", value, word.dtype)
    if value.dtype.is_float:
        return b.convert("bitcast", value, word.dtype)
    return Value(value.text, word.dtype)
