"""`kernel.report`, `kernel.profile` and `kernel.advice`, which are made far above kernels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...lang.program.program import Program


class Reported:
    """A kernel of which a page can be written, and whose calls can be profiled."""

    def report(
        self,
        path: str | os.PathLike[str],
        /,
        *,
        args: Any = None,
        side_effects: bool = False,
        **sizes: int,
    ) -> Path:
        """Writes a page about the kernel: one file of HTML, which needs no network and no scripts.

        It has the equations, the directives, the loops linked line by line to LLVM's IR and to the
        assembly, what the innermost loops are made of, operations and bytes, a roofline, and how
        long each step of the compiler took. An existing file is replaced.

        Args:
            path: where.
            args: the arguments of a call, a tuple or a dict by name. The kernel is run on them some
                times, InOuts as copies and outputs in arrays of the report's own, and the page has
                the measured point; without them nothing is run.
            side_effects: whether extern stages and traces may be called.
            sizes: numbers for sizes, for counts; all of them, or none.

        Returns:
            The path of the file.

        Raises:
            CallError: the arguments or sizes do not fit.
            LanguageTypeError: a name is no size of the program, or one is missing.
            PolyschedError: the path cannot be written to, which is an OSError, too.
        """
        found: Path = Program._report(self, path, args, side_effects, sizes)
        return found

    def profile(self, /, *args: Any, side_effects: bool = False, **kwargs: Any) -> Any:
        """Says where the time of a call goes: by stage, by thread, and over time.

        The call is compiled once more, with marks that read a clock where a stage begins that takes
        a microsecond or more at a time, and is run some times on copies of InOuts and outputs. The
        kernel itself stays as it is.

        Args:
            args, kwargs: those of a call, but `region=`.
            side_effects: whether extern stages and traces may be called.

        Returns:
            A `Profile`, with times in seconds.

        Raises:
            CallError: the arguments do not fit, or the kernel has extern stages or traces and
                side_effects=True is missing.
        """
        return Program._profile(self, args, kwargs, side_effects)

    def advice(self, /, *args: Any, side_effects: bool = False, **kwargs: Any) -> Any:
        """Says what costs a call time, and which directives help.

        Causes are told from the loops at the sizes of the call. For each a change is made on a copy
        of the schedule; where that is legal it is compiled and measured in turns with this kernel,
        on copies of InOuts and outputs, and given as advice only if calls are faster.

        Args:
            args, kwargs: those of a call, but `region=`.
            side_effects: whether extern stages and traces may be called.

        Returns:
            An `Advice`: pieces with times in seconds, those that help most first.

        Raises:
            CallError: the arguments do not fit, or the kernel has extern stages or traces and
                side_effects=True is missing.
        """
        return Program._advice(self, args, kwargs, side_effects)
