"""Coordinates of tiles in tiles as relations without existentials."""

from __future__ import annotations

import random

import pytest

import polysched as ps
from polysched.lang.expr.expr import as_node
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.nodes import Node, integer
from polysched.poly.sets.coordinates import coordinate_map
from polysched.poly.sets.digits import digits
from polysched.poly.sets.isl import Frame, Map, isl

I, J = map(as_node, ps.vars("i j"))
N = as_node(ps.sizes("n"))
FRAME = Frame(("n",), ("i", "j"))
div, mod = ix.floordiv, ix.mod


def relation(*coordinates: Node) -> Map | None:
    """As digits, which is what isl makes of the coordinates."""
    found = digits(FRAME, coordinates)
    if found is not None:
        assert found.is_equal(coordinate_map(FRAME, coordinates))
        assert not any(int(p.dim(isl.dim_type.div)) for p in found.get_basic_maps())
    return found


def test_tiles_of_tiles_have_no_existentials() -> None:
    """Tiles of 5 in tiles of 8, which no multiple of 5 fills, in tiles of 4."""
    outer, rest = div(I, 8), mod(I, 8)
    assert relation(div(outer, 4), div(rest, 5), mod(outer, 4), mod(rest, 5), J) is not None


def test_sizes_in_coordinates() -> None:
    x = ix.add(ix.sub(I, J), N)
    assert relation(div(div(x, 6), 3), mod(div(x, 6), 3), mod(x, 6), J) is not None


def test_some_coordinates_alone_say_too_little() -> None:
    """Without one digit the equations do not give all quotients."""
    assert relation(div(I, 8), mod(mod(I, 8), 5)) is None
    assert relation(mod(I, 8)) is None
    assert relation(div(I, 8)) is not None


@pytest.mark.parametrize("seed", range(40))
def test_random_splits(seed: int) -> None:
    """Loops that are split again and again: each of the coordinates is there."""
    choice = random.Random(seed)
    loops = [ix.add(I, integer(choice.randrange(3))), ix.sub(J, I), J]
    for _ in range(choice.randrange(1, 5)):
        at, factor = choice.randrange(len(loops)), choice.randrange(2, 9)
        x = loops.pop(at)
        loops[at:at] = [div(x, factor), mod(x, factor)]
        choice.shuffle(loops)
    assert relation(*loops) is not None


def test_what_is_no_sum_of_digits() -> None:
    assert digits(FRAME, [ix.mul(I, J)]) is None
    assert digits(FRAME, [ix.maximum([I, J])]) is None
    assert digits(Frame((), ("i",)), [J]) is None
