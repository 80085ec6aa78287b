"""Optional packages: named in one line when they are missing."""

from __future__ import annotations

from importlib.util import find_spec

from ..lang.errors.errors import PolyschedError


class MissingExtra(PolyschedError, ImportError):
    """A package is not installed that `pip install 'polysched[extra]'` brings.

    Attributes: `extra` and `missing`, the packages by their import names.
    """

    def __init__(self, what: str, extra: str, missing: tuple[str, ...]) -> None:
        self.extra = extra
        self.missing = missing
        super().__init__(f"{what} needs {' and '.join(missing)}: pip install 'polysched[{extra}]'")


def need(what: str, extra: str, *packages: str) -> None:
    """Raises MissingExtra unless every package can be imported.

    Args:
        what: needs them, as the beginning of a sentence.
        extra: which installs them.
        packages: their import names.
    """
    missing = tuple(name for name in packages if not importable(name))
    if missing:
        raise MissingExtra(what, extra, missing)


def importable(name: str) -> bool:
    """Whether a top-level package is there, without importing it."""
    try:
        return find_spec(name) is not None
    except ValueError:  # it stands in sys.modules as None, or half imported
        return False
