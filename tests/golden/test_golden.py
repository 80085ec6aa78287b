"""The exact listing of each directive."""

from __future__ import annotations

import pytest

from . import listings


@pytest.mark.parametrize("name", listings.names())
def test_the_listing_is_the_one_that_is_kept(name: str) -> None:
    """If it is meant to change: `tests/golden/listings.py --update`, and read the difference."""
    golden = listings.read(name)
    assert str(listings.schedule(golden.source)) == golden.listing


@pytest.mark.parametrize("name", listings.names())
def test_the_listing_shows_the_directive(name: str) -> None:
    """The directive is the last statement, and without it another listing is printed."""
    golden = listings.read(name)
    assert name in listings.methods_of_the_last_statement(golden.source)
    before = listings.schedule(listings.without_the_last_statement(golden.source))
    assert str(before) != golden.listing


def test_each_directive_has_a_listing_and_each_listing_is_of_a_directive() -> None:
    assert listings.names() == listings.DIRECTIVES
