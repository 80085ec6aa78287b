"""The display of each object in a notebook, by its class.

Nothing is compiled, run or proven for a display, and none ever raises: an object that is half made
is shown as its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from ..parts.markup import tag
from ..parts.theme import display

Bundle = dict[str, str]

#: The room of this folder and the function in it, by the module and the name of a class: what is
#: shown is imported by whoever made it.
_RENDERERS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("lang.expr.expr", "Expr"): ("equations", "expression"),
    ("lang.tensors.indexable", "Indexable"): ("equations", "tensor"),
    ("lang.tensors.tensors", "Func"): ("equations", "func"),
    ("lang.nodes.dtypes", "DType"): ("equations", "dtype"),
    ("lang.program.program", "Program"): ("programs", "program"),
    ("poly.schedule.queries", "ScheduleQueries"): ("schedules", "schedule"),
    ("poly.schedule.handles.base", "Handle"): ("schedules", "handle"),
    ("poly.schedule.handles.base", "LoopHandle"): ("schedules", "handle"),
    ("poly.proof.dependences", "Dependence"): ("dependences", "dependence"),
    ("poly.proof.dependences", "Dependences"): ("dependences", "dependences"),
    ("poly.schedule.halo", "Halo"): ("halos", "halo"),
    ("codegen.runtime.kernel", "Kernel"): ("kernels", "kernel"),
    ("targets.facts", "Machine"): ("machines", "machine"),
    ("targets.target", "Target"): ("machines", "target"),
    ("targets.words", "Word"): ("machines", "word"),
    ("tune.facts.facts", "Facts"): ("facts", "facts"),
    ("tune.facts.facts", "StatementFacts"): ("facts", "statement"),
    ("checking.report", "Report"): ("runs", "report"),
    ("show.order", "Record"): ("runs", "record"),
    ("show.explained", "Explanation"): ("codes", "explanation"),
}


def bundle(shown: object) -> Bundle:
    """What a notebook shows, by MIME type. Plain text is not among it: the notebook makes that as
    it does for any object."""
    try:
        return _renderer(type(shown))(shown)
    except Exception:  # whatever is wrong with the object, its text is shown
        return {"text/html": str(display(tag("pre", _text(shown))))}


def _text(shown: object) -> str:
    """What a cell shows without markup."""
    try:
        return repr(shown)
    except Exception as error:
        return f"<{type(shown).__name__}: {error}>"


def _renderer(kind: type) -> Callable[[Any], Bundle]:
    for base in kind.__mro__:
        module = base.__module__.partition(".")[2]
        found = _RENDERERS.get((module, base.__name__))
        if found is not None:
            made: Callable[[Any], Bundle] = getattr(
                import_module(f".{found[0]}", __package__), found[1]
            )
            return made
    raise LookupError(kind)
