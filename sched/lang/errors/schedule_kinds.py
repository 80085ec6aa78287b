"""The kinds of mistakes in schedules, and in what they are asked for, with their codes."""

from __future__ import annotations

from collections.abc import Mapping

from .kind import Kind

SCHEDULES: Mapping[str, Kind] = {
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
        "poly.directives.invariants:_check_nest",
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
        "poly.schedule.schedule poly.schedule.schedule_builder poly.schedule.written",
    ),
    "PS0408": Kind(
        "sizes or options for a question about a program are none",
        "poly.report.facts tune.facts.sizes tune.auto",
    ),
    "PS0409": Kind(
        "a question why something is refused names no directive, stage or loop",
        "poly.schedule.why_not poly.schedule.queries:ScheduleQueries.legal",
    ),
}  # fmt: skip
