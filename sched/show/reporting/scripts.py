"""`python -m polysched report script.py`: runs a script, and reports the kernels that it made."""

from __future__ import annotations

import re
import runpy
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

from ...codegen.runtime.kernel import Kernel
from ...lang.errors.errors import LanguageError, PolyschedError
from ...lang.program.program import Program
from ...lang.tensors.tensors import Func
from ...poly.schedule.schedule import Schedule
from ...records import dataclass
from .page import report


@dataclass(slots=True)
class Made:
    """What a script has made: the kernels that it compiled, in order, and its names at the end."""

    kernels: list[Kernel] = field(default_factory=list)
    names: Mapping[str, Any] = field(default_factory=dict)


def reports(
    where: str, out: Path | None, sizes: Mapping[str, int], arguments: Sequence[str]
) -> Iterator[Path]:
    """Runs a script and writes a page for each kernel.

    Args:
        where: the script, or `script.py:name` for what has that name when the script has run.
        out: the file; with several kernels a folder, which is made. By default a file beside where
            the command runs, named for the script and the kernel.
        sizes: numbers for counts.
        arguments: those of the script.

    Raises:
        PolyschedError: there is no such script, nothing to report, or the script has failed.
    """
    script, name = _script_and_name(where)
    made = run(script, arguments)
    chosen = [(name, _named(made, name))] if name else list(_found(made))
    if not chosen:
        raise PolyschedError(
            f"{script} has made no kernel, and no Schedule or Func is left at its end",
            hint="name what is to be reported: script.py:name; it may be a Kernel, a Schedule or "
            "a Func",
        )
    for path, kernel in zip(_paths(script, out, [n for n, _ in chosen]), chosen, strict=True):
        yield report(kernel[1], path, sizes=sizes)


def _script_and_name(where: str) -> tuple[Path, str]:
    """A script, and the name in it; empty for none. A path may have colons."""
    if not Path(where).exists() and ":" in where:
        path, _, name = where.rpartition(":")
        if name.isidentifier():
            where = path
            return _script(where), name
    return _script(where), ""


def _script(where: str) -> Path:
    path = Path(where)
    if not path.is_file():
        raise PolyschedError(
            f"there is no script {where}",
            hint="python -m polysched report script.py, or script.py:name",
        )
    return path


# running ----------------------------------------------------------------------------------------
def run(script: Path, arguments: Sequence[str] = ()) -> Made:
    """Runs a script as `python script.py` does, and notes what it makes.

    Raises:
        PolyschedError: it has raised, which is printed, or exited with another status than 0.
    """
    before = sys.argv, sys.path[:]
    sys.argv, sys.path[:0] = [str(script), *arguments], [str(script.resolve().parent)]
    made = Made()
    try:
        with _noting(made):
            made.names = runpy.run_path(str(script), run_name="__main__")
    except SystemExit as error:
        if error.code not in (None, 0):
            raise PolyschedError(f"{script} has exited with {error.code}") from None
    except Exception as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != str(script):
            frames = frames.tb_next
        traceback.print_exception(type(error), error, frames or error.__traceback__)
        raise PolyschedError(f"{script} has failed, so there is nothing to report") from None
    finally:
        sys.argv, sys.path[:] = before
    return made


@contextmanager
def _noting(made: Made) -> Iterator[None]:
    """Notes the kernels that are compiled, and the Funcs that are called, meanwhile."""
    compiling, calling = Program._compile, Func._call
    called: dict[Func, None] = {}

    def compiled(*args: Any, **options: Any) -> Any:
        kernel = compiling(*args, **options)
        made.kernels.append(kernel)
        return kernel

    def call(func: Func, /, *args: Any, **kwargs: Any) -> Any:
        called[func] = None
        return calling(func, *args, **kwargs)

    Program._compile, Func._call = staticmethod(compiled), call
    try:
        yield
    finally:
        Program._compile, Func._call = staticmethod(compiling), calling
        made.kernels += [k for func in called for k in _of_calls(func)]


def _of_calls(func: Func) -> Iterator[Kernel]:
    """The kernels that bare calls of a Func have run."""
    kernel = func._default_kernel
    if kernel is not None:
        yield from dict.fromkeys(getattr(kernel, "_found", {}).values()) or (kernel,)


# choosing ---------------------------------------------------------------------------------------
def _named(made: Made, name: str) -> Kernel:
    if name not in made.names:
        known = [x for x, value in made.names.items() if isinstance(value, _REPORTED)]
        hint = (
            f"it has {', '.join(known)}" if known else "no Kernel, Schedule or Func is left there"
        )
        raise PolyschedError(f"the script has no {name} at its end", hint=hint)
    value = made.names[name]
    if not isinstance(value, _REPORTED):
        raise PolyschedError(
            f"{name} is a {type(value).__name__}: there is no report on it",
            hint="name a Kernel, a Schedule or a Func",
        )
    return _kernel(value)


_REPORTED = (Kernel, Schedule, Func)


def _kernel(value: Kernel | Schedule | Func) -> Kernel:
    if isinstance(value, Kernel):
        return value
    if isinstance(value, Func):
        return next(_of_calls(value), None) or _kernel(Schedule.default(value))
    kernel = Kernel(value.proven_copy())
    return kernel


def _found(made: Made) -> Iterator[tuple[str, Kernel]]:
    """What to report: kernels that were compiled or called; without any, the Schedules that are
    left; without these, the Funcs that no other one reads."""
    values = {id(v): n for n, v in reversed(list(made.names.items())) if isinstance(v, _REPORTED)}
    kernels = {id(k): k for k in made.kernels}
    kernels |= {id(v): v for v in made.names.values() if isinstance(v, Kernel)}
    if kernels:
        for key, kernel in kernels.items():
            yield values.get(key, kernel.__name__), kernel
        return
    schedules = [(n, v) for n, v in made.names.items() if isinstance(v, Schedule)]
    for name, schedule in schedules or list(_last(made)):
        yield name, _kernel(schedule)


def _last(made: Made) -> Iterator[tuple[str, Schedule]]:
    """Schedules of the Funcs that are left and that no other Func that is left needs."""
    funcs = {n: v for n, v in made.names.items() if isinstance(v, Func)}
    found = {}
    for name, func in funcs.items():
        try:
            found[name] = Schedule.default(func)
        except LanguageError:
            continue  # it is not defined, or not finished
    needed = {f for s in found.values() for f in s.base.funcs if f not in s.base.outputs}
    yield from ((n, s) for n, s in found.items() if funcs[n] not in needed)


# paths ------------------------------------------------------------------------------------------
def _paths(script: Path, out: Path | None, names: Sequence[str]) -> Iterator[Path]:
    """A path for each kernel; no two are the same."""
    if out is not None and len(names) == 1 and not out.is_dir():
        yield out
        return
    folder = Path() if out is None else out
    if out is not None:
        if out.exists() and not out.is_dir():
            raise PolyschedError(
                f"there are {len(names)} kernels ({', '.join(names)}), and {out} is one file",
                hint="name a folder, or one kernel: script.py:name",
            )
        out.mkdir(parents=True, exist_ok=True)
    used: set[str] = set()
    for name in names:
        stem = re.sub(r"[^\w.-]+", "_", f"{script.stem}-{name}")
        number, unique = 1, stem
        while unique.lower() in used:
            number += 1
            unique = f"{stem}-{number}"
        used.add(unique.lower())
        yield folder / f"{unique}.html"
