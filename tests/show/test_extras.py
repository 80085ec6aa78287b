"""Missing optional packages are named, with the extra that brings them."""

from __future__ import annotations

import sys

import pytest

import polysched as ps
from polysched.show.extras import MissingExtra, importable, need


def test_what_is_there_is_not_complained_about() -> None:
    need("the test", "viz", "numpy", "json")


def test_all_missing_packages_are_named_in_one_line() -> None:
    with pytest.raises(MissingExtra) as caught:
        need("the test", "viz", "numpy", "no_such_thing", "nor_this")
    error = caught.value
    assert str(error) == ("the test needs no_such_thing and nor_this: pip install 'polysched[viz]'")
    assert (error.extra, error.missing) == ("viz", ("no_such_thing", "nor_this"))
    assert isinstance(error, ps.PolyschedError)
    assert isinstance(error, ImportError)


def test_looking_does_not_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    assert importable("this")
    assert "this" not in sys.modules


def test_a_blocked_module_is_not_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "json", None)
    assert not importable("json")
