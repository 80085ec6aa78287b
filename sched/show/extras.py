"""Optional packages: the error that names them when they are missing."""

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
        what: the feature that needs the packages, as the beginning of a sentence.
        extra: the extra of polysched that installs them.
        packages: their import names.
    """
    missing = tuple(name for name in packages if not importable(name))
    if missing:
        raise MissingExtra(what, extra, missing)


def importable(name: str) -> bool:
    """Whether a top-level package is installed, found out without importing it."""
    try:
        return find_spec(name) is not None
    except ValueError:  # sys.modules has None for it, or a module whose import is not finished
        return False
