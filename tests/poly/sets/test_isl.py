"""Where isl itself fails at a question: what is only asked to simplify a set stays as it is, and
for the rest there is no answer, as where a budget is spent."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import polysched as ps
from polysched.lang.errors.errors import InternalError
from polysched.poly.sets.budget import Unanswered, attempt, budget
from polysched.poly.sets.isl import Frame, Map, coalesced, isl

OWN = (
    "call to isl_map_coalesce failed: original tableau does not correspond to original basic map "
    "in /project/isl/isl_coalesce.c:3157"
)


DIVISIONS = (
    'call to isl_pw_aff_gist failed: Assertion "map->p[0]->n_div == map->p[i]->n_div" failed '
    "in /project/isl/isl_map.c:6307"
)


@pytest.mark.parametrize("text", [OWN, DIVISIONS], ids=["coalesce", "divisions"])
def test_an_error_of_isl_itself_has_no_answer(text: str) -> None:
    with pytest.raises(Unanswered, match="isl has failed"), budget(1_000), attempt(100):
        raise isl.Error(text)


def test_a_question_that_is_wrong_is_a_fault_of_ours() -> None:
    sets = Frame(("n",), ("i",)).universe, Frame(("n",), ("i", "j")).universe
    with pytest.raises(InternalError, match="spaces don't match"), budget(1_000):
        sets[0].intersect(sets[1])


def test_what_isl_cannot_coalesce_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    both = Map("{ [i] -> [j] : 0 <= i < 5 or 5 <= i < 9 }")
    assert coalesced(both).n_basic_map() == 1

    def fails(_: object) -> Map:
        raise isl.Error(OWN)

    monkeypatch.setattr(Map, "coalesce", fails)
    assert coalesced(both) is both


def test_a_mirror_that_isl_cannot_coalesce() -> None:
    """isl fails at the elements that may be read, of many pieces with remainders."""
    n, m = ps.sizes("n m")
    i = ps.vars("i")
    a, f = ps.Input("a", ps.uint8, (n, n)), ps.Func("f")
    f[i] = ps.boundary.mirror(a)[m - 1 - i, (i - 3) % 4]
    given = np.arange(9, dtype=np.uint8).reshape(3, 3)
    found = ps.Schedule(f).compile()(given, m=5, shape=8)
    rows, columns = (0, 1, 2, 1), (1, 2, 1, 0)
    assert found.tolist() == [given[rows[x % 4], columns[x % 4]] for x in range(8)]


def test_a_mirror_at_which_isl_ended_the_process() -> None:
    """Of what may be read there were hundreds of pieces, most of them empty or there twice."""
    n, i = ps.sizes("n"), ps.vars("i")
    a, f = ps.Input("a", ps.uint32, (n, n + 3)), ps.Func("f", (n,))
    f[i] = ps.boundary.mirror(a)[i % 4, n - 1 - i]
    given = np.arange(40, dtype=np.uint32).reshape(5, 8)
    assert np.array_equal(ps.Schedule(f).compile()(given), given[[0, 1, 2, 3, 0], [4, 3, 2, 1, 0]])


#: Of three pieces two have no point. isl does not see it of either, but of the piece that it makes
#: of both, and what it asks of that next ends the process.
PIECES = """
import islpy as isl
from polysched.poly.sets.isl import PwAff, coalesced

def aff(text):
    return isl.Aff("[n] -> { [i, j] -> [(" + text + ")] }")

def piece(zero, *rest):
    # Not from text: isl simplifies what it reads.
    found = [aff(text).zero_basic_set() for text in zero]
    found += [aff(text).ge_basic_set(aff("0")) for text in rest]
    whole = found[0]
    for one in found[1:]:
        whole = whole.intersect(one)
    return isl.Set.from_basic_set(whole)

zero = ["i - j + 4 * floor((-i + j) / 4)"]
rest = ["1 - n", "j", "n - 1 - j", "i - n", "1 + 2 * n - i"]
pieces = piece(zero, *rest, "1 - i + 4 * floor(i / 4)")
pieces = pieces.union_disjoint(piece(zero, *rest, "-2 + i - 4 * floor(i / 4)"))
pieces = pieces.union_disjoint(piece([], "-1 + n - i"))
assert pieces.n_basic_set() == 3
"""


@pytest.mark.parametrize("kind", ["set", "map", "function"])
def test_two_pieces_without_points_and_one_with_some(kind: str) -> None:
    """Three pieces of a Set, a Map and a PwAff at which isl itself ends the process."""
    asked = {
        "set": "found = coalesced(pieces)",
        "map": "found = coalesced(isl.Map.from_range(pieces)).range()",
        "function": "found = coalesced(PwAff.alloc(pieces, aff('i'))).domain()",
    }[kind]
    told = "assert str(found) == '[n] -> { [i, j] : i < n }', found"
    command = [sys.executable, "-P", "-c", f"{PIECES}\n{asked}\n{told}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
