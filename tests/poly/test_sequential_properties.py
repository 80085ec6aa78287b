"""Random programs of blocks, three ways: native, interpreted, and simulated from the contract.

More of them: `python -P tests/poly/test_sequential_properties.py 0 5000` runs these seeds and
counts what happens to them.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import polysched as ps
from poly.block_meaning import Array, State, run
from poly.block_programs import Generator, Program
from polysched.testing.choices import Choices

SIZES = [(3, 2), (0, 0), (1, 1), (4, 3), (2, 0), (0, 2), (2, 5)]
LAYOUTS = ("plain", "reversed", "strided")
#: Beginnings of what the language may refuse about these programs, by kind.
REFUSALS = (
    "depends on the order of its Vars", "is complete since it was used", "which value of",
    "has a pure definition already", "fresh in each iteration", "nothing says where",
    "out of bounds for all sizes", "reads the final value of", "could not be proven",
    "needs itself", "cannot be proven", "at an index that depends on data",
    "has no bounds along axis", "in an update of",
)  # fmt: skip


def arguments(p: Program, sizes: dict[str, int], rng: np.random.Generator) -> dict[str, Any]:
    """An array for each Input and InOut."""
    found = {}
    for name, (dtype, extents) in (*p.inputs.items(), *p.inouts.items()):
        shape = tuple(sizes[e[1]] for e in extents)
        found[name] = rng.integers(-9 if dtype[0] == "i" else 0, 10, shape).astype(dtype)
    return found


def laid_out(a: np.ndarray, layout: str) -> np.ndarray:
    """A copy that may be written."""
    if layout == "reversed":
        return a[::-1].copy()[::-1]
    if layout == "strided":
        return np.repeat(a, 2, axis=-1)[..., ::2]
    return a.copy()


def simulated(p: Program, sizes: dict[str, int], given: dict[str, np.ndarray]) -> State:
    """All tensors after the program has run."""
    state: State = {}
    for name, a in given.items():
        for each in (name, f"{name}.initial"):
            state[each] = Array(a.dtype.name, a.shape, {k: int(a[k]) for k in np.ndindex(a.shape)})
    for d in p.starts:
        run((d,), state, dict(sizes))
        made = state[d.name]
        if d.name in p.funcs:
            assert isinstance(made, Array)
            state[d.name] = narrow = Array(p.funcs[d.name][0], made.shape, dict(made.values))
            for point, v in made.values.items():
                narrow[point] = v
    run(tuple(p.body), state, dict(sizes))
    state.update((f"{name}.final", state[name]) for name in p.inouts)
    run(tuple(p.readers), state, dict(sizes))
    return state


def check(choices: Choices, seed: int, counts: Counter[str]) -> None:
    """Compares a program at all sizes; `counts` says what happened to it."""
    p = Generator(choices).program()
    names: dict[str, Any] = {"ps": ps}
    try:
        exec(p.text(), names)
        outputs = tuple(names[o] for o in p.outputs)
        schedule = ps.Schedule(outputs) if seed % 2 else ps.Schedule.default(outputs)
        kernel = schedule.compile()
    except ps.LanguageError as error:
        kind = next((words for words in REFUSALS if words in str(error)), None)
        if kind is None:
            raise AssertionError(f"refused in\n{p.text()}") from error
        counts[kind] += 1
        return
    counts["accepted"] += 1
    rng = np.random.default_rng(seed)
    for rows, columns in SIZES:
        sizes = {"n": rows, "m": columns}
        _check_at(p, schedule.program, kernel, outputs, sizes, arguments(p, sizes, rng), counts)


def _check_at(
    p: Program, program: Any, kernel: Any, outputs: tuple[ps.Func, ...], sizes: dict[str, int],
    data: dict[str, np.ndarray], counts: Counter[str],
) -> None:  # fmt: skip
    """One call of each kind; what is read out of bounds must be refused."""
    state = simulated(p, sizes, data)
    wanted = {f.name: state[f.name] for f in program.outputs}
    inside = all(isinstance(t, Array) and t.is_whole for t in wanted.values())
    taken = {t.name for t in program.inputs}
    changed = {f.name for f in program.inouts}
    where = f"at {sizes} of\n{p.text()}\n{p.outputs}"
    ran = []
    for layout, call in zip(
        LAYOUTS, (kernel, lambda **a: ps.interpret(outputs, **a), kernel), strict=True
    ):
        given = {
            name: laid_out(a, layout if name in changed else "plain")
            for name, a in data.items()
            if name in taken
        }
        try:
            found = call(**given, **{s: sizes[s] for s in program.free_sizes()})
        except (ps.CallError, ps.LanguageError):
            counts[
                "refused at a size" if not inside else "refused at a size for values unread"
            ] += 1
            ran.append(False)
            continue
        ran.append(True)
        if not inside:
            assert call is not kernel, f"out of bounds, and accepted {where}"
            continue
        for (name, tensor), a in zip(wanted.items(), _tuple(found), strict=True):
            expected = np.array([tensor.values[q] for q in np.ndindex(a.shape)], dtype=object)
            np.testing.assert_array_equal(
                a.astype(object), expected.reshape(a.shape), err_msg=f"{layout} {name} {where}"
            )
    native, interpreted, strided = ran
    assert native == strided, where
    assert interpreted or not native, f"the interpreter alone refuses {where}"


def _tuple(found: Any) -> tuple[np.ndarray, ...]:
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 40, 80])
def test_programs_mean_what_the_contract_says(first: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(first, first + 40):
        check(Choices.from_seed(seed), seed, counts)
    assert counts["accepted"] >= 25, counts


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.data(), st.integers(0, 1 << 16))
def test_any_program_means_what_the_contract_says(data: st.DataObject, seed: int) -> None:
    drawn = Choices(lambda count: data.draw(st.integers(0, count - 1)))
    check(drawn, seed, Counter())


def main(first: int, last: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(first, last):
        try:
            check(Choices.from_seed(seed), seed, counts)
        except Exception as error:
            counts["FAILED"] += 1
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
    for kind, count in counts.most_common():
        print(count, kind)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
