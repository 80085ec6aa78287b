"""Hints for names that the package does not have: planned ones, and names of other libraries."""

from __future__ import annotations

_TABLE = (
    "compute it with NumPy before the call and pass it as an Input, or call NumPy in a stage of "
    "its own: ps.extern(...)"
)
_TUPLE = "a tuple of the real and the imaginary part: dtype=(ps.float32, ps.float32)"

PLANNED: dict[str, str] = {
    **dict.fromkeys(("sin", "cos", "tan", "arctan2"), _TABLE),
}
"""Planned names, and what to write until the language has them."""

ABSENT: dict[str, str] = {
    **dict.fromkeys(("complex64", "complex128"), _TUPLE),
    **dict.fromkeys(("zeros", "ones", "full"), "f = ps.Func('f', (n, m)); f[i, j] = 0"),
    **dict.fromkeys(("array", "asarray"), "ps.Input for what a call passes, ps.Const for a table"),
    **dict.fromkeys(("matmul", "dot", "tensordot"), 'ps.einsum("ik,kj->ij", A, B)'),
    "mean": "ps.sum(x[k], k) / n",
    "jit": "a Func is compiled when it is called; ps.Schedule(f).compile() gives a kernel to keep",
}
"""Names that other libraries have, and what to write in place of them."""


def instead(name: str) -> tuple[str, str] | None:
    """For a name that users of other libraries may look for: why it is missing, and what to write
    instead. None for other names."""
    if name in PLANNED:
        return "is planned and not there yet", PLANNED[name]
    if name in ABSENT:
        return "is no part of the language", ABSENT[name]
    return None
