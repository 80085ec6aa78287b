"""The floating-point environment: round to nearest, denormals kept, nothing trapped.

Other libraries change it for a whole thread (fast-math start-up code sets flush-to-zero), so a
kernel sets it on entry and puts the caller's back on exit. What a kernel raises is not seen by the
caller's exception flags.
"""

from __future__ import annotations

from collections.abc import Callable

from ....lang.errors.errors import InternalError
from .function_builder import FunctionBuilder

#: All exceptions masked, none raised, to nearest, neither flush-to-zero nor denormals-are-zero.
MXCSR = 0x1F80


def default_environment(builder: FunctionBuilder, arch: str) -> Callable[[], None]:
    """Sets the environment; the result, called later, writes the code that restores it."""
    if arch == "x86_64":
        return _mxcsr(builder)
    if arch == "aarch64":
        return _fpcr(builder)
    raise InternalError(f"no floating-point environment for {arch}")


def set_environment(b: FunctionBuilder, arch: str) -> None:
    """Sets the environment, whatever it was."""
    if arch == "aarch64":
        b.emit("call void @llvm.aarch64.set.fpcr(i64 0)")
        return
    ours = b.name("mxcsr")
    b.emit(f"{ours} = alloca i32, align 4")
    b.emit(f"store i32 {MXCSR}, ptr {ours}, align 4")
    b.emit(f"call void @llvm.x86.sse.ldmxcsr(ptr {ours})")


def _mxcsr(b: FunctionBuilder) -> Callable[[], None]:
    saved = b.name("mxcsr")
    b.emit(f"{saved} = alloca i32, align 4")
    b.emit(f"call void @llvm.x86.sse.stmxcsr(ptr {saved})")
    set_environment(b, "x86_64")
    return lambda: b.emit(f"call void @llvm.x86.sse.ldmxcsr(ptr {saved})")


def _fpcr(b: FunctionBuilder) -> Callable[[], None]:
    saved = b.name("fpcr")
    b.emit(f"{saved} = call i64 @llvm.aarch64.get.fpcr()")
    set_environment(b, "aarch64")
    return lambda: b.emit(f"call void @llvm.aarch64.set.fpcr(i64 {saved})")
