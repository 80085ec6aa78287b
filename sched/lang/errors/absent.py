"""Hints for names of other libraries that the package does not have."""

from __future__ import annotations

_TUPLE = "a tuple of the real and the imaginary part: dtype=(ps.float32, ps.float32)"

ABSENT: dict[str, str] = {
    **dict.fromkeys(("complex64", "complex128"), _TUPLE),
    **dict.fromkeys(("zeros", "ones", "full"), "f = ps.Func('f', (n, m)); f[i, j] = 0"),
    **dict.fromkeys(
        ("array", "asarray", "Buffer", "Image", "ImageParam", "Tensor", "placeholder", "tensor"),
        "ps.Input for what a call passes, ps.Const for a table",
    ),
    **dict.fromkeys(("arange", "indices", "linspace"), "a Var is a value, too: f[i] = 0.5 * i"),
    "range": "ps.RVar('k', 0, n) for a reduction, ps.sequential('t', 0, n) for a loop in place",
    **dict.fromkeys(("RDom", "reduce_axis"), "k, l = ps.rdom('k l', (0, n), (0, m))"),
    **dict.fromkeys(
        ("concat", "concatenate", "hstack", "stack", "vstack"),
        "c[i] = ps.select(i < n, a[i], b[i - n])",
    ),
    **dict.fromkeys(
        ("flip", "permute", "reshape", "transpose"), "indices say it: b[i, j] = a[j, i]"
    ),
    "roll": "b[i] = a[(i - 1) % n]",
    "pad": "ps.boundary.constant(a, 0), .repeat_edge(a), .reflect(a), .mirror(a), .wrap(a)",
    "cumsum": "f[0] = a[0]; f[i] = f[i - 1] + a[i]",
    **dict.fromkeys(
        ("convolve", "correlate"), "ps.sum(a[i + k] * w[k], k), with k = ps.RVar('k', 0, l)"
    ),
    **dict.fromkeys(
        ("std", "var"), "the mean as a Func first, then ps.sum((x[k] - mean[i])**2, k) / n"
    ),
    "relu": "ps.maximum(x, 0)",
    "softplus": "ps.log1p(ps.exp(x))",
    **dict.fromkeys(
        ("argsort", "random", "sort"), "compute it with NumPy and pass it, or ps.extern"
    ),
    **dict.fromkeys(("matmul", "dot", "tensordot"), 'ps.einsum("ik,kj->ij", A, B)'),
    "mean": "ps.sum(x[k], k) / n",
    **dict.fromkeys(("gammaln", "loggamma"), "ps.lgamma(x)"),
    "jit": "a Func is compiled when it is called; ps.Schedule(f).compile() gives a kernel to keep",
}
"""Names that other libraries have, and what to write in place of them."""

DIRECTIVES: dict[str, str] = {
    **dict.fromkeys(
        ("bind", "gpu", "gpu_blocks", "gpu_threads", "gpu_tile", "gpu_lanes", "hexagon"),
        "kernels run on CPUs: parallel(i) for threads, vectorize(j, ps.native) for lanes",
    ),
    **dict.fromkeys(("cache_read", "in_"), "{at}.stage(x, at=loop) copies what a loop uses of x"),
    "cache_write": "{at}.accumulate_at(loop) keeps results in a buffer until that loop is done",
    "memoize": "kernels have no state: keep what a call gives",
    "estimate": "sizes are told where a schedule is found: ps.Schedule.auto(f, sizes=...)",
    **dict.fromkeys(("set_estimate", "set_estimates"), "ps.Schedule.auto(f, sizes=...)"),
    "serial": "a loop is serial where nothing else is said of it",
    "tensorize": "vectorize(j, ps.native) uses the machine's instructions",
    "hoist_storage": "{at}.store_at(...)",
    "unscheduled": "ps.Schedule.default(f) runs all as it is written",
    **dict.fromkeys(
        ("lower", "print_loop_nest", "compile_to_lowered_stmt", "show"),
        "print(s) shows the loops; kernel = s.compile() has kernel.loops, .llvm and .asm",
    ),
    **dict.fromkeys(("realize", "compile_jit", "build", "run"), "kernel = s.compile()"),
}
"""What is said of schedules and stages in other libraries, and what to write in place of it; `{at}`
stands for a stage."""


def directives(at: str) -> dict[str, str]:
    """What to write in place of directives of other libraries, at a stage."""
    return {name: hint.format(at=at) for name, hint in DIRECTIVES.items()}


def instead(name: str) -> tuple[str, str] | None:
    """For a name that users of other libraries may look for: why it is missing, and what to write
    instead. None for other names."""
    if name in ABSENT:
        return "is no part of the language", ABSENT[name]
    return None
