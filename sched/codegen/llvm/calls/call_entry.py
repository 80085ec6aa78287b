"""The entry of calls from Python, as LLVM text: a call that has been checked before on arrays of
the same layouts runs without a step of the interpreter.

It is compiled once a process and serves all kernels. A kernel is a Python object with two words of
its own (`KERNEL`): this entry, which Python calls by its vectorcall protocol, and its `STATE`. That
holds what its parameters are called, and for some calls that have been checked a `RECORD`: what
each argument was, and what the code is given. All of an array that the checks depend on is read at
each call, since the same object may have been resized meanwhile. Whatever fits no record, or needs
a look at data, is left to the function `slow` of the kernel, which checks everything and may make a
new record.

The functions of Python and NumPy are called by their addresses in `PYTHON`, so the code imports
nothing. What is used of Python is in its stable ABI since 3.12, and exported before; the layout of
NumPy's arrays is part of its ABI, and checked once a process.
"""

from __future__ import annotations

from string import Template

from ....targets.target import Target
from ..text.attributes import machine_attributes
from ..text.layout import ARRAY, CALL, DTYPE, KERNEL, MADE, PYTHON, RECORD, SLOT, STATE
from ..text.names import quoted, symbol
from ..text.shorthand import expanded
from .call_arguments import BIND_TEXT, DISJOINT_TEXT, FITS_TEXT
from .call_results import EACH_TEXT, MAKE_TEXT, RESULT_TEXT, RUN_TEXT

ENTRY = "python.call"
"""The function, by what `CompiledCode.address` calls it."""

MOST_ARGUMENTS, MOST_WORDS = 32, 128
"""Arguments, with outputs, of a call that may have a record; words that its code is given."""

ABSENT, ARRAY_KIND, SAME, FLOAT, FLOAT64, FLOAT32, INTEGER = range(7)
"""Kinds of a slot: not passed; an array; an object that is always the same, as True; a float that
must have the same bits; floats that may be any, for a Param of float64 and of float32; an int that
must be the same."""

ALIGNED, WRITEABLE = 0x100, 0x400
"""NumPy's flags of arrays."""

_FRESH = 0x501
"""C-contiguous, aligned and writeable."""

RELEASES, ASKS_THREADS = 1, 2
"""Flags of a record: the GIL is let go of while the code runs; the number of threads that the call
may use is to be that of the record."""


def emit_call_entry(target: Target) -> str:
    """The text of the module."""
    layouts = (
        ("KERNEL", KERNEL), ("STATE", STATE), ("RECORD", RECORD), ("SLOT", SLOT), ("MADE", MADE),
        ("ARRAY", ARRAY), ("DTYPE", DTYPE), ("PYTHON", PYTHON), ("CALL", CALL),
    )  # fmt: skip
    values = {f"{kind}_{name}": str(at) for kind, layout in layouts for name, at in layout.items()}
    numbers = {
        "MOST_ARGUMENTS": MOST_ARGUMENTS, "MOST_WORDS": MOST_WORDS, "ABSENT": ABSENT,
        "ARRAY_KIND": ARRAY_KIND, "SAME": SAME, "FLOAT": FLOAT, "FLOAT64": FLOAT64,
        "FLOAT32": FLOAT32, "INTEGER": INTEGER, "FRESH": _FRESH, "RELEASES": RELEASES,
        "ASKS_THREADS": ASKS_THREADS, "SLOT_SIZE": SLOT["size"], "MADE_SIZE": MADE["size"],
        "CALL_SIZE": max(CALL.values()) + 8,
    }  # fmt: skip
    values |= {name: str(x) for name, x in numbers.items()}
    values["entry"] = quoted(symbol(ENTRY))
    parts = [
        BIND_TEXT, FITS_TEXT, DISJOINT_TEXT, MAKE_TEXT, EACH_TEXT, RUN_TEXT, RESULT_TEXT, _THREADS,
        _ENTRY,
    ]  # fmt: skip
    text = expanded(Template("\n\n".join(parts)).substitute(values))
    attributes = f"attributes #0 = {{ nounwind {machine_attributes(target)} }}"
    return f'target triple = "{target.triple}"\n\n{text}\n\n{attributes}\n'


_THREADS = """\
; How many threads a call may use; negative, and an error of Python, where asking has failed.
define internal i64 @threads(ptr %api) #0 {
entry:
  %large = alloca i32, align 4
  %function = field ptr, %api, $PYTHON_threads
  %invoke = field ptr, %api, $PYTHON_call_nothing
  %object = call ptr %invoke(ptr %function)
  %failed = icmp eq ptr %object, null
  br i1 %failed, label %error, label %count
count:
  %as.long = field ptr, %api, $PYTHON_as_long
  %number = call i64 %as.long(ptr %object, ptr %large)
  %drop = field ptr, %api, $PYTHON_drop
  call void %drop(ptr %object)
  ret i64 %number
error:
  ret i64 -1
}

; Whether a record is for calls on so many threads.
define internal i1 @threaded(ptr %record, i64 %threads) #0 {
entry:
  %flags = field i64, %record, $RECORD_flags
  %asks = and i64 %flags, $ASKS_THREADS
  %any = icmp eq i64 %asks, 0
  %asked = field i64, %record, $RECORD_asked
  %same = icmp eq i64 %threads, %asked
  %is = or i1 %any, %same
  ret i1 %is
}"""


_ENTRY = """\
define ptr $entry(ptr %self, ptr %args, i64 %given, ptr %names) #0 {
entry:
  %objects = alloca [$MOST_ARGUMENTS x ptr], align 16
  %data = alloca [$MOST_ARGUMENTS x i64], align 16
  %state.first = field ptr, %self, $KERNEL_state
  %api = field ptr, %state.first, $STATE_api
  %asks = field i64, %state.first, $STATE_asks
  %any.threads = icmp eq i64 %asks, 0
  br i1 %any.threads, label %begin, label %ask
ask:
  %asked = call i64 @threads(ptr %api)
  %failed = icmp slt i64 %asked, 0
  br i1 %failed, label %error, label %begin
error:
  ret ptr null
begin:
  ; Asking has run Python, and other threads may have run then: nothing else is read before.
  %threads = phi i64 [ 0, %entry ], [ %asked, %ask ]
  %state = field ptr, %self, $KERNEL_state
  %count = and i64 %given, 9223372036854775807
  %slots = field i64, %state, $STATE_slots
  %records = field i64, %state, $STATE_records
  %first = field ptr, %state, $STATE_record
  %epoch = field i64, %state, $STATE_epoch
  %now = field i64, %api, $PYTHON_epoch
  %current = icmp eq i64 %epoch, %now
  %any = icmp ne i64 %records, 0
  %may = and i1 %current, %any
  br i1 %may, label %sort, label %slow
sort:
  %sorted = call i1 @bind(ptr %state, ptr %api, ptr %objects, ptr %args, i64 %count, ptr %names)
  br i1 %sorted, label %next, label %slow
next:
  %k = phi i64 [ 0, %sort ], [ %k.next, %other ]
  %all = icmp eq i64 %k, %records
  br i1 %all, label %slow, label %look
look:
  %record = item ptr, %first, %k
  %threaded = call i1 @threaded(ptr %record, i64 %threads)
  br i1 %threaded, label %compare, label %other
compare:
  %fits = call i1 @fits(ptr %record, ptr %api, ptr %objects, ptr %data, i64 %slots)
  br i1 %fits, label %fit, label %other
other:
  %k.next = add i64 %k, 1
  br label %next
fit:
  %disjoint = call i1 @disjoint(ptr %record, ptr %data)
  br i1 %disjoint, label %counted, label %slow
counted:
  ; A record serves so many calls, or any number if that is negative.
  %left = field i64, %record, $RECORD_left
  %spent = icmp eq i64 %left, 0
  br i1 %spent, label %slow, label %room
room:
  %needs = field i64, %record, $RECORD_scratch
  %size = field i64, %state, $STATE_size
  %short = icmp ugt i64 %needs, %size
  br i1 %short, label %slow, label %free
free:
  %busy = field i64, %state, $STATE_busy
  %idle = icmp eq i64 %busy, 0
  %dry = icmp eq i64 %needs, 0
  %can = or i1 %idle, %dry
  br i1 %can, label %fill, label %slow
fill:
  %made = call i1 @make(ptr %record, ptr %api, ptr %objects, ptr %data, i64 %slots)
  br i1 %made, label %run, label %slow
run:
  %hold = field ptr, %api, $PYTHON_hold
  %drop = field ptr, %api, $PYTHON_drop
  %owner = field ptr, %state, $STATE_owner
  call void %hold(ptr %owner)
  %endless = icmp slt i64 %left, 0
  %less = sub i64 %left, 1
  %now.left = select i1 %endless, i64 %left, i64 %less
  set i64 %now.left, %record, $RECORD_left
  call void @run(ptr %record, ptr %state, ptr %api, ptr %objects, ptr %data, i64 %slots)
  %result = call ptr @result(ptr %record, ptr %api, ptr %objects, i64 %slots)
  call void %drop(ptr %owner)
  ret ptr %result
slow:
  ; slow(self, *args, **kwargs)
  %state.now = field ptr, %self, $KERNEL_state
  %function = field ptr, %state.now, $STATE_slow
  %api.now = field ptr, %state.now, $STATE_api
  %invoke = field ptr, %api.now, $PYTHON_vectorcall
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %positional, label %named
named:
  %tuple.size = field ptr, %api.now, $PYTHON_tuple_size
  %keywords = call i64 %tuple.size(ptr %names)
  br label %positional
positional:
  %more = phi i64 [ 0, %slow ], [ %keywords, %named ]
  %total = add i64 %count, %more
  %with.self = add i64 %total, 1
  ; As many as f(*list) may have do not fit onto the stack.
  %are.few = icmp ule i64 %with.self, $MOST_WORDS
  br i1 %are.few, label %few, label %many
few:
  %stack = alloca ptr, i64 %with.self, align 16
  br label %begin.pass
many:
  %f.allocate = field ptr, %api.now, $PYTHON_allocate
  %bytes = mul i64 %with.self, 8
  %heap = call ptr %f.allocate(i64 %bytes)
  %no.heap = icmp eq ptr %heap, null
  br i1 %no.heap, label %no.memory, label %begin.pass
no.memory:
  %f.no.memory = field ptr, %api.now, $PYTHON_no_memory
  %nothing = call ptr %f.no.memory()
  ret ptr null
begin.pass:
  %all.args = phi ptr [ %stack, %few ], [ %heap, %many ]
  store ptr %self, ptr %all.args, align 8
  br label %pass
pass:
  %a = phi i64 [ 0, %begin.pass ], [ %a.next, %passing ]
  %passed = icmp eq i64 %a, %total
  br i1 %passed, label %invoke.slow, label %passing
passing:
  %arg = item ptr, %args, %a
  %a.next = add i64 %a, 1
  put ptr %arg, %all.args, %a.next
  br label %pass
invoke.slow:
  %with = add i64 %count, 1
  %answer = call ptr %invoke(ptr %function, ptr %all.args, i64 %with, ptr %names)
  br i1 %are.few, label %answered, label %give.back
give.back:
  %f.free = field ptr, %api.now, $PYTHON_free
  call void %f.free(ptr %all.args)
  br label %answered
answered:
  ret ptr %answer
}"""
