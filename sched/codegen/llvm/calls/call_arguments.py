"""Arguments of calls from Python that run without the interpreter, as templates of LLVM text.

They are sorted into slots and compared with what was checked before; see `call_entry.py`.
"""

from __future__ import annotations

BIND_TEXT = """\
; Sorts the arguments into slots: parameters in the order of the signature, then outputs. False
; where they are not as simple as that.
define internal i1 @bind(ptr %state, ptr %api, ptr %objects, ptr %args, i64 %count, ptr %names) #0 {
entry:
  %slots = field i64, %state, $STATE_slots
  %parameters = field i64, %state, $STATE_parameters
  %positional = field i64, %state, $STATE_positional
  %known = field ptr, %state, $STATE_names
  %many = icmp ugt i64 %count, %positional
  br i1 %many, label %no, label %clear
clear:
  %c = phi i64 [ 0, %entry ], [ %c.next, %clearing ]
  %cleared = icmp eq i64 %c, %slots
  br i1 %cleared, label %place, label %clearing
clearing:
  put ptr null, %objects, %c
  %c.next = add i64 %c, 1
  br label %clear
place:
  %k = phi i64 [ 0, %clear ], [ %k.next, %placing ]
  %placed = icmp eq i64 %k, %count
  br i1 %placed, label %named, label %placing
placing:
  %arg = item ptr, %args, %k
  put ptr %arg, %objects, %k
  %k.next = add i64 %k, 1
  br label %place
named:
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %yes, label %sized
sized:
  %f.size = field ptr, %api, $PYTHON_tuple_size
  %f.item = field ptr, %api, $PYTHON_tuple_item
  %given = call i64 %f.size(ptr %names)
  br label %next
next:
  %n = phi i64 [ 0, %sized ], [ %n.next, %taken ], [ %n.next.out, %out.taken ]
  %all = icmp eq i64 %n, %given
  br i1 %all, label %yes, label %name
name:
  %word = call ptr %f.item(ptr %names, i64 %n)
  %at = add i64 %count, %n
  %value = item ptr, %args, %at
  br label %search
search:
  %s = phi i64 [ 0, %name ], [ %s.next, %other ]
  %searched = icmp eq i64 %s, %parameters
  br i1 %searched, label %out, label %compare
compare:
  %s.name = item ptr, %known, %s
  %same = icmp eq ptr %s.name, %word
  br i1 %same, label %found, label %other
other:
  %s.next = add i64 %s, 1
  br label %search
found:
  %before = item ptr, %objects, %s
  %free = icmp eq ptr %before, null
  br i1 %free, label %taken, label %no
taken:
  put ptr %value, %objects, %s
  %n.next = add i64 %n, 1
  br label %next
out:
  %out.name = field ptr, %state, $STATE_out
  %is.out = icmp eq ptr %out.name, %word
  br i1 %is.out, label %outputs, label %no
outputs:
  %outs = sub i64 %slots, %parameters
  %p.first = getelementptr ptr, ptr %objects, i64 %parameters
  %type = field ptr, %value, $ARRAY_type
  %tuple = field ptr, %api, $PYTHON_tuple
  %is.tuple = icmp eq ptr %type, %tuple
  br i1 %is.tuple, label %several, label %one
one:
  %single = icmp eq i64 %outs, 1
  br i1 %single, label %only, label %no
only:
  store ptr %value, ptr %p.first, align 8
  br label %out.taken
several:
  %out.count = call i64 %f.size(ptr %value)
  %right = icmp eq i64 %out.count, %outs
  br i1 %right, label %spread, label %no
spread:
  %o = phi i64 [ 0, %several ], [ %o.next, %spreading ]
  %spread.all = icmp eq i64 %o, %outs
  br i1 %spread.all, label %out.taken, label %spreading
spreading:
  %part = call ptr %f.item(ptr %value, i64 %o)
  put ptr %part, %p.first, %o
  %o.next = add i64 %o, 1
  br label %spread
out.taken:
  %n.next.out = add i64 %n, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}"""

FITS_TEXT = """\
; Whether an array is laid out as a slot says.
define internal i1 @lies(ptr %slot, ptr %object, ptr %arrays) #0 {
entry:
  %type = field ptr, %object, $ARRAY_type
  %is = icmp eq ptr %type, %arrays
  br i1 %is, label %array, label %no
array:
  %dtype = field ptr, %object, $ARRAY_dtype
  %what = field i64, %dtype, $DTYPE_what
  %wanted = field i64, %slot, $SLOT_value
  %same.dtype = icmp eq i64 %what, %wanted
  %rank = field i32, %object, $ARRAY_rank
  %axes = field i64, %slot, $SLOT_rank
  %axes.short = trunc i64 %axes to i32
  %same.rank = icmp eq i32 %rank, %axes.short
  %flags = field i32, %object, $ARRAY_flags
  %needs = field i64, %slot, $SLOT_flags
  %needs.short = trunc i64 %needs to i32
  %has = and i32 %flags, %needs.short
  %has.all = icmp eq i32 %has, %needs.short
  %both = and i1 %same.dtype, %same.rank
  %three = and i1 %both, %has.all
  br i1 %three, label %layout, label %no
layout:
  %shape = field ptr, %object, $ARRAY_shape
  %strides = field ptr, %object, $ARRAY_strides
  %wants = field ptr, %slot, $SLOT_layout
  %wants.strides = getelementptr i64, ptr %wants, i64 %axes
  br label %axis
axis:
  %k = phi i64 [ 0, %layout ], [ %k.next, %equal ]
  %done = icmp eq i64 %k, %axes
  br i1 %done, label %yes, label %look
look:
  %extent = item i64, %shape, %k
  %want.extent = item i64, %wants, %k
  %stride = item i64, %strides, %k
  %want.stride = item i64, %wants.strides, %k
  %same.extent = icmp eq i64 %extent, %want.extent
  %same.stride = icmp eq i64 %stride, %want.stride
  %equals = and i1 %same.extent, %same.stride
  br i1 %equals, label %equal, label %no
equal:
  %k.next = add i64 %k, 1
  br label %axis
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether the arguments are those of a record; then `data` holds addresses of arrays, and the bits
; of numbers that may be any.
define internal i1 @fits(ptr %record, ptr %api, ptr %objects, ptr %data, i64 %slots) #0 {
entry:
  %large = alloca i32, align 4
  %first = field ptr, %record, $RECORD_slots
  %arrays = field ptr, %api, $PYTHON_array
  %float = field ptr, %api, $PYTHON_float
  %int = field ptr, %api, $PYTHON_int
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k.next, %fit ]
  %all = icmp eq i64 %k, %slots
  br i1 %all, label %yes, label %look
look:
  %offset = mul i64 %k, $SLOT_SIZE
  %slot = getelementptr i8, ptr %first, i64 %offset
  %kind = load i64, ptr %slot, align 8
  %object = item ptr, %objects, %k
  %absent = icmp eq ptr %object, null
  %p.data = getelementptr i64, ptr %data, i64 %k
  br i1 %absent, label %nothing, label %something
nothing:
  %is.absent = icmp eq i64 %kind, $ABSENT
  br i1 %is.absent, label %fit, label %no
something:
  %type = field ptr, %object, $ARRAY_type
  %value = field i64, %slot, $SLOT_value
  switch i64 %kind, label %no [
    i64 $ARRAY_KIND, label %array
    i64 $SAME, label %same
    i64 $FLOAT, label %is.float
    i64 $FLOAT64, label %is.float
    i64 $FLOAT32, label %is.float
    i64 $INTEGER, label %is.int
  ]
array:
  %lies = call i1 @lies(ptr %slot, ptr %object, ptr %arrays)
  br i1 %lies, label %address, label %no
address:
  %pointer = field i64, %object, $ARRAY_data
  store i64 %pointer, ptr %p.data, align 8
  br label %fit
same:
  %identity = ptrtoint ptr %object to i64
  %identical = icmp eq i64 %identity, %value
  br i1 %identical, label %fit, label %no
is.float:
  %floats = icmp eq ptr %type, %float
  br i1 %floats, label %float.value, label %no
float.value:
  %as.double = field ptr, %api, $PYTHON_as_double
  %number = call double %as.double(ptr %object)
  %bits = bitcast double %number to i64
  %is.any = icmp eq i64 %kind, $FLOAT64
  br i1 %is.any, label %any, label %narrow
any:
  store i64 %bits, ptr %p.data, align 8
  br label %fit
narrow:
  %is.narrow = icmp eq i64 %kind, $FLOAT32
  br i1 %is.narrow, label %rounded, label %exact
rounded:
  %short = fptrunc double %number to float
  %back = fpext float %short to double
  %size = call double @llvm.fabs.f64(double %number)
  %size.back = call double @llvm.fabs.f64(double %back)
  %beyond = fcmp oeq double %size.back, 0x7FF0000000000000
  %finite = fcmp one double %size, 0x7FF0000000000000
  %overflows = and i1 %beyond, %finite
  br i1 %overflows, label %no, label %kept
kept:
  %short.bits = bitcast float %short to i32
  %wide.bits = zext i32 %short.bits to i64
  store i64 %wide.bits, ptr %p.data, align 8
  br label %fit
exact:
  %equal = icmp eq i64 %bits, %value
  br i1 %equal, label %fit, label %no
is.int:
  %ints = icmp eq ptr %type, %int
  br i1 %ints, label %int.value, label %no
int.value:
  %as.long = field ptr, %api, $PYTHON_as_long
  %integer = call i64 %as.long(ptr %object, ptr %large)
  %too.large = load i32, ptr %large, align 4
  %small = icmp eq i32 %too.large, 0
  %equal.int = icmp eq i64 %integer, %value
  %is.it = and i1 %small, %equal.int
  br i1 %is.it, label %fit, label %no
fit:
  %k.next = add i64 %k, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

declare double @llvm.fabs.f64(double)"""

DISJOINT_TEXT = """\
; Whether arrays that are written share no memory with any other, each taken from its first byte to
; its last.
define internal i1 @disjoint(ptr %record, ptr %data) #0 {
entry:
  %count = field i64, %record, $RECORD_pairs
  %pairs = field ptr, %record, $RECORD_pair
  %slots = field ptr, %record, $RECORD_slots
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k.next, %look ]
  %all = icmp eq i64 %k, %count
  br i1 %all, label %yes, label %look
look:
  %twice = mul i64 %k, 2
  %a = item i64, %pairs, %twice
  %second = add i64 %twice, 1
  %b = item i64, %pairs, %second
  %a.begins.ends = call { i64, i64 } @span(ptr %slots, ptr %data, i64 %a)
  %b.begins.ends = call { i64, i64 } @span(ptr %slots, ptr %data, i64 %b)
  %a.lo = extractvalue { i64, i64 } %a.begins.ends, 0
  %a.hi = extractvalue { i64, i64 } %a.begins.ends, 1
  %b.lo = extractvalue { i64, i64 } %b.begins.ends, 0
  %b.hi = extractvalue { i64, i64 } %b.begins.ends, 1
  %before = icmp ule i64 %a.hi, %b.lo
  %behind = icmp ule i64 %b.hi, %a.lo
  %disjoint = or i1 %before, %behind
  %k.next = add i64 %k, 1
  br i1 %disjoint, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; The bytes that an array takes.
define internal { i64, i64 } @span(ptr %slots, ptr %data, i64 %k) #0 {
entry:
  %address = item i64, %data, %k
  %offset = mul i64 %k, $SLOT_SIZE
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %lo = field i64, %slot, $SLOT_lo
  %hi = field i64, %slot, $SLOT_hi
  %first = add i64 %address, %lo
  %end = add i64 %address, %hi
  %begins = insertvalue { i64, i64 } poison, i64 %first, 0
  %span = insertvalue { i64, i64 } %begins, i64 %end, 1
  ret { i64, i64 } %span
}"""
