"""Places whose messages no case and no other test shows, by their names, and why.

Each list is exact: what is shown after all, or is not there any more, may not stand here.
"""

from __future__ import annotations

#: What is written here is no message of its own: it passes on what was said elsewhere.
PASSED_ON = {
    "sched/codegen/runtime/preconditions.py: {} at {}: {}": "a condition of the model, in words",
    "sched/lang/arguments/foreign.py: {} {}": "what an array is; its own tests expect each text",
    "sched/lang/errors/frames.py: {}() {}": "what Python says of a call with wrong arguments",
    "sched/targets/host.py: {} {}": "why this machine does not run what is made for a target",
    "sched/lang/travel/fields.py: {}: {}": "what is wrong with an entry",
    "sched/poly/directives/rewriting.py: {}": "a refusal of the program that a rewrite made",
    "sched/poly/directives/rewriting.py: {}: {}": "a refusal of the program without the inlining",
    "sched/poly/legality/checker.py: {}": "a Fault, which is a place where it is returned",
    "sched/poly/model/pieces.py: {}{} {} at {}: {} | {}{} {}: {}": "what is wrong with a point",
    "sched/poly/schedule/handles/pieces.py: {}": "a refusal of one piece, with another hint",
    "sched/poly/state/fields.py: {}: {}": "a refusal of an expression",
    "sched/poly/state/record.py: {} of {}: {}": "a refusal of JSON",
    "sched/checking/examine.py: {}": "breaches, which are data",
    "sched/testing/failures.py: {}": "breaches, which are data",
}

#: What takes another error's message, and with it its code.
REWORDED = {"sched/poly/schedule/handles/pieces.py: {}"}

#: What an earlier check refuses, in other words: it stands here as a guard.
NEVER_REACHED = {
    **dict.fromkeys(
        (
            "sched/codegen/runtime/kept.py: conditions and reasons are not as many",
            "sched/codegen/runtime/kept.py: a reason is no text",
            "sched/codegen/runtime/kept.py: these are no preconditions",
            "sched/codegen/runtime/kept.py: {} says nothing of a condition",
            "sched/codegen/runtime/kept.py: {} is no check of an index",
            "sched/lang/nodes/node_json.py: {} is no table of expressions",
        ),
        "an entry on disk that is malformed counts as none",
    ),
    "sched/lang/program/added.py: {} would be computed from {}, which is not complete before it "
    "is read": (
        "what needs values of itself is not copied, and all else is complete before it is read"
    ),
    "sched/lang/travel/script.py: the bounds of {} are made of RVars made with it": (
        "bounds are given before RVars are made"
    ),
    "sched/lang/travel/script_expressions.py: a program with {} cannot be written as Python": (
        "what refers to other parts of a pickle is in no program that is whole"
    ),
    "sched/lang/travel/writer.py: the RVar {} is none that was made by ps.RVar or ps.rdom": (
        "others are in definitions that schedules make, which are refused"
    ),
    "sched/lang/nodes/convert.py: the literal {} is not an integer": (
        "a float among integers makes all of them floats"
    ),
    "sched/lang/tensors/define.py: {} has {} (first defined at {}) but this definition has {}": (
        "the index on the left is refused first"
    ),
    "sched/poly/directives/sums.py: nothing says where the loop {} begins and ends": (
        "programs whose loops nothing bounds are refused"
    ),
    "sched/poly/nests/nests.py: the {} loop {} has no constant extent any more": (
        "each directive asks for constant extents"
    ),
    "sched/poly/sets/coordinates.py: a loop would count so far that its index may not fit in 64 "
    "bits": "each directive asks how far its loops count",
}

#: What no test shows yet. Nothing may be added.
NOT_YET: set[str] = set()
MOST_NOT_YET = 0
