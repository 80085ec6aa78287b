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


KERNEL = {"entry": 16, "state": 24, "size": 32}
"""A kernel as a Python object: the entry of calls, and the state. They follow what each object has
in CPython."""

ARRAY = {
    "type": 8, "data": 16, "rank": 24, "shape": 32, "strides": 40, "dtype": 56, "flags": 64,
}  # fmt: skip
"""An array of NumPy's (`PyArrayObject_fields`). The rank and the flags are of 32 bits."""

DTYPE = {"what": 24}
"""A dtype of NumPy's (`PyArray_Descr`): kind, letter, order of bytes and number, in 8 bytes. The
dtypes of numbers are equal where these are; each array that was unpickled has one of its own."""

STATE = {
    "api": 0, "owner": 8, "slow": 16, "slots": 24, "parameters": 32, "positional": 40, "names": 48,
    "out": 56, "records": 64, "record": 72, "block": 80, "size": 88, "busy": 96, "epoch": 104,
    "asks": 112,
}  # fmt: skip
"""The state of a kernel. `owner`: the Python object that keeps all of it alive; `slow`: the
function that calls go to which fit no record; how many `slots` there are, how many of them are
`parameters`, and how many of these may be passed by position; `names` of parameters, and the name
`out`, interned; records; a block of memory for intermediate results, and whether a call uses it;
the `epoch` in which it was made, another one after each fork; whether the number of threads decides
which record fits."""

RECORD = {
    "flags": 0, "code": 8, "words": 16, "word": 24, "patches": 32, "patch": 40, "places": 48,
    "place": 56, "scratch": 64, "mades": 72, "made": 80, "results": 88, "result": 96, "slots": 104,
    "pairs": 112, "pair": 120, "threads": 128, "run": 136, "pool": 144, "left": 152,
    "asked": 160,
}  # fmt: skip
"""A call that was checked. Each list is its length and its address. `word`: what the code is given;
`patch`: a word, and whose address it is; `place`: a word, and where in the block it points; `made`:
arrays that are allocated; `result`: of what; `pair`: arguments that must not overlap; the fields of
`CALL` for threads; for how many more calls it may be used, any number if negative; how many threads
a call may use, where that is asked for."""

SLOT = {
    "kind": 0, "value": 8, "rank": 16, "flags": 24, "layout": 32, "lo": 40, "hi": 48, "size": 56,
}  # fmt: skip
"""What an argument must be. Of an array: `what` its dtype is, flags that it needs, extents and
then strides, and where its bytes begin and end, from its first element on."""

MADE = {"dtype": 0, "rank": 8, "shape": 16, "bytes": 24, "alignment": 32, "size": 40}
"""A new array. With an alignment it is laid into a block of so many bytes."""

PYTHON = {name: 8 * k for k, name in enumerate((
    "epoch", "array", "tuple", "float", "int", "byte", "threads", "poll", "hold", "drop", "clear",
    "tuple_size", "tuple_item", "new_tuple", "set_item", "as_double", "as_long", "call_nothing",
    "vectorcall", "release", "acquire", "new_array", "set_base", "allocate", "free", "no_memory",
))}  # fmt: skip
"""Addresses of functions and objects of Python's and NumPy's. `epoch` counts forks."""
