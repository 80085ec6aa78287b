"""The sizes of a program, and the elements of its tensors, as sets."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.errors.errors import LanguageError
from ...lang.nodes.printer import expr_text
from ...lang.nodes.tensor import Tensor
from ...lang.program.intervals import declared_range
from ...lang.program.program import Program
from ...lang.program.scalars import output_sizes
from ...lang.tensors.tensors import Func
from ..sets.affine import affine_value
from ..sets.affine_conditions import condition
from ..sets.isl import Frame, PwAff, Set, coalesced
from ..sets.memo import Memo, Same
from ..sets.missing_ranges import affine_fault

OWN_SIZE = "make it a size of its own: nz = ps.size('nz', default=...)"
"""The hint for an extent or a bound that is not affine."""


class ProgramSpace:
    """What the sets of a program are made over: its sizes, their context, and boxes of elements.

    Attributes:
        params: the names of sizes and integer Params.
        parameters: a frame of them alone.
        context: the sizes and Params for which the program is defined.
    """

    def __init__(self, program: Program, memo: Memo) -> None:
        self.program = program
        self.memo = memo
        self.params = tuple(
            [*program.sizes, *(n for n, p in program.params.items() if p.info.dtype.is_int)]
            + [s.name for f in program.outputs for s in output_sizes(program, f)]
        )
        self.parameters = Frame(self.params, ())
        self.context = self._context()
        self._sizes_known = (self.params, Same(self.context))

    def _context(self) -> Set:
        of_params = tuple(self.program.params.get(name) for name in self.params)
        required = tuple(r.condition for r in self.program.requirements)
        key = ("context", self.params, of_params, required)
        return self.memo.of(key, self._sizes)

    def _sizes(self) -> Set:
        """The sizes and Params for which the program is defined."""
        frame = self.parameters
        result = frame.universe
        for name in self.params:
            x, param = frame.param(name), self.program.params.get(name)
            lo, hi = (0, None) if param is None else declared_range(param)
            result = result.intersect(x.ge_set(frame.constant(lo)))
            if hi is not None:
                result = result.intersect(x.le_set(frame.constant(hi)))
        for requirement in self.program.requirements:
            found = condition(frame, requirement.condition)
            result = result.intersect(found.set)
        return coalesced(result.params())

    def extent(self, tensor: Tensor, axis: int, frame: Frame) -> PwAff:
        """The extent of an axis, over a frame with the model's parameters."""
        extents = tensor.extents
        if extents is None:
            assert isinstance(tensor, Func)
            return frame.param(output_sizes(self.program, tensor)[axis].name)
        value = affine_value(frame, extents[axis])
        if value is None:
            reason, hint = affine_fault(frame, extents[axis], "sizes", OWN_SIZE)
            raise LanguageError(
                f"the extent {expr_text(extents[axis])} of {tensor.name} {reason}",
                where=tensor.span,
                hint=hint,
            )
        return value

    def declared(self, tensor: Tensor) -> Set:
        """{ index : 0 <= index < extents }"""
        key = ("declared", tensor, self.program.names.get(tensor), self.params)
        return self.memo.of(key, lambda: self._declared(tensor))

    def _declared(self, tensor: Tensor) -> Set:
        frame = self.element_frame(tensor)
        result = frame.universe
        for k, name in enumerate(frame.dims):
            extent = self.extent(tensor, k, frame)
            result = result.intersect(frame.within(name, frame.constant(0), extent))
        return result

    def element_frame(self, tensor: Tensor) -> Frame:
        # No loop is called so, which matters where loops around come first.
        return Frame(self.params, tuple(f"#{k}" for k in range(tensor.ndim)))

    def _names(self, funcs: Sequence[Func]) -> tuple[str, ...]:
        return tuple(self.program.names[f] for f in funcs)
