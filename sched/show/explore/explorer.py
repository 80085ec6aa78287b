"""`ps.explore`: a schedule that is changed by clicks, each of which is proven."""

from __future__ import annotations

import pickle
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...forks import reentrant
from ...lang.errors.errors import LanguageError, LanguageTypeError
from ...lang.errors.frames import bounded
from ...lang.program.program import Program
from ...lang.tensors.tensors import Func
from ...lang.travel import text
from ...poly.schedule.schedule import Schedule
from ..extras import need
from ..parts.place import page_at
from .export import exported
from .link import Link
from .model import Exploration, Verdict
from .picture import Sketch

MOST_LOSSES = 3
"""How many processes may end by themselves at one schedule before no other one is started."""


@bounded
def explore(
    what: Func | Sequence[Func] | Schedule, *args: Any, side_effects: bool = False, **kwargs: Any
) -> Explorer:
    """An explorer, which a notebook shows: the loop nest, and for each loop the directives that are
    legal next. A click gives one, and `explorer.schedule` is what came of it.

    Args:
        what: Funcs, whose schedule begins as written, or a Schedule, which is left as it is.
        args: arguments of a call, with `kwargs`. Where there are any, each schedule is measured in
            another process, on copies.
        side_effects: whether functions that the program calls may run for that.

    Raises:
        MissingExtra: anywidget is not installed.
        LanguageError: the program is ill-formed; or it calls functions and is to be measured, and
            nothing allows that; or it calls one that another process would not find.
    """
    need("exploring", "viz", "anywidget")
    schedule = what if isinstance(what, Schedule) else Schedule(what)
    return Explorer(schedule, args, kwargs, side_effects=side_effects)


@bounded
class Explorer:
    """What `explore` gives. It can be used without a notebook, too.

    Args:
        schedule: where it begins; it is copied.
        args, kwargs: arguments of a call to measure; none to measure nothing.
        side_effects: whether functions that the program calls may run.
    """

    def __init__(
        self,
        schedule: Schedule,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        side_effects: bool = False,
    ) -> None:
        calls = _functions(schedule.base)
        measures = bool(args or kwargs)
        if calls and measures and not side_effects:
            raise LanguageError(
                "measuring would run the functions that the program calls, many times",
                hint="explore(..., side_effects=True) allows it; without arguments nothing runs",
            )
        self._model = Exploration(schedule)
        self._changed = threading.Condition(reentrant())  # type: ignore[arg-type]
        self._is_done = self._is_closed = False
        self._losses = 0
        self._listeners: list[Callable[[], None]] = []
        self._widget: Any = None
        stored = _stored(args, kwargs or {}) if measures else None
        self._directory: Path | None = None
        base = schedule.base
        start = {
            "program": text.written("program", base.outputs, base.inputs),
            "modules": _modules(calls),
            "arguments": None if stored is None else self._kept(stored),
        }
        self._link = Link(start, self._hear)
        self._ask()

    def _kept(self, stored: bytes) -> str:
        """Where the arguments are for the other process, as long as this is there."""
        self._directory = Path(tempfile.mkdtemp(prefix="polysched-"))
        self._end = weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)
        path = self._directory / "arguments"
        path.write_bytes(stored)
        return str(path)

    # what it gives ----------------------------------------------------------------------------
    @property
    def schedule(self) -> Schedule:
        """A copy of the schedule that is looked at."""
        with self._changed:
            return self._model.schedule.copy()

    def source(self) -> str:
        """The schedule as Python."""
        return self.schedule.source()

    def view(self) -> dict[str, Any]:
        """What is shown now, as plain data."""
        with self._changed:
            return self._model.view()

    def export(self, path: str | Path) -> Path:
        """Writes a page that shows the same, and needs no script and no network.

        Candidates that have not been tried yet are waited for.
        """
        self.wait()
        with page_at(path, "page", 'export("explored.html")') as place:
            place.write(exported(self.view()))
            return place.path

    def wait(self, seconds: float = 60.0) -> bool:
        """Waits until all candidates have been tried. Returns whether they have."""
        with self._changed:
            return self._changed.wait_for(lambda: self._is_done, seconds)

    def close(self) -> None:
        """Ends the process that tries candidates. What is clicked later is proven here alone."""
        with self._changed:
            self._is_closed = True
            self._give_up("the explorer was closed")
            self._changed.notify_all()
        self._link.close()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def __repr__(self) -> str:
        return f"Explorer of {self._model.schedule.base.signature()}"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if self._widget is None:
            from .widget import made

            self._widget = made(self)
        return self._widget._repr_mimebundle_(**options)

    # what happens -----------------------------------------------------------------------------
    def answer(self, message: Any) -> bool:
        """Does what a message of a page asks for: see `Exploration.answer`."""
        with self._changed:
            revision = self._model.revision
            changed = self._model.answer(message)
            if self._model.revision != revision:
                self._losses = 0
                self._ask()
        if changed:
            self._tell()
        return changed

    def _ask(self) -> None:
        """Asks of all candidates that are not known yet."""
        model = self._model
        self._is_done = False
        if self._is_closed:
            self._give_up("the explorer was closed")
            return
        question = {
            "revision": model.revision,
            "schedule": model.schedule.to_json(),
            "stage": model.stage,
            "moves": [move.text() for move in model.moves],
            "draws": bool(model.stage) and model.picture is None,
            "first": model.tried,
        }
        try:
            self._link.ask(question)
        except OSError as error:
            self._give_up(f"no process can be started that tries directives: {error}")

    def _give_up(self, why: str) -> None:
        """Nothing more will be known of the candidates."""
        model = self._model
        model.note, self._is_done = model.note or why, True
        model.give_up(why)

    def _lost(self, why: str, was_ready: bool) -> None:
        """A process has ended by itself. Another one goes on behind what it was at."""
        model = self._model
        self._losses += 1
        if not self._is_done and self._losses <= MOST_LOSSES and model.tried < len(model.moves):
            if was_ready and model.picture is None:
                model.drawn(model.revision, Sketch("", (f"There is no picture: {why}.",)))
            elif was_ready:
                model.hear(model.revision, model.tried, Verdict("unknown", why))
            self._ask()
        else:
            self._give_up(why)
        model.note = model.note or why

    def _hear(self, message: dict[str, Any]) -> None:
        with self._changed:
            self._take(message)
            if self._is_done:
                self._changed.notify_all()
        self._tell()

    def _take(self, message: dict[str, Any]) -> None:
        model, revision = self._model, message.get("revision")
        match message:
            case {"index": index, "kind": kind, "why": why}:
                model.hear(revision, index, Verdict(kind, why))
            case {"svg": svg, "notes": notes}:
                model.drawn(revision, Sketch(svg, tuple(notes)))
            case {"seconds": seconds}:
                model.measured(revision, seconds)
            case {"lost": why, "ready": was_ready}:
                self._lost(why, was_ready)
            case {"failed": why} if revision == model.revision:
                self._give_up(why)
            case {"done": True}:
                self._is_done = self._is_done or revision == model.revision

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()


def _stored(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    try:
        return pickle.dumps((args, kwargs), protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise LanguageTypeError(
            f"these arguments cannot be given to another process: {error}",
            hint="pass NumPy arrays and numbers",
        ) from None


def _functions(program: Program) -> list[Any]:
    """The functions of the user's that a program calls."""
    opaque = (d.opaque for d in program.definitions)
    return [x.stage.function for x in opaque if x is not None]


def _modules(functions: list[Any]) -> list[str]:
    """Where another process finds functions; what it would not find is refused elsewhere."""
    named = {getattr(function, "__module__", None) for function in functions}
    return sorted(name for name in named if name in sys.modules)
