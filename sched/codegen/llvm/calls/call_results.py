"""Results of calls from Python that run without the interpreter, as templates of LLVM text.

Arrays are made for them, the code is run, and Python gets them; see `call_entry.py`.
"""

from __future__ import annotations

MAKE_TEXT = """\
; A new array, or null and an error of Python.
define internal ptr @new(ptr %api, ptr %made) #0 {
entry:
  %new = field ptr, %api, $PYTHON_new_array
  %arrays = field ptr, %api, $PYTHON_array
  %hold = field ptr, %api, $PYTHON_hold
  %dtype = field ptr, %made, $MADE_dtype
  %rank = field i64, %made, $MADE_rank
  %axes = trunc i64 %rank to i32
  %shape = field ptr, %made, $MADE_shape
  %alignment = field i64, %made, $MADE_alignment
  %plain = icmp eq i64 %alignment, 0
  br i1 %plain, label %small, label %large
small:
  call void %hold(ptr %dtype)
  %array = call ptr %new(
    ptr %arrays, ptr %dtype, i32 %axes, ptr %shape, ptr null, ptr null, i32 0, ptr null
  )
  ret ptr %array
large:
  %p.bytes = getelementptr i8, ptr %made, i64 $MADE_bytes
  %byte = field ptr, %api, $PYTHON_byte
  call void %hold(ptr %byte)
  %block = call ptr %new(
    ptr %arrays, ptr %byte, i32 1, ptr %p.bytes, ptr null, ptr null, i32 0, ptr null
  )
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %none, label %view
view:
  %start = field i64, %block, $ARRAY_data
  %less = sub i64 %alignment, 1
  %up = add i64 %start, %less
  %mask = sub i64 0, %alignment
  %aligned = and i64 %up, %mask
  %where = inttoptr i64 %aligned to ptr
  call void %hold(ptr %dtype)
  %inside = call ptr %new(
    ptr %arrays, ptr %dtype, i32 %axes, ptr %shape, ptr null, ptr %where, i32 $FRESH, ptr null
  )
  %unseen = icmp eq ptr %inside, null
  br i1 %unseen, label %lost, label %based
based:
  %base = field ptr, %api, $PYTHON_set_base
  %r = call i32 %base(ptr %inside, ptr %block)
  ret ptr %inside
lost:
  %drop = field ptr, %api, $PYTHON_drop
  call void %drop(ptr %block)
  br label %none
none:
  ret ptr null
}

; The arrays for outputs, behind the arguments. False where there is no memory for them; nothing is
; kept then, and no error is set.
define internal i1 @make(ptr %record, ptr %api, ptr %objects, ptr %data, i64 %slots) #0 {
entry:
  %count = field i64, %record, $RECORD_mades
  %first = field ptr, %record, $RECORD_made
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k.next, %got ]
  %all = icmp eq i64 %k, %count
  br i1 %all, label %yes, label %one
one:
  %offset = mul i64 %k, $MADE_SIZE
  %made = getelementptr i8, ptr %first, i64 %offset
  %array = call ptr @new(ptr %api, ptr %made)
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %no, label %got
got:
  %at = add i64 %slots, %k
  put ptr %array, %objects, %at
  %pointer = field i64, %array, $ARRAY_data
  put i64 %pointer, %data, %at
  %k.next = add i64 %k, 1
  br label %next
yes:
  ret i1 true
no:
  call void @each(ptr %api, i64 $PYTHON_drop, ptr %objects, i64 %slots, i64 %k)
  %clear = field ptr, %api, $PYTHON_clear
  call void %clear()
  ret i1 false
}"""

EACH_TEXT = """\
; Calls a function of Python's for some of the objects that are there.
define internal void @each(ptr %api, i64 %which, ptr %objects, i64 %from, i64 %count) #0 {
entry:
  %function = field ptr, %api, %which
  %end = add i64 %from, %count
  br label %next
next:
  %k = phi i64 [ %from, %entry ], [ %k.next, %passed ]
  %all = icmp eq i64 %k, %end
  br i1 %all, label %done, label %one
one:
  %object = item ptr, %objects, %k
  %absent = icmp eq ptr %object, null
  br i1 %absent, label %passed, label %there
there:
  call void %function(ptr %object)
  br label %passed
passed:
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}"""

RUN_TEXT = """\
; Runs the code of a record.
define internal void @run(
    ptr %record, ptr %state, ptr %api, ptr %objects, ptr %data, i64 %slots
) #0 {
entry:
  %words = alloca [$MOST_WORDS x i64], align 16
  %call = alloca [$CALL_SIZE x i8], align 16
  call void @llvm.memset.inline.p0.i64(ptr %call, i8 0, i64 $CALL_SIZE, i1 false)
  %poll = field i64, %api, $PYTHON_poll
  set i64 %poll, %call, $CALL_poll
  %threads = field i64, %record, $RECORD_threads
  set i64 %threads, %call, $CALL_threads
  %hand = field i64, %record, $RECORD_run
  set i64 %hand, %call, $CALL_run
  %pool = field i64, %record, $RECORD_pool
  set i64 %pool, %call, $CALL_pool
  %count = field i64, %record, $RECORD_words
  %given = field ptr, %record, $RECORD_word
  br label %copy
copy:
  %k = phi i64 [ 0, %entry ], [ %k.next, %copying ]
  %copied = icmp eq i64 %k, %count
  br i1 %copied, label %told, label %copying
copying:
  %word = item i64, %given, %k
  put i64 %word, %words, %k
  %k.next = add i64 %k, 1
  br label %copy
told:
  %call.word = ptrtoint ptr %call to i64
  put i64 %call.word, %words, %count
  %patches = field i64, %record, $RECORD_patches
  %patch = field ptr, %record, $RECORD_patch
  br label %change
change:
  %c = phi i64 [ 0, %told ], [ %c.next, %changing ]
  %changed = icmp eq i64 %c, %patches
  br i1 %changed, label %scratch, label %changing
changing:
  %twice = mul i64 %c, 2
  %which = item i64, %patch, %twice
  %second = add i64 %twice, 1
  %source = item i64, %patch, %second
  %datum = item i64, %data, %source
  put i64 %datum, %words, %which
  %c.next = add i64 %c, 1
  br label %change
scratch:
  %block = field i64, %state, $STATE_block
  %places = field i64, %record, $RECORD_places
  %place = field ptr, %record, $RECORD_place
  br label %lay
lay:
  %l = phi i64 [ 0, %scratch ], [ %l.next, %laying ]
  %laid = icmp eq i64 %l, %places
  br i1 %laid, label %go, label %laying
laying:
  %l.twice = mul i64 %l, 2
  %slot = item i64, %place, %l.twice
  %l.second = add i64 %l.twice, 1
  %offset = item i64, %place, %l.second
  %address = add i64 %block, %offset
  put i64 %address, %words, %slot
  %l.next = add i64 %l, 1
  br label %lay
go:
  %code = field ptr, %record, $RECORD_code
  %flags = field i64, %record, $RECORD_flags
  %releases = and i64 %flags, $RELEASES
  %keeps = icmp eq i64 %releases, 0
  br i1 %keeps, label %short, label %long
short:
  call void %code(ptr %words)
  ret void
long:
  ; Another thread may run now: the block is taken, and the arguments are held. A call that needs
  ; nothing of it may run while another one has it.
  %needs = field i64, %record, $RECORD_scratch
  %uses = icmp ne i64 %needs, 0
  %busy = zext i1 %uses to i64
  %before = field i64, %state, $STATE_busy
  %taken = or i64 %before, %busy
  set i64 %taken, %state, $STATE_busy
  call void @each(ptr %api, i64 $PYTHON_hold, ptr %objects, i64 0, i64 %slots)
  %release = field ptr, %api, $PYTHON_release
  %thread = call ptr %release()
  call void %code(ptr %words)
  %acquire = field ptr, %api, $PYTHON_acquire
  call void %acquire(ptr %thread)
  call void @each(ptr %api, i64 $PYTHON_drop, ptr %objects, i64 0, i64 %slots)
  br i1 %uses, label %free, label %done
free:
  set i64 0, %state, $STATE_busy
  br label %done
done:
  ret void
}

declare void @llvm.memset.inline.p0.i64(ptr, i8, i64, i1)"""

RESULT_TEXT = """\
; What the call returns; null and an error of Python where there is no memory for it. References to
; new arrays go over to it.
define internal ptr @result(ptr %record, ptr %api, ptr %objects, i64 %slots) #0 {
entry:
  %count = field i64, %record, $RECORD_results
  %places = field ptr, %record, $RECORD_result
  %hold = field ptr, %api, $PYTHON_hold
  %single = icmp eq i64 %count, 1
  br i1 %single, label %one, label %several
one:
  %which = load i64, ptr %places, align 8
  %only = item ptr, %objects, %which
  %is.given = icmp slt i64 %which, %slots
  br i1 %is.given, label %given, label %new
given:
  call void %hold(ptr %only)
  br label %new
new:
  ret ptr %only
several:
  %f.tuple = field ptr, %api, $PYTHON_new_tuple
  %f.set = field ptr, %api, $PYTHON_set_item
  %tuple = call ptr %f.tuple(i64 %count)
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %none, label %next
next:
  %k = phi i64 [ 0, %several ], [ %k.next, %put ]
  %all = icmp eq i64 %k, %count
  br i1 %all, label %full, label %part
part:
  %place = item i64, %places, %k
  %object = item ptr, %objects, %place
  %part.given = icmp slt i64 %place, %slots
  br i1 %part.given, label %held, label %put
held:
  call void %hold(ptr %object)
  br label %put
put:
  %r = call i32 %f.set(ptr %tuple, i64 %k, ptr %object)
  %k.next = add i64 %k, 1
  br label %next
full:
  ret ptr %tuple
none:
  %made = field i64, %record, $RECORD_mades
  call void @each(ptr %api, i64 $PYTHON_drop, ptr %objects, i64 %slots, i64 %made)
  ret ptr null
}"""
