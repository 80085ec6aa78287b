"""A finding as a program to read and to run: it prints PASS or FAIL and exits with 0 or 1."""

from __future__ import annotations

import json
import pprint
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

import polysched as ps
from polysched.lang.program.program import Program

from .calls import Call, make_calls
from .limits import ADDRESSES, KILLED, SECONDS
from .outcomes import Finding
from .programs import Case
from .scheduled import PRELUDE, Scheduled

_FRAME = '''"""{title}

{text}
"""

import resource
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import numpy as np

import polysched as ps


@contextmanager
def timed():
    """What takes longer is a fault."""
    start = time.process_time()
    yield
    assert time.process_time() - start < {seconds}, time.process_time() - start


def flat(x):
    return [a for y in x for a in flat(y)] if isinstance(x, tuple) else [x]


def same(found, wanted):
    """To the bit, but that all NaNs are equal."""
    return all(map(alike, flat(found), flat(wanted)))


def alike(found, wanted):
    equal = np.array_equal(found, wanted, equal_nan=wanted.dtype.kind in "fV")
    return equal and bool((np.signbit(found) == np.signbit(wanted))[wanted == 0].all())


def inside():
{body}


if sys.argv[1:] == ["inside"]:
    resource.setrlimit(resource.RLIMIT_CPU, ({killed}, {killed}))
    resource.setrlimit(resource.RLIMIT_AS, ({addresses}, {addresses}))
    inside()
else:
    failed = subprocess.call([sys.executable, "-P", __file__, "inside"]) != 0
    print("FAIL" if failed else "PASS")
    sys.exit(failed)
'''


def plain(case: Scheduled | Case, finding: Finding) -> str:
    """With nothing but the library; arguments are ordinary arrays."""
    scheduled = case if isinstance(case, Scheduled) else _of_variant(case, finding.variant)
    checks = "checks=True, " if "checked" in finding.variant else ""
    body = [*_setup(scheduled), *_finished(scheduled, checks)]
    calls = _calls(scheduled.program) if finding.call else []
    for call in [c for c in calls if c.label == finding.call] or calls:
        body += _called(scheduled.program, call, checks, finding)
    return _frame(finding, body)


def walled(experiment: str, case: Any, finding: Finding) -> str:
    """By the fuzzer itself, with arrays between walls; run in the project's root."""
    body = [
        'sys.path.insert(0, "tests")',
        "from fuzz.worker import Worker",
        f"case = {pprint.pformat(json.dumps(case.to_dict()), width=90)}",
        f"with Worker({experiment!r}) as worker:",
        "    found = worker.run(worker.experiment.read(__import__('json').loads(case)))",
        "assert not found.findings, found.findings",
    ]
    return _frame(finding, body)


def _frame(finding: Finding, body: list[str]) -> str:
    said = finding.text.replace("\\", "\\\\").replace('"""', "'''")
    where = f" at {finding.call}" if finding.call else ""
    return _FRAME.format(
        title=f"{finding.kind}{where}", text=said[:2000], seconds=SECONDS, killed=4 * KILLED,
        addresses=ADDRESSES, body=textwrap.indent("\n".join(body), "    "),
    )  # fmt: skip


def _of_variant(case: Case, variant: str) -> Scheduled:
    return Scheduled(case, "written" not in variant)


def _setup(case: Scheduled) -> list[str]:
    """The program and the schedule; what is refused is passed."""
    lines = [PRELUDE, *case.program.source.splitlines(), case.head]
    for text in case.steps:
        lines += ["with timed(), suppress(ps.LanguageError, ps.ScheduleError):", f"    {text}"]
    return lines


def _finished(case: Scheduled, checks: str) -> list[str]:
    """It can be printed, compiled, written and read again."""
    lines = []
    for text in ("str(s)", "s.explain()", f"kernel = s.compile({checks})"):
        lines += ["with timed():", f"    {text}"]
    outputs = _tuple(case.program.outputs)
    return [*lines, f"assert ps.Schedule.from_json({outputs}, s.to_json()) == s"]


def _tuple(names: Sequence[str]) -> str:
    return f"({''.join(f'{name}, ' for name in names)})"


def _calls(case: Case) -> list[Call]:
    """None where the program makes trouble."""
    names: dict[str, Any] = {"ps": ps, "np": np}
    try:
        exec(f"{PRELUDE}\n{case.source}", names)
        return make_calls(case, Program(tuple(names[o] for o in case.outputs)))
    except Exception:
        return []


def _called(case: Case, call: Call, checks: str, finding: Finding) -> list[str]:
    outputs = _tuple(case.outputs)
    arrays = {k: _array(a) for k, a in call.plain().items() if isinstance(a, np.ndarray)}
    scalars = {k: _number(v) for k, v in call.plain().items() if not isinstance(v, np.ndarray)}
    given = ", ".join(f"{k}={v}" for k, v in {**scalars, **arrays}.items())
    lines = [
        f"def given(): return dict({given})",
        f"found, wanted = kernel(**given()), ps.interpret({outputs}, {checks}**given())",
        "assert same(found, wanted), f'{found} instead of {wanted}'",
    ]
    if finding.variant == "fixed":
        sizes = ", ".join(f"{k}={v}" for k, v in call.sizes.items())
        lines += [f"found = s.compile({sizes})(**given())",
                  "assert same(found, wanted), f'{found} instead of {wanted}'"]  # fmt: skip
    return lines


def _array(array: Any) -> str:
    """As text, with names for numbers that have no digits."""
    if array.dtype.name == "bfloat16":  # which NumPy has no name for
        numbers = array.astype(np.float32).tolist()
        return f"ps.bfloat16.array({_number(numbers)}).reshape({array.shape})"
    return f"np.array({_number(array.tolist())}, np.{array.dtype.name}).reshape({array.shape})"


def _number(value: Any) -> str:
    return repr(value).replace("inf", "np.inf").replace("nan", "np.nan")
