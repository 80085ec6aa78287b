"""The worker's side of the thread pool, as templates of LLVM text.

A worker enters its loop and never leaves it; it takes chunks of the job that it is handed.
"""

from __future__ import annotations

WORK_TEXT = """\
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


WORKER_TEXT = """\
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
