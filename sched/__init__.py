"""polysched: define what to compute once, schedule it separately, and prove that no schedule
changes the result."""

from __future__ import annotations

if __name__ != "polysched":
    raise ImportError("the folder sched/ holds the package polysched: write import polysched as ps")

import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .cache import sources as _sources  # noqa: F401 - it looks at the sources before they are loaded
from .codegen.runtime.threads import get_num_threads, set_num_threads, threads
from .lang.errors.drawn import Drawn
from .lang.errors.errors import (
    CallError,
    CallTypeError,
    CallValueError,
    InternalError,
    LanguageError,
    LanguageTypeError,
    PolyschedError,
    ScheduleError,
)
from .lang.errors.frames import bounded, cut
from .lang.errors.performance import PerformanceWarning
from .lang.expr.expr import Expr
from .lang.expr.functions import (
    absd,
    absolute,
    acos,
    acosh,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitcast,
    cast,
    cbrt,
    ceil,
    clip,
    copysign,
    cos,
    cosh,
    exp,
    exp2,
    expm1,
    floor,
    fma,
    fmod,
    heaviside,
    hypot,
    isfinite,
    isinf,
    isnan,
    ldexp,
    log,
    log1p,
    log2,
    log10,
    maximum,
    minimum,
    mux,
    nextafter,
    remainder,
    rint,
    rsqrt,
    select,
    sigmoid,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    strict,
    tan,
    tanh,
    trunc,
    where,
)
from .lang.expr.integer_functions import (
    bit_reverse,
    byte_swap,
    clz,
    ctz,
    halving_add,
    mul_shift_right,
    popcount,
    rotate_left,
    rotate_right,
    rounding_halving_add,
    rounding_mul_shift_right,
    rounding_shift_right,
    saturating_add,
    saturating_cast,
    saturating_mul,
    saturating_sub,
    widening_add,
    widening_mul,
)
from .lang.expr.special import (
    erf,
    erfc,
    fast_erf,
    fast_exp,
    fast_exp2,
    fast_log,
    fast_rsqrt,
    fast_sigmoid,
    fast_tanh,
    gamma,
    lgamma,
    pow,
)
from .lang.expr.symbols import Param, RVar, Size, Var, rdom, size, sizes, vars
from .lang.nodes.dtypes import (
    DType,
    bfloat16,
    bool_,
    float16,
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
from .lang.nodes.shown import Shown
from .lang.nodes.travelling import Travelling
from .lang.program.program import Program
from .lang.program.requirements import require
from .lang.tensors import boundary
from .lang.tensors.blocks import sequential
from .lang.tensors.inout import InOut
from .lang.tensors.reductions import all, any, argmax, argmin, max, min, prod, sum
from .lang.tensors.tensors import Const, Func, Input
from .lang.tensors.trace import trace
from .later import load, loading

# NumPy's names, as attributes of this module only.
abs = absolute
power = pow
round = rint
bool = bool_

if TYPE_CHECKING:
    from builtins import bool as _bool

    from .codegen.runtime.kernel import Kernel
    from .interp.interpret import interpret
    from .lang.program.compute import compute
    from .lang.program.einsum import einsum
    from .lang.tensors.extern import extern
    from .poly.schedule.halo import halo
    from .poly.schedule.schedule import Schedule as _Schedule
    from .show.explained import explain
    from .show.explore.explorer import explore
    from .show.system import show_versions
    from .targets.facts import machine
    from .targets.target import Target, TargetError
    from .targets.words import (
        cache_elements,
        factor,
        native,
        rows_beside,
        tile_columns,
        tile_rows,
    )
    from .travel import from_json, to_json
    from .tune.facts.facts import facts

    class Schedule(_Schedule):  # which knows of no kernels: they are far above it
        def compile(self, *, checks: _bool = False, **sizes: int) -> Kernel:
            """Machine code for this machine, as a callable Kernel."""


# Schedules, code generation and the interpreter, with isl and LLVM, are loaded when first used:
# importing stays quick.
_LATER = {
    "Kernel": "codegen.runtime.kernel",
    "Schedule": "poly.schedule.schedule",
    "Target": "targets.target",
    "TargetError": "targets.target",
    "cache_elements": "targets.words",
    "machine": "targets.facts",
    "compute": "lang.program.compute",
    "einsum": "lang.program.einsum",
    "explain": "show.explained",
    "explore": "show.explore.explorer",
    "extern": "lang.tensors.extern",
    "factor": "targets.words",
    "facts": "tune.facts.facts",
    "from_json": "travel",
    "halo": "poly.schedule.halo",
    "interpret": "interp",
    "native": "targets.words",
    "rows_beside": "targets.words",
    "show_versions": "show.system",
    "tile_columns": "targets.words",
    "tile_rows": "targets.words",
    "to_json": "travel",
}


if not TYPE_CHECKING:  # a type checker would take every name to be there

    def __getattr__(name: str) -> Any:
        if name == "show":  # a room of its own, which is loaded when somebody looks
            return _loaded(name)
        if name not in _LATER:
            try:
                raise _no_attribute(name)
            except AttributeError as error:
                cut(error)
                raise
        value = getattr(_loaded(_LATER[name]), name)
        globals()[name] = value
        return value


def _no_attribute(name: str) -> AttributeError:
    with loading:
        from .lang.errors import absent, suggest
        from .lang.errors.close import close

    if name[0] == "_":
        return AttributeError(f"module {__name__!r} has no attribute {name!r}")
    known = absent.instead(name)
    if known is not None:
        return AttributeError(f"{__name__}.{name} {known[0]}\n  hint: {known[1]}")
    hints = {} if close(name, __all__) else _of_stages("f")
    return suggest.missing(f"module {__name__!r}", name, __all__, hints)


def __dir__() -> list[str]:
    return sorted(__all__)


def _loaded(name: str) -> Any:
    return load(f".{name}", __name__)


# What each Func needs is loaded at once.
_loaded("lang.tensors.define")
if "logging" in sys.modules:  # a program that has not imported it hears nothing anyway
    _loaded("steps").loggers()


# Lower layers do not import higher ones: the functions of these that they call are set here.
def _call(func: Func, /, *args: Any, **kwargs: Any) -> Any:
    return _loaded("kernels").call(func, *args, **kwargs)


def _later(module: str, name: str) -> Any:
    """The function of a module that is loaded when it is called."""

    def called(*args: Any, **options: Any) -> Any:
        return getattr(_loaded(module), name)(*args, **options)

    return staticmethod(called)


def _scheduled(func: Func) -> dict[str, str]:
    """Hints for attributes of schedules and stages that a user looks for on a Func: what to write
    in place of them."""
    with loading:
        from .lang.errors.suggest import public
        from .lang.program.program import OF_KERNELS
        from .poly.schedule.schedule import Schedule

    made = f"s = ps.Schedule({func.name})"
    schedule = {x: f"that is of a Schedule: {made}; s.{x}" for x in public(Schedule)}
    kernel = {x: f"that is of a kernel: {made}; s.compile().{x}(...)" for x in OF_KERNELS}
    return schedule | _of_stages(func.name) | kernel


def _of_stages(func: str) -> dict[str, str]:
    """Hints for directives that a user looks for elsewhere, with the Func of this name."""
    with loading:
        from .poly.schedule.stages import of_stages

    return of_stages(f"s[{func}]", f"s = ps.Schedule({func}); ")


Drawn._shown = _later("show.refusal", "shown")
Travelling._reduced = _later("lang.travel.pickles", "reduced")
Shown._bundle = _later("show.rich.bundle", "bundle")
Func._call = _call
Func._scheduled = _scheduled
Program._compile = _later("kernels", "compile_schedule")
Program._auto = _later("tune.auto", "auto")
Program._report = _later("show.reporting.page", "report")
Program._profile = _later("show.profile.profiled", "profile")
Program._advice = _later("show.advice.advice", "advice")

__all__ = [
    "CallError", "CallTypeError", "CallValueError", "Const", "DType", "Expr", "Func", "InOut",
    "Input", "InternalError", "Kernel", "LanguageError", "LanguageTypeError", "Param",
    "PerformanceWarning", "PolyschedError", "Program", "RVar", "Schedule", "ScheduleError", "Size",
    "Target", "TargetError", "Var", "abs", "absd", "absolute", "acos", "acosh", "all", "any",
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin",
    "asin", "asinh", "atan", "atan2", "atanh", "bfloat16", "bit_reverse", "bitcast", "bool",
    "bool_", "boundary", "byte_swap", "cache_elements", "cast", "cbrt", "ceil", "clip", "clz",
    "compute", "copysign", "cos", "cosh", "ctz", "einsum", "erf", "erfc", "exp", "exp2", "explain",
    "explore", "expm1", "extern", "factor", "facts", "fast_erf", "fast_exp", "fast_exp2",
    "fast_log", "fast_rsqrt", "fast_sigmoid", "fast_tanh", "float16", "float32", "float64", "floor",
    "fma", "fmod", "from_json", "gamma", "get_num_threads", "halo", "halving_add", "heaviside",
    "hypot", "int16", "int32", "int64", "int8", "interpret", "isfinite", "isinf", "isnan", "ldexp",
    "lgamma", "log", "log10", "log1p", "log2", "machine", "max", "maximum", "min", "minimum",
    "mul_shift_right", "mux", "native", "nextafter", "popcount", "pow", "power", "prod", "rdom",
    "remainder", "require", "rint", "rotate_left", "rotate_right", "round", "rounding_halving_add",
    "rounding_mul_shift_right", "rounding_shift_right", "rows_beside", "rsqrt", "saturating_add",
    "saturating_cast", "saturating_mul", "saturating_sub", "select", "sequential",
    "set_num_threads", "show_versions", "sigmoid", "sign", "signbit", "sin", "sinh", "size",
    "sizes", "sqrt", "strict", "sum", "tan", "tanh", "threads", "tile_columns", "tile_rows",
    "to_json", "trace", "trunc", "uint16", "uint32", "uint64", "uint8", "vars", "where",
    "widening_add", "widening_mul",
]  # fmt: skip

for _name in __all__:
    if isinstance(globals().get(_name), FunctionType):
        globals()[_name] = bounded(globals()[_name])
