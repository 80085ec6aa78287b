"""What is true of float64, by the long doubles of the C library, whose precision is 64 bits.

A loop in LLVM's language calls a routine of the library for each argument, and has the error of
what was found in units of the last place before anything is rounded to float64 again. The GNU C
Library states errors of at most 8 units of the last place for these routines, which are less than
0.004 units of float64. They share nothing with our formulas.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from references import CASES, Array

_LOOP = """
define void @errors({given}ptr %found, ptr %errors, i64 %count) {{
start:
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %loop]
{loaded}
{true}
  %fp = getelementptr double, ptr %found, i64 %k
  %f = load double, ptr %fp
  %wide = fpext double %f to x86_fp80
  ; The exponent of what is true, or that of the least unit, gives the unit's reciprocal.
  %bits = bitcast x86_fp80 %true to i80
  %high = lshr i80 %bits, 64
  %field = trunc i80 %high to i16
  %exponent = and i16 %field, 32767
  %is_below = fcmp olt double %x0, {bound}
  %least = select i1 %is_below, i16 {below}, i16 {normal}
  %is_less = icmp ult i16 %exponent, %least
  %used = select i1 %is_less, i16 %least, i16 %exponent
  %reciprocal = sub i16 {twice}, %used
  %moved = zext i16 %reciprocal to i80
  %placed = shl i80 %moved, 64
  %one = or i80 %placed, 9223372036854775808
  %inverse = bitcast i80 %one to x86_fp80
  %difference = fsub x86_fp80 %wide, %true
  %scaled = fmul x86_fp80 %difference, %inverse
  %error = fptrunc x86_fp80 %scaled to double
  ; Special values.
  %rounded = fptrunc x86_fp80 %true to double
  %fb = bitcast double %f to i64
  %rb = bitcast double %rounded to i64
  %fa = and i64 %fb, 9223372036854775807
  %ra = and i64 %rb, 9223372036854775807
  %f_nan = icmp ugt i64 %fa, {infinity}
  %r_nan = icmp ugt i64 %ra, {infinity}
  %f_inf = icmp eq i64 %fa, {infinity}
  %r_inf = icmp eq i64 %ra, {infinity}
  %is_edge = or i1 %f_inf, %r_inf
  %f_top = icmp eq i64 %fa, {largest}
  %r_top = icmp eq i64 %ra, {largest}
  %near = or i1 %f_top, %r_top
  %equal = icmp eq i64 %fb, %rb
  %half = select i1 %near, double 0.5, double 0x7FF0000000000000
  %same = select i1 %equal, double 0.0, double %half
  %finite = select i1 %is_edge, double %same, double %error
  %of_nan = select i1 %f_nan, double 0.0, double 0x7FF0000000000000
  %special = select i1 %r_nan, double %of_nan, double %finite
  %is_zero = icmp eq i64 %fa, 0
  %differs = xor i64 %fb, %rb
  %is_signed = icmp slt i64 %differs, 0
  %number = xor i1 %r_nan, true
  %zero = and i1 %is_zero, %is_signed
  %wrong = and i1 %zero, %number
  %signed = select i1 %wrong, double 0x7FF0000000000000, double %special
  %is_bad = fcmp uno double %signed, 0.0
  %last = select i1 %is_bad, double 0x7FF0000000000000, double %signed
  %ep = getelementptr double, ptr %errors, i64 %k
  store double %last, ptr %ep
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""
_LOADED = """  %p{k} = getelementptr double, ptr %a{k}, i64 %k
  %x{k} = load double, ptr %p{k}
  %w{k} = fpext double %x{k} to x86_fp80
"""
_CALL = """  %true = call x86_fp80 @{routine}({operands})
"""
_RSQRT = """  %root = call x86_fp80 @sqrtl(x86_fp80 %w0)
  %true = fdiv x86_fp80 0xK3FFF8000000000000000, %root
"""
_SIGMOID = """  %minus = fneg x86_fp80 %w0
  %power = call x86_fp80 @expl(x86_fp80 %minus)
  %sum = fadd x86_fp80 %power, 0xK3FFF8000000000000000
  %true = fdiv x86_fp80 0xK3FFF8000000000000000, %sum
"""
_TRUE = {"rsqrt": _RSQRT, "sigmoid": _SIGMOID}
_ROUTINES = {"rsqrt": "sqrtl", "sigmoid": "expl", "gamma": "tgammal"}
_BIAS = 16383
_NONE = "0xFFF0000000000000"


def errors(name: str, arguments: list[Array], found: Array) -> Array:
    """The errors of what was found of float64, in units of the last place of what is true.

    A NaN must be a NaN, an infinity the same infinity, and a zero has the true sign: else the error
    is infinite. Next to an overflow the largest number and infinity are neighbours.
    """
    result = np.empty(len(found))
    given = [np.ascontiguousarray(a, np.float64) for a in (*arguments, found)]
    _compiled(name)[1](*(a.ctypes.data for a in (*given, result)), len(found))
    return np.abs(result)


@cache
def _compiled(name: str) -> tuple[Any, Any]:
    """The engine that owns the code of a function, and the code."""
    if np.finfo(np.longdouble).nmant != 63:
        raise SystemExit("what is true of float64 needs long doubles of 80 bits, as x86-64 has")
    llvm.load_library_permanently(ctypes.util.find_library("m") or "libm.so")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(_text(name))
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    pointers = [ctypes.c_void_p] * (CASES[name].arity + 2)
    kind = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_int64)
    return engine, kind(engine.get_function_address("errors"))


def _text(name: str) -> str:
    case, info = CASES[name], np.finfo(np.float64)
    numbers = range(case.arity)
    name = name.removeprefix("fast_")
    routine = _ROUTINES.get(name, name.replace("arc", "a") + "l")
    operands = ", ".join(f"x86_fp80 %w{k}" for k in numbers)
    bound, below = _NONE, _BIAS + info.minexp
    if case.absolute is not None:
        bound, below = f"{case.absolute[0]:e}", _BIAS + case.absolute[1] + info.nmant
    kinds = ", ".join("x86_fp80" for _ in numbers)
    return f"declare x86_fp80 @{routine}({kinds})\n" + _LOOP.format(
        given="".join(f"ptr %a{k}, " for k in numbers),
        loaded="".join(_LOADED.format(k=k) for k in numbers),
        true=_TRUE.get(name, _CALL).format(routine=routine, operands=operands),
        bound=bound,
        below=below,
        normal=_BIAS + info.minexp,
        twice=2 * _BIAS + info.nmant,
        infinity=0x7FF << 52,
        largest=(0x7FF << 52) - 1,
    )
