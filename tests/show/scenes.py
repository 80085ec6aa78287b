"""Of what there are screenshots: cells of one notebook, what is clicked, and what must be read."""

from __future__ import annotations

from dataclasses import dataclass

FIRST = """import polysched as ps
n, p, m = ps.sizes("n p m")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, p)
A = ps.Input("A", ps.float32, (n, p))
B = ps.Input("B", ps.float32, (p, m))
C = ps.Func("C", (n, m))
C[i, j] = 0
C[i, j] += A[i, k] * B[k, j]
"""
_TILED = """s = ps.Schedule(C)
s[C].update(0).tile(i, j, 32, 16)
s[C].update(0).parallel("io")
str(s)  # which finds the loops
s
"""
_STENCIL = """T = ps.size("T")
t = ps.vars("t")
f = ps.Func("f", (T, n))
f[t, i] = i
r, q = ps.rdom("r q", (1, T), (0, n - 1))
f[r, q] = f[r - 1, q + 1] + f[r - 1, q]
ps.Schedule(f)[f].update(0).reorder(q, r)
"""
_ANIMATED = """x = ps.Input("x", ps.int32, (n + 2, m))
rows, g = ps.Func("rows"), ps.Func("g", (n, m))
rows[i, j] = x[i, j] * 2
g[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]
s2 = ps.Schedule(g)
s2[g].split(i, 3)
s2[g].parallel("io").vectorize(j, 4)
s2[rows].compute_at(g, "ii").vectorize(j, 4)
s2[rows].store_at(g, "io")
ps.show.animation(s2, n=6, m=5)
"""
_AUTOMATIC = r"""s3 = ps.Schedule.auto(C, threads=4, target="x86-64-v3")
s3.comment(r"dollars: from $1 to $2, and \(brackets\)")
"""
_PROFILED = """import numpy as np
D = ps.Func("D", (n, m))
D[i, j] = ps.maximum(C[i, j], 0) * 0.5
s3 = ps.Schedule(D)
s3[C].update(0).reorder(i, k, j)
for stage in (s3[C], s3[C].update(0), s3[D]):
    stage.parallel(i).vectorize(j, 8)
square = np.ones((512, 512), np.float32)
with ps.threads(2):
    profile = s3.compile().profile(square, square)
profile
"""
_HALO = """image = ps.Input("image", ps.float32, (n + 2, m + 2))
across, blurred = ps.Func("across"), ps.Func("blurred", (n, m))
across[i, j] = image[i, j] + image[i, j + 1] + image[i, j + 2]
blurred[i, j] = across[i, j] + across[i + 1, j] + across[i + 2, j]
ps.halo(blurred)
"""
_UPDATE = 's["C.update(0)"]'
_REPORT = """kernel = s.compile()
kernel.report("report.html", n=256, p=256, m=256).name
"""


@dataclass(frozen=True)
class Scene:
    """A picture.

    Attributes:
        name: of its file, to which the theme is added.
        cell: the code of a cell; cells run one after another.
        words: what must be read there, in the end.
        clicks: candidates that are clicked, one after another, as what they do is written.
        page: a page that the cell has written, of which the picture is; empty for the cell.
        steps: of an animation, how many are taken before a picture is.
    """

    name: str
    cell: str
    words: tuple[str, ...]
    clicks: tuple[str, ...] = ()
    page: str = ""
    steps: int = 0

    @property
    def is_explorer(self) -> bool:
        """Whether the page draws it, and again whenever the kernel has found something."""
        return "explore(" in self.cell


SCENES = (
    Scene("expression", "A[i, k] * B[k, j] + 1", ("A", "B")),
    Scene("func", "C", ("float32",)),
    Scene("program", "ps.Schedule(C).base", ("float32",)),
    Scene("schedule", _TILED, ("(parallel)",)),
    Scene(
        "automatic", _AUTOMATIC,
        ("Found for n = 1024", r"dollars: from $1 to $2, and \(brackets\)"),
    ),
    Scene("facts", "ps.facts(C)", ("multiply-add float32", "stride along k")),
    Scene("explanation", "ps.explain('PS0302')", ("How to mend it",)),
    Scene("kernel", "s.compile()", ("float32",)),
    Scene("refusal", _STENCIL, ("is refused", "Hint: skew")),
    Scene("animation", _ANIMATED, ("rows", "no longer kept", "10 / 16"), steps=9),
    Scene("report", _REPORT, ("float32",), page="report.html"),
    Scene(
        "profile", _PROFILED,
        ("on 2 threads", "loop i of C.update(0) on", "caller", "worker 1", "GFLOP/s"),
    ),
    Scene("halo", _HALO, ("image", "behind")),
    Scene("dependence", "s.dependences()[0]", ("must run after",)),
    Scene("explorer", "ps.explore(C)", ("as written", "reorder 'k', 'j'", "C.update(0), i=2")),
    Scene(
        "explorer-after", "ps.explore(C)",
        ("(vector)", ".vectorize('j', ps.native)", "lanes of a vector"),
        clicks=(_UPDATE + ".reorder('k', 'j')", _UPDATE + ".vectorize('j', ps.native)"),
    ),
)  # fmt: skip
