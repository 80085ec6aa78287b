"""Plants faults, one at a time, and shows that the tests find each.

A fault is a text of one file that is replaced by another. The tests of `TESTS` run on a copy of the
package with it, and must fail. It takes a few minutes.

    python tests/mutations/run.py            # all
    python tests/mutations/run.py anti fold  # those with one of these words in their names
    python tests/mutations/run.py --some 6 --by 3f2c81d  # some, chosen by a commit
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    "tests/poly/placement/test_placement.py",
    "tests/poly/placement/test_placement_refusals.py",
    "tests/poly/placement/test_placement_orders.py",
    "tests/poly/test_regressions.py",
    "tests/testing/test_refusals.py",
    "tests/testing/test_found.py",
    "tests/checking/test_check.py",
    "tests/poly/placement/test_folding.py",
    "tests/testing/test_trials.py",
)

REWRITING = tuple(
    f"tests/poly/directives/test_{name}.py"
    for name in ("padding", "accumulate", "rfactor", "stage")
)


VECTORS = (
    "tests/codegen/build/test_vectors.py",
    "tests/codegen/passes/test_passes.py",
    "tests/codegen/llvm/test_targets.py",
    "tests/codegen/llvm/test_guards.py",
)
STORE = ("tests/cache/test_store.py", "tests/cache/test_others.py")
ON_DISK = ("tests/cache/test_kernels.py",)
PLANS_ON_DISK = ("tests/cache/test_bare_calls.py",)
JOURNAL = ("tests/poly/schedule/test_journal_refusals.py",)
OBLIGATIONS = ("tests/poly/proof/test_obligations.py",)
MEMO = ("tests/poly/sets/test_memo.py", "tests/poly/state/test_rewritten.py")
UNCOMPARED = '__import__("dataclasses").field(compare=False)'
STORED = ("tests/poly/directives/test_storage.py",)
USES = ("tests/poly/tree/test_uses.py",)
CARRIED = ("tests/codegen/passes/test_carried.py",)
DIGITS = ("tests/poly/sets/test_digits.py",)
SMALL_PROGRAMS = ("tests/poly/test_small_programs.py",)
PASSES = ("tests/codegen/passes/test_passes.py",)
NATIVE_CALLS = ("tests/codegen/runtime/test_native_calls.py",)
ROLLED = ("tests/codegen/passes/test_roll_borders.py",)
PROMOTED = ("tests/codegen/passes/test_promoted.py",)
EXTREMES = ("tests/codegen/llvm/test_extremes.py",)
BOUNDED = ("tests/codegen/llvm/test_bounded_casts.py",)
ELEMENTS = ("tests/lang/test_elements.py",)
BORDERS = ("tests/codegen/passes/test_border_loads.py",)
FULL_TILES = ("tests/codegen/passes/test_full_tiles.py",)
OVERLAPPING = ("tests/codegen/llvm/test_overlapping_loads.py",)
NARROW_TILES = ("tests/codegen/passes/test_narrow_tiles.py",)
MEANING = ("tests/codegen/passes/test_pass_meaning.py",)


TESTED_IN = {
    "accumulate_at": "accumulate", "align_bounds": "assumptions", "align_storage": "storage",
    "assume": "assumptions", "atomic": "storage", "bound": "assumptions", "clone_in": "inline",
    "compute_at": "placed_parts", "compute_inline": "inline", "compute_root": "placed_parts",
    "prefetch": "storage", "reorder_storage": "storage", "store_at": "storage",
    "store_in": "storage", "store_root": "storage", "stream": "storage",
}  # fmt: skip
"""Which file of tests a directive has; that of its name without an entry."""


PASSES_TESTED_IN = {
    "border_loads": "codegen/passes/test_border_loads",
    "carry_values": "codegen/passes/test_carried", "expand_math": "show/test_log",
    "flatten_indices": "codegen/runtime/test_kernel", "reverse_parallel": "testing/test_trials",
    "full_tiles": "codegen/passes/test_full_tiles",
    "join_stores": "codegen/passes/test_join_stores",
    "narrow_tiles": "codegen/passes/test_narrow_tiles",
    "promote_accumulators": "codegen/passes/test_promoted",
    "roll_borders": "codegen/passes/test_roll_borders",
}  # fmt: skip
"""The same of passes; without an entry it is tests/codegen/passes/test_passes.py."""


def passes() -> list[str]:
    """The names of all passes over the loop IR."""
    files = (ROOT / "sched" / "codegen" / "passes").glob("*.py")
    return sorted(f.stem for f in files if f.stem != "__init__")


def directives() -> list[str]:
    """The names of all directives, as their records give them."""
    files = (ROOT / "sched" / "poly" / "directives").rglob("*.py")
    return sorted(
        name for f in files for name in re.findall(r'\(Directive, name="(\w+)"', f.read_text())
    )


@dataclass(frozen=True)
class Fault:
    """`old` stands once in the file, and `new` in its place is wrong; `tests` are to find it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = TESTS


IDLE = ("tests/poly/report/test_idle_iterations.py",)
FACTS = ("tests/tune/test_facts.py",)
VARIANTS = ("tests/tune/test_variants.py",)
BARE = ("tests/tune/test_bare_calls.py",)
REFINED = ("tests/tune/test_refine.py", "tests/tune/test_build_time.py")
ROWS = ("tests/tune/test_rows.py",)
STEPS = ("tests/tune/test_steps.py",)
SWEEPS = ("tests/tune/test_sweeps.py",)
AUTO = ("tests/tune/test_auto.py", "tests/tune/test_model.py")
TRAVELS = ("tests/lang/travel/test_pickled_programs.py", "tests/lang/travel/test_scripts.py")
KERNELS_TRAVEL = ("tests/codegen/runtime/test_pickled_kernels.py",)
FOREIGN = ("tests/lang/test_arrays_of_protocols.py",)
HALO = ("tests/poly/schedule/test_halo.py",)
CODES = ("tests/errors/test_codes.py",)
COUNTS = ("tests/codegen/ir/test_counts.py",)
WHY_NOT = ("tests/poly/schedule/test_why_not.py",)
EXECUTED = ("tests/poly/report/test_executed.py",)
SPACES = ("tests/show/test_spaces.py", "tests/show/test_footprints.py")
DRAWN = ("tests/show/test_refusals_drawn.py",)
ORDER_DRAWN = ("tests/show/test_order.py",)
ANIMATED = ("tests/show/animated/test_animation.py",)
PROFILES = ("tests/show/profile/test_profile.py",)
EXPLORED = ("tests/show/explore/test_explorer.py",)
CLICKS = ("tests/show/explore/test_clicks.py",)
LINKED = ("tests/show/explore/test_link.py",)
LOST = ("tests/show/explore/test_lost.py",)
WORKER = ("tests/show/explore/test_worker.py",)
CHANGES = ("tests/show/explore/test_changes.py",)
TRACES = ("tests/show/profile/test_traces.py",)
PROFILES_REFUSED = ("tests/show/profile/test_refused.py",)
ADVICE = ("tests/show/advice/test_advice.py", "tests/show/advice/test_predicted.py")
COSTS = ("tests/poly/report/test_costs.py",)
WARNINGS = ("tests/poly/schedule/test_performance.py",)
INTEGERS = ("tests/lang/test_2_integer_functions.py",)
INTEGER_CODE = ("tests/codegen/llvm/test_instructions.py",)
FAR_SIDES = ("tests/codegen/passes/test_far_sides.py",)
GOING_ROUND = ("tests/codegen/build/test_going_round.py",)
REMAINDERS = ("tests/codegen/llvm/test_remainders.py",)
INTEGER_RANGES = ("tests/poly/sets/test_intervals.py",)
NARROW = ("tests/lang/test_narrow_floats.py",)
PAIRS = ("tests/codegen/llvm/test_pair_lanes.py",)
LANES = ("tests/codegen/llvm/test_lanes.py",)
TURNS = ("tests/lang/test_math_trig.py",)
ANGLES = ("tests/lang/test_math_inverse.py",)
POWERS = ("tests/lang/test_math_pow.py",)
SPECIAL = ("tests/lang/test_math_special.py",)
FAST = ("tests/lang/test_math_fast.py",)
FAULTS = (
    Fault(
        "iterations whose bodies differ count as the first one", "poly/report/idle_iterations.py",
        "if nest.var in self._used(nest.body):", "if False:", IDLE,
    ),
    Fault(
        "of iterations that are alike one alone counts", "poly/report/idle_iterations.py",
        "counts[name] += times * count", "counts[name] += times", IDLE,
    ),
    Fault(
        "conditions of the nest inside are none of its own", "poly/report/idle_iterations.py",
        "frozenset(own).union(*(self._used(x) for x in children(nest)))",
        "frozenset(own)", IDLE,
    ),
    Fault(
        "a digit may be as large as its base", "poly/sets/digits.py",
        "{_ONE: divisor - 1}", "{_ONE: divisor}", DIGITS,
    ),
    Fault(
        "the bounds of Vars without existentials are those of a smaller region",
        "poly/model/needed.py",
        "_between(coalesced(line.remove_divs()), around)",
        "_between(Set.from_basic_set(line.get_basic_sets()[0]), around)", SMALL_PROGRAMS,
    ),
    Fault(
        "a quotient that was rounded up is kept", "codegen/llvm/operators/remainders.py",
        'return b.select(is_below, b.binary("fadd", left, y), left)', "return left", REMAINDERS,
    ),
    Fault(
        "denormal numbers have the exponent of the smallest other one",
        "codegen/llvm/operators/remainders.py",
        "less = b.select(is_denormal, b.like(word, form.mantissa), b.like(word, 0))",
        "less = b.like(word, 0)", REMAINDERS,
    ),
    Fault(
        "a round starts at a divisor that is too small for it",
        "codegen/llvm/operators/remainders.py",
        "x.dtype.format.mantissa - 1)", "x.dtype.format.mantissa + 3)", REMAINDERS,
    ),
    Fault(
        "halves are rounded away from 0 to bfloat16", "codegen/llvm/operators/bfloat_rounding.py",
        'b.binary("add", b.binary("add", word, b.like(word, 0x7FFF)), last)',
        'b.binary("add", word, b.like(word, 0x8000))', NARROW,
    ),
    Fault(
        "NaNs are rounded to bfloat16 like numbers", "codegen/llvm/operators/bfloat_rounding.py",
        'b.select(b.compare("uno", x, x), quiet, nearest)', "nearest", NARROW,
    ),
    Fault(
        "NaNs are rounded to bfloat16 like numbers in registers of AVX-512",
        "codegen/llvm/operators/bfloat_avx512.py", "_NAN_STAYS = 0x22", "_NAN_STAYS = 0", PAIRS,
    ),
    Fault(
        "halves are rounded up in registers of AVX-512", "codegen/llvm/operators/bfloat_avx512.py",
        "b.like(upper, 0x8001)", "b.like(upper, 0x8000)", PAIRS,
    ),
    Fault(
        "NaNs of float16 are taken for those of bfloat16",
        "codegen/llvm/operators/short_payloads.py",
        "return dtype == bfloat16 or not dtype.is_float", "return True", PAIRS,
    ),
    Fault(
        "NaNs on the stack are taken for those of bfloat16",
        "codegen/llvm/operators/short_payloads.py",
        "left = found - {s.buffer for s in stores if not self.holds(s.value)}", "left = found",
        PAIRS,
    ),
    Fault(
        "the even lanes of a neighbour are taken for the odd ones",
        "codegen/llvm/vectors/pair_loads.py",
        "even = known[at - step][1]", "even = known[at - step][0]", PAIRS,
    ),
    Fault(
        "halves of pairs are rounded to odd", "codegen/llvm/operators/bfloat_rounding.py",
        'even = b.binary("and", _inverted(b, upper), b.like(upper, 1))',
        'even = b.binary("and", upper, b.like(upper, 1))', NARROW,
    ),
    Fault(
        "NaNs of pairs carry", "codegen/llvm/operators/bfloat_rounding.py",
        '    carries = b.binary("and", carries, _inverted(b, is_nan))\n', "", NARROW,
    ),
    Fault(
        "pairs of registers are not sorted", "codegen/llvm/operators/bfloat_rounding.py",
        "[*range(0, x.lanes, 2), *range(1, x.lanes, 2)]", "[*range(x.lanes)]", NARROW,
    ),
    Fault(
        "a bfloat16 in all lanes has digits of its own below", "codegen/llvm/operators/narrow.py",
        'b.convert("bitcast", b.binary("and", word, b.like(word, 0xFFFF0000)), float32)',
        'b.convert("bitcast", word, float32)', NARROW,
    ),
    Fault(
        "a wide float is rounded twice to 16 bits", "codegen/llvm/operators/narrow.py",
        "return _odd(b, single, is_inexact, grows, uint32)", "return single", NARROW,
    ),
    Fault(
        "the interpreter's bfloat16 has no denormal numbers", "lang/nodes/bfloat.py",
        "_MANTISSA, _LEAST = 7, -133", "_MANTISSA, _LEAST = 7, -126", NARROW,
    ),
    Fault(
        "a 16-bit sum is noted at each loop around it", "poly/report/narrow_notes.py",
        "loops == [loop]", "loop in loops", NARROW,
    ),
    Fault(
        "a weighted mean of an element is a sum of it", "poly/program/narrow_sums.py",
        'if done in ("", does or done)', "", NARROW,
    ),
    Fault(
        "the square of the smallest number with 15 digits is that number",
        "codegen/llvm/operators/rounded_products.py",
        'return b.binary("xor", product, b.convert("sext", least, int16))', "return product",
        LANES,
    ),
    Fault(
        "a power of e takes what its argument rounds off as if it were e**0",
        "lang/arithmetic/math_doubles.py",
        "fma(low, high.high + tail, tail)", "low + tail", SPECIAL,
    ),
    Fault(
        "odd powers of negative numbers have no sign", "lang/arithmetic/math_pow.py",
        "select(is_odd, bits(x) & dtype.format.sign, 0)", "bits(x) & 0", POWERS,
    ),
    Fault(
        "powers of integers end where the branch begins", "lang/arithmetic/math_pow.py",
        "rarely(y > (1 << _USUAL_BITS) - 1, result, small)", "small", POWERS,
    ),
    Fault(
        "powers of integers that are not reached are counted", "codegen/build/divisions.py",
        "conjunction(needed[node], fault)", "fault", POWERS,
    ),
    Fault(
        "what divides by zero in conditions of loops runs with checks=True",
        "codegen/build/divisions.py", "return (*bounds, *d.where)", "return (*bounds,)",
        ("tests/lang/test_2_integers.py",),
    ),
    Fault(
        "log gamma has one of its zeros twice", "lang/arithmetic/math_gamma.py",
        "return whole(d, dtype) * less * (", "return whole(d, dtype) * whole(e, dtype) * (",
        SPECIAL,
    ),
    Fault(
        "erfc loses what the square of its argument rounds off", "lang/arithmetic/math_erf.py",
        "fma(-1.0 * a, a, square)", "0.0 * a", SPECIAL,
    ),
    Fault(
        "a fast tanh passes 1", "lang/arithmetic/math_fast.py",
        "return at_least(at_most(found, 1.0), -1.0)", "return found", FAST,
    ),
    Fault(
        "a sine loses the second part of what is left of its argument",
        "lang/arithmetic/math_trig.py",
        "fma(n, -c.half_pi[2], low - rest)", "fma(n, -c.half_pi[2], low + rest)", TURNS,
    ),
    Fault(
        "the digits of 2/pi are those of another exponent", "lang/arithmetic/math_reduction.py",
        "(exponent * 1237) >> 16", "(exponent * 1300) >> 16", TURNS,
    ),
    Fault(
        "lanes that want what is usual get what is rare", "codegen/llvm/vectors/vectors.py",
        "b.select(condition, self.value(rare), usual)", "self.value(rare)", TURNS,
    ),
    Fault(
        "values of a rare branch are used behind it", "codegen/llvm/vectors/vectors.py",
        "        self._known, self._splats, self._pairs = known, splats, pairs\n", "", TURNS,
    ),
    Fault(
        "denormal results of exp are computed like others", "lang/arithmetic/math_exp.py",
        "return rarely(absolute(x) > usual, rare, p * power_of_two(n))",
        "return p * power_of_two(n)", ("tests/lang/test_math.py",),
    ),
    Fault(
        "what is finite counts next to an infinity", "lang/arithmetic/math_angles.py",
        'select(apply("and", q.equals(inf), p < inf), 0.0, scale)', "scale", ANGLES,
    ),
    Fault(
        "advice is given on what hardly helps", "show/advice/advice.py",
        "HELPS = 1.1", "HELPS = 1.0", ADVICE,
    ),
    Fault(
        "what is predicted counts as measured", "show/advice/advice.py",
        "replace(piece, after=after, predicted=True)", "replace(piece, after=after)", ADVICE,
    ),
    Fault(
        "moves of advice are left out unasked", "show/advice/edits.py",
        "        if not self.is_optional:\n            return self\n", "", ADVICE,
    ),
    Fault(
        "advice on a variant changes what it has from its schedule", "show/advice/edits.py",
        "return not any(x in inherited for", "return True or any(x in inherited for", ADVICE,
    ),
    Fault(
        "the schedule of a piece has the variant as it was", "show/advice/parts.py",
        "(condition, inside)", "(condition, variant)", ADVICE,
    ),
    Fault(
        "tasks that begin again share lines as others do", "show/advice/thread_causes.py",
        " or runs(x.loops[: x.loops.index(parallel)]) > 1", "", ADVICE,
    ),
    Fault(
        "hints are about what takes no time", "show/advice/predicted.py",
        " if share >= SHARE]", "]", ADVICE,
    ),
    Fault(
        "a lane is blamed for a place that data decide", "poly/report/lane_costs.py",
        " and steps(a, leaf, y.access, vector) is not None", "", COSTS,
    ),
    Fault(
        "tiles that overlap a little are recomputation", "poly/report/again_costs.py",
        "TWICE = 2.0", "TWICE = 1.2", COSTS,
    ),
    Fault(
        "lanes are advised that would scatter", "poly/report/panel_notes.py",
        "or far != (*[0] * (len(far) - 2), 1, 0)", "", ("tests/poly/report/test_loop_notes.py",),
    ),
    Fault(
        "blocks that threads have alike are uneven", "poly/report/share_notes.py",
        "if x >= MUCH]", "]", ("tests/poly/report/test_share_notes.py",),
    ),
    Fault(
        "another loop on threads has the terms of a sum", "show/advice/thread_causes.py",
        'y.kind == "serial" and not y.reduces), None)', 'y.kind == "serial"), None)',
        ("tests/show/advice/test_uneven.py",),
    ),
    Fault(
        "a recurrence is blamed for having no vectors", "poly/report/scalar_costs.py",
        "a.program.is_recurrence(d.func) or ", "", COSTS,
    ),
    Fault(
        "directives that a model has chosen are blamed", "poly/schedule/performance.py",
        "part.directives[part.chosen :]", "part.directives", WARNINGS,
    ),
    Fault(
        "nobody warns of variants", "poly/schedule/performance.py",
        "        yield from _parts(variant)\n", "        pass\n", WARNINGS,
    ),
    Fault(
        "large tasks are too fine", "poly/schedule/performance.py",
        " or x.seconds < wake]", " or True]", WARNINGS,
    ),
    Fault(
        "a mean of unsigned integers moves a sign in",
        "codegen/llvm/operators/integer_functions.py",
        """    opcode = "lshr" if x.dtype.kind == "u" else "ashr"
    return b.binary(opcode, b.binary("xor", x, y), b.like(x, 1))""",
        """    return b.binary("ashr", b.binary("xor", x, y), b.like(x, 1))""", INTEGER_CODE,
    ),
    Fault(
        "the square of the smallest number is within the limits",
        "codegen/llvm/operators/integer_functions.py",
        "return b.select(least, b.like(narrow, t.max), narrow)", "return narrow", INTEGER_CODE,
    ),
    Fault(
        "halves are rounded by an addition of their own",
        "codegen/llvm/operators/integer_functions.py",
        'return b.binary("sub", b.binary("or", x, y), _half_difference(b, x, y))',
        """one = b.binary("and", b.binary("xor", x, y), b.like(x, 1))
    return b.binary("add", halving_add(b, x, y), one)""",
        ("tests/codegen/llvm/test_integer_instructions.py",),
    ),
    Fault(
        "counts are narrowed before they are limited", "lang/nodes/integer_ops.py",
        'if not op.startswith("rotate"):', "if False:", INTEGERS,
    ),
    Fault(
        "a negative number has no leading bits", "lang/arithmetic/integer_ranges.py",
        "return 0, 0 if a[1] < 0 else t.bits", "return t.bits - a[1].bit_length(), t.bits",
        INTEGER_RANGES,
    ),
    Fault(
        "a limited sum is an affine one", "lang/arithmetic/integer_ranges.py",
        "t.min <= lo and hi <= t.max", "True", INTEGER_RANGES,
    ),
    Fault(
        "marks are work", "codegen/ir/cost.py",
        "        return 0.0\n    total", "        return 1.0\n    total", PROFILES,
    ),
    Fault(
        "loops are as long as the shortest end of a maximum", "codegen/ir/cost.py",
        "return None if None in known else max(", "return None if None in known else min(",
        ("tests/codegen/ir/test_most_iterations.py",),
    ),
    Fault(
        "a loop of two iterations is a branch", "codegen/llvm/functions/statements.py",
        "if most_iterations(loop) == 1:", "if most_iterations(loop) in (1, 2):",
        ("tests/codegen/llvm/test_statements.py",),
    ),
    Fault(
        "whether a loop polls depends on where it begins", "codegen/llvm/functions/polls.py",
        "(strip - 1) * (step & -step)", "2 * strip - 1",
        ("tests/threads/test_interrupts.py",),
    ),
    Fault(
        "time goes to the region that begins", "codegen/llvm/functions/marks.py",
        'b.binary("shl", ended, one)', 'b.binary("shl", region, one)', PROFILES,
    ),
    Fault(
        "workers wait for loops of their own", "show/profile/totals.py",
        "wall = sum(times[k][0] for k in mine)", "wall = sum(sum(times[k]) for k in mine)",
        PROFILES,
    ),
    Fault(
        "a part that a thread gets is begun twice", "show/profile/marking.py",
        "begins, body = (), self._marked(body, inside)",
        "begins, body = (_mark(len(self.regions)),), self._marked(body, inside)", PROFILES,
    ),
    Fault(
        "a loop without iterations is the call's", "show/profile/totals.py",
        "idle.append(0.0 if sum(busy) else wall / len(works))", "idle.append(0.0)", PROFILES,
    ),
    Fault(
        "a look counts for a region that has ended", "show/profile/runs.py",
        "if part in self._parts.get(region, ()):", "if True:", PROFILES,
    ),
    Fault(
        "runs of a profile change InOuts", "show/reporting/measure.py",
        "copy = _like(array)", "copy = array", PROFILES,
    ),
    Fault(
        "functions of users are called unasked", "show/reporting/arguments.py",
        ".callbacks and not side_effects", ".callbacks and False", PROFILES_REFUSED,
    ),
    Fault(
        "changes of a run before are copied", "show/profile/runs.py",
        "    state[:, :FIRST_EVENT] = 0\n", "", PROFILES,
    ),
    Fault(
        "traces are in seconds", "show/profile/profile.py",
        '"ts": s.start * 1e6', '"ts": s.start', TRACES,
    ),
    Fault(
        "a page may choose from a list of before", "show/explore/model.py",
        "                if revision != self.revision:\n                    return False\n", "",
        EXPLORED,
    ),
    Fault(
        "a click changes the schedule of before", "show/explore/model.py",
        "made = self.schedule.copy()", "made = self.schedule", CLICKS,
    ),
    Fault(
        "a candidate is written without what it is given by name", "show/explore/moves.py",
        "*(f\"{key}={value!r}\" for key, value in options)", "", EXPLORED,
    ),
    Fault(
        "a picture is shown for another schedule", "show/explore/model.py",
        """stage that is looked at.\"\"\"
        if revision != self.revision:
            return False
""", """stage that is looked at.\"\"\"
""", LOST,
    ),
    Fault(
        "a candidate is blamed for a picture", "show/explore/explorer.py",
        "if was_ready and model.picture is None:", "if False:", LOST,
    ),
    Fault(
        "what is given up is never tried again", "show/explore/model.py",
        "self._missing: Sketch | None = None", "self._missing = self.__dict__.get('_missing')",
        LOST,
    ),
    Fault(
        "a question is answered to its end", "show/explore/worker.py",
        "            if not self.questions.empty():\n                return\n", "", WORKER,
    ),
    Fault(
        "the order as written is drawn", "show/spaces/space.py",
        'column_of("as scheduled", schedule.tree,',
        'column_of("as scheduled", state.rewritten.written,', WORKER,
    ),
    Fault(
        "a process that has answered is ended", "show/explore/link.py",
        "or self._waiting is not question", "", LINKED,
    ),
    Fault(
        "a process that has not begun is hurried", "show/explore/link.py",
        "GRACE if self._ready else START", "GRACE", LINKED,
    ),
    Fault(
        "one that was replaced is heard", "show/explore/link.py",
        "if process is not self._process:\n                return  #",
        "if False:\n                return  #", LINKED,
    ),
    Fault(
        "what comes in a pause is not sent", "show/explore/changes.py",
        "                self._is_due = True\n", "                pass\n", CHANGES,
    ),
    Fault(
        "a new list has the verdicts of the last one", "show/explore/changes.py",
        'if "revision" in found else', 'if before is None else', CHANGES,
    ),
    Fault(
        "changes are sent as they come", "show/explore/changes.py",
        "            self._rests = True\n", "", CHANGES,
    ),
    Fault(
        "a page changes what is shown", "show/explore/widget.py",
        "def set_state(", "def set_states(", CHANGES,
    ),
    Fault(
        "tiles add up to what one of them holds", "codegen/ir/totals.py",
        "    return total if expanded(tiles)", "    return hi if expanded(tiles)", COUNTS,
    ),
    Fault(
        "what a condition leaves out is counted", "codegen/ir/counts.py",
        "{what: total.where(condition) for what", "{what: total for what", COUNTS,
    ),
    Fault(
        "JSON forgets what a model has chosen", "poly/schedule/serial.py",
        '{"chosen": s.chosen} if s.chosen else {}', "{}", ("tests/poly/schedule/test_serial.py",),
    ),
    Fault(
        "who has chosen directives changes digests", "poly/schedule/serial.py",
        "comments=(), chosen=0)", "comments=())", ("tests/poly/schedule/test_serial.py",),
    ),
    Fault(
        "a step takes what steps inside of it take, too", "steps.py",
        "whole - self._inside, before", "whole, before", ("tests/show/test_log.py",),
    ),
    Fault(
        "each loop of threads has the stages of all", "show/profile/totals.py",
        "for k in works for stage in", "for k in range(len(times)) for stage in", PROFILES,
    ),
    Fault(
        "what is predicted counts as measured", "show/advice/advice.py",
        "found = len(self.pieces) - predicted", "found = len(self.pieces)",
        ("tests/show/advice/test_advice.py",),
    ),
    Fault(
        "functions count as nothing", "codegen/ir/counts.py",
        "(value,) = transform_all((s.value,), formula, self._formulas)", "value = s.value", COUNTS,
    ),
    Fault(
        "what is computed seldom counts", "codegen/ir/counts.py",
        "else needed_first(node):", "else node.args:", COUNTS,
    ),
    Fault(
        "a sum over a loop is looked up without the loops around it", "codegen/ir/totals.py",
        "tuple(env[x] for x in sorted(over.free, key=id))", "()", COUNTS,
    ),
    Fault(
        "what is asked for is given", "poly/schedule/why_not.py",
        "        trial = _trial(s)\n", "        trial = s\n", WHY_NOT,
    ),
    Fault(
        "trust answers", "poly/schedule/why_not.py",
        "    made._builder._trust = None\n", "", WHY_NOT,
    ),
    Fault(
        "a sketch is not proven for an answer", "poly/schedule/why_not.py",
        "        if builder._batch is not None:\n", "        if False:\n", WHY_NOT,
    ),
    Fault(
        "lanes are drawn where their loop is written", "poly/report/executed.py",
        'for v in x.levels if v.kind != "vector"), *x.of_kind("vector")', "for v in x.levels),",
        EXECUTED,
    ),
    Fault(
        "parallel iterations are drawn one after the other", "poly/report/executed.py",
        'if v.kind not in ("vector", "parallel")', 'if v.kind not in ("vector",)', EXECUTED,
    ),
    Fault(
        "parallel iterations are animated one after the other", "show/animated/steps.py",
        'kind in ("parallel", "lanes")', 'kind in ("lanes",)', ANIMATED,
    ),
    Fault(
        "storage inside of loops is animated as if it were kept", "show/animated/steps.py",
        "self.lives[b] - 1", "self.lives[b]", ANIMATED,
    ),
    Fault(
        "labels of colours are small", "show/order.py",
        "bar.ax.tick_params(labelsize=_SMALL)", "bar.ax.tick_params(labelsize=5)", ORDER_DRAWN,
    ),
    Fault(
        "pictures are wider than a page", "show/order.py",
        "size = (min(_WIDTH, ", "size = (max(_WIDTH + 1, ", ORDER_DRAWN,
    ),
    Fault(
        "every loop goes over tiles", "show/spaces/space.py",
        "        if len(answers) == 2:\n", "        if answers:\n", SPACES,
    ),
    Fault(
        "cache lines are counted in the order of axes", "show/spaces/footprint.py",
        "order = memory.order or tuple", "order = tuple", SPACES,
    ),
    Fault(
        "a tile is drawn from the splits before it", "poly/schedule/schedule_builder.py",
        "else evidence.seen_from(error, self._compound.first.state)", "else error", DRAWN,
    ),
    Fault(
        "pickles take the schedule along", "lang/errors/errors.py",
        '{**known, "_evidence": None}', "known", DRAWN,
    ),
    Fault(
        "a refusal that is reworded loses its code", "lang/errors/errors.py",
        "directive=directive, code=self.code,", "directive=directive,", CODES,
    ),
    Fault(
        "an error has the code of what was called first", "lang/errors/codes.py",
        "                return found\n",
        "                return made_in(frame.f_back) or found\n", CODES,
    ),
    Fault(
        "what is read from a pickle was made in the opposite order", "lang/travel/reader.py",
        "            made.append(new)\n", "            made.append(2**200 - new)\n", TRAVELS,
    ),
    Fault(
        "Funcs that need each other travel apart", "lang/travel/pickles.py",
        'thing.__dict__["_part"] = made', "pass", TRAVELS,
    ),
    Fault(
        "what one pickle is given may be changed by it", "lang/travel/reader.py",
        "if any(func is x for x in self._given):", "if False:", TRAVELS,
    ),
    Fault(
        "RVars of a script run in the order of their use", "lang/travel/writer.py",
        "while self._domains and", "while False and", TRAVELS,
    ),
    Fault(
        "kernels with and without checks are equal", "codegen/runtime/travel.py",
        "kernel._schedule.key, kernel._checks,", "kernel._schedule.key,", KERNELS_TRAVEL,
    ),
    Fault(
        "an array that is made anew each time is taken", "lang/arguments/foreign.py",
        "elif first.size and _address(first) != _address(again):", "elif False:", FOREIGN,
    ),
    Fault(
        "what another library's object is for is written elsewhere", "codegen/runtime/kernel.py",
        "returned[func] if func in returned else ", "", FOREIGN,
    ),
    Fault(
        "Funcs on the way to an Input have no edges", "poly/schedule/halo.py",
        "lo, hi = min(lo, at[0]), max(hi, at[1])", "pass", HALO,
    ),
    Fault(
        "recurrences reach no further than a step", "poly/model/reach.py",
        "first.union(first.apply_range(closure))", "first", HALO,
    ),
    Fault(
        "a stride of a constant extent is a halo", "poly/sets/movement.py",
        "return found if _has_step_of_one(coordinates, p) else None", "return found", HALO,
    ),
    Fault(
        "NaN becomes a lower end below 0", "codegen/ir/bounded_casts.py",
        "at_least is not None and lo.value >= 0 and", "at_least is not None and", BOUNDED,
    ),
    Fault(
        "floats hold all integers", "codegen/ir/bounded_casts.py",
        "if value == end.value else None", "if value else None", BOUNDED,
    ),
    Fault(
        "a float in a range may be beyond its integers", "codegen/llvm/operators/casts.py",
        "if high is not None and high <= largest:", "if high is not None:", BOUNDED,
    ),
    Fault(
        "negative elements are below all ends", "lang/arguments/elements.py",
        "lo == 0 and hi <= 1 << (8 * array.itemsize - 1)", "lo == 0", ELEMENTS,
    ),
    Fault(
        "what takes long is computed wherever it is read", "tune/search/inlining.py",
        "    if is_expensive(own):\n        return False\n", "", AUTO,
    ),
    Fault(
        "float sums are in lanes without being asked for", "tune/plans/suited.py",
        "not (reassociates and s.kind ==", "not (s.kind ==", AUTO,
    ),
    Fault(
        "a plan that is refused is tried again", "tune/search/search.py",
        "if not self.refusals.forbid(made.plan):", "if made.plan:", AUTO,
    ),
    Fault(
        "a distance that may go backwards is in order", "tune/facts/order.py",
        "        if low is None or low < 0:\n            return False\n", "", AUTO,
    ),
    Fault(
        "a part of a stencil over time is no cone", "tune/plans/places.py",
        'return "cone" if any(', 'return "none" if any(', ("tests/tune/test_newcomers.py",),
    ),
    Fault(
        "a chain of additions takes no time", "tune/model/model.py",
        "if around >= 0 and work.chained[around]:", "if not work.chained:", AUTO,
    ),
    Fault(
        "each size of a call has a class of its own", "tune/classes.py",
        "    if size <= FEW:\n        return max(0, size)\n", "    return size\n", BARE,
    ),
    Fault(
        "panels are copied along a sum in lanes", "tune/plans/templates.py",
        "{NONE, sums[0]} & {vector, jam}", "{NONE} & {vector, jam}", ROWS,
    ),
    Fault(
        "the loop of threads is outermost or nowhere", "tune/plans/templates.py",
        "for shared in (knobs[\"parallel\"], NONE):", "for shared in (knobs[\"parallel\"],):", AUTO,
    ),
    Fault(
        "what jumps back along two loops is one row of them", "tune/plans/fused.py",
        "return all(_goes_on(", "return any(_goes_on(", ROWS,
    ),
    Fault(
        "rows of a wavefront are next to each other", "tune/realise/realise.py",
        "stage.skew(rows, behind, nest.skew)", "stage.skew(rows, behind, 0)", AUTO,
    ),
    Fault(
        "steps that are behind touch no more", "tune/plans/steps.py",
        "first + max(behind, key=abs)", "first", STEPS,
    ),
    Fault(
        "rows and columns of pivots are not apart", "tune/realise/step_directives.py",
        "for k in block.pivots:", "for k in block.pivots[:1]:", STEPS,
    ),
    Fault(
        "a block of steps that is refused is tried with other numbers", "tune/search/decided.py",
        "(has_tiles and plan.func in self.in_tiles)", "False", STEPS,
    ),
    Fault(
        "all planes of a recurrence are kept", "tune/plans/steps.py",
        "found[func] = axis", "pass", STEPS,
    ),
    Fault(
        "loops change in which other Funcs are computed", "tune/search/refine.py",
        "while d.plan.host is None and not self._hosts(p, d):", "while True:", REFINED,
    ),
    Fault(
        "a first call waits for whatever is found", "tune/search/refine.py",
        "while self.search.build_seconds(p) > most:",
        "while self.search.build_seconds(p) > 9 * most:", REFINED,
    ),
    Fault(
        "a variant is for sizes that it is not good for", "tune/search/variants.py",
        "return min(gains) if", "return max(gains) if", VARIANTS,
    ),
    Fault(
        "a loop is called parallel although others in it depend on its order",
        "tune/facts/distances.py",
        "        if count:\n", "        if count and nest.stage.statement.name == d.sink:\n", FACTS,
    ),
    Fault(
        "skews leave out what outer skews move backwards", "tune/facts/distances.py",
        "times = (*factors.values(), 1)", "times = (*(0 for _ in factors), 1)", FACTS,
    ),
    Fault(
        "scatters meet nowhere", "tune/facts/distances.py",
        "(0, 0) if x in d.lhs else ANY", "(0, 0)", FACTS,
    ),
    Fault(
        "sums share loops with those that they need", "tune/facts/sweeps.py",
        "last.at < one.needing.until and ", "", SWEEPS,
    ),
    Fault(
        "what needs a sum by others is left where it is", "tune/facts/sweeps.py",
        "            needed.append(s.func)\n", "            pass\n", SWEEPS,
    ),
    Fault(
        "what is put off comes in the order of the program", "tune/realise/realise.py",
        "for func in reversed(d.plan.put_off):", "for func in d.plan.put_off:", SWEEPS,
    ),
    Fault(
        "what several sums need element by element is stored", "tune/search/inlining.py",
        "if is_once and slots", "if False and slots", SWEEPS,
    ),
    Fault(
        "plans that leave sums their common loops are dropped", "tune/search/search.py",
        "beam += self.together.left_out(found, beam)", "pass", SWEEPS,
    ),
    Fault(
        "what several sums need is computed for each", "tune/facts/sweeps.py",
        "group[0].dims, seen)", "group[0].dims)", SWEEPS,
    ),
    Fault(
        "sums in common loops cost as much as apart", "tune/search/search.py",
        "if whole is None:\n            return NOTHING", "whole = s", SWEEPS,
    ),
    Fault(
        "windows are those of the first read", "tune/facts/windows.py",
        "extents) for access in reads]", "extents) for access in reads[:1]]", FACTS,
    ),
    Fault(
        "what goes away from other reads stays", "tune/facts/windows.py",
        "if not moved and parts[axis]:", "if False:", ("tests/tune/test_newcomers.py",),
    ),
    Fault(
        "data choose along one axis", "tune/facts/facts.py",
        "in postorder(x) and not reads_memory(x)), None)", "in postorder(x)), None)",
        ("tests/tune/test_newcomers.py",),
    ),
    Fault(
        "anti dependences are dropped", "poly/proof/dependences.py",
        '        *_ordered("anti", model, tensor, reads, writes, order),\n', "",
    ),
    Fault(
        "a domain is widened over what is read", "poly/proof/dependences.py",
        " and all(elements.is_disjoint(read) for elements in written)", "",
        ("tests/poly/proof/test_dependences.py",),
    ),
    Fault(
        "an empty range holds for what is not read", "poly/sets/affine.py",
        "result.union(complement(below(least, most)).intersect(x.eq_set(least)))", "result",
        ("tests/poly/model/test_conditions.py",),
    ),
    Fault(
        "a remainder counts as known though it may be further out", "poly/sets/affine.py",
        "self.known is None or not domain.is_subset(self.known)", "self.known is None",
        ("tests/poly/sets/test_affine.py",),
    ),
    Fault(
        "a coordinate is told on the wrong side of another", "poly/sets/coordinates.py",
        "found[k] = other, constant - before", "found[k] = other, before - constant",
        ("tests/poly/sets/test_coordinates.py",),
    ),
    Fault(
        "coordinates are determined by loops that nobody asks for", "poly/tree/times.py",
        " and found.others <= chosen", "", ("tests/poly/sets/test_coordinates.py",),
    ),
    Fault(
        "private accumulators meet what is beside them", "poly/proof/atomic_copies.py",
        "            if mine is other:\n", "            if True:\n",
        ("tests/poly/directives/test_storage.py",),
    ),
    Fault(
        "constant indices do not wrap", "lang/nodes/index.py",
        "return integer((value + (1 << 63)) % (1 << 64) - (1 << 63))", "return integer(value)",
        ("tests/codegen/passes/test_wrapping.py",),
    ),
    Fault(
        "loops begin anywhere", "poly/model/domains.py",
        "if not (is_near(r.lo) and is_near(r.hi)):", "if False:",
        ("tests/poly/nests/test_far_loops.py",),
    ),
    Fault(
        "rows of elements begin at one of them", "codegen/llvm/vectors/vector_loads.py",
        "first = b.binary(\"add\", indices, constant(back, int64, n)) if back else indices",
        "first = indices", VECTORS,
    ),
    Fault(
        "reads at guarded reads need no guard", "codegen/build/loads.py",
        " and not self._is_of_guarded(node):", ":", VECTORS,
    ),
    Fault(
        "a guard reads at an index that it leaves out", "codegen/build/loads.py",
        "isinstance(x, Read) and node in postorder(x)]", "x is node]",
        ("tests/codegen/build/test_circles.py",),
    ),
    Fault(
        "what is not loaded yet is known", "codegen/build/circles.py",
        "return conjunction(self.known[node], self.values[node])", "return self.values[node]",
        ("tests/codegen/build/test_circles.py",),
    ),
    Fault(
        "an index that is not loaded yet is known", "codegen/build/circles.py",
        "_all(needed, *(state.known[x] for x in read.index))", "needed",
        ("tests/codegen/build/test_circles.py",),
    ),
    Fault(
        "a call is like another of other scalars", "codegen/runtime/call_cache.py",
        "            found += (type(x), x)\n", "            found.append(type(x))\n",
        ("tests/codegen/runtime/test_call_cache.py",),
    ),
    Fault(
        "what is in an accumulator may be read beside", "poly/placement/accumulators.py",
        "        if not met.intersect_params(context).is_empty():\n", "        if False:\n",
        ("tests/poly/directives/test_accumulate.py",),
    ),
    Fault(
        "a copy is laid out for one part of a definition", "poly/placement/layouts.py",
        "_box([p.padded for p in parts])", "_box([stage.padded])",
        ("tests/testing/test_found.py",),
    ),
    Fault(
        "a proof holds for sizes that it was not made for", "poly/proof/obligations.py",
        "            if context is proof or context.is_subset(proof):\n", "            if True:\n",
        OBLIGATIONS,
    ),
    Fault(
        "what was settled for few sizes is for all", "poly/proof/proof.py",
        "        return context is known[3] or context.is_subset(known[3])\n",
        "        return True\n", OBLIGATIONS,
    ),
    *(
        Fault(
            f"an obligation is known without {name}", "poly/proof/obligations.py",
            f"{before}: {kind}\n{behind}",
            f"{before}: {kind} = {UNCOMPARED}\n{behind}", OBLIGATIONS,
        )
        for name, before, kind, behind in (
            ("the kind of an order", "    kind", "Kind", ""),
            ("the source of an order", "    kind: Kind\n    source", "Run", ""),
            ("how stages of an order stand", "    common", "Common", ""),
            ("whether an order is free", "    is_free", "bool", ""),
            ("the statement that is covered", "    statement", "Statement", ""),
            ("what covers a statement", "    parts", "tuple[Same, ...]", ""),
            ("who stays disjoint", "    source", "Run", "    sink: Run\n    write"),
            ("from whom one is disjoint", "    sink", "Run", "    write"),
            ("the write that is disjoint", "    write", "Access", ""),
            ("the access that it is disjoint from", "    other", "Access", ""),
            ("the loop whose iterations are disjoint", "    other: Access\n    loop", "int", ""),
            ("what runs once", "    first", "Run", ""),
            ("what it does not run in again", "    second", "Run", ""),
            ("the loop in which it runs once", "    second: Run\n    loop", "int", ""),
        )
    ),
    *(
        Fault(
            f"how stages stand is known without {name}", "poly/tree/times.py",
            f"    {name}: {kind}\n", f"    {name}: {kind} = {UNCOMPARED}\n", OBLIGATIONS,
        )
        for name, kind in (("kinds", "tuple[Kind, ...]"), ("stored", "tuple[int, ...]"),
                           ("fresh", "int | None"), ("is_one_copy", "bool"))
    ),
    *(
        Fault(
            f"what is run is known without its {name}", "poly/tree/stage.py",
            "        self._key = (stage.statement, stage.coordinates, Same(stage.where), "
            "stage.padding)\n", f"        self._key = ({kept})\n", OBLIGATIONS,
        )
        for name, kept in (
            ("statement", "stage.coordinates, Same(stage.where), stage.padding"),
            ("coordinates", "stage.statement, Same(stage.where), stage.padding"),
            ("instances", "stage.statement, stage.coordinates, stage.padding"),
            ("padding", "stage.statement, stage.coordinates, Same(stage.where)"),
        )
    ),
    *(
        Fault(f"uses are known without {name}", "poly/tree/uses.py", old, new, USES)
        for name, old, new in (
            ("kinds of loops", '("loop", kind, tile, body)', '("loop", whole, body)'),
            ("full tiles", '("loop", kind, tile, body)', '("loop", kind, body)'),
            ("what is stored", '("storage", funcs, body)', '("storage", body)'),
            *(
                (f"{name} of what is produced", f'("produce", {all_of}', f'("produce", {rest}')
                for name, all_of, rest in (
                    ("funcs", "funcs, around", "around"),
                    ("loops", "funcs, around, times", "funcs, times"),
                    ("times", "funcs, around, times", "funcs, around"),
                )
            ),
            ("what slides", "times, fresh_depth, body)", "times, body)"),
            ("what is accumulated", '("accumulator", func, serial', '("accumulator", serial'),
            ("who accumulates", '("accumulator", func, serial', '("accumulator", func'),
            ("what runs", "return (node.run,)", "return (node.run.statement,)"),
            ("whose they are", ", tuple(tensors))", ",)"),
        )
    ),
    Fault(
        "padding is known without what is used", "poly/proof/padding.py",
        "stage.run, uses, Same(context))", "stage.run, Same(context))",
        ("tests/poly/directives/test_padding.py",),
    ),
    *(
        Fault(
            f"a fold is known without {name}", "poly/placement/folding.py",
            f"    {name}: {kind}\n", f"    {name}: {kind} = {UNCOMPARED}\n",
            ("tests/poly/directives/test_fold_storage.py",),
        )
        for name, kind in (("window", "Window"), ("uses", "Uses"))
    ),
    *(
        Fault(f"what is known does not depend on {name}", file, old, new, MEMO)
        for name, file, old, new in (
            ("definitions", "poly/model/model.py",
             "given = self.definitions[func], needed, Same(closed), self._names((func,))",
             "given = needed, Same(closed), self._names((func,))"),
            ("what is needed", "poly/model/model.py",
             "given = self.definitions[func], needed, Same(closed), self._names((func,))",
             "given = self.definitions[func], Same(closed), self._names((func,))"),
            ("the region of a recurrence", "poly/model/model.py",
             "given = self.definitions[func], needed, Same(closed), self._names((func,))",
             "given = self.definitions[func], needed, self._names((func,))"),
            ("names", "poly/model/model.py",
             "given = self.definitions[func], needed, Same(closed), self._names((func,))",
             "given = self.definitions[func], needed, Same(closed)"),
            ("the context", "poly/model/space.py",
             "self._sizes_known = (self.params, Same(self.context))",
             "self._sizes_known = (self.params,)"),
            ("whether regions are exact", "poly/model/model.py",
             "self._about = (*self._sizes_known, exact)",
             "self._about = self._sizes_known"),
            ("requirements", "poly/model/space.py",
             'key = ("context", self.params, of_params, required)',
             'key = ("context", self.params, of_params)'),
            ("what is needed of a recurrence", "poly/model/model.py",
             'key = ("closed", *group, definitions, needed, self._names(group), self._about)',
             'key = ("closed", *group, definitions, self._names(group), self._about)'),
            ("what is needed in a block", "poly/model/model.py",
             "given = func, home, same(self._demand[func]), self._names((func,))",
             "given = func, home, self._names((func,))"),
            ("the region of an update", "poly/model/model.py",
             'key = ("update", d, Same(region), *limit, self._names((d.func,)), self._sizes_known)',
             'key = ("update", d, *limit, self._names((d.func,)), self._sizes_known)'),
            ("the region of a piece", "poly/model/model.py",
             'key = ("pieces", func, self.definitions[func], Same(region), self._names((func,)))',
             'key = ("pieces", func, self.definitions[func], self._names((func,)))'),
            ("what there is of a tensor", "poly/model/conditions.py",
             'key = ("in bounds", access, box, Same(model.context))',
             'key = ("in bounds", access.index)'),
            ("where a maximum is asked for", "poly/model/conditions.py",
             'key = ("not empty", statement, Same(computed), Same(model.context))',
             'key = ("not empty", statement.definition)'),
            ("which update it is", "poly/model/updates.py",
             'key = ("order of Vars", statement, Same(model.context))',
             'key = ("order of Vars",)'),
            ("who is inlined", "poly/program/inline.py",
             'key = ("substituted", consumer, func, value)', 'key = ("substituted", consumer)'),
            ("the stages of a recurrence", "poly/tree/written.py",
             'key = ("nest", *step.funcs, *statements, Same(model.context))',
             'key = ("nest", *step.funcs)'),
            ("the order of the program", "poly/proof/proof.py",
             'key = ("dependences", tensor, self._as_written[tensor], Same(self.model.context))',
             'key = ("dependences", tensor)'),
        )
    ),
    Fault(
        "what a copy reads is stored before the copy asks for it", "lang/program/added.py",
        "    place = min((behind, *before))\n", "    place = behind\n", REWRITING,
    ),
    Fault(
        "a Func may be read when its region is known", "poly/model/model.py",
        "            if func in self._finished and not self.is_fixed(func):\n",
        "            if False:\n", MEMO,
    ),
    Fault(
        "what is computed at a loop stays where its definitions change",
        "poly/placement/placement.py",
        "        bases = tuple(s for s in self.model.statements if s.func in node.funcs)\n",
        "        bases = ()\n", ("tests/poly/placement/test_placement.py", *MEMO, *REWRITING),
    ),
    Fault(
        "a sketch runs before it is proven", "poly/schedule/schedule_builder.py",
        "        if self.is_sketch:\n            raise", "        if False:\n            raise",
        ("tests/poly/schedule/test_sketch.py",),
    ),
    Fault(
        "a flipped bit is not noticed", "cache/entry.py",
        "    if sha256(rest).digest() != view[len(MAGIC) : len(MAGIC) + 32]:\n", "    if False:\n",
        STORE,
    ),
    Fault(
        "an entry is found under any name", "cache/entry.py",
        "if (k, name) == (kind, key):", "if k and name:", STORE,
    ),
    Fault(
        "links to entries are followed", "cache/directory.py",
        '_FILE = getattr(os, "O_NOFOLLOW", 0) | ', "_FILE = ", STORE,
    ),
    Fault(
        "what others may write is read", "cache/directory.py",
        "    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):", "    if False:", STORE,
    ),
    Fault(
        "an entry is written in place", "cache/store.py",
        '    part = f"{os.urandom(16).hex()}{PART}"\n',
        "    part = name\n    directory.remove(part)\n", STORE,
    ),
    Fault(
        "code for one machine is found for another", "codegen/runtime/kept.py",
        "keys.key_of(CODE, digest, target.digest, checks, strided)",
        "keys.key_of(CODE, digest, checks, strided)", ON_DISK,
    ),
    Fault(
        "strided arguments run code for contiguous ones", "codegen/runtime/kept.py",
        "keys.key_of(CODE, digest, target.digest, checks, strided)",
        "keys.key_of(CODE, digest, target.digest, checks)", ON_DISK,
    ),
    Fault(
        "a schedule for some sizes runs at all", "tune/kept_plans.py",
        "threads, named, known)", "threads, known)", PLANS_ON_DISK,
    ),
    Fault(
        "a bare call has the preconditions of another schedule", "poly/schedule/written.py",
        "_digest(program, (True, None, ()))", "_digest(program, (False, None, ()))", PLANS_ON_DISK,
    ),
    Fault(
        "what edited sources make is kept", "cache/keys.py",
        "found = environment() is not None and not _changed_since_loaded()",
        "found = environment() is not None", ("tests/cache/test_keys.py",),
    ),
    Fault(
        "a program is known by its digest alone", "poly/schedule/journal.py",
        "    names = tuple(f.name for f in program.funcs)\n", "    names = ()\n", JOURNAL,
    ),
    Fault(
        "programs with other conditions of RVars are one", "lang/program/digest.py",
        "            self._nodes(d.where, known),\n", "", JOURNAL,
    ),
    Fault(
        "what a batch has carried out counts as proven", "poly/schedule/schedule_builder.py",
        "            self._batch = Batch(self._place)\n",
        "            self._batch, self._place = Batch(self._place), before\n", JOURNAL,
    ),
    Fault(
        "what is trusted counts as proven", "poly/schedule/schedule_builder.py",
        "        if self._trust is not None:\n            known = None\n        elif step",
        "        if step", JOURNAL,
    ),
    Fault(
        "at one time counts as ordered", "poly/tree/times.py",
        "        if met.position > 0 or (met.position == 0 and (kind != \"anti\" or not lanes)):\n",
        "        if met.position > 0:\n",
    ),
    Fault(
        "lanes write before they read", "poly/tree/times.py",
        '(kind != "anti" or not lanes)', '(kind == "anti" or not lanes)',
    ),
    Fault(
        "vector loops stay outside", "poly/tree/times.py",
        'if of == "vector"]', 'if of == "none"]',
    ),
    Fault(
        "iterations of parallel loops are ordered", "poly/tree/times.py",
        'if met.kinds[k] == "parallel" and not _is_private(met, k, kind):',
        'if met.kinds[k] == "none":',
    ),
    Fault(
        "iterations are told apart by their first loop alone", "poly/tree/times.py",
        "            same = same.equate(_IN, at, _OUT, at)\n", "            break\n",
    ),
    Fault(
        "of parallel iterations the first ones come first", "poly/tree/times.py",
        "            result = result.union(_related(b, a, outside, [k]).reverse())\n", "",
    ),
    Fault(
        "storage is private to flow, too", "poly/tree/times.py",
        'return kind != "flow" and any(depth > loop for depth in met.stored)',
        "return bool(met.stored)",
    ),
    Fault(
        "iterations directly inside of storage each have their own", "poly/tree/times.py",
        "any(depth > loop for depth in met.stored)", "any(depth >= loop for depth in met.stored)",
        ("tests/poly/tree/test_times.py",),
    ),
    Fault(
        "parts of a stage forget where they run", "poly/tree/stage.py",
        "        return domain if self.where is None else domain.intersect(self.where)\n",
        "        return domain\n",
    ),
    Fault(
        "any sum may be taken in any order", "poly/program/accumulation.py",
        'return accumulates(d) and (d.op in ("min", "max") or not d.func.dtypes[0].is_float)',
        "return accumulates(d)",
    ),
    Fault(
        "tiles end one too early", "poly/nests/bounds.py",
        "    return Bounds(lo, hi, step, described)\n",
        "    return Bounds(lo, ix.sub(hi, integer(1)) if last > 1 else hi, step, described)\n",
    ),
    Fault(
        "loops begin where remainders are not asked", "poly/sets/axis_bounds.py",
        "        found = _nearest(found, iterations, axis)\n", "",
        ("tests/poly/nests/test_far_loops.py",),
    ),
    Fault(
        "one plane too few is kept", "poly/placement/folding.py",
        "            return Window(axis, planes)  # one of however many\n",
        "            return Window(axis, max(planes - 1, 1))\n",
    ),
    Fault(
        "a vector has too few lanes", "poly/nests/nests.py",
        "            count = span_of(described, depth)\n",
        "            count = span_of(visited.intersect_params(self.context), depth)\n",
        ("tests/poly/sets/test_budget.py",),
    ),
    Fault(
        "unrolled loops in lanes begin apart", "codegen/build/lanes.py",
        'case lp.Loop(kind="unrolled") if not self._varies(nest.lo):',
        'case lp.Loop(kind="unrolled"):',
    ),
    Fault(
        "a loop visits what is between two points", "poly/sets/axis_bounds.py",
        "        if c.is_equality():  # the other half", "        if False:  # the other half",
    ),
    Fault(
        "a halo of what is computed at a loop is missing", "poly/placement/placement.py",
        "for stage in after for access in stage.statement.reads_of(*node.funcs)\n",
        "for stage in after for access in stage.statement.reads_of(*node.funcs)[1:]\n",
    ),
    Fault(
        "a window at a loop slides with the last iteration", "poly/placement/sliding.py",
        "    exact = coalesced(needed.lexmin())\n", "    exact = coalesced(needed.lexmax())\n",
    ),
    Fault(
        "a window at a loop slides over the loops as they were", "poly/placement/sliding.py",
        "    loops = _ordering(demand)  # splits",
        "    loops = list(demand.times[: len(frame.dims)])  # splits",
    ),
    Fault(
        "a window at a loop slides over too many loops", "poly/placement/placement.py",
        "fresh_depth = depth if all(slides(self.model, f) for f in node.funcs) else count",
        "fresh_depth = 0 if all(slides(self.model, f) for f in node.funcs) else count",
    ),
    Fault(
        "nobody asks whether what is used is stored there", "poly/legality/checker.py",
        "return copied or storage_placement.fault(state.tree, context)",
        "return copied",
    ),
    Fault(
        "nobody asks whose elements are written back", "poly/legality/checker.py",
        "return copied or storage_placement.fault(state.tree, context)",
        "return storage_placement.fault(state.tree, context)", REWRITING,
    ),
    Fault(
        "what is copied in and back once is so whatever it holds", "poly/directives/invariants.py",
        'key = ("copied", shape(node, kinds=False), depth, Same(e.context))',
        'key = ("copied", depth, Same(e.context))', REWRITING,
    ),
    Fault(
        "what fits on the stack does so whatever the loops are", "poly/legality/registers.py",
        'key = ("fits", shape(nest.tree), _loop_names(nest), nest.parts, *given)',
        'key = ("fits", nest.parts, *given)', STORED,
    ),
    Fault(
        "what fits on the stack does so wherever else it is to be", "poly/legality/registers.py",
        "given = tuple(here.items()), tuple(kept.items()), Same(context)",
        "given = tuple(here), tuple(kept.items()), Same(context)", STORED,
    ),
    Fault(
        "what fits on the stack does so however much of it is kept", "poly/legality/registers.py",
        "given = tuple(here.items()), tuple(kept.items()), Same(context)",
        "given = tuple(here.items()), Same(context)", STORED,
    ),
    Fault(
        "what fits on the stack does so at all sizes", "poly/legality/registers.py",
        "given = tuple(here.items()), tuple(kept.items()), Same(context)",
        "given = tuple(here.items()), tuple(kept.items())", STORED,
    ),
    Fault(
        "sums slide as if each element had its place", "poly/placement/storage_placement.py",
        "    return all(d.opaque is None and (d.is_pointwise or not d.is_update) "
        "for d in definitions)\n",
        "    return all(d.opaque is None for d in definitions)\n",
    ),
    Fault(
        "storage stays outside of parallel loops", "poly/placement/storage_placement.py",
        "        for func in node.funcs if parallel else ():\n", "        for func in ():\n",
    ),
    Fault(
        "parts of a loop share the window of a Func", "poly/placement/storage_placement.py",
        "        if copies[func] > 1 and slides(model, func):\n", "        if False:\n",
    ),
    Fault(
        "a window of tiles at a loop is one plane too small", "poly/placement/folding.py",
        "    return found + 1 if found < LARGEST_OF_TILES else None\n",
        "    return found if found < LARGEST_OF_TILES else None\n",
    ),
    Fault(
        "planes at a loop outlive parallel iterations", "poly/placement/precedence.py",
        "    return next(at_once, node.fresh_depth)\n", "    return len(loops)\n",
    ),
    Fault(
        "values live as the last part of a loop computes them", "poly/placement/precedence.py",
        "lives[where] = min(depth, lives.get(where, depth))", "lives[where] = depth",
        ("tests/poly/placement/test_folding.py",),
    ),
    Fault(
        "planes that go down are near each other", "poly/placement/folding.py",
        "max(-int(lo.to_python()), int(hi.to_python()))",
        "int(hi.to_python())",
        ("tests/poly/placement/test_folding.py",),
    ),
    Fault(
        "threads may share storage at a loop", "poly/legality/checker.py",
        "(*found, *shared(state.tree, context, proofs))", "tuple(found)",
    ),
    Fault(
        "readers need not find what is computed at a loop", "poly/proof/proof.py",
        'for delivery in _deliveries(d, sources, sinks) if d.kind == "flow" else ():',
        "for delivery in ():",
    ),
    Fault(
        "what runs in a loop with its readers is over before them", "poly/tree/times.py",
        "return not met.loops and met.position < 0", "return met.position < 0", OBLIGATIONS,
    ),
    Fault(
        "what is written again is over before it is read", "poly/proof/proof.py",
        "if not are_written_once(a for _, a in using if a.is_write):", "if False:", OBLIGATIONS,
    ),
    Fault(
        "bounds are compared without sizes", "poly/sets/products.py",
        "(*((k, x // common) for k, x in factors), (-1, own // common))", "((-1, own // common),)",
        ("tests/poly/sets/test_products.py",),
    ),
    Fault(
        "a diagonal counts for the product of its axes", "poly/sets/products.py",
        "        if len(axes) > 1:\n            return None\n", "",
        ("tests/poly/sets/test_products.py",),
    ),
    Fault(
        "parts of a loop find what other parts compute", "poly/tree/times.py",
        "    return same and len((met or meeting(a, b)).loops) >= fresh\n", "    return True\n",
    ),
    Fault(
        "lanes that do not run store", "codegen/build/lanes.py",
        "conjunction(active, s.guard)", "s.guard",
    ),
    Fault(
        "a clone has all elements that an index may be", "poly/model/statements.py",
        "return None if first.within is None else _declared(params, first.within)", "return None",
        ["tests/poly/directives/test_inline.py", "-k", "clone_of"],
    ),
    Fault(
        "copies have no full tiles", "poly/model/model.py",
        "in self.definitions[func][0].tiles:", "in ():", REWRITING,
    ),
    Fault(
        "full tiles are written to outputs", "poly/proof/padding.py",
        "if func in model.program.outputs and not is_private:", "if not model.program.outputs:",
        REWRITING,
    ),
    Fault(
        "full tiles are written over other pieces", "poly/proof/padding.py",
        "for s in model.statements if s.func is func]",
        "for s in model.statements if s.func is func][-1:]", REWRITING,
    ),
    Fault(
        "partial products begin with 0", "poly/program/rewrites.py",
        '"mul": 1', '"mul": 0', REWRITING,
    ),
    Fault(
        "partial results of argmax are merged by value", "poly/program/rewrites.py",
        "better | (even & (at < where))", "better", REWRITING,
    ),
    Fault(
        "nests are bounded as others of the same loops", "poly/nests/alike.py",
        "stage.padding, self._number(stage)", "stage.padding",
        ("tests/poly/nests/test_alike.py",),
    ),
    Fault(
        "threads are not thought to share what is computed", "tune/model/model.py",
        'return LESS * compute / (self.threads if "parallel" in work.kinds else 1)',
        "return LESS * compute", ("tests/tune/test_costs.py",),
    ),
    Fault(
        "copies are those of other loops", "poly/placement/accumulators.py",
        "        tuple([parts[0].coordinates[k] for k in chosen]),\n", "",
        ("tests/poly/placement/test_asked_once.py",),
    ),
    Fault(
        "what users begin with may be a place within", "poly/program/accumulation.py",
        "first <= r.lo.value", "True", REWRITING,
    ),
    Fault(
        "what begins inside is copied in", "poly/placement/accumulators.py",
        'nest(found.read, ".load")', 'nest(found.whole, ".load")', REWRITING,
    ),
    Fault(
        "only what is updated is written back", "poly/placement/accumulators.py",
        'nest(found.whole, ".store")', 'nest(found.read, ".store")', REWRITING,
    ),
    Fault(
        "a layout serves every read", "poly/program/rewrites.py",
        "if self.index is not None and node.index != self.read:", "if self.index == self.read:",
        REWRITING,
    ),
    Fault(
        "partial results are those of one part of a stage", "poly/placement/layouts.py",
        "    whole = statement.domain.intersect_params(context)\n",
        "    whole = statement.domain.intersect_params(context).lexmax()\n", REWRITING,
    ),
    Fault(
        "lanes beyond the end are stored", "codegen/build/lanes.py",
        'return self.stmt(nest.body, None if whole else ix.compare("lt", nest.var, nest.hi))',
        "return self.stmt(nest.body, None)", VECTORS,
    ),
    Fault(
        "an index that may wrap around is bounded by its ends", "poly/sets/lanes.py",
        "return found if is_small(found) and ends(found, var, lanes) is not None else None",
        "return found if ends(found, var, lanes) is not None else None",
        ("tests/codegen/passes/test_wrapped_lanes.py",),
    ),
    Fault(
        "a vector is whole if its first lane is there", "codegen/passes/full_lanes.py",
        "last = self.lanes.count - 1 if (way > 0) == (FAILS_LESS[op] < 0) else 0", "last = 0",
        VECTORS,
    ),
    Fault(
        "a loop's own conditions are tested in front of it", "codegen/passes/hoist_conditions.py",
        "yield from _invariant(body, inside | {var}, around)",
        "yield from _invariant(body, inside, around)",
        VECTORS,
    ),
    Fault(
        "a narrow tile lacks what its first vector needs", "codegen/passes/narrow_tiles.py",
        "        live.update(*(x.loaded for x in found))\n", "        break\n", NARROW_TILES,
    ),
    Fault(
        "lanes that rise tell of those that fall", "codegen/passes/narrow_tiles.py",
        " if falls(x)]", "]", NARROW_TILES,
    ),
    Fault(
        "copies that are left need not be all", "codegen/ir/rolled.py",
        "if same and _is_all(left, int(copies), first):", "if same:",
        ("tests/codegen/ir/test_rolled.py",),
    ),
    Fault(
        "rows in front of one need not be there", "codegen/passes/full_tiles.py",
        "            if known.implies(wanted):\n", "            if True:\n", FULL_TILES,
    ),
    Fault(
        "a row is taken for one under another condition", "codegen/passes/full_tiles.py",
        "if own == rest else None", "", FULL_TILES,
    ),
    Fault(
        "elements that may be one are kept apart", "codegen/passes/promote_accumulators.py",
        "return found if all(a.is_beside(b) for a, b in combinations(found, 2)) else {}",
        "return found", PROMOTED,
    ),
    Fault(
        "an element is kept under one of its conditions", "codegen/passes/promote_accumulators.py",
        "if a.conditions != first.conditions or var in changing", "if var in changing", PROMOTED,
    ),
    Fault(
        "LLVM is thought to know that rows are apart", "codegen/passes/promote_accumulators.py",
        "terms == others and (first == second or axis in fixed)", "terms == others", PROMOTED,
    ),
    Fault(
        "an element is kept where the loop never runs", "codegen/passes/promote_accumulators.py",
        'return If(ix.compare("lt", loop.lo, loop.hi), whole)', "return whole", PROMOTED,
    ),
    Fault(
        "what is kept is looked for in memory", "codegen/passes/promote_accumulators.py",
        "index=tuple(rest), value=value", "index=index, value=value", PROMOTED,
    ),
    Fault(
        "what a tile held goes on to the next one", "codegen/llvm/functions/statements.py",
        'if buffer.kind == "stack":', "if not buffer:", VECTORS,
    ),
    Fault(
        "a mask ends one lane too early", "codegen/llvm/vectors/lane_masks.py",
        "-step * constant + (step < 0)", "-step * constant",
        ("tests/codegen/llvm/test_lane_masks.py",),
    ),
    Fault(
        "an order that is asked for is not kept for private sums", "poly/tree/memory.py",
        "if self.order or len(axes) != 1", "if len(axes) != 1",
        ("tests/codegen/build/test_loop_notes.py",),
    ),
    Fault(
        "what data give to others is written back by threads", "poly/placement/accumulators.py",
        "return not met.intersect_params(context).is_empty()", "return False",
        ("tests/poly/directives/test_accumulate.py",),
    ),
    Fault(
        "data are looked at in the first of several calls alone", "codegen/runtime/call_cache.py",
        "all(are_within(given[k], lo, hi) for", "all(True for",
        ("tests/codegen/runtime/test_call_cache.py",),
    ),
    Fault(
        "a condition of a border is taken to fail though something needs it",
        "poly/sets/borders.py", "n for n in fails - needed if", "n for n in fails if",
        ("tests/poly/sets/test_borders.py",),
    ),
    Fault(
        "a condition of a border is not tested", "codegen/passes/full_lanes.py",
        "return FALSE if fails else TRUE, (test,), False",
        "return FALSE if fails else TRUE, () if fails else (test,), False", GOING_ROUND,
    ),
    Fault(
        "of several conditions the first does not hold where not all do",
        "codegen/passes/hoist_conditions.py", "len(found) == 1 and found[0] in", "found[0] in",
        MEANING,
    ),
    Fault(
        "what choices do otherwise makes no choices", "codegen/ir/simplify.py",
        "return stmt.otherwise or Seq(())", "return general(stmt.otherwise or Seq(()), known)",
        FAR_SIDES,
    ),
    Fault(
        "the border of an axis is a side of its own", "codegen/passes/full_lanes.py",
        "test is None or len(compatible(tests)) < len(tests)", "test is None", FAR_SIDES,
    ),
    Fault(
        "what always and what never holds are tested at once", "codegen/ir/inequalities.py",
        "case Op(op=\"not\", operands=(operand,)):\n            return operand",
        "case Op(op=\"not\"):\n            return None", FAR_SIDES,
    ),
    Fault(
        "a condition on a remainder fails only where it cannot hold",
        "poly/sets/affine_conditions.py", "return Condition(where, False, fails)",
        "return Condition(where, True)", GOING_ROUND,
    ),
    Fault(
        "conditions are equal where they differ", "poly/sets/affine_conditions.py",
        '"eq": lambda frame, x, y: _differ(frame, x, y.negated(frame)),',
        '"eq": lambda frame, x, y: _differ(frame, x, y),',
        ("tests/poly/sets/test_compared_conditions.py",),
    ),
    Fault(
        "what may hold and fail beyond a domain is exact in it",
        "poly/sets/affine_conditions.py",
        "return Condition(pieces.set, True) if holds.is_disjoint(pieces.fails) else found",
        "return Condition(pieces.set, True)", GOING_ROUND,
    ),
    Fault(
        "a quotient is 0 behind the first period", "poly/nests/decided.py",
        "(integer(-1), ix.ZERO, integer(1))", "(integer(-1), ix.ZERO, ix.ZERO)", GOING_ROUND,
    ),
    Fault(
        "a dividend lies in a period that begins at its end", "poly/sets/periods.py",
        "inside = dividend.ge_set(begin)", "inside = dividend.gt_set(begin)",
        ("tests/poly/sets/test_affine.py",),
    ),
    Fault(
        "two periods away counts as near", "poly/sets/periods.py",
        "_times(divisor, LAST + 1)", "_times(divisor, LAST + 2)",
        ("tests/poly/sets/test_affine.py",),
    ),
    Fault(
        "float32s on the stack lie there in pairs", "codegen/llvm/vectors/pair_lanes.py",
        "order = [k // 2 + k % 2 * half for k in range(x.lanes)]", "order = range(x.lanes)",
        ("tests/codegen/llvm/test_pair_lanes.py",),
    ),
    Fault(
        "halves are chosen by conditions in pairs", "codegen/llvm/vectors/pair_lanes.py",
        "dtypes <= _WORDS or dtypes == {bfloat16}", "dtypes <= _WORDS | {bfloat16}",
        ("tests/codegen/llvm/test_pair_lanes.py",),
    ),
    Fault(
        "lanes choose the other arm", "poly/sets/lane_offsets.py",
        "tuple(x if h else y + distance", "tuple(y + distance if h else x",
        ("tests/poly/sets/test_linear.py",),
    ),
    Fault(
        "lanes that go up and down are tested at their least", "codegen/passes/full_lanes.py",
        "found[1 if FAILS_LESS[op] < 0 else 0]", "found[0]", GOING_ROUND,
    ),
    Fault(
        "an endless piece is only found beside the others", "poly/tree/extents.py",
        "visited.n_basic_set() > SEVERAL  # that", "False  # that",
        ("tests/poly/tree/test_extents.py",),
    ),
    Fault(
        "whole periods are one remainder beyond", "poly/sets/periods.py",
        "_times(dividend, found.times).sub(x)", "x.sub(_times(dividend, found.times))",
        ("tests/poly/sets/test_affine.py",),
    ),
    Fault(
        "a multiple of whole periods is one of them", "poly/sets/periods.py",
        "value = _times(begin, found.times)", "value = begin",
        ("tests/poly/sets/test_affine.py",),
    ),
    Fault(
        "a remainder is never negative", "poly/sets/periods.py",
        "return positive.union(negative)", "return positive",
        ("tests/poly/sets/test_affine.py",),
    ),
    Fault(
        "a quotient that is far is not negative", "poly/sets/periods.py",
        "return above.union(below)", "return above",
        ("tests/poly/model/test_periods.py",),
    ),
    Fault(
        "a quotient is on the side of its dividend by a negative divisor", "poly/sets/affine.py",
        "usual, least < 0)", "usual, False)", ("tests/poly/sets/test_unknowns.py",),
    ),
    Fault(
        "a quotient of data is on its side by a negative divisor", "poly/sets/unknowns.py",
        "intervals[node.operands[1]][0] < 0", "False", ("tests/poly/sets/test_unknowns.py",),
    ),
    Fault(
        "bits of a negative number are no farther than that", "poly/sets/unknowns.py",
        "if intervals[e][0] >= 0)", "if True)", ("tests/poly/sets/test_unknowns.py",),
    ),
    Fault(
        "of what is read in an index only the ends of its range are tried", "interp/unknowns.py",
        "[(v, v) for v in range(lo, hi + 1)]", "[(v, v) for v in (lo, hi)]",
        ("tests/interp/test_unknowns.py",),
    ),
    Fault(
        "what is read twice in an index is two numbers", "interp/separate.py",
        "if only[x] == order[x] and", "if only[x] and", ("tests/interp/test_unknowns.py",),
    ),
    Fault(
        "a bound that is read for nothing is not checked", "poly/model/domains.py",
        "read.update((bound, domain) for bound in (r.lo, r.hi))",
        "read.update((bound, domain) for bound in unknown)",
        ("tests/interp/test_unknowns.py",),
    ),
    Fault(
        "an equality is an order wherever it stands", "poly/nests/decided.py",
        "if visited.always(ix.compare(never, *node.operands)) is False:", "if True:",
        ("tests/poly/nests/test_decided.py",),
    ),
    Fault(
        "a remainder may be two periods away", "poly/nests/decided.py",
        "ix.mul(n, integer(2))", "ix.mul(n, integer(3))",
        GOING_ROUND,
    ),
    Fault(
        "full vectors may go round at their last lane", "codegen/passes/full_lanes.py",
        'tests = self._test("ge", a, ix.ZERO), self._test("lt", a, b)',
        'tests = (self._test("ge", a, ix.ZERO),)', GOING_ROUND,
    ),
    Fault(
        "floats of lanes that meet are added in a tree", "codegen/llvm/functions/statements.py",
        "not (alone or lanes.in_order)", "not alone",
        ("tests/codegen/build/test_lanes_in_order.py",),
    ),
    Fault(
        "what one part of a stage writes back is not compared with what another does",
        "poly/placement/accumulators.py", "union_sets(written[1:], written[0])", "written[0]",
        ("tests/poly/directives/test_accumulate.py",),
    ),
    Fault(
        "a part of a vector begins at its first lane", "codegen/llvm/vectors/partial_vectors.py",
        "%at = mul i64 %first, {size}", "%at = mul i64 0, {size}",
        ("tests/codegen/llvm/test_partial_vectors.py",),
    ),
    Fault(
        "a full vector may end behind its buffer", "codegen/llvm/vectors/full_vectors.py",
        "integer(count - 1)), ix.ZERO", "integer(count - 2)), ix.ZERO",
        ("tests/codegen/llvm/test_guards.py",),
    ),
    Fault(
        "a full vector may begin in front of its buffer", "codegen/llvm/vectors/full_vectors.py",
        'b.compare("uge", first, room)', 'b.compare("sge", first, room)',
        ("tests/codegen/llvm/test_guards.py",),
    ),
    Fault(
        "lanes that are not meant are loaded", "codegen/llvm/vectors/full_vectors.py",
        'kept = self._binary("and", self._loaded(self.begin[1]), self._meant())',
        "kept = self._loaded(self.begin[1])",
        ("tests/codegen/llvm/test_partial_vectors.py",),
    ),
    Fault(
        "full vectors are stored to what threads share", "codegen/llvm/vectors/vector_stores.py",
        "if s.buffer not in self.evaluator.own or s.buffer.strided:", "if s.buffer.strided:",
        ("tests/codegen/llvm/test_partial_vectors.py",),
    ),
    Fault(
        "a weaker condition implies a stronger one", "codegen/ir/inequalities.py",
        "self.least.get(t, c + 1) <= c", "t in self.least",
        ("tests/codegen/ir/test_inequalities.py",),
    ),
    Fault(
        "a bound counts as often as the term is negative", "codegen/ir/inequalities.py",
        "least = constant + abs(times) * at", "least = constant + times * at",
        ("tests/codegen/ir/test_inequalities.py",),
    ),
    Fault(
        "of a maximum the known part counts", "codegen/ir/inequalities.py",
        "yield from _sums(parts[known.index(None)])", "yield from _sums(parts[0])",
        ("tests/codegen/ir/test_inequalities.py",),
    ),
    Fault(
        "lanes may exist where a condition does not hold", "codegen/passes/full_tiles.py",
        "first = ix.compare(\"ge\", LANE, ix.ZERO)", "first = condition", FULL_TILES,
    ),
    Fault(
        "functions with as many lines are equal", "codegen/llvm/text/equal_functions.py",
        "return self._normal == other._normal", "return True",
        ("tests/codegen/llvm/test_equal_functions.py",),
    ),
    Fault(
        "concurrent writes may share storage", "poly/placement/overwritten.py",
        'if any(loop.kind == "parallel" for', 'if any(loop.kind == "none" for',
        ("tests/poly/directives/test_fold_storage.py",),
    ),
    Fault(
        "what is done at one index is left out everywhere", "codegen/passes/hoist_conditions.py",
        "                yield elsewhere\n", "                yield elsewhere.operands[0]\n",
        PASSES,
    ),
    Fault(
        "the one index of a condition is left out", "codegen/passes/split_loops.py",
        "return _Stretch([ix.add(index, integer(1))], [])", "return _Stretch([index], [])", PASSES,
    ),
    Fault(
        "pieces are joined where the closing one is first", "poly/directives/pieces.py",
        "(*ours.around, *ours.definition.lhs)", "(*ours.around, *ours.definition.lhs[::-1])",
        ("tests/poly/directives/test_join.py",),
    ),
    Fault(
        "a tile is filled after something has been stored", "codegen/passes/fill_tiles.py",
        "self.fills = whole is not None", "self.fills = True", PASSES,
    ),
    Fault(
        "a tile is filled beyond its end", "codegen/ir/tiles.py",
        "end is not None and 0 <= x < end", "end is not None and 0 <= x", PASSES,
    ),
    Fault(
        "a tile is full though a condition changes while it lives", "codegen/ir/lane_number.py",
        "not has_below(Load, x) and leaves_below(x).isdisjoint(inner)",
        "not has_below(Load, x)", FULL_TILES,
    ),
    Fault(
        "one access says which elements are in a tile", "codegen/ir/tiles.py",
        "self._found[place] = self._found.get(place, held) & held",
        "self._found[place] = self._found.get(place, held) | held", FULL_TILES,
    ),
    Fault(
        "lanes that share an element are all in a tile", "codegen/ir/tiles.py",
        "        if any(terms.values()):\n            return None\n", "", FULL_TILES,
    ),
    Fault(
        "lanes that add to an element are all in a tile", "codegen/ir/tiles.py",
        "if not place.moves:  #", "if False:  #", FULL_TILES,
    ),
    Fault(
        "elements of a tile are looked at in one way", "codegen/ir/tiles.py",
        "if owners.setdefault((place.buffer, element), place) is not place:", "if False:",
        FULL_TILES,
    ),
    Fault(
        "a tile has elements beyond its end", "codegen/ir/tiles.py",
        "end is not None and 0 <= x < end", "end is not None and 0 <= x", FULL_TILES,
    ),
    Fault(
        "a condition of a tile reads what is not there", "codegen/passes/full_tiles.py",
        "return stmt.otherwise is None and not _reads(stmt.condition)",
        "return stmt.otherwise is None", FULL_TILES,
    ),
    Fault(
        "what fills a tile loads what is not there", "codegen/passes/full_tiles.py",
        "[*parts, *(x for x in rest if x not in parts)]", "[]",
        FULL_TILES,
    ),
    Fault(
        "integers are divided for elements beyond a border", "codegen/ir/harmless.py",
        "if isinstance(node, Op) and node.op in _DIVISIONS and not _is_float(node):",
        "if False:", FULL_TILES,
    ),
    Fault(
        "digits of fused loops are taken as they are guessed", "poly/sets/inverse.py",
        "return bool(inverse.is_subset(Map.from_multi_aff(made)))", "return True",
        ("tests/poly/sets/test_inverse.py",),
    ),
    Fault(
        "a read that still happens may be left out", "checking/memory_reads.py",
        "if not any(_may_be(element, *x) for x in left)", "", ("tests/checking/test_check.py",),
    ),
    Fault(
        "a loop without conditions runs once too often", "codegen/passes/split_loops.py",
        "ix.add(ix.floordiv(ix.sub(rest, integer(1)), -step), integer(1))",
        "ix.add(ix.floordiv(ix.sub(rest, integer(1)), -step), integer(2))", VECTORS,
    ),
    Fault(
        "what is fresh in each iteration outlives it", "poly/proof/proof.py",
        "return next((depth or None for _, depth, _ in a.stored(tensor)), None)", "return None",
        ("tests/testing/test_found.py",),
    ),
    Fault(
        "the weakest of some conditions counts", "codegen/ir/inequalities.py",
        "sums[terms] = min(constant, sums.get(terms, constant))",
        "sums[terms] = max(constant, sums.get(terms, constant))", VECTORS,
    ),
    Fault(
        "what is divided may reach the next quotient", "codegen/ir/inequalities.py",
        "constant * int(d) + int(d) - 1)", "constant * int(d) + int(d))",
        ("tests/codegen/ir/test_inequalities.py",),
    ),
    Fault(
        "what is divided is a multiple if its first term is", "poly/sets/lane_offsets.py",
        "any(times % d for times in terms.values())", "next(iter(terms.values()), 0) % d",
        ("tests/poly/sets/test_linear.py",),
    ),
    Fault(
        "floats beyond an integer type are converted", "codegen/llvm/operators/casts.py",
        "        found = np.nextafter(found, source.scalar(0))\n", "        pass\n",
        ("tests/codegen/llvm/test_lanes.py", "-k", "largest"),
    ),
    Fault(
        "a Param is small", "poly/sets/linear.py",
        "        case Var() | Size():\n            return _MOST",
        "        case _ if type(node).__name__ in 'Var Size Param':\n            return _MOST",
        VECTORS,
    ),
    Fault(
        "conditions that hold in some iterations hold in all", "poly/nests/decided.py",
        "self.where.is_subset(found.set)", "not self.where.is_disjoint(found.set)", VECTORS,
    ),
    Fault(
        "conditions on data hold always", "poly/nests/decided.py",
        "            if found.exact:", "            if True:",
        ("tests/poly/nests/test_decided.py",),
    ),
    Fault(
        "an element near another is one further", "codegen/llvm/vectors/vector_loads.py",
        "at = [k - first - start for k in pattern.offsets]",
        "at = [min(k - first - start + 1, size - 1) for k in pattern.offsets]", VECTORS,
    ),
    Fault(
        "what was stored two iterations ago is carried as what was stored last",
        "codegen/passes/carry_values.py",
        "Load(names[store], (integer(back - 1),), None, load.type)",
        "Load(names[store], (integer(0),), None, load.type)", CARRIED,
    ),
    Fault(
        "what is carried may have been overwritten", "codegen/passes/carry_values.py",
        "return (s, back) if all(_is_disjoint(s, o, var) for o in others) else None",
        "return (s, back)", CARRIED,
    ),
    Fault(
        "what differs in one iteration differs in all", "codegen/passes/carry_values.py",
        "distance = (first - second) % step if step else first - second",
        "distance = first - second", CARRIED,
    ),
    Fault(
        "values are carried where the loop changes its bounds", "codegen/passes/carry_values.py",
        "(*bounds, *(x for s in stores for x in s.index))", "(x for s in stores for x in s.index)",
        MEANING,
    ),
    Fault(
        "planes that share storage are disjoint", "codegen/passes/carry_values.py",
        "    if s.buffer.fold is not None:\n        return False\n", "", MEANING,
    ),
    Fault(
        "stores are joined whatever they read", "codegen/passes/join_stores.py",
        "if len(run) > 1 and not _reads_what_it_stores(run):", "if len(run) > 1:",
        ("tests/codegen/passes/test_join_stores.py",),
    ),
    Fault(
        "whatever is long is a copy", "codegen/passes/join_stores.py",
        "        and _operators(mine.value) == _operators(others.value)\n", "",
        ("tests/codegen/passes/test_join_stores.py",),
    ),
    Fault(
        "vectors that interleave are stored in another order",
        "codegen/llvm/vectors/interleaved_stores.py",
        "_network(b, values[::2]), _network(b, values[1::2])",
        "_network(b, values[: len(values) // 2]), _network(b, values[len(values) // 2 :])",
        ("tests/codegen/passes/test_join_stores.py",),
    ),
    Fault(
        "loops that change their bounds are split", "codegen/passes/split_loops.py",
        "        if any(isinstance(n, Load) and n.buffer in changed for n in bounds):\n",
        "        if False:\n", MEANING,
    ),
    Fault(
        "conditions on what a loop changes are tested in front of it",
        "codegen/passes/hoist_conditions.py",
        "has_below(Load, condition) or not", "not", MEANING,
    ),
    Fault(
        "a copy of another step is one more iteration", "codegen/ir/copies.py",
        "start + number * step)", "start + number)", ROLLED,
    ),
    Fault(
        "copies of what is in registers become a loop", "codegen/passes/roll_borders.py",
        " and self.in_registers.isdisjoint(stored | loaded)", "", ROLLED,
    ),
    Fault(
        "an expression of any value is an index of a copy", "codegen/ir/copies.py",
        "or _parted(node) != (base, start + number * step)", "", ROLLED,
    ),
    Fault(
        "copies may differ in their operators", "codegen/ir/copies.py",
        " and b.with_args(a.args) is a", "", ROLLED,
    ),
    Fault(
        "copies that load what they store become a loop", "codegen/passes/roll_borders.py",
        "return stored.isdisjoint(loaded) and self", "return self", ROLLED,
    ),
    Fault(
        "copies of a full tile become a loop", "codegen/passes/roll_borders.py",
        "case Seq(parts=parts) if at_border:", "case Seq(parts=parts):", ROLLED,
    ),
    Fault(
        "a version is left out for one that limits indices", "codegen/ir/versions.py",
        "not any(found) and _limits(some) == _limits(every)", "not any(found)", FULL_TILES,
    ),
    Fault(
        "a border chooses full tiles once more", "codegen/passes/full_tiles.py",
        "other = _failing(other, frozenset(conjuncts(c)))", "pass", FULL_TILES,
    ),
    Fault(
        "versions of a tile share storage", "codegen/passes/hoist_conditions.py",
        'if b.kind == "stack" and not _is_called(stmt, b)', "if False", PASSES,
    ),
    Fault(
        "what never runs is a condition of full tiles", "codegen/passes/fold_constants.py",
        "body=pruned(f.body)", "body=f.body", FULL_TILES,
    ),
    Fault(
        "loops around determine no quotients", "poly/sets/hulls.py",
        "where = coalesced(where.detect_equalities())", "pass",
        ("tests/poly/placement/test_placement_orders.py",),
    ),
    Fault(
        "lanes of the next register are those of this one",
        "codegen/llvm/vectors/overlapping_loads.py",
        "else LANES + x - high for", "else x - low - LANES for", OVERLAPPING,
    ),
    Fault(
        "lanes that are stored backwards are not turned", "codegen/llvm/vectors/vector_stores.py",
        " or self._step(s) != 1:", ":", OVERLAPPING,
    ),
    Fault(
        "a summand of fma has no brackets where it is shown", "show/rich/formulas.py",
        "least = 60, 61, 51", "least = 60, 61, 0", ("tests/show/rich/test_formulas.py",),
    ),
    Fault(
        "lanes that read each other run one after the other", "codegen/passes/full_lanes.py",
        "lanes) is not None or not is_independent(stmt):", "lanes) is not None:", MEANING,
    ),
    Fault(
        "the least of two zeros is the positive one", "codegen/llvm/operators/extrema.py",
        "b.binary(\"or\", first, second)", "b.binary(\"and\", first, second)", EXTREMES,
    ),
    Fault(
        "the largest of NaN and a number is any", "codegen/llvm/operators/extrema.py",
        "b.binary(\"or\", b.binary(\"and\", first, second), unordered)",
        "b.binary(\"and\", first, second)", EXTREMES,
    ),
    Fault(
        "the largest of two zeros is the negative one", "codegen/llvm/operators/extrema.py",
        "_MAJORITY = 0xE8", "_MAJORITY = 0xFC", EXTREMES,
    ),
    Fault(
        "the least of all lanes is that of some", "codegen/llvm/operators/extrema.py",
        "(0, x.lanes - half)", "(0, 0)", EXTREMES,
    ),
    Fault(
        "lanes behind the end go round to the beginning", "codegen/passes/border_loads.py",
        "(ix.sub(at, period), behind)", "(ix.add(at, period), behind)", BORDERS,
    ),
    Fault(
        "an index goes round as often as it likes", "codegen/passes/border_loads.py",
        "        if needed is None:\n", "        if True:\n", BORDERS,
    ),
    Fault(
        "what is beyond a border is loaded whether or not it is there",
        "codegen/passes/border_loads.py", "ix.ONE), *_room(beyond)", "ix.ONE)", BORDERS,
    ),
    Fault(
        "what is turned round is not", "codegen/llvm/text/shuffles.py",
        "    return list(reversed(range(lanes)))\n", "    return list(range(lanes))\n", VECTORS,
    ),
    Fault(
        "strided loads read beyond the last lane", "codegen/llvm/vectors/vector_loads.py",
        "starts = list(dict.fromkeys([*range(0, most + 1 - size, size), most - size]))",
        "starts = list(range(0, most, size))", VECTORS,
    ),
    *(
        Fault(
            f"{name} does nothing", "poly/directives/apply.py",
            "    made = e.directive.edit(e)\n",
            "    before = e.state, e.tree, e.rewritten\n    made = e.directive.edit(e)\n"
            f'    if e.directive.name == "{name}":\n'
            "        e.state, e.tree, e.rewritten = before\n",
            (f"tests/poly/directives/test_{TESTED_IN.get(name, name)}.py",),
        )
        for name in directives()
    ),
    *(
        Fault(
            f"the pass {name} does nothing", f"codegen/passes/{name}.py",
            f"def {name}(module: Module) -> Module:\n",
            f"def {name}(module: Module) -> Module:\n    return module\n",
            (f"tests/{PASSES_TESTED_IN.get(name, 'codegen/passes/test_passes')}.py",),
        )
        for name in passes()
    ),
    Fault(
        "the places of a tile are reversed beside it", "poly/directives/mapping.py",
        "(at.loop.full_tile or (found.pop() if len(found) == 1 else 0)) - 1", "-1",
        ("tests/poly/directives/test_reverse.py",),
    ),
    Fault(
        "a loop that is reversed twice moves", "poly/directives/mapping.py",
        "ix.wrapped(about - offset - int(value))", "ix.wrapped(about - offset + int(value))",
        ("tests/poly/directives/test_reverse.py",),
    ),
    Fault(
        "distances are of unsigned numbers", "codegen/llvm/operators/instructions.py",
        'above = b.compare("sgt" if x.dtype.kind == "i" else "ugt", x, y)',
        'above = b.compare("ugt", x, y)', ("tests/lang/test_2_distances.py",),
    ),
    Fault(
        "distances of indices may be negative", "poly/sets/affine_operators.py",
        "a.sub(b).max(b.sub(a))", "a.sub(b)", ("tests/lang/test_2_distances.py",),
    ),
    Fault(
        "native calls do not look at strides", "codegen/llvm/calls/call_arguments.py",
        "  %equals = and i1 %same.extent, %same.stride",
        "  %equals = and i1 %same.extent, %same.extent", NATIVE_CALLS,
    ),
    Fault(
        "native calls do not look at dtypes", "codegen/llvm/calls/call_arguments.py",
        "  %both = and i1 %same.dtype, %same.rank",
        "  %both = and i1 %same.rank, %same.rank", NATIVE_CALLS,
    ),
    Fault(
        "native calls write to what is read-only", "codegen/runtime/call_record.py",
        "ALIGNED | (WRITEABLE if is_written else 0)", "ALIGNED", NATIVE_CALLS,
    ),
    Fault(
        "native calls let arrays overlap", "codegen/llvm/calls/call_arguments.py",
        "  br i1 %disjoint, label %next, label %no", "  br label %next", NATIVE_CALLS,
    ),
    Fault(
        "native calls share memory with calls that run", "codegen/llvm/calls/call_entry.py",
        "  %can = or i1 %idle, %dry", "  %can = or i1 true, %dry", NATIVE_CALLS,
    ),
    Fault(
        "native calls do not ask how many threads they may use", "codegen/runtime/native_calls.py",
        '"asks": int(any(r.asks for r in current))', '"asks": 0', NATIVE_CALLS,
    ),
    Fault(
        "native calls take any float for one with limits", "codegen/runtime/preconditions.py",
        " and (x.min, x.max) == (None, None)", "", NATIVE_CALLS,
    ),
    Fault(
        "native calls take any float for one that is required to be something",
        "codegen/runtime/preconditions.py",
        "for n in free if n not in used", "for n in free", NATIVE_CALLS,
    ),
    Fault(
        "native calls round floats to infinity", "codegen/llvm/calls/call_arguments.py",
        "  br i1 %overflows, label %no, label %kept", "  br label %kept", NATIVE_CALLS,
    ),
    Fault(
        "records are kept in a forked process", "codegen/runtime/python_api.py",
        '        self._words[PYTHON["epoch"] // 8] += 1', "        pass", NATIVE_CALLS,
    ),
    Fault(
        "results of native calls are not held", "codegen/llvm/calls/call_results.py",
        "given:\n  call void %hold(ptr %only)\n", "given:\n", NATIVE_CALLS,
    ),
    Fault(
        "lanes that are not there add what they have", "codegen/llvm/vectors/folds.py",
        "            each = b.select(mask, each, neutral)\n", "", VECTORS,
    ),
    Fault(
        "a refused reduction leaves the dtype that it read", "lang/tensors/define.py",
        "            self._seen = seen\n", "            pass\n",
        ("tests/lang/test_2_2_own_reductions.py",),
    ),
    Fault(
        "a Param without a range is named where a range would not help",
        "poly/sets/missing_ranges.py",
        "    if not _is_affine_with(frame, roots, far):\n        return None\n", "",
        ("tests/lang/test_1_2_params.py",),
    ),
    Fault(
        "a float Param holds what is rounded to infinity", "lang/expr/param_limits.py",
        "- (1 << (t.format.bias - t.format.precision))", "+ 0",
        ("tests/lang/test_1_names.py",),
    ),
    Fault(
        "arguments go in the order of first reading", "lang/program/program.py",
        "return sorted(self.first_read(), key=lambda argument: argument.serial)",
        "return self.first_read()", ("tests/lang/test_1_4_order.py",),
    ),
    Fault(
        "an InOut was made behind its Inputs", "lang/tensors/inout.py",
        "self.span = array.span\n", "self.span, self.serial = array.span, 2**60 + self.serial\n",
        ("tests/lang/test_1_4_order.py",),
    ),
    Fault(
        "schedules of format 1 are read as those of format 2", "poly/schedule/serial.py",
        "if self.format == 1 else None", "if self.format == 0 else None",
        ("tests/poly/schedule/test_serial.py",),
    ),
    Fault(
        "who has said an order of arguments is digested", "poly/schedule/written.py",
        "comments=False, args=False", "comments=False", ("tests/lang/test_digest.py",),
    ),
    Fault(
        "IR is made for loggers that do not want it", "steps.py",
        "known is not None and known[1].isEnabledFor(DEBUG)", "True",
        ("tests/show/test_logger.py",),
    ),
    Fault(
        "reports break where a variable is wrong", "show/system.py",
        "    except ValueError as error:\n        return str(error)",
        "    except OSError as error:\n        return str(error)", ("tests/show/test_system.py",),
    ),
    Fault(
        "instructions behind a loop are of its body", "codegen/llvm/text/locations.py",
        "        self._change(before, len(text))", "        pass",
        ("tests/codegen/llvm/test_locations.py",),
    ),
    Fault(
        "statements that stand twice have one line", "codegen/llvm/machine/listed.py",
        "return replace(stmt) if made is stmt else made", "return made",
        ("tests/codegen/llvm/test_locations.py",),
    ),
    Fault(
        "loops with loops inside are innermost", "show/reporting/code_loops.py",
        "if head in around:", "if False:", ("tests/show/reporting/test_code_facts.py",),
    ),
    Fault(
        "a loop that is entered beside the one inside is innermost",
        "show/reporting/code_loops.py", "found |= entries", "found.add(min(circle))",
        ("tests/show/reporting/test_code_facts.py",),
    ),
    Fault(
        "reloads within instructions are no reloads", "show/reporting/assembly.py",
        "(Folded )?(Spill|Reload)", "(Spill|Reload)", ("tests/show/reporting/test_code_facts.py",),
    ),
    Fault(
        "a measured call changes the caller's InOuts", "show/reporting/measure.py",
        "copy = _like(array)", "copy = array",
        ("tests/show/reporting/test_report.py",),
    ),
    Fault(
        "a loop is linked to loops of its name in other nests", "show/reporting/nest_links.py",
        "return tuple(line for line in lines if line in chained)", "return tuple(lines)",
        ("tests/show/reporting/test_nest_links.py",),
    ),
    Fault(
        "a recurrence waits for all that it computes", "tune/model/work.py",
        "s.waiting or tuple(s.operations.items())", "tuple(s.operations.items())",
        ("tests/tune/test_newcomers.py",),
    ),
    Fault(
        "a report that fails leaves half a file", "show/parts/place.py",
        "        part.unlink(missing_ok=True)", "        pass",
        ("tests/show/reporting/test_report.py",),
    ),
    Fault(
        "any text is a tail for type checkers", "poly/schedule/handles/loops.py",
        'tail: Tail = "auto"', 'tail: str = "auto"', ("tests/annotations/test_annotations.py",),
    ),
    Fault(
        "type checkers take every name to be there", "__init__.py",
        "if not TYPE_CHECKING:  # a type checker", "if True:  # a type checker",
        ("tests/annotations/test_annotations.py",),
    ),
    Fault(
        "a refusal in other words loses its code", "lang/errors/errors.py",
        "directive=directive, code=self.code,", "directive=directive,", CODES,
    ),
    Fault(
        "the code of an error is that of the outermost function", "lang/errors/codes.py",
        "                return found", "                return made_in(frame.f_back) or found",
        CODES,
    ),
    Fault(
        "a code is explained by the first section of its family", "show/explained.py",
        'part.startswith(f"{code}: ")', "part.startswith(code[:4])",
        ("tests/show/test_explained_pages.py",),
    ),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """1 if a fault was not found."""
    parser = argparse.ArgumentParser(description="Plants faults, which the tests must find.")
    parser.add_argument("words", nargs="*", help="of their names; all faults without any")
    parser.add_argument("--some", type=int, metavar="COUNT", help="so many of them")
    parser.add_argument("--by", default="0", metavar="COMMIT", help="chooses which ones")
    given = parser.parse_args(arguments)
    chosen = [f for f in FAULTS if not given.words or any(w in f.name for w in given.words)]
    if given.some is not None:
        chosen = some(chosen, given.some, given.by)
    missed = []
    for fault in chosen:
        start = time.monotonic()
        found = by_which_test(fault)
        seconds = time.monotonic() - start
        print(f"{seconds:5.0f} s  {fault.name}: {found or 'NOT FOUND'}", flush=True)
        if found is None:
            missed.append(fault.name)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} faults found")
    return int(bool(missed))


def some(faults: Sequence[Fault], count: int, commit: str) -> list[Fault]:
    """A number of faults in a row, the first one chosen by a commit, in hexadecimal digits."""
    first = int(commit[:7], 16) % len(faults)
    return [*faults[first:], *faults[:first]][:count]


NOTHING_RAN = (4, 5)
"""How pytest exits where it does not know a file, or no test is left: that finds nothing."""


def by_which_test(fault: Fault) -> str | None:
    """The first test that fails with a fault; None if all pass."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "polysched"
        shutil.copytree(ROOT / "sched", package, ignore=shutil.ignore_patterns("__pycache__"))
        plant(fault, package)
        path = os.pathsep.join([folder, str(ROOT / "tests")])
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pytest", *fault.tests, "-x", "-q",
             "-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE"],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    if done.returncode == 0:
        return None
    if done.returncode in NOTHING_RAN:
        raise SystemExit(f"{fault.name}: {done.stdout}{done.stderr}")
    failed = [w for w in done.stdout.splitlines() if w.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else done.stdout + done.stderr


def plant(fault: Fault, package: Path) -> None:
    """Puts a fault into a copy of the package."""
    path = package / fault.file
    text = path.read_text()
    if text.count(fault.old) != 1:
        raise SystemExit(f"{fault.name}: {fault.file} has changed, mend the fault's text")
    path.write_text(text.replace(fault.old, fault.new))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
