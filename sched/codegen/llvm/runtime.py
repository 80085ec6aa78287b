"""The native side of the thread pool, as LLVM text: workers, and how loops are handed to them.

It is compiled once a process. Kernels find it by the addresses in `CALL`, workers are Python's
threads that enter `worker` and never leave it. Nothing in here knows of Python.

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
from dataclasses import dataclass
from string import Template

from ...lang.errors.errors import InternalError
from . import control
from .function_builder import FunctionBuilder
from .layout import BOX, CALL, JOB, LINE, POOL
from .names import quoted, symbol
from .polls import CLOCK_NAME, clock
from .target import Target

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
    parts = [_CLOCK, _SLEEP if waiting.futex else _NAP, _WORK, _WORKER, _RUN, _HOLD]
    machine = f'"target-cpu"="{target.cpu}" "target-features"="{target.features}"'
    text = Template("\n\n".join(parts)).substitute(values)
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

_WORK = """\
; Takes chunks of a job until there are no more, or it is to stop; gives how many it took.
define internal i64 @work(ptr %job, i64 %index) #0 {
entry:
  %p.body = getelementptr i8, ptr %job, i64 $JOB_body
  %p.context = getelementptr i8, ptr %job, i64 $JOB_context
  %p.count = getelementptr i8, ptr %job, i64 $JOB_count
  %p.chunk = getelementptr i8, ptr %job, i64 $JOB_chunk
  %p.call = getelementptr i8, ptr %job, i64 $JOB_call
  %body = load ptr, ptr %p.body, align 8
  %context = load ptr, ptr %p.context, align 8
  %count = load i64, ptr %p.count, align 8
  %chunk = load i64, ptr %p.chunk, align 8
  %call = load ptr, ptr %p.call, align 8
  %p.poll = getelementptr i8, ptr %call, i64 $CALL_poll
  %poll = load ptr, ptr %p.poll, align 8
  %p.threads = getelementptr i8, ptr %call, i64 $CALL_threads
  %helps = icmp ne i64 %index, 0
  br label %next
next:
  %taken = phi i64 [ 0, %entry ], [ %more, %again ]
  %threads = load atomic i64, ptr %p.threads seq_cst, align 8
  %held = icmp slt i64 %threads, 2
  %leaves = and i1 %helps, %held
  br i1 %leaves, label %done, label %take
take:
  %first = atomicrmw add ptr %job, i64 %chunk monotonic
  %any = icmp slt i64 %first, %count
  br i1 %any, label %again, label %done
again:
  %end = add i64 %first, %chunk
  %last = call i64 @llvm.smin.i64(i64 %end, i64 %count)
  call void %body(ptr %context, i64 %index, i64 %first, i64 %last)
  %more = add i64 %taken, 1
  %stop = call i64 %poll(ptr %call, i64 %index)
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %done, label %next
done:
  %all = phi i64 [ %taken, %next ], [ %taken, %take ], [ %more, %again ]
  ret i64 %all
}"""

_WORKER = """\
; What a thread does for ever.
define void $worker(ptr %pool, ptr %box) #0 {
entry:
$environment
  %p.job = getelementptr i8, ptr %box, i64 $BOX_job
  %p.index = getelementptr i8, ptr %box, i64 $BOX_index
  %p.chunks = getelementptr i8, ptr %box, i64 $BOX_chunks
  %p.jobs = getelementptr i8, ptr %box, i64 $BOX_jobs
  %p.spin = getelementptr i8, ptr %pool, i64 $POOL_spin
  %spin = load i64, ptr %p.spin, align 8
  store atomic i64 $FREE, ptr %box release, align 8
  br label %idle
idle:
  %start = call i64 $now()
  br label %look
look:
  %word = load atomic i64, ptr %box monotonic, align 8
  %state = and i64 %word, 7
  %posted = icmp eq i64 %state, $POSTED
  br i1 %posted, label %take, label %pass
pass:
  call void @rest()
  %now = call i64 $now()
  %passed = sub i64 %now, %start
  %long = icmp ugt i64 %passed, %spin
  %free = icmp eq i64 %state, $FREE
  %tired = and i1 %long, %free
  br i1 %tired, label %lie, label %look
lie:
  %asleep = or i64 %word, $SLEEPING
  %lay = cmpxchg ptr %box, i64 %word, i64 %asleep acq_rel monotonic
  %down = extractvalue { i64, i1 } %lay, 1
  br i1 %down, label %sleep, label %look
sleep:
  %low = trunc i64 %asleep to i32
  call void @wait(ptr %pool, ptr %box, i32 %low, i1 false)
  %found = load atomic i64, ptr %box monotonic, align 8
  %still = icmp eq i64 %found, %asleep
  br i1 %still, label %sleep, label %idle
take:
  %running = add i64 %word, $BEGUN
  %got = cmpxchg ptr %box, i64 %word, i64 %running acq_rel monotonic
  %mine = extractvalue { i64, i1 } %got, 1
  br i1 %mine, label %run, label %look
run:
  %job = load ptr, ptr %p.job, align 8
  %index = load i64, ptr %p.index, align 8
  %p.call = getelementptr i8, ptr %job, i64 $JOB_call
  %call = load ptr, ptr %p.call, align 8
  %p.helpers = getelementptr i8, ptr %call, i64 $CALL_helpers
  %helpers = atomicrmw add ptr %p.helpers, i32 1 seq_cst
  %taken = call i64 @work(ptr %job, i64 %index)
  %helpers.less = atomicrmw sub ptr %p.helpers, i32 1 seq_cst
  %chunks = load i64, ptr %p.chunks, align 8
  %chunks.now = add i64 %chunks, %taken
  store i64 %chunks.now, ptr %p.chunks, align 8
  %jobs = load i64, ptr %p.jobs, align 8
  %jobs.now = add i64 %jobs, 1
  store i64 %jobs.now, ptr %p.jobs, align 8
  ; Free before the caller goes on, so that its next loop finds this worker.
  %free.word = sub i64 %running, $RUNNING
  store atomic i64 %free.word, ptr %box release, align 8
  %p.left = getelementptr i8, ptr %job, i64 $JOB_left
  ; Locked, so that what was stored past the caches comes before it, too.
  %left = atomicrmw sub ptr %p.left, i32 1 acq_rel
  ; From here on the job may be gone: its address is compared by the system, but not read.
  %last = icmp eq i32 %left, $LAST
  br i1 %last, label %tell, label %idle
tell:
  call void @wake(ptr %pool, ptr %p.left)
  br label %idle
}"""

_RUN = """\
; Runs body(context, thread, first, last) over [0, count), here or on several threads, an iteration
; of which takes about `cost` nanoseconds; returns when all are done, or none is begun any more.
define void $run(ptr %call, ptr %body, ptr %context, i64 %count, double %cost) #0 {
entry:
  %p.threads = getelementptr i8, ptr %call, i64 $CALL_threads
  %threads = load i64, ptr %p.threads, align 8
  %p.pool = getelementptr i8, ptr %call, i64 $CALL_pool
  %pool = load ptr, ptr %p.pool, align 8
  %p.inline = getelementptr i8, ptr %pool, i64 $POOL_inline
  %inline = load double, ptr %p.inline, align 8
  %p.share = getelementptr i8, ptr %pool, i64 $POOL_share
  %share.least = load double, ptr %p.share, align 8
  %n = sitofp i64 %count to double
  %total = fmul double %cost, %n
  %shares.real = fdiv double %total, %share.least
  %shares.some = call double @llvm.minnum.f64(double %shares.real, double $MANY)
  %shares = fptosi double %shares.some to i64
  %most = call i64 @llvm.smin.i64(i64 %threads, i64 %count)
  %team = call i64 @llvm.smin.i64(i64 %most, i64 %shares)
  %large = fcmp oge double %total, %inline
  %several = icmp sgt i64 %team, 1
  %pooled = and i1 %large, %several
  br i1 %pooled, label %share, label %alone
alone:
  call void %body(ptr %context, i64 0, i64 0, i64 %count)
  ret void
share:
  %job = alloca [384 x i8], align 128
  %posts = alloca { ptr, i64 }, i64 %team, align 16
  %p.least = getelementptr i8, ptr %pool, i64 $POOL_chunk
  %chunk.least = load double, ptr %p.least, align 8
  %p.workers = getelementptr i8, ptr %pool, i64 $POOL_workers
  %workers = load atomic i64, ptr %p.workers acquire, align 8
  %p.spin = getelementptr i8, ptr %pool, i64 $POOL_spin
  %spin = load i64, ptr %p.spin, align 8
  %pieces = mul i64 %team, $CHUNKS
  %even = udiv i64 %count, %pieces
  %least.real = fdiv double %chunk.least, %cost
  %least.some = call double @llvm.minnum.f64(double %least.real, double $MANY)
  %least = fptosi double %least.some to i64
  %grain = call i64 @llvm.smax.i64(i64 %even, i64 %least)
  %fair = udiv i64 %count, %team
  %bounded = call i64 @llvm.smin.i64(i64 %grain, i64 %fair)
  %chunk = call i64 @llvm.smax.i64(i64 %bounded, i64 1)
  %p.body = getelementptr i8, ptr %job, i64 $JOB_body
  %p.context = getelementptr i8, ptr %job, i64 $JOB_context
  %p.count = getelementptr i8, ptr %job, i64 $JOB_count
  %p.chunk = getelementptr i8, ptr %job, i64 $JOB_chunk
  %p.call = getelementptr i8, ptr %job, i64 $JOB_call
  %p.left = getelementptr i8, ptr %job, i64 $JOB_left
  store ptr %body, ptr %p.body, align 8
  store ptr %context, ptr %p.context, align 8
  store i64 %count, ptr %p.count, align 8
  store i64 %chunk, ptr %p.chunk, align 8
  store ptr %call, ptr %p.call, align 8
  store atomic i64 0, ptr %job monotonic, align 8
  store atomic i32 0, ptr %p.left monotonic, align 4
  %helpers = sub i64 %team, 1
  br label %claim
claim:
  %k = phi i64 [ 0, %share ], [ %k.next, %skip ], [ %k.after, %wakened ]
  %p = phi i64 [ 0, %share ], [ %p, %skip ], [ %p.next, %wakened ]
  %k.in = icmp slt i64 %k, %workers
  %p.in = icmp slt i64 %p, %helpers
  %both = and i1 %k.in, %p.in
  br i1 %both, label %look, label %begin
look:
  %line = mul i64 %k, $LINE
  %offset = add i64 %line, $LINE
  %box = getelementptr i8, ptr %pool, i64 %offset
  %word = load atomic i64, ptr %box monotonic, align 8
  %state = and i64 %word, 7
  %idle = icmp ule i64 %state, $SLEEPING
  br i1 %idle, label %try, label %skip
try:
  %before = and i64 %word, -8
  %generation = add i64 %before, 8
  %claimed = or i64 %generation, $CLAIMED
  %got = cmpxchg ptr %box, i64 %word, i64 %claimed acq_rel monotonic
  %mine = extractvalue { i64, i1 } %got, 1
  ; Else it fell asleep just now, or another caller was quicker: the word says which.
  br i1 %mine, label %post, label %look
skip:
  %k.next = add i64 %k, 1
  br label %claim
post:
  %p.next = add i64 %p, 1
  %k.after = add i64 %k, 1
  %b.job = getelementptr i8, ptr %box, i64 $BOX_job
  %b.index = getelementptr i8, ptr %box, i64 $BOX_index
  store ptr %job, ptr %b.job, align 8
  store i64 %p.next, ptr %b.index, align 8
  %more = atomicrmw add ptr %p.left, i32 1 monotonic
  %posted = or i64 %generation, $POSTED
  %slot = getelementptr { ptr, i64 }, ptr %posts, i64 %p
  %slot.word = getelementptr i8, ptr %slot, i64 8
  store ptr %box, ptr %slot, align 8
  store i64 %posted, ptr %slot.word, align 8
  store atomic i64 %posted, ptr %box release, align 8
  %asleep = icmp eq i64 %state, $SLEEPING
  br i1 %asleep, label %rouse, label %wakened
rouse:
  call void @wake(ptr %pool, ptr %box)
  br label %wakened
wakened:
  br label %claim
begin:
  %mine.chunks = call i64 @work(ptr %job, i64 0)
  br label %retract
retract:
  %q = phi i64 [ 0, %begin ], [ %q.next, %retracted ]
  %q.in = icmp slt i64 %q, %p
  br i1 %q.in, label %take.back, label %await
take.back:
  %q.slot = getelementptr { ptr, i64 }, ptr %posts, i64 %q
  %q.slot.word = getelementptr i8, ptr %q.slot, i64 8
  %q.box = load ptr, ptr %q.slot, align 8
  %q.posted = load i64, ptr %q.slot.word, align 8
  %q.free = sub i64 %q.posted, $POSTED
  %q.got = cmpxchg ptr %q.box, i64 %q.posted, i64 %q.free acq_rel monotonic
  %q.back = extractvalue { i64, i1 } %q.got, 1
  br i1 %q.back, label %fewer, label %retracted
fewer:
  %less = atomicrmw sub ptr %p.left, i32 1 monotonic
  br label %retracted
retracted:
  %q.next = add i64 %q, 1
  br label %retract
await:
  %start = call i64 $now()
  br label %check
check:
  %left = load atomic i32, ptr %p.left acquire, align 4
  %none = icmp eq i32 %left, 0
  ; Forked in the midst of the loop: nobody else is here, and nobody was in a chunk.
  %threads.now = load atomic i64, ptr %p.threads monotonic, align 8
  %forked = icmp slt i64 %threads.now, 2
  %end = or i1 %none, %forked
  br i1 %end, label %done, label %linger
linger:
  call void @rest()
  %now = call i64 $now()
  %passed = sub i64 %now, %start
  %long = icmp ugt i64 %passed, %spin
  br i1 %long, label %announce, label %check
announce:
  %p.poll = getelementptr i8, ptr %call, i64 $CALL_poll
  %poll = load ptr, ptr %p.poll, align 8
  %was = atomicrmw or ptr %p.left, i32 $AWAITED acq_rel
  br label %count.left
count.left:
  %found = load atomic i32, ptr %p.left acquire, align 4
  %over = icmp eq i32 %found, $AWAITED
  %threads.then = load atomic i64, ptr %p.threads monotonic, align 8
  %forked.then = icmp slt i64 %threads.then, 2
  %end.then = or i1 %over, %forked.then
  br i1 %end.then, label %done, label %sleep
sleep:
  ; Who waits is asked whether to stop, too, and the others find out by themselves.
  call void @wait(ptr %pool, ptr %p.left, i32 %found, i1 true)
  %stop = call i64 %poll(ptr %call, i64 0)
  br label %count.left
done:
  ret void
}"""

_HOLD = """\
; Lets no worker begin a chunk of a call, and returns when all have ended those that they had.
define void $hold(ptr %pool, ptr %call) #0 {
entry:
  %p.threads = getelementptr i8, ptr %call, i64 $CALL_threads
  %p.helpers = getelementptr i8, ptr %call, i64 $CALL_helpers
  ; Who begins counts itself first, and looks then: one of both sees the other.
  %was = atomicrmw xchg ptr %p.threads, i64 1 seq_cst
  br label %count
count:
  %helpers = load atomic i32, ptr %p.helpers seq_cst, align 4
  %none = icmp eq i32 %helpers, 0
  br i1 %none, label %done, label %sleep
sleep:
  call void @wait(ptr %pool, ptr %p.helpers, i32 %helpers, i1 true)
  br label %count
done:
  ret void
}"""
