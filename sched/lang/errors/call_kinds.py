"""The kinds of mistakes in calls of programs and kernels, with their codes."""

from __future__ import annotations

from collections.abc import Mapping

from .kind import Kind

CALLS: Mapping[str, Kind] = {
    # calls --------------------
    "PS0201": Kind("an argument is missing, unknown or passed twice", "lang.call.binding"),
    "PS0202": Kind(
        "an argument is no array that a call can read", "lang.arguments.foreign "
        "lang.arguments.admission:admit_array",
    ),
    "PS0203": Kind("an array has another element type", "lang.arguments.admission:_check_dtype"),
    "PS0204": Kind(
        "an array has another shape",
        "lang.arguments.admission:_check_rank lang.arguments.sizes",
    ),
    "PS0205": Kind(
        "a size or a Param has a value that it cannot have",
        "lang.arguments.admission lang.call.binding:Binder._params",
    ),
    "PS0206": Kind(
        "data lie outside of their declared range, or are used as an index that is out of bounds",
        "lang.call.binding:Binder._check_ranges codegen.runtime.preconditions:_check_index",
    ),
    "PS0207": Kind(
        "an array lies in memory as it must not",
        "codegen.runtime.arguments lang.arguments.admission:admit_inout",
    ),
    "PS0208": Kind(
        "out=, shape= or region= do not fit the outputs",
        "lang.call.outputs lang.program.region lang.arguments.admission:admit_output "
        "lang.arguments.admission:admit_shape",
    ),
    "PS0209": Kind(
        "sizes do not meet a condition of the program or of the schedule",
        "lang.call.binding:_refuse_requirement codegen.runtime.preconditions "
        "lang.call.outputs:_refuse_extent",
    ),
    "PS0210": Kind(
        "arrays do not fit into memory",
        "codegen.runtime.arena codegen.runtime.arguments:allocate interp.regions",
    ),
    "PS0211": Kind(
        "an integer was divided by zero, or had a negative power",
        "codegen.runtime.variant interp.interpret:Run._refuse_division",
    ),
    "PS0212": Kind(
        "this is called where something else is to be called",
        "lang.tensors.tensors:Func._check_arrays poly.schedule.schedule:Schedule.__call__",
    ),
}  # fmt: skip
