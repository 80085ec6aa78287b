"""Equal programs and schedules give equal loops in every process, whatever the order of hashes and
the addresses of objects are. Cached kernels and builds that are to be repeated rest on it.

Left out are programs like camera_pipe, at whose pieces of a region isl's own `coalesce`, given one
set again and again in one process, finds now one hull and now another one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
NAMES = (
    "matmul",
    "harris",
    "rgb_to_yuv",
    "viterbi",
    "life_by_modulo",
    "layer_norm",
    "csr_matvec",
    "gru",
)
SCRIPT = """
import sys
kept = [bytearray(k % 977) for k in range(int(sys.argv[1]))]
from gallery.registry import CASES
from polysched import Schedule
from polysched.codegen.build.build import build
from polysched.codegen.ir.text import module_text
known = {case.name: case for case in CASES}
for name in sys.argv[2:]:
    print(name, module_text(build(Schedule.default(known[name].build()).loop_program)))
"""


def _loops(seed: int, kept: int) -> str:
    """What another process makes of the programs, after so many other objects were made."""
    paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT, str(kept), *NAMES],
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def test_loops_are_the_same_in_every_process() -> None:
    first, second = _loops(1, 0), _loops(2, 5000)
    assert all(f"{name} " in first for name in NAMES)
    assert first == second
