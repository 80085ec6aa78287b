"""The native side of the thread pool, as LLVM text: workers, and how loops are handed to them.

It is compiled once a process. Kernels find it by the addresses in `CALL`, workers are Python's
threads that enter `worker` and never leave it. Nothing in here knows of Python. The function that
polls is in here, too: a process with threads then loads one object, and not two.

A worker has a mailbox of its own, one word that only changes by atomic operations:

    generation * 8 + state

    FREE      awake, looks at the word                 -> SLEEPING (worker), CLAIMED (caller)
    SLEEPING  until the system wakes it                -> CLAIMED (caller)
    CLAIMED   a caller writes down the job             -> POSTED (caller)
    POSTED    there is a job                           -> RUNNING (worker), FREE (caller)
    RUNNING   works                                    -> FREE (worker)

A caller claims the workers that it finds idle, as many as it wants; those of another caller are
left alone, so concurrent calls share the pool, and nobody waits for a worker to become idle. Each
claim is a new generation. A caller that has run out of iterations takes back what it posted and
nobody began, by comparing the whole word: it never waits for a thread that the system does not run,
and cannot take back what somebody else has posted since.
"""

from __future__ import annotations

import struct
from string import Template

from ....lang.errors.errors import InternalError
from ....records import dataclass
from ....targets.target import Target
from ..functions.polls import CLOCK_NAME, clock, poll_function
from ..text import control
from ..text.attributes import machine_attributes
from ..text.function_builder import FunctionBuilder
from ..text.layout import BOX, CALL, JOB, LINE, POOL
from ..text.names import quoted, symbol
from .runtime_caller import HOLD_TEXT, RUN_TEXT
from .runtime_worker import WORK_TEXT, WORKER_TEXT

WORKER, RUN, NOW, HOLD = "threads.worker", "threads.run", "threads.now", "threads.hold"
"""The functions, by what `CompiledCode.address` calls them."""

FREE, SLEEPING, CLAIMED, POSTED, RUNNING, STARTING = range(6)

CHUNKS = 8
"""Chunks that a thread gets at most, so that an unlucky last one costs little."""

_AWAITED = 1 << 30
_FUTEX = {"x86_64": 202, "aarch64": 98}
_WAIT, _WAKE = 128, 129  # FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE


@dataclass(frozen=True, slots=True)
class Waiting:
    """How threads sleep: by `futex`, or else in naps of so many units of the system's sleep."""

    futex: bool
    nap: int = 0


def emit_runtime(target: Target, waiting: Waiting) -> str:
    """The text of the module."""
    if waiting.futex and target.arch not in _FUTEX:
        raise InternalError(f"no futex on {target.arch}")
    fields = {
        f"{kind}_{name}": str(at)
        for kind, layout in (("POOL", POOL), ("BOX", BOX), ("CALL", CALL), ("JOB", JOB))
        for name, at in layout.items()
    }
    values = {
        **fields,
        "worker": quoted(symbol(WORKER)),
        "run": quoted(symbol(RUN)),
        "now": quoted(symbol(NOW)),
        "hold": quoted(symbol(HOLD)),
        "environment": _environment(target),
        "clock": clock(target),
        "rest": _REST[target.arch],
        "futex": str(_FUTEX.get(target.arch, 0)),
        "nap": str(waiting.nap),
    }
    numbers = {
        "LINE": LINE, "FREE": FREE, "SLEEPING": SLEEPING, "CLAIMED": CLAIMED, "POSTED": POSTED,
        "RUNNING": RUNNING, "BEGUN": RUNNING - POSTED, "CHUNKS": CHUNKS, "AWAITED": _AWAITED,
        "LAST": _AWAITED + 1, "WAIT": _WAIT, "WAKE": _WAKE,
    }  # fmt: skip
    many = struct.pack(">d", 1e9).hex().upper()
    values |= {name: str(x) for name, x in numbers.items()}
    values["MANY"] = f"0x{many}"
    parts = [_CLOCK, _SLEEP if waiting.futex else _NAP, WORK_TEXT, WORKER_TEXT, RUN_TEXT, HOLD_TEXT]
    machine = machine_attributes(target)
    text = Template("\n\n".join(parts)).substitute(values) + "\n\n" + poll_function(target)
    head = f'target triple = "{target.triple}"'
    attributes = f"attributes #0 = {{ nounwind {machine} }}"
    return f"{head}\n\n{text}\n\n{attributes}\n{CLOCK_NAME}\n"


def _environment(target: Target) -> str:
    b = FunctionBuilder()
    control.set_environment(b, target.arch)
    return "\n".join(b.lines[1:])


_REST = {
    "x86_64": "call void @llvm.x86.sse2.pause()",
    "aarch64": "call void @llvm.aarch64.hint(i32 1)",
}

_CLOCK = """\
; In ticks, of a length that the caller has to find out.
define i64 $now() #0 {
  %t = $clock
  ret i64 %t
}

define internal void @rest() #0 {
  $rest
  ret void
}"""

_SLEEP = """\
; Sleeps while the word is as expected; for 20 ms at most, if `briefly`.
define internal void @wait(ptr %pool, ptr %word, i32 %expected, i1 %briefly) #0 {
  %time = alloca [2 x i64], align 8
  %fraction = getelementptr i8, ptr %time, i64 8
  store i64 0, ptr %time, align 8
  store i64 20000000, ptr %fraction, align 8
  %limit = select i1 %briefly, ptr %time, ptr null
  %system = load ptr, ptr %pool, align 8
  %r = call i64 (i64, ...) %system(i64 $futex, ptr %word, i32 $WAIT, i32 %expected, ptr %limit)
  ret void
}

define internal void @wake(ptr %pool, ptr %word) #0 {
  %system = load ptr, ptr %pool, align 8
  %r = call i64 (i64, ...) %system(i64 $futex, ptr %word, i32 $WAKE, i32 1)
  ret void
}"""

_NAP = """\
; Who sleeps looks again after a nap, and needs nobody to wake it.
define internal void @wait(ptr %pool, ptr %word, i32 %expected, i1 %briefly) #0 {
  %sleep = load ptr, ptr %pool, align 8
  call void %sleep(i32 $nap)
  ret void
}

define internal void @wake(ptr %pool, ptr %word) #0 {
  ret void
}"""
