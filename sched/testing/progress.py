"""A progress bar, shown in terminals and notebooks if tqdm is installed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

DELAY = 1.0
"""Seconds before a bar appears, so that quick checks show none."""


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], object]]:
    """A progress bar, as a function that is called with the amount of work done since the last
    call.

    Nothing is shown without a terminal or notebook, without tqdm, or before a second has passed.
    """
    tqdm = _tqdm() if _is_watched() else None
    if tqdm is None:
        yield lambda count: None
        return
    with tqdm(desc=what, total=total, delay=DELAY, leave=False, unit_scale=True) as bar:
        yield bar.update


def _tqdm() -> Any:
    """tqdm's class for bars in this environment; None if it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a notebook without widgets gets a bar of text
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
    return tqdm


def _is_watched() -> bool:
    """Whether stderr is shown to a user as it is written: in a terminal or a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return sys.stderr.isatty() or type(shell).__name__ == "ZMQInteractiveShell"
