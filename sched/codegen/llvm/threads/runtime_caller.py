"""The caller's side of the thread pool, as templates of LLVM text.

A caller hands a loop to the workers that are idle, and may hold back those that help a call.
"""

from __future__ import annotations

RUN_TEXT = """\
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


HOLD_TEXT = """\
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
