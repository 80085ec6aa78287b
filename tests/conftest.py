"""What `make quick` runs: of a test with many cases, some that lie evenly among them."""

from __future__ import annotations

from collections import defaultdict

import pytest

MOST = 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all but some cases of each test as slow."""
    tests: defaultdict[tuple[object, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None:
            tests[item.path, getattr(item, "originalname", None) or item.name].append(item)
    for cases in tests.values():
        kept = {k * len(cases) // MOST for k in range(MOST)}
        for number, case in enumerate(cases):
            if len(cases) > MOST and number not in kept:
                case.add_marker(pytest.mark.slow)
