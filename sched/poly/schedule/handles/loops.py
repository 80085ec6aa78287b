"""Directives on loops and on their coordinates."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Self, cast

from ....lang.errors.errors import LanguageTypeError, user_span
from ....lang.errors.frames import bounded
from ....lang.expr.expr import Expr
from ....targets.words import Number
from ...directives.kinds import MOST_COPIES
from ...directives.loops import Fuse, Rename, Reorder, Split
from ...directives.mapping import Reverse, Shift, Skew, Transform, mapped
from ...directives.tails import Tail
from ...state.fields import in_terms_of
from ...state.record import KINDS
from .base import Handle, Loop, LoopHandle, check_factor, loop_name
from .several import Loops

_MOST = {"vectorize": MOST_COPIES["vector"], "unroll": MOST_COPIES["unrolled"]}
"""How large the factors of directives are that lay iterations out one by one."""


@bounded
class LoopDirectives(Handle):
    """split, reorder, vectorize, skew, ..."""

    def split(
        self,
        loop: Loop,
        factor: Number,
        tail: Tail = "auto",
        names: tuple[str, str] | None = None,
    ) -> tuple[LoopHandle, LoopHandle]:
        """Splits a loop in two: `for io: for ii in [0, factor)`.

        Args:
            factor: a Python integer, at least 1.
            tail: what happens where the extent is no multiple of the factor.
                "auto": the last inner loop is shorter.
                "guard", "mask": every inner loop is complete, its body under a condition.
                "peel": full tiles, and the others in loops of their own (`C.head`, `C.tail`).
                "shift": full tiles, and one more that ends where the loop does (`C.tail`):
                some iterations run twice.
                "round_up": there is no rest; each call checks that.
                "pad": all tiles are full; elements beyond the end are not read.
            names: of the outer and the inner loop.

        Tiles are counted from index 0, wherever the loop begins.

        Legal: always, and "shift" where running twice changes nothing: for pure definitions that
        do not read themselves.
        """
        made = self._do(Split, loop=loop, factor=factor, tail=tail, names=names)
        return cast("tuple[LoopHandle, LoopHandle]", made)

    def fuse(self, outer: Loop, inner: Loop, name: str | None = None) -> LoopHandle:
        """Makes one loop of two that stand directly inside each other.

        The extent of the inner one must be a constant.

        Legal: always; the order of iterations stays the same.
        """
        (made,) = self._do(Fuse, outer=outer, inner=inner, new=name)
        return made

    def rename(self, loop: Loop, name: str) -> Self:
        """Gives a loop another name."""
        self._do(Rename, loop=loop, new=name)
        return self

    def reorder(self, *loops: Loop) -> Self:
        """Puts loops in another order, outermost first (Halide: innermost first).

        Loops between them keep their places; nothing else may stand between them.

        Legal: where no dependence between iterations turns round.
        """
        if not loops:
            raise LanguageTypeError("reorder takes loops, outermost first: reorder(i, k, j)")
        self._do(Reorder, loops=loops)
        return self

    def tile(self, *loops_and_factors: Any) -> tuple[LoopHandle, ...]:
        """Splits loops and brings the inner ones inside: `tile(i, j, 8, 32)`.

        Returns:
            The outer loops, then the inner ones.

        Legal: where the loops may be permuted (skew helps).
        """
        count = len(loops_and_factors) // 2
        loops, factors = loops_and_factors[:count], loops_and_factors[count:]
        wrong = [x for x in factors if isinstance(x, (str, Expr, LoopHandle, tuple, list))]
        if not count or len(loops) != len(factors) or wrong:
            raise LanguageTypeError(
                "tile takes loops, then as many factors, one by one",
                hint="tile(i, j, 8, 32); it names the loops io, jo, ii, ji",
            )
        names = [loop_name("tile", x) for x in loops]
        factors = tuple(self._number(f, n) for f, n in zip(factors, names, strict=True))
        for factor in factors:
            check_factor("tile", factor)
        with self._together("tile", names, *factors):
            made = [self.split(n, f) for n, f in zip(names, factors, strict=True)]
            outer, inner = [a for a, _ in made], [b for _, b in made]
            self.reorder(*outer, *inner)
        return Loops((*outer, *inner))

    def parallel(self, loop: Loop, chunk: Number | None = None) -> Self:
        """Runs the iterations of a loop on several threads.

        Args:
            chunk: splits first; the loop over chunks keeps the name.

        Legal: where no two iterations touch one element, one of them writing it.
        """
        return self._of_kind("parallel", loop, chunk)

    def vectorize(self, loop: Loop, lanes: Number | None = None) -> Self:
        """Runs the iterations of a loop as lanes of vectors.

        Args:
            lanes: splits first; the outer loop keeps the name. Without it, the extent of the loop
                must be a constant.

        Legal: where every dependence between lanes goes from one statement, or one iteration of
        the loops inside, to a later one; a lane may overwrite what another lane has read.
        """
        return self._of_kind("vectorize", loop, lanes)

    def unroll(self, loop: Loop, factor: Number | None = None) -> Self:
        """Repeats the body of a loop instead of looping.

        Args:
            factor: splits first; the outer loop keeps the name. Without it, the extent of the
                loop must be a constant.

        Legal: always.
        """
        return self._of_kind("unroll", loop, factor)

    def _of_kind(self, directive: str, loop: Loop, factor: Number | None) -> Self:
        if factor is None:
            self._do(KINDS[directive], loop=loop)
            return self
        name = loop_name(directive, loop)
        factor = self._number(factor, name)
        check_factor(directive, factor, most=_MOST.get(directive))
        with self._together(directive, [name], factor):
            if directive == "parallel":
                self.split(name, factor, names=(name, self._unused(f"{name}i")))
                self._do(KINDS[directive], loop=name)
            else:
                _, inner = self.split(name, factor, names=(name, self._unused(f"{name}i")))
                self._do(KINDS[directive], loop=inner.name)
        return self

    def _unused(self, name: str) -> str:
        """A name that no loop of the stage has: xi, xi2, xi3, ..."""
        taken = self._loop_names
        numbered = (f"{name}{k}" for k in itertools.count(2))
        return next(x for x in itertools.chain([name], numbered) if x not in taken)

    def unroll_and_jam(self, loop: Loop, factor: Number) -> Self:
        """Splits a loop and unrolls the inner part innermost, below all loops inside.

        Legal: as tiling with the loops inside.
        """
        name = loop_name("unroll_and_jam", loop)
        factor = self._number(factor, name)
        check_factor("unroll_and_jam", factor, most=_MOST["unroll"])
        with self._together("unroll_and_jam", [name], factor):
            inside = [x.name for x in self.loops]
            below = inside[inside.index(name) + 1 :] if name in inside else []
            _, inner = self.split(name, factor, names=(name, self._unused(f"{name}i")))
            if below:
                self.reorder(*below, inner)
            self.unroll(inner)
        return self

    def skew(
        self, outer: Loop, inner: Loop, factor: int = 1, name: str | None = None
    ) -> LoopHandle:
        """The inner loop counts i + factor * t instead of i. Makes tiling and reordering legal.

        Legal: always; the order of iterations stays the same.
        """
        (made,) = self._do(Skew, outer=outer, inner=inner, factor=factor, new=name)
        return made

    def shift(self, loop: Loop, by: int) -> LoopHandle:
        """This stage runs `by` iterations of the loop later than the others in it.

        Legal: where no dependence between the stages of the loop turns round, and not along loops
        of what this stage is computed for.
        """
        (made,) = self._do(Shift, loop=loop, by=by)
        return made

    def reverse(self, loop: Loop) -> Self:
        """Runs a loop backwards, from its last iteration to its first.

        It counts -1 - i instead of i, so tiles stay what they are. A second time undoes it.

        Legal: where no iteration needs an earlier one of the loop.
        """
        self._do(Reverse, loop=loop)
        return self

    def transform(
        self,
        loops: tuple[Loop, ...] | list[Loop] | Loop,
        map: Callable[..., Any],
        names: tuple[str, ...] | None = None,
    ) -> tuple[LoopHandle, ...]:
        """Gives loops that stand inside each other new coordinates.

        Args:
            loops: outermost first.
            map: from the old coordinates to as many new ones: `lambda t, i: (t, t + i)`.
            names: of the new loops; as the old ones without it.

        Legal: where the map is one-to-one and no dependence turns round.
        """
        given = loops if isinstance(loops, (tuple, list)) else (loops,)
        old = tuple(loop_name("transform", x) for x in given)
        span = user_span()
        values = in_terms_of("the map of transform", lambda: mapped(map, len(old), span))
        chosen = old if names is None else names
        return self._do(Transform, loops=old, values=values, names=chosen)

    def wavefront(self, *loops: Loop, name: str = "wave") -> tuple[LoopHandle, ...]:
        """Runs along diagonals: (a, b) becomes (a + b, b), of which the inner one is parallel.

        Returns:
            The loop over waves, then the rest.

        Legal: where no dependence goes backwards in any of the loops.
        """
        old = tuple(loop_name("wavefront", x) for x in loops)
        if len(old) < 2:
            raise LanguageTypeError("wavefront takes two loops or more")

        def diagonal(*x: Any) -> tuple[Any, ...]:
            total = x[0]
            for y in x[1:]:
                total = total + y
            return (total, *x[1:])

        with self._together("wavefront", old):
            return self.transform(old, diagonal, (name, *old[1:]))
