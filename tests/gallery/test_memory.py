"""What programs over time keep: the planes that are still to be read, however many the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from counting import calls

import polysched as ps
from gallery import recurrent
from gallery.case import Case
from gallery.execute import kernel
from gallery.registry import CASES, find
from polysched.codegen.runtime import arena
from polysched.codegen.runtime.kernel import Kernel
from polysched.poly.sets.budget import counted

STEPS = 1000
OTHERS = 200
Bytes = dict[str, int]

#: The bytes of every Func that is neither an input nor an output. A sum over inputs alone is no
#: part of the recurrence: it is computed for all steps beforehand, and so is what no step reads.
KEPT: dict[str, Callable[..., Bytes]] = {
    "jacobi_1d": lambda n, T: {"f": 2 * 4 * n},
    "jacobi_2d": lambda n, m, T: {"f": 2 * 4 * n * m},
    "heat_3d": lambda n, m, l, T: {"f": 2 * 4 * n * m * l},
    "wave_1d": lambda n, T: {"u": 2 * 8 * n},  # u[t, i] takes the place of u[t - 2, i]
    "fdtd_2d": lambda n, m, T: dict.fromkeys(("ex", "ey", "hz"), 4 * n * m),  # in place
    "adi": lambda n, T: {"p": 8 * n, **dict.fromkeys(("u", "v", "qu", "qv"), 8 * n * n)},
    "kalman": lambda T, d: {
        **dict.fromkeys(("P", "spread", "spread.sum0", "spread.sum1"), 8 * d * d),
        **dict.fromkeys(("x", "foreseen", "foreseen.sum0", "P.sum0"), 8 * d),
        **dict.fromkeys(("gain.sum0", "gain.sum1"), 8 * d),
        **dict.fromkeys(("gain.sum2", "x.sum0"), 8),
        "gain": 8 * (T + 1) * d,  # x, which is no part of its recurrence, reads it afterwards
    },
    "seidel_2d": lambda n, m, T: {"f": 8 * n * m},  # in place
    "life_by_modulo": lambda h, w, T: {"f": 2 * h * w},
    "life_by_boundary": lambda h, w, T: {"f": h * w, "f_wrap": (h + 2) * (w + 2)},
    "orbits": lambda h, w, T: dict.fromkeys(("z.0", "z.1", "z.2"), 4 * h * w),
    "rnn": lambda T, U, D: {"h": 4 * U, "h.sum1": 4 * U, "h.sum0": 4 * T * U},
    "rnn_batch_first": lambda N, T, U: {"h": 4 * N * U, "h.sum0": 4 * T * U},
    "state_space": lambda T, D, S: {"h": 4 * T * D * S, "y.sum0": 4 * T * D},
    "lstm": lambda T, U, D: _lstm(T, U),
    "lstm_sequence": lambda T, U, D: {**_lstm(T, U), "h": 4 * (T + 1) * U},
    "lstm_stacked": lambda T, U, V, D: {
        **_lstm(T, U, "1"),
        "h1": 4 * (T + 1) * U,
        "between": 4 * T * U,
        **_lstm(T, V, "2"),
    },
    "lstm_tuple": lambda T, L, N, U: dict.fromkeys(
        ["s.0", "s.1", *(f"s.sum{k}" for k in range(8))], 4 * L * N * U
    ),
    "gru": lambda T, U, D: {
        "h": 4 * U,
        **{f"h.sum{k}": 4 * U for k in (1, 4, 5)},
        **{f"h.sum{k}": 4 * T * U for k in (0, 2, 3)},
    },
    "bidirectional": lambda T, U: {
        **dict.fromkeys(("forward", "backward"), 4 * T * U),
        **dict.fromkeys(("forward.sum0", "backward.sum0"), 4 * U),
    },
    "viterbi": lambda T, n: {
        "score.max0": 4 * n,
        **{f"before.argmax0.{c}": width * T * n for c, width in enumerate((4, 8, 1))},
    },
    "csr_power_iteration": lambda n, T: {"p": 4 * n, "p.sum0": 4 * n},
}


def _lstm(T: int, U: int, layer: str = "") -> Bytes:
    """One row of h and of c; of each gate one row of R h, and W x for all steps."""
    h, c = f"h{layer}", f"c{layer}"
    back = (f"{c}.sum1", f"{c}.sum3", f"{c}.sum5", f"{h}.sum1")
    fed = (f"{c}.sum0", f"{c}.sum2", f"{c}.sum4", f"{h}.sum0")
    return {**dict.fromkeys((h, c, *back), 4 * U), **dict.fromkeys(fed, 4 * T * U)}


TIMED = [case for case in CASES if case.steps]


def large_sizes(case: Case) -> dict[str, int]:
    """A thousand steps, and so much of everything else that nothing happens to be equal."""
    sizes = {name: OTHERS + 7 * k for k, name in enumerate(case.size_names)}
    return {**sizes, case.steps: STEPS}


def scratch(case: Case, sizes: Mapping[str, int]) -> tuple[Bytes, int]:
    """The bytes of each buffer that a call has besides its arguments, and of all together."""
    variant = kernel(case)._variants[False]
    found = variant.bytes(dict(sizes))
    _, total = arena.plan(variant.spans, found)
    return {span.buffer.name: size for span, size in zip(variant.spans, found, strict=True)}, total


def test_every_program_over_time_is_here() -> None:
    assert sorted(KEPT) == sorted(case.name for case in TIMED)


@pytest.mark.parametrize("case", TIMED, ids=lambda case: case.name)
def test_what_is_kept(case: Case) -> None:
    sizes = large_sizes(case)
    found, total = scratch(case, sizes)
    at = ", ".join(f"{name}={size}" for name, size in sizes.items())
    print(f"{case.name} at {at}: {total:,} bytes", *_lines(found), sep="\n  ")
    assert found == KEPT[case.name](**sizes)
    assert total <= sum(found.values()) + arena.ALIGNMENT * len(found)


def _lines(found: Bytes) -> list[str]:
    return [f"{name}: {size:,}" for name, size in sorted(found.items(), key=lambda x: -x[1])]


@pytest.mark.parametrize("case", TIMED, ids=lambda case: case.name)
def test_a_call_takes_what_is_planned(case: Case) -> None:
    """Whatever the number of steps, the block that a call leaves behind has that size."""
    made = kernel(case)
    for steps in (1, 2, 50):
        sizes = dict.fromkeys(case.size_names, 9) | {case.steps: steps}
        made._pool._free.clear()
        made(**case.arguments(sizes, np.random.default_rng(0)))
        _, total = scratch(case, sizes)
        assert [block.size for block in made._pool._free] == [total + arena.ALIGNMENT]


def test_jacobi_on_four_million_points_keeps_two_planes() -> None:
    _, total = scratch(find("jacobi_2d"), {"n": 2000, "m": 2000, "T": 1000})
    assert total == 2 * 2000 * 2000 * 4


@pytest.mark.slow
def test_a_recurrent_network_compiles_with_little_effort() -> None:
    """128 steps, 256 units: from the definition to machine code, about twice what it takes."""
    _compile_lstm()  # loads what is loaded when first needed
    with counted() as tally, calls(limit=700_000):
        made = _compile_lstm()
    assert tally.operations < 400_000
    assert len(made.llvm.splitlines()) < 2_000


def _compile_lstm() -> Kernel:
    j = ps.vars("j")
    h, _ = recurrent.lstm_layer("", ps.Input("x", ps.float32, (128, 64)), 128, 256)
    last = ps.Func("last", (256,))
    last[j] = h[128, j]
    return ps.Schedule.default(last).compile()
