"""The kinds of mistakes around programs, calls and schedules: files, machines, tools."""

from __future__ import annotations

from collections.abc import Mapping

from .kind import INTERNAL, THREADS, Kind

OTHERS: Mapping[str, Kind] = {
    # what is written and read again --------------------
    "PS0501": Kind(
        "this is no JSON or pickle that polysched wrote",
        "codegen.runtime.interface codegen.runtime.kept lang.nodes.node_json lang.travel.fields "
        "lang.travel.reader lang.travel.tables lang.travel.text lang.travel.pickles "
        "poly.schedule.serial poly.schedule.travel poly.state.record:from_json "
        "poly.state.record:_decoded poly.state.record:made travel tune.plans.plan "
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
    "PS0604": Kind("this is no number of a machine", "targets.words targets.target:level_of"),
    # checks, pictures and reports --------------------
    "PS0701": Kind("a directive that was trusted is wrong", "checking.report testing.failures"),
    "PS0702": Kind(
        "this cannot be checked or recorded instance by instance",
        "checking.examine testing.calls testing.compare show.order",
    ),
    "PS0703": Kind(
        "this cannot be drawn, or would be too much to be read",
        "poly.report.executed show.refusal.pictures show.rich.schedules show.spaces.picture "
        "show.spaces.sizes show.spaces.space show.animated.animation show.animated.steps",
    ),
    "PS0704": Kind(
        "a report or a profile cannot be made of this, or not be written there",
        "show.reporting.arguments show.parts.place show.reporting.scripts",
    ),
    "PS0705": Kind("a schedule cannot be explored like this", "show.explore.explorer"),
    # the command line --------------------
    "PS0801": Kind("there is no such code of errors", "show.explained"),
    "PS0802": Kind("an option of the command line has another form", ""),
    # polysched itself --------------------
    INTERNAL: Kind("a fault in polysched", "checking.report:FaultError.__init__"),
}  # fmt: skip
