"""Layouts of the memory that Python, the thread pool and kernels share: offsets in bytes."""

from __future__ import annotations

LINE = 128
"""Bytes: two cache lines, as neighbours are fetched together."""

POOL = {"system": 0, "workers": 8, "spin": 16, "inline": 24, "share": 32, "chunk": 40}
"""The pool: the system's function; how many mailboxes there are; for how many ticks to look before
sleeping; three floats, nanoseconds of estimated work: below which a loop is not handed out, what
each thread gets at least, what a chunk takes at least. Mailboxes follow, a `LINE` each."""

BOX = {"word": 0, "job": 8, "index": 16, "chunks": 24, "jobs": 32}
"""A mailbox: the word, the job and the thread's number in it; chunks and jobs done so far."""

CALL = {
    "run": 0, "pool": 8, "threads": 16, "stop": 24, "callback": 32, "due": 40, "poll": 48,
    "helpers": 56,
}  # fmt: skip
"""The state of a call: the function `run` (0 for one thread) and its arguments; a word that is not
0 when the kernel is to stop; the callback to poll by (0 for none), and the time of the next poll;
the function `poll`; the number of workers on the call. In a forked process only one thread is
allowed: no worker begins a chunk any more, and the caller waits for none."""

JOB = {
    "next": 0, "body": 128, "context": 136, "count": 144, "chunk": 152, "call": 160, "left": 256,
}  # fmt: skip
"""A job, on the caller's stack. `left`: how many have it and did not finish, + AWAITED."""

THREADS = "%threads"
"""The parameter of a nest that points to that."""
