"""Hints for names of other libraries that the package does not have."""

from __future__ import annotations

_TUPLE = "a tuple of the real and the imaginary part: dtype=(ps.float32, ps.float32)"

ABSENT: dict[str, str] = {
    **dict.fromkeys(("complex64", "complex128"), _TUPLE),
    **dict.fromkeys(("zeros", "ones", "full"), "f = ps.Func('f', (n, m)); f[i, j] = 0"),
    **dict.fromkeys(("array", "asarray"), "ps.Input for what a call passes, ps.Const for a table"),
    **dict.fromkeys(("matmul", "dot", "tensordot"), 'ps.einsum("ik,kj->ij", A, B)'),
    "mean": "ps.sum(x[k], k) / n",
    **dict.fromkeys(("gammaln", "loggamma"), "ps.lgamma(x)"),
    "jit": "a Func is compiled when it is called; ps.Schedule(f).compile() gives a kernel to keep",
}
"""Names that other libraries have, and what to write in place of them."""


def instead(name: str) -> tuple[str, str] | None:
    """For a name that users of other libraries may look for: why it is missing, and what to write
    instead. None for other names."""
    if name in ABSENT:
        return "is no part of the language", ABSENT[name]
    return None
