"""Say what to compute once, say how apart from that, and let no schedule change the answer."""

from __future__ import annotations

if __name__ != "polysched":
    raise ImportError("the folder sched/ holds the package polysched: write import polysched as ps")

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .codegen.threads import get_num_threads, set_num_threads, threads
from .lang import boundary
from .lang.blocks import sequential
from .lang.dtypes import (
    DType,
    bool_,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .lang.errors import (
    CallError,
    CallTypeError,
    CallValueError,
    InternalError,
    LanguageError,
    LanguageTypeError,
    PolyschedError,
    ScheduleError,
)
from .lang.expr import Expr
from .lang.functions import (
    absolute,
    bitcast,
    cast,
    ceil,
    clip,
    exp,
    floor,
    fma,
    ldexp,
    log,
    maximum,
    minimum,
    mux,
    rint,
    rsqrt,
    select,
    sigmoid,
    sqrt,
    strict,
    tanh,
    where,
)
from .lang.inout import InOut
from .lang.opaque import extern, trace
from .lang.program import Program, require
from .lang.reductions import all, any, argmax, argmin, max, min, prod, sum
from .lang.sugar import compute, einsum
from .lang.symbols import Param, RVar, Size, Var, rdom, size, sizes, vars
from .lang.tensors import Const, Func, Input

# NumPy's names, as attributes of this module only.
abs = absolute
round = rint
bool = bool_

if TYPE_CHECKING:
    from .codegen.kernel import Kernel
    from .interp import interpret
    from .poly.schedule import Schedule

# Schedules, code generation and the interpreter, with isl and LLVM, are loaded when first used:
# importing stays quick.
_LATER = {"Kernel": "codegen.kernel", "Schedule": "poly.schedule", "interpret": "interp"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


# The rooms below know nothing of those above them: here they are told whom to call.
def _call(func: Func, /, *args: Any, **kwargs: Any) -> Any:
    from .codegen.kernel import call

    return call(func, *args, **kwargs)


def _compile(schedule: Schedule, **options: Any) -> Any:
    from .codegen.kernel import compile_schedule

    return compile_schedule(schedule, **options)


Func._call = _call
Program._compile = staticmethod(_compile)

__all__ = [
    "CallError", "CallTypeError", "CallValueError", "Const", "DType", "Expr", "Func", "InOut",
    "Input", "InternalError", "Kernel", "LanguageError", "LanguageTypeError", "Param",
    "PolyschedError", "Program", "RVar", "Schedule", "ScheduleError", "Size", "Var", "abs",
    "absolute", "all", "any", "argmax", "argmin", "bitcast", "bool", "bool_", "boundary", "cast",
    "ceil", "clip", "compute", "einsum", "exp", "extern", "float32", "float64", "floor", "fma",
    "get_num_threads", "int16", "int32", "int64", "int8", "interpret", "ldexp", "log", "max",
    "maximum", "min", "minimum", "mux", "prod", "rdom", "require", "rint", "round", "rsqrt",
    "select", "sequential", "set_num_threads", "sigmoid", "size", "sizes", "sqrt", "strict", "sum",
    "tanh", "threads", "trace", "uint16", "uint32", "uint64", "uint8", "vars", "where",
]  # fmt: skip
