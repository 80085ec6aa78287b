"""Constants that LLVM is not told of, where it would make worse code of what it knows."""

from __future__ import annotations

from collections.abc import Sequence

from ....lang.nodes.dtypes import DType
from ....targets.target import Target
from .function_builder import FunctionBuilder
from .values import Value, type_name

ALL_LANES = "@all_lanes"
NO_LANES = "@no_lanes"
SIXTEENS = "@sixteens"
ONES = "@ones"
_CONTENTS = {
    ALL_LANES: "i64 -1, align 8",
    NO_LANES: "[64 x i64] zeroinitializer, align 8",
    SIXTEENS: f"[16 x i32] [{', '.join(['i32 16'] * 16)}], align 64",
    ONES: f"[32 x i16] [{', '.join(['i16 1'] * 32)}], align 64",
}


def hidden(b: FunctionBuilder, name: str, dtype: DType, lanes: int = 1) -> Value:
    """What is behind a name."""
    code = f"load {type_name(dtype, lanes)}, ptr {name}, align 8, !invariant.load !1"
    return b.assign(code, dtype, lanes)


def definitions(functions: Sequence[str], target: Target) -> list[str]:
    """What functions of a module load: variables for LLVM where it must not know what is in them,
    and constants where that does no harm."""
    harmless = () if target.has("avx512f") else (ALL_LANES, SIXTEENS)
    found = [
        f"{name} = internal {'constant' if name in harmless else 'global'} {content}"
        for name, content in _CONTENTS.items()
        if any(name in text for text in functions)
    ]
    return [*found, "!1 = !{}"] if found else []
