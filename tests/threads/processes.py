"""Programs in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def run(*parts: str, **variables: str) -> str:
    """What a program prints that ends as it should. It has five minutes, so that what hangs is
    noticed: nothing that ends takes a tenth of that."""
    unset = ("POLYSCHED_NUM_THREADS", "OMP_NUM_THREADS")
    environment = {k: v for k, v in os.environ.items() if k not in unset}
    code = "\n".join(textwrap.dedent(part) for part in parts)
    done = subprocess.run(
        # What runs slowly here is meant to.
        [sys.executable, "-P", "-X", "faulthandler", "-W", "ignore::UserWarning", "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**environment, **variables},
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert done.stderr == ""
    return done.stdout


KERNEL = """
import os, signal, sys, threading, time
import numpy as np
import polysched as ps
from polysched.codegen.runtime import pool as pools
n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n, m))
f = ps.Func("f", (n, m))
f[i, j] = ps.tanh(ps.exp(x[i, j])) * 2
s = ps.Schedule(f)
s[f].parallel(i)
kernel = s.compile()
ps.set_num_threads(3)
small = np.ones((300, 1000), np.float32)

def work_done():
    return sum(chunks for chunks, _ in pools.pool(3).work_done())
"""
