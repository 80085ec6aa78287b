"""Every program of PolyBench: `CASES`, variants of one kernel beside each other."""

from __future__ import annotations

from gallery.case import Case

from . import blas, datamining, linear_kernels, medley, solvers, stencils

#: The thirty of PolyBench 4.2, by its own names.
KERNELS = (
    *("correlation", "covariance"),
    *("gemm", "gemver", "gesummv", "symm", "syr2k", "syrk", "trmm"),
    *("2mm", "3mm", "atax", "bicg", "doitgen", "mvt"),
    *("cholesky", "durbin", "gramschmidt", "lu", "ludcmp", "trisolv"),
    *("deriche", "floyd-warshall", "nussinov"),
    *("adi", "fdtd-2d", "heat-3d", "jacobi-1d", "jacobi-2d", "seidel-2d"),
)

CASES: tuple[Case, ...] = (
    *datamining.CASES,
    *blas.CASES,
    *linear_kernels.CASES,
    *solvers.CASES,
    *medley.CASES,
    *stencils.CASES,
)
