"""Loads of float16s that overlap: the same bits, widened once."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import polysched as ps

n, i = ps.size("n"), ps.vars("i")
EVERY = np.random.default_rng(7).permutation(np.arange(1 << 16, dtype=np.uint16))
REST = 27
"""Elements behind the last full vector, and to spare for what is read further on."""

X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="code for x86")


def filtered(begins: tuple[int, ...], lanes: int | None, target: str | None = None) -> ps.Schedule:
    """A sum of float16s that begin at some distances, with weights that tell one from another."""
    x = ps.Input("x", ps.float16, (n + max(begins),))
    terms = [ps.cast(ps.float32, x[i + begin]) * (3 * k + 1) for k, begin in enumerate(begins)]
    total = sum(terms[1:], terms[0])
    f = ps.Func("f", (n,), ps.float16)
    f[i] = ps.cast(ps.float16, total)
    s = ps.Schedule(f, target=target)
    if lanes is not None:
        s[f].vectorize(i, lanes)
    return s


def bits(s: ps.Schedule, begins: tuple[int, ...]) -> np.ndarray:
    count = EVERY.size - REST + max(begins)
    found = s.compile()(EVERY[:count].view(np.float16)).view(np.uint16)
    return np.where(found & 0x7FFF > 0x7C00, 0x7FFF, found)


@pytest.mark.parametrize("lanes", [16, 32, 64])
@pytest.mark.parametrize("begins", [(0, 1, 2), (2, 0, 15, 7), (1, 0), (0, 1, 16), (3, 2, 1, 0)])
def test_what_is_chosen_has_the_bits_of_one_lane(begins: tuple[int, ...], lanes: int) -> None:
    """Of every number, near a register and beyond one."""
    wanted = bits(filtered(begins, None), begins)
    np.testing.assert_array_equal(bits(filtered(begins, lanes), begins), wanted)


@pytest.mark.parametrize("lanes", [16, 64])
def test_lanes_that_go_down_are_stored_in_their_order(lanes: int) -> None:
    s = filtered((0, 1, 2), None)
    s["f"].reverse("i")
    s["f"].vectorize("i", lanes)
    wanted = bits(filtered((0, 1, 2), None), (0, 1, 2))
    np.testing.assert_array_equal(bits(s, (0, 1, 2)), wanted)


def widened(s: ps.Schedule) -> int:
    """How many registers are widened, in the loop over full vectors and in the rest."""
    return s.compile().asm.count("vcvtph2ps")


@X86
def test_a_register_is_widened_once() -> None:
    """Of two registers of three loads three are, and where loads are further apart all six."""
    near, far = (widened(filtered(x, 32, target="v4")) for x in ((0, 1, 2), (0, 20, 40)))
    assert far - near == 3


@X86
@pytest.mark.parametrize(("target", "lanes"), [("v3", 32), ("v4", 64)])
def test_a_register_is_rounded_where_it_is_stored(target: str, lanes: int) -> None:
    """And no two of them are put together before."""
    asm = filtered((0,), lanes, target=target).compile().asm
    asm = asm.partition("\nload.bytes:")[0]  # behind it is what loads and stores parts of vectors
    rounded = [line for line in asm.splitlines() if "vcvtps2ph" in line]
    assert any("(%" in line for line in rounded)
    assert "vinsertf64x4" not in asm
    assert "vinserti128" not in asm
