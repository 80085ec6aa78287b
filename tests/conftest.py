"""What `make quick` runs: of a test with several cases, the first. Every pass is verified."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings

from polysched.codegen import lower

# How long an example takes says nothing on a machine that is busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def verified_passes() -> None:
    """What each pass makes is well-formed, not only what the last one does."""
    lower.VERIFIED = True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all but the first case of each test as slow."""
    tests: defaultdict[tuple[object, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None:
            tests[item.path, getattr(item, "originalname", None) or item.name].append(item)
    for _, *others in tests.values():
        for case in others:
            case.add_marker(pytest.mark.slow)
