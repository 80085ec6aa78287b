"""Polls that are counted, and signals that come at a certain one: while native code runs."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache

from polysched.codegen.llvm import compile_module
from polysched.codegen.llvm.functions import polls
from polysched.codegen.runtime import pool
from polysched.targets.host import default_target

_MOST = 64  # threads
_WORDS = {"signal": 0, "every": 1, "polls": 2, "told": 2 + _MOST}

_TEXT = """
define i64 @"polysched.counted"(ptr %call, i64 %thread) {{
entry:
  %words = inttoptr i64 {words} to ptr
  %p.polls = getelementptr i64, ptr %words, i64 {polls}
  %p.own = getelementptr i64, ptr %p.polls, i64 %thread
  %before = atomicrmw add ptr %p.own, i64 1 monotonic
  %count = add i64 %before, 1
  %p.every = getelementptr i64, ptr %words, i64 {every}
  %every = load i64, ptr %p.every
  %rest = urem i64 %count, %every
  %due = icmp eq i64 %rest, 0
  %caller = icmp eq i64 %thread, 0
  %comes = and i1 %due, %caller
  br i1 %comes, label %send, label %ask
send:
  %signal = load i64, ptr %words
  %number = trunc i64 %signal to i32
  %raise = inttoptr i64 {raise_} to ptr
  %sent = call i32 %raise(i32 %number)
  br label %ask
ask:
  %poll = inttoptr i64 {poll} to ptr
  %stop = call i64 %poll(ptr %call, i64 %thread)
  %is = icmp ne i64 %stop, 0
  %one = zext i1 %is to i64
  %p.told = getelementptr i64, ptr %words, i64 {told}
  %p.mine = getelementptr i64, ptr %p.told, i64 %thread
  %was = atomicrmw add ptr %p.mine, i64 %one monotonic
  ret i64 %stop
}}
"""


@dataclass
class Polls:
    """What kernels poll by, instead of the function that does so otherwise, which it calls; and
    which asks Python at each poll of the caller, not only after some time.

    Attributes:
        address: the function.
    """

    address: int
    _words: ctypes.Array[ctypes.c_int64]

    def expect(self, signal: int = 0, every: int = 1 << 60) -> None:
        """Begins to count; sends a signal to the calling thread at each so many polls of it."""
        ctypes.memset(self._words, 0, ctypes.sizeof(self._words))
        self._words[_WORDS["signal"]], self._words[_WORDS["every"]] = signal, every

    @property
    def counts(self) -> list[int]:
        """How often each thread has polled; the first is the caller."""
        return self._words[_WORDS["polls"] : _WORDS["polls"] + _MOST]

    @property
    def told(self) -> list[int]:
        """How often each thread was told to stop."""
        return self._words[_WORDS["told"] : _WORDS["told"] + _MOST]


@cache
def polls_that_count() -> Polls:
    """One for all kernels of the process."""
    words = (ctypes.c_int64 * (2 + 2 * _MOST))()
    ticks = dict(polls._TICKS)
    polls._TICKS.update(dict.fromkeys(ticks, 0))
    try:
        asking = compile_module(polls.emit_poll(default_target()), default_target())
    finally:
        polls._TICKS.update(ticks)
    raise_ = ctypes.cast(ctypes.CDLL(None)["raise"], ctypes.c_void_p).value
    text = _TEXT.format(
        words=ctypes.addressof(words), raise_=raise_, poll=asking.address(polls.POLL),
        polls=_WORDS["polls"], every=_WORDS["every"], told=_WORDS["told"],
    )  # fmt: skip
    counted = compile_module(text, default_target())
    for thing in (words, asking, counted):
        pool.keep_for_ever(thing)
    return Polls(counted.address("counted"), words)
