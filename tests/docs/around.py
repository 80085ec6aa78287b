"""Where the code of a page runs, if that is another place than a script with all packages.

<!-- cell -->            before a block: it is a cell of a notebook
<!-- without this -->    before a block: the package is as if it were not installed
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, SimpleNamespace
from unittest import mock

FILE_NAME = "example.py"


@contextmanager
def missing(packages: tuple[str, ...]) -> Iterator[None]:
    """Packages that cannot be imported meanwhile."""
    absent = object()
    before = {name: sys.modules.get(name, absent) for name in packages}
    sys.modules.update(dict.fromkeys(packages))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name, module in before.items():
            if module is absent:
                del sys.modules[name]
            else:
                sys.modules[name] = module  # type: ignore[assignment]


Compile = Callable[[str], CodeType]
"""Makes code of what a block says."""


def script(code: str) -> CodeType:
    return compile(code, FILE_NAME, "exec")


@contextmanager
def notebook() -> Iterator[Compile]:
    """A notebook whose cells are run as IPython runs them: it compiles each execution anew, under
    a name of its own, and knows its number."""
    import IPython
    from IPython.core.compilerop import CachingCompiler

    compiler = CachingCompiler()  # type: ignore[no-untyped-call]
    numbers = iter(range(1, sys.maxsize))

    def cell(code: str) -> CodeType:
        return compile(code, compiler.cache(code, next(numbers)), "exec")

    shell = SimpleNamespace(compile=compiler)
    with mock.patch.object(IPython, "get_ipython", return_value=shell):
        yield cell
