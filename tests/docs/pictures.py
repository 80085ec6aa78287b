"""The pictures of docs/images that polysched draws itself.

python -P tests/docs/pictures.py    # draws them anew
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polysched as ps
from polysched.show import footprint, space
from polysched.show.spaces.picture import Picture

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"


def refusal() -> Picture:
    n, T = ps.sizes("n T")
    i, t = ps.vars("i t")
    f = ps.Func("f", (T, n))
    f[t, i] = i
    r, q = ps.rdom("r q", (1, T), (0, n - 1))
    f[r, q] = f[r - 1, q + 1] + f[r - 1, q]
    found: Picture = ps.Schedule(f)["f.update(0)"].why_not("reorder", q, r).picture()
    return found


def product() -> ps.Schedule:
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, m)
    a, b = ps.Input("A", ps.float32, (n, m)), ps.Input("B", ps.float32, (m, n))
    c = ps.Func("C", (n, n))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    s = ps.Schedule(c, target="x86-64-v3")
    u = s["C.update(0)"]
    u.tile(i, j, 2, 4)
    u.vectorize("ji")
    u.parallel("io")
    return s


PICTURES: dict[str, Callable[[], Picture]] = {
    "refusal": refusal,
    "space": lambda: space(product(), "C.update(0)", "i", "j", m=1),
    "footprint": lambda: footprint(product(), "C.update(0)", "jo", n=8, m=8),
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        print(draw().save(FOLDER / f"{name}.svg"))
