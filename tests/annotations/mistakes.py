"""Mistakes that type checkers find before a program runs. Each line is wrong in the way that its
comment says; a comment without its mistake is refused, too."""

from __future__ import annotations

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
A = ps.Input("A", ps.float32, (n, m))
C = ps.Func("C", (n, m))
C[i, j] = A[i, j]
s = ps.Schedule(C)
loop = s[C][i]


def never() -> None:
    """Not run."""
    # words that are none of those there are
    s[C].split(i, 8, tail="peeled")  # type: ignore[arg-type]
    s[C].split(i, 8, "masked")  # type: ignore[arg-type]
    s[C].store_in("disk")  # type: ignore[arg-type]
    print(loop.kind == "threads")  # type: ignore[comparison-overlap]

    # names that do not exist
    ps.Fnuc("f")  # type: ignore[attr-defined]
    s[C].vectorise(j)  # type: ignore[attr-defined]
    s.tile(i, j, 8, 8)  # type: ignore[attr-defined]
    C.sum()  # type: ignore[attr-defined]
    s.compile().cuda  # type: ignore[attr-defined]

    # arguments in the wrong order, or of the wrong kind
    ps.Input("B", (n, m), ps.float32)  # type: ignore[arg-type]
    ps.InOut("B", (n, m), ps.float32)  # type: ignore[arg-type]
    ps.Func("f", ps.float32)  # type: ignore[arg-type]
    ps.Param("p", 3)  # type: ignore[arg-type]
    ps.einsum("ij->i", i)  # type: ignore[arg-type]
    ps.Schedule(A)  # type: ignore[arg-type]
    ps.Schedule(C, args=(n,))  # type: ignore[arg-type]
    s[C].split(i, 2.5)  # type: ignore[arg-type]
    s[C].split(C, 8)  # type: ignore[arg-type]
    s[C].compute_at(i, j)  # type: ignore[arg-type]
    s[C].unroll(i, "4")  # type: ignore[arg-type]
    s[i]  # type: ignore[index]
    ps.sum(A[i, j], 3)  # type: ignore[arg-type]
    ps.sum(A[i, j], n)  # type: ignore[arg-type]
    ps.require(n > 0)  # type: ignore[call-arg]
    ps.set_num_threads("two")  # type: ignore[arg-type]
    ps.show_versions(True, "more")  # type: ignore[call-overload]

    # what expressions and tensors cannot do
    A[i, j] = 0  # type: ignore[index]
    A[i, j] += 1  # pyright: ignore[reportIndexIssue]
    float(A[i, j])  # type: ignore[arg-type]
    len(A)  # type: ignore[arg-type]
    for _ in A:  # type: ignore[misc]
        pass
    for _ in A[i, j] * 2:  # type: ignore[attr-defined]
        pass
    A + 1  # type: ignore[operator]
    A[i, j] @ A[i, j]  # type: ignore[operator]
    A(i, j)  # type: ignore[operator]
    (A[i, j] * 2)(3)  # type: ignore[operator]
    range(n)  # type: ignore[call-overload]
