"""Each kind of dependence, broken by a directive: refused, and wrong when it is carried out."""

from __future__ import annotations

import pytest

from polysched.testing.cases import Case
from polysched.testing.trials import run

HEAD = """n, m = ps.sizes("n m")
i, j = ps.vars("i j")
a = ps.Input("a", ps.int32, (n,))
f = ps.Func("f", (n,), ps.int32)
f[i] = a[i]
r, s2 = ps.RVar("r", 0, n - 1), ps.RVar("s", 1, n)
k = ps.RVar("k", 0, 2)
"""
BACKWARDS = "transform([{!r}], lambda x: -x)"
REFUSED = {
    "flow": ("f[s2] = f[s2 - 1] * 2", BACKWARDS.format("s")),
    "anti": ("f[r] = f[r + 1] * 2", BACKWARDS.format("r")),
    "output": ("f[r // 2] = a[r]", BACKWARDS.format("r")),
    "race, flow": ("f[s2] = f[s2 - 1] * 2", 'parallel("s")'),
    "race, anti": ("f[r] = f[r + 1] * 2", 'parallel("r")'),
    "race, output": ("f[r // 2] = a[r]", 'parallel("r")'),
    "race, accumulation": ("f[0] += a[r]", 'parallel("r")'),
    "lane, flow": ("f[s2] = f[s2 - 1] * 2", 'vectorize("s", 4)'),
    "lane, output": ("f[r // 2] = a[r]", 'vectorize("r", 4)'),
    "lane, a loop inside": ("f[r] = f[r + 1] * 2 + k", 'vectorize("r", 4)'),
}
ACCEPTED = {
    "what a lane overwrites is read before": ("f[r] = f[r + 1] * 2", 'vectorize("r", 4)'),
    "integers add up in any order": ("f[0] += a[r]", BACKWARDS.format("r")),
    "lanes add up one by one": ("f[0] += a[r]", 'vectorize("r", 4)'),
}


TAIL = """
g = ps.Func("g", (n,), ps.int32)
g[i] = f[i] + f[n - 1 - i]
"""


def _case(update: str, directive: str, output: str = "f") -> Case:
    return Case(HEAD + update + TAIL, (output,), (f's["f.update(0)"].{directive}',))


@pytest.mark.parametrize("output", ["f", "g"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_wrong(name: str, output: str) -> None:
    """Whether the Func is an output, or stored for another one."""
    outcome = run(_case(*REFUSED[name], output))
    assert not outcome.findings
    assert (outcome.counts["confirmed"], outcome.counts["minimal"]) == (1, 1)


@pytest.mark.parametrize("directive", [BACKWARDS.format("r"), 'vectorize("r", 4)'])
def test_a_float_sum_keeps_its_order(directive: str) -> None:
    case = _case("f[0] += a[r]", directive)
    floats = Case(case.source.replace("int32", "float32"), case.outputs, case.directives)
    outcome = run(floats)
    assert not outcome.findings
    assert outcome.counts["confirmed"] == 1


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_accepted_is_right(name: str) -> None:
    outcome = run(_case(*ACCEPTED[name]))
    assert not outcome.findings
    assert outcome.counts["accepted"] == 1
    assert outcome.counts["native calls"]
