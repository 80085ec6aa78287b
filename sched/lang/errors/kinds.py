"""The kinds of mistakes that have codes, and the places that make errors of each.

A code is never used for another kind. One that is not needed any more moves to `RETIRED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

INTERNAL, NO_ATTRIBUTE, THREADS = "PS0901", "PS0128", "PS0603"

#: Of refusals by a dependence: the code by its kind.
OF_KIND = {
    **dict.fromkeys(("flow", "anti", "output", "uninitialised"), "PS0301"),
    "race": "PS0302", "lane": "PS0303", "clobber": "PS0304",
}  # fmt: skip

FAMILIES = {
    "PS01": "programs",
    "PS02": "calls",
    "PS03": "schedules that are not legal",
    "PS04": "requests to schedules",
    "PS05": "what is written and read again",
    "PS06": "machines and packages",
    "PS07": "checks, pictures and reports",
    "PS08": "the command line",
    "PS09": "polysched itself",
}


class Kind(NamedTuple):
    """A kind of mistake.

    Attributes:
        title: it in words.
        places: modules, and functions of modules behind a colon, separated by spaces.
    """

    title: str
    places: str


CODES: Mapping[str, Kind] = {
    # programs --------------------
    "PS0101": Kind(
        "an expression has no value while the program is being written",
        "lang.expr.one_value lang.expr.numpy_element lang.expr.expr:Expr.__pow__ "
        "lang.expr.expr:Expr.__rpow__ lang.expr.expr:Expr.__round__ "
        "lang.expr.expr:Expr.__matmul__ lang.nodes.tensor",
    ),
    "PS0102": Kind("this is not one value of the language", "lang.expr.expr lang.expr.tuples"),
    "PS0103": Kind(
        "an array of the program is used like an array that is there",
        "lang.tensors.indexable:Indexable.__bool__ lang.tensors.indexable:Indexable.__array__ "
        "lang.tensors.indexable:Indexable._whole lang.tensors.indexable:Indexable.__setitem__ "
        "lang.tensors.indexable:Indexable.__delitem__ lang.tensors.indexable:Indexable.__call__ "
        "lang.tensors.indexable:Indexable.__iter__ lang.tensors.indexable:Indexable.__len__ "
        "lang.tensors.indexable:Indexable.__contains__ lang.tensors.inout:_Face.__setitem__ "
        "lang.tensors.indexable",
    ),
    "PS0104": Kind(
        "this element type does not go here",
        "lang.nodes.dtypes lang.nodes.infer lang.nodes.convert lang.nodes.typing "
        "lang.tensors.define:History._check_seen lang.tensors.elaborate:infer_one_more",
    ),
    "PS0105": Kind(
        "a name cannot be used, or is used twice",
        "lang.expr.symbols:check_name lang.expr.symbols:_names lang.tensors.elaborate:_check_names "
        "lang.tensors.elaborate:_rvars lang.program.signature:check_call_names "
        "lang.program.program:Program._add_symbol lang.tensors.blocks:Sequential._check_names "
        "lang.nodes.serials",
    ),
    "PS0106": Kind(
        "a shape is missing, or is none",
        "lang.tensors.indexable:Indexable._extents lang.tensors.indexable:Indexable.shape "
        "lang.tensors.inout:InOut.__init__ lang.tensors.tensors:Func._prepare poly.model.space",
    ),
    "PS0107": Kind(
        "an index does not fit the array",
        "lang.tensors.indexable:Indexable._index lang.tensors.indexable:Indexable._one_index "
        "lang.tensors.indexable:Indexable._without_ellipsis "
        "lang.program.program:Program._check_ranks",
    ),
    "PS0108": Kind(
        "an access is out of bounds, or cannot be shown to be in bounds",
        "interp.refusals:outside interp.refusals:unproved interp.refusals:check_elements "
        "poly.model.conditions",
    ),
    "PS0109": Kind(
        "a Var or RVar has no range, or a range that means nothing",
        "lang.expr.symbols:rvar_node lang.expr.symbols:_restrict lang.expr.symbols:rdom "
        "lang.tensors.elaborate:typed_definition interp.vars "
        "poly.model.domains:Domains._check_vars_bounded poly.model.domains:_affine_bound "
        "poly.model.domains:_unbounded poly.model.domains:_check_near "
        "poly.model.domains:Domains._check_bounds_last",
    ),
    "PS0110": Kind("a Func is defined in a way that has no meaning", "lang.tensors.classify"),
    "PS0111": Kind(
        "a Func is used before it is complete, or defined after it was used",
        "lang.tensors.define lang.tensors.settle lang.program.order:_check_unmoved",
    ),
    "PS0112": Kind(
        "a cell of a notebook was run again", "lang.tensors.define:History._refuse_again"
    ),
    "PS0113": Kind(
        "an ordered loop is written in a way that has no meaning",
        "lang.tensors.blocks lang.program.added",
    ),
    "PS0114": Kind(
        "an update depends on the order of its Vars", "interp.order poly.model.updates"
    ),
    "PS0115": Kind(
        "pieces of a definition overlap, or leave something out", "interp.pieces poly.model.pieces"
    ),
    "PS0116": Kind(
        "a value needs itself",
        "interp.recurrence:Lazy._refuse poly.recurrence.recurrence lang.program.groups "
        "lang.program.order codegen.build.loads",
    ),
    "PS0117": Kind(
        "what is needed has no bounds",
        "interp.refusals:unbounded interp.refusals:endless poly.model.closure poly.model.model "
        "poly.model.statements lang.program.groups:_refuse",
    ),
    "PS0118": Kind(
        "a reduction has nothing to choose from",
        "interp.interpret:Run._refuse_empty interp.recurrence:MemberUpdate.run "
        "poly.model.conditions:_not_empty poly.model.conditions:_always_empty",
    ),
    "PS0119": Kind(
        "a reduction stands where it has no meaning",
        "lang.tensors.reductions lang.tensors.trace:check_traces",
    ),
    "PS0120": Kind(
        "a declaration of an Input, a Const, a Param or a size is wrong",
        "lang.tensors.tensors lang.expr.symbols:size lang.expr.symbols:Param.__init__ "
        "lang.expr.symbols:_limit",
    ),
    "PS0121": Kind(
        "an extern stage is declared wrongly, or returned something else",
        "lang.tensors.extern poly.model.domains:Domains.extern",
    ),
    "PS0122": Kind(
        "a function of the language is called with other arguments than it takes",
        "lang.errors.frames lang.expr.functions lang.tensors.boundary lang.tensors.trace "
        "lang.program.compute lang.program.requirements",
    ),
    "PS0123": Kind("subscripts of einsum do not fit its operands", "lang.program.einsum"),
    "PS0124": Kind(
        "the outputs or the arguments of a program are listed wrongly",
        "lang.tensors.asked lang.program.program lang.program.signature",
    ),
    "PS0125": Kind(
        "the program is too intricate to be proven in the time allowed", "poly.model.proven"
    ),
    "PS0126": Kind("an index may not fit in 64 bits", "poly.nests.wraps poly.sets.coordinates"),
    "PS0127": Kind("an output follows none of its Inputs with a border", "poly.schedule.halo"),
    NO_ATTRIBUTE: Kind("there is no such attribute", ""),
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
        "an integer was divided by zero",
        "codegen.runtime.variant interp.interpret:Run._refuse_division",
    ),
    "PS0212": Kind(
        "this is called where something else is to be called",
        "lang.tensors.tensors:Func._check_arrays poly.schedule.schedule:Schedule.__call__",
    ),
    # schedules that are not legal --------------------
    "PS0301": Kind("two instances would run in the wrong order", "poly.legality.refusals"),
    "PS0302": Kind("iterations of a parallel loop need each other", ""),
    "PS0303": Kind("lanes of a vector need each other", ""),
    "PS0304": Kind("storage would be overwritten before its last read", ""),
    "PS0305": Kind(
        "a schedule is too intricate to be proven in the time allowed",
        "poly.schedule.schedule_builder:ScheduleBuilder._within_budget "
        "poly.schedule.queries:ScheduleQueries.in_time",
    ),
    "PS0306": Kind(
        "tiles cannot be filled up or shifted", "poly.proof.padding poly.directives.tails"
    ),
    "PS0307": Kind("storage does not fit where it is to be", "poly.legality.registers"),
    "PS0308": Kind(
        "a reduction cannot be taken apart, or in another order", "poly.directives.sums"
    ),
    "PS0309": Kind(
        "a private accumulator or a storage is not around what it is for",
        "poly.directives.accumulators poly.placement.accumulators "
        "poly.placement.storage_placement poly.program.accumulation "
        "poly.directives.invariants:check_private",
    ),
    "PS0310": Kind(
        "a stage cannot be computed or stored there",
        "poly.directives.placing poly.tree.around poly.tree.relocation "
        "poly.directives.invariants:check_bounds_known poly.directives.invariants:check_lanes",
    ),
    "PS0311": Kind(
        "a Func cannot be inlined or cloned",
        "poly.directives.rewriting poly.program.rewrites "
        "poly.directives.placing:ComputeInline.edit poly.directives.copies:CloneIn.edit",
    ),
    "PS0312": Kind("an array cannot be copied into that layout", "poly.directives.copies"),
    "PS0313": Kind(
        "the bodies of loops, or the pieces of a definition, cannot be put together or taken apart",
        "poly.directives.bodies poly.directives.pieces",
    ),
    "PS0314": Kind(
        "a loop is of a kind with which this does not go",
        "poly.directives.kinds poly.directives.invariants poly.directives.loops:check_free "
        "poly.directives.parts poly.nests.nests poly.state.editing:Editing.check_serial",
    ),
    "PS0315": Kind("a part would have to compute more than it has", "poly.legality.checker"),
    "PS0316": Kind("storage cannot be laid out or streamed like this", "poly.directives.storage"),
    # requests to schedules --------------------
    "PS0401": Kind(
        "there is no such stage",
        "poly.report.finding poly.state.editing:Editing.no_stage poly.state.state",
    ),
    "PS0402": Kind(
        "there is no such loop",
        "poly.report.finding:stage_in poly.state.editing:Editing.at poly.schedule.stages "
        "poly.schedule.handles.base:loop_of poly.schedule.handles.base:loop_name",
    ),
    "PS0403": Kind(
        "a directive is given an option that it does not take",
        "poly.state.fields poly.state.record poly.schedule.handles.base "
        "poly.schedule.handles.loops poly.schedule.replay "
        "poly.state.editing:Editing.condition "
        "poly.state.editing:Editing.check_symbols",
    ),
    "PS0404": Kind(
        "loops do not lie within each other as the directive needs",
        "poly.directives.loops poly.directives.mapping poly.state.editing",
    ),
    "PS0405": Kind(
        "a coordinate transformation means nothing",
        "poly.directives.mapping:Transform.__post_init__ poly.directives.mapping:mapped "
        "poly.directives.mapping:_check_injective",
    ),
    "PS0406": Kind(
        "an assumption is none, or no sizes meet it",
        "poly.directives.assumptions poly.report.requires poly.state.editing:Editing.assume",
    ),
    "PS0407": Kind(
        "a schedule is not ready for this, or is asked for something that it does not have",
        "poly.schedule.schedule poly.schedule.schedule_builder poly.schedule.queries",
    ),
    "PS0408": Kind(
        "sizes or options for a question about a program are none",
        "poly.report.facts tune.facts.sizes tune.auto",
    ),
    "PS0409": Kind(
        "a question why something is refused names no directive, stage or loop",
        "poly.schedule.why_not",
    ),
    # what is written and read again --------------------
    "PS0501": Kind(
        "this is no JSON or pickle that polysched wrote",
        "codegen.runtime.interface codegen.runtime.kept lang.nodes.node_json lang.travel.fields "
        "lang.travel.reader lang.travel.tables lang.travel.text lang.travel.pickles "
        "poly.schedule.serial poly.schedule.travel poly.state.record:from_json "
        "poly.state.record:_decoded poly.state.record:made travel tune.plan "
        "targets.words:from_json targets.words:_made",
    ),
    "PS0502": Kind("this was written in a format that this version does not read", ""),
    "PS0503": Kind(
        "this cannot travel to another process",
        "codegen.runtime.travel lang.travel.functions lang.travel.script "
        "lang.travel.script_expressions lang.travel.things lang.travel.writer "
        "lang.travel.pickles:_program lang.travel.text:function_text",
    ),
    # machines and packages --------------------
    "PS0601": Kind(
        "code cannot be made for this machine, or not be run here",
        "targets.host targets.known targets.target targets.facts codegen.runtime.kernel",
    ),
    "PS0602": Kind("an optional package is not installed", "show.extras"),
    THREADS: Kind("this is no number of threads", ""),
    "PS0604": Kind("this is no number of a machine", "targets.words"),
    # checks, pictures and reports --------------------
    "PS0701": Kind("a directive that was trusted is wrong", "checking.report testing.failures"),
    "PS0702": Kind(
        "this cannot be checked or recorded instance by instance",
        "checking.examine testing.compare show.order",
    ),
    "PS0703": Kind(
        "this cannot be drawn, or would be too much to be read",
        "poly.report.executed show.refusal.pictures show.rich.schedules show.spaces.picture "
        "show.spaces.sizes show.spaces.space show.animated.animation show.animated.steps",
    ),
    "PS0704": Kind(
        "a report or a profile cannot be made of this, or not be written there",
        "show.profile.profiled show.reporting.arguments show.reporting.place "
        "show.reporting.scripts",
    ),
    "PS0705": Kind("a schedule cannot be explored like this", "show.explore.explorer"),
    # the command line --------------------
    "PS0801": Kind("there is no such code of errors", "show.explained"),
    "PS0802": Kind("an option of the command line has another form", ""),
    # polysched itself --------------------
    INTERNAL: Kind("a fault in polysched", "checking.report:FaultError.__init__"),
}  # fmt: skip

RETIRED: Mapping[str, str] = {}
"""Codes of kinds that are no more, with their last titles."""

#: Functions that pass messages on, or say what is said for many kinds.
PASSING = (
    "lang.nodes.infer:TypeInference._error "
    "poly.state.editing:Editing.malformed poly.state.record:Directive.refuse "
    "poly.state.record:Directive.mistyped checking.report:CheckError.__init__ "
    "poly.tree.edits:Shared.__init__"
)
