"""Whether elements lie in a range: as a comparison of each says."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.lang.arguments.elements import are_within


@pytest.mark.parametrize("kind", ["i1", "u1", "i4", "i8", "u8", "f4"])
def test_as_each_element_says(kind: str) -> None:
    rng = np.random.default_rng(0)
    ends = (-129, -1, 0, 1, 5, 127, 128, 200, 256, 300, 1 << 31, 1 << 63)
    for lo in ends:
        for hi in ends:
            for values in ([], [0], [-1, 3], [4, 5], [127], [100, 2], [-128, 127], [5, 1]):
                array = np.array(values).astype(kind)
                array = np.repeat(array, 3)[:: int(rng.choice([1, -1, 2]))]
                numbers = array.tolist()
                assert are_within(array, lo, hi) == all(lo <= x < hi for x in numbers), numbers


def test_a_nan_is_nowhere() -> None:
    assert not are_within(np.array([0.0, np.nan]), 0, 1)
