"""`Kernel`: a compiled program, called on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...cached import cached_property
from ...forks import reentrant
from ...lang.arithmetic.evaluate import Scalar, compile_nodes
from ...lang.call.binding import Binder, Binding
from ...lang.errors.errors import PolyschedError
from ...lang.errors.frames import bounded, cut, flag
from ...lang.errors.suggest import Suggesting
from ...lang.nodes.dtypes import Array
from ...lang.nodes.nodes import Param, postorder
from ...lang.nodes.shown import Shown
from ...lang.program.region import Partial
from ...lang.tensors.inout import InOut
from ...lang.tensors.tensors import Func
from ...later import later
from ...targets.host import cannot_run
from ...targets.target import Target, TargetError
from . import arena, travel
from .arguments import allocate, check_aligned, check_distinct, check_overlap, is_contiguous
from .call_cache import MOST, CachedCall, Key, cached_call, given_to, key_of
from .call_record import Given
from .described import Described
from .interface import interface_of
from .kept import code_key, keep_variant, read_variant, terms_of
from .native_calls import NativeCalls
from .preconditions import Preconditions
from .python_api import Callable, native_calls
from .reported import Reported
from .scheduled import Scheduled, scheduled
from .threads import available_cpus
from .variant import Prepared, Variant

if TYPE_CHECKING:
    from .. import lower
    from ..lower import Lowered, Pass
else:
    lower = later("..lower", __package__)


@native_calls
@bounded
class Kernel(Suggesting, Callable, Described, Reported, Shown):
    """A program as machine code. Call it with arrays by name or position; it returns the outputs.

    Thread-safe: concurrent calls share nothing but the code.

    Attributes:
        signature: the arguments and results, as text.
        loops: the loop nests with their bounds.
        llvm: LLVM's IR as generated. asm: the machine code as assembly.
        conditions: what a call requires of the sizes.
        seconds: how long each step of the compiler took, if it was compiled in this process.
        cached: whether all code that has been needed so far was found on disk.
    """

    def __init__(
        self,
        schedule: Scheduled,
        *,
        checks: bool = False,
        target: Target | None = None,
        first: Sequence[Pass] = (),
        later: bool = False,
    ) -> None:
        """
        Args:
            first: passes before all others.
            later: whether it is compiled when it is first called.
        """
        self._schedule = schedule = scheduled(schedule)
        self._program = program = schedule.base
        self._checks = flag("checks", checks)
        self._first = first
        self._target = target or schedule.target
        why = cannot_run(self._target)
        if why is not None:
            raise TargetError(
                f"a kernel for {self._target.name} {why}",
                hint="s.for_target(...) makes a schedule for another target",
            )
        self._binder = Binder(program)
        self._lock = reentrant()
        self._pool = arena.Pool()
        self._variants: dict[bool, Variant] = {}
        self._cached_calls: dict[Key, CachedCall] = {}
        outputs = (f for f in program.outputs if not isinstance(f, InOut))
        self._native = NativeCalls(program, sum(len(f.dtypes) for f in outputs))
        self._part: tuple[Partial, Kernel] | None = None
        self._special = [
            (compile_nodes([condition]), self._of(variant, later=True))
            for condition, variant in schedule.variants
        ]
        self._digest = schedule.digest
        self._terms = terms_of(schedule, self._digest)
        self._remade: Lowered | None = None
        self._preconditions = Preconditions(self._terms.requirements, program)
        if not later:
            self._variant(False)
        self.__name__ = "_".join(f.name for f in program.outputs)

    # calling ----------------------------------------------------------------------------------
    def __call__(
        self,
        /,
        *args: Any,
        out: Any = None,
        shape: Sequence[int] | None = None,
        region: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Runs the kernel.

        Args:
            args, kwargs: the Inputs by position or name; Params and free sizes by name.
            out: an array, a tuple of arrays or a dict by name, to write the outputs to.
            shape: of an output that has no declared shape (a tuple of them for several).
            region: the part of the output to compute, a half-open pair an axis; only what it
                needs is computed, recurrences and extern stages as a whole. For several outputs
                a tuple of them, or a dict by name.

        Returns:
            The output, or a tuple of all outputs, also those passed by `out=`. An output with a
            tuple dtype is a tuple of arrays.

        Raises:
            CallError: an argument does not fit; it names the argument and the fault. Nothing
                has been written then.
        """
        try:
            if region is not None:
                return self._call_part(region, args, kwargs, out, shape)
            given = given_to(args, kwargs, out)
            seen = key_of(args, kwargs, out) if shape is None else None
            known = None if seen is None else self._cached_calls.get(seen[0])
            if seen is not None and known is not None and known.fits(given):
                results = known.run(given, seen[1], self._pool)
                self._native.keep(self, seen[0], known, Given(args, kwargs, out))
            else:
                bound = self._binder.bind(args, kwargs, shape=shape, out=out)
                kernel = self._chosen(bound)
                variant, prepared, inputs, outputs, results = kernel._fitted(bound)
                variant.run(prepared, {**inputs, **outputs}, self._pool)
                if seen is not None and not variant.callbacks:
                    data = kernel._data(bound)
                    free = self._free & kernel._preconditions.free
                    call = cached_call(
                        variant, prepared, inputs, outputs, given, results, data, free
                    )
                    if call is not None:
                        self._remember(seen[0], call, Given(args, kwargs, out))
            return results[0] if len(results) == 1 else results
        except PolyschedError as error:
            cut(error)
            raise

    def _remember(self, key: Key, call: CachedCall, given: Given) -> None:
        """Remembers a call that has run.

        Args:
            given: how its arguments were passed.
        """
        if len(self._cached_calls) >= MOST:
            self._cached_calls.clear()
        self._cached_calls[key] = call

    def _data(self, bound: Binding) -> dict[str, tuple[Scalar, Scalar]]:
        """The ranges that arrays must lie in, by their names."""
        names = self._program.names
        return {names[array]: x for array, x in self._preconditions.data(bound).items()}

    @cached_property
    def _free(self) -> frozenset[str]:
        """The Params of floats that may have any value: none of them decides what runs."""
        conditions = (condition for condition, _ in self._schedule.variants)
        deciding = {x.name for x in postorder(*conditions) if isinstance(x, Param)}
        return self._preconditions.free - deciding

    def _chosen(self, bound: Binding) -> Kernel:
        """What runs: the variant whose condition holds, if there is one."""
        for test, special in self._special:
            values: dict[str, Any] = {**bound.sizes, **bound.params}
            if all(test(values)):
                return special._chosen(bound)
        return self

    def _fitted(
        self, bound: Binding
    ) -> tuple[Variant, Prepared, dict[str, Array], dict[str, Array], tuple[Any, ...]]:
        """What runs on arguments that fit: the code, what it is given, arrays that it reads and
        writes; and the results."""
        program = self._program
        values = self._preconditions.check(bound)
        changed = {f.initial for f in program.inouts}
        inputs = {program.names[t]: a for t, a in bound.arrays.items() if t not in changed}
        outputs = self._outputs(bound)
        for name, array in inputs.items():
            check_aligned(name, array)
        check_overlap(outputs, inputs)
        contiguous = all(map(is_contiguous, (*inputs.values(), *outputs.values())))
        variant = self._variant(not contiguous)
        prepared = variant.prepared(values, {**inputs, **outputs})
        returned = bound.returned
        results = tuple(
            returned[func] if func in returned else self._result(func, outputs)
            for func in program.outputs
        )
        return variant, prepared, inputs, outputs, results

    def _call_part(self, region: Any, args: Any, kwargs: Any, out: Any, shape: Any) -> Any:
        """Computes a part, by a kernel that is compiled when first needed."""
        with self._lock:
            if self._part is None:
                partial = Partial(self._program)
                self._part = partial, self._of(self._schedule.of(partial.program))
        partial, kernel = self._part
        sizes = partial.sizes(region, shape)
        return kernel(*args, out=partial.renamed(out), **{**kwargs, **sizes})

    def _of(self, schedule: Scheduled, *, later: bool = False) -> Kernel:
        """A kernel of another schedule that is otherwise like this one."""
        options: dict[str, Any] = {"checks": self._checks, "first": self._first, "later": later}
        return Kernel(schedule, target=self._target, **options)

    def _result(self, func: Func, outputs: dict[str, Array]) -> Any:
        """The array of an output, or a tuple with one a component."""
        found = tuple(outputs[self._buffer_name(func, c)] for c in range(len(func.dtypes)))
        return found[0] if len(found) == 1 else found

    def _outputs(self, bound: Binding) -> dict[str, Array]:
        """The arrays to write, given or new, by the names of their buffers."""
        found: dict[str, Array] = {}
        for func in self._program.outputs:
            given = bound.out.get(func)
            for c, dtype in enumerate(func.dtypes):
                name = self._buffer_name(func, c)
                if given is None:
                    found[name] = allocate(name, bound.shapes[func] or (), dtype)
                else:
                    found[name] = given[c]
                    label = name if isinstance(func, InOut) else f"out= of {name}"
                    check_aligned(label, given[c])
                    check_distinct(label, given[c])
        return found

    def _buffer_name(self, func: Func, component: int) -> str:
        name = self._program.names[func]
        return f"{name}.{component}" if len(func.dtypes) > 1 else name

    def _variant(self, strided: bool) -> Variant:
        """The code for contiguous or for strided arguments, compiled when first needed."""
        found = self._variants.get(strided)
        if found is not None:
            return found
        with self._lock:
            found = self._variants.get(strided)
            if found is None:
                found = self._variants[strided] = self._made_variant(strided)
            return found

    def _made_variant(self, strided: bool) -> Variant:
        """The code on disk, or compiled, and kept there."""
        # What passes of the caller's do is not known.
        digest = None if self._first else self._digest
        key = code_key(digest, self._target, self._checks, strided)
        found = read_variant(key, self._program)
        if found is None:
            lowered = self._lower(strided)
            found = Variant(lowered.code, interface_of(lowered.flat), lowered)
            keep_variant(key, found, lowered)
        return found

    def _lower(self, strided: bool) -> Lowered:
        program, checks = self._schedule.loop_program, self._checks
        return lower.lower(
            program, self._target, strided=strided, checks=checks, first=self._first,
            threads=available_cpus(),
        )  # fmt: skip

    # as a value -------------------------------------------------------------------------------
    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return travel.key(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __copy__(self) -> Kernel:
        return self  # it does not change

    def __deepcopy__(self, memo: object) -> Kernel:
        return self

    def __reduce__(self) -> Any:
        return travel.reduced(self)

    @classmethod
    def _restored(cls, schedule: Any, checks: bool, target: Target | None) -> Kernel:
        """A kernel that has been elsewhere, compiled for this machine."""
        return cls(schedule, checks=checks, target=target)

    # looking ----------------------------------------------------------------------------------
    @property
    def cached(self) -> bool:
        found = list(self._variants.values())
        return bool(found) and all(x.lowered is None for x in found)

    @property
    def _lowered(self) -> Lowered:
        """How the code for contiguous arguments is made; made again where it was found on disk."""
        found = self._variant(False).lowered or self._remade
        if found is None:
            found = self._remade = self._lower(False)
        return found

    @property
    def loops(self) -> str:
        return str(self._schedule)

    @property
    def llvm(self) -> str:
        return self._lowered.text

    @property
    def asm(self) -> str:
        return self._lowered.code.assembly()

    @property
    def seconds(self) -> dict[str, float]:
        lowered = self._variant(False).lowered or self._remade
        return {**self._schedule.log.seconds, **({} if lowered is None else lowered.seconds)}

    @property
    def conditions(self) -> tuple[str, ...]:
        return self._terms.conditions

    def __repr__(self) -> str:
        return f"Kernel {self.signature}"

    def __str__(self) -> str:
        return f"{self!r}\n{self.loops}"
