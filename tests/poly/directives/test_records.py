"""Records of directives check themselves: one that is malformed is refused from JSON as from
handles, with the directive and the field by name, and leaves the schedule as it was."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from mutations.run import FAULTS

import polysched as ps
from polysched.poly.schedule.stages import StageHandle
from polysched.poly.state.record import KINDS, Directive, from_json
from polysched.testing import directives as drawn, rewriting
from polysched.testing.choices import Choices

DOCS = Path(__file__).resolve().parents[3] / "docs" / "directives"

n, m = ps.sizes("n m")
i, j = ps.vars("i j")

MISSING = object()
"""An option that is not given, where all others are."""


def pipeline() -> ps.Schedule:
    """`f` is read by `g`, which accumulates. It is proven once."""
    return _proven_pipeline().copy()


@cache
def _proven_pipeline() -> ps.Schedule:
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
    r = ps.RVar("r", 0, n)
    f[i, j] = i + j
    g[i, j] = f[i, j] * 2
    g[i, j] += f[r, j]
    s = ps.Schedule(g)
    s["f"].compute_root()
    return s


AT_LEAST_ONE = {
    "op": "ge", "of": [{"symbol": "n"}, {"const": 1, "type": "int64"}], "type": "bool",
}  # fmt: skip
BELOW_FOUR = {
    "op": "lt", "of": [{"var": "i"}, {"const": 4, "type": "int64"}], "type": "bool",
}  # fmt: skip

#: One record of each kind that says something of the pipeline: options as in JSON.
GIVEN: dict[str, tuple[str, dict[str, Any]]] = {
    "accumulate_at": ("g.update(0)", {"loop": "j"}),
    "align_bounds": ("g", {"loop": "i", "factor": 4}),
    "align_storage": ("f", {"axis": 0, "multiple": 4}),
    "assume": ("", {"condition": AT_LEAST_ONE}),
    "atomic": ("g.update(0)", {}),
    "bound": ("g", {"loop": "i", "extent": 8}),
    "clone_in": ("f", {"consumer": "g"}),
    "compute_at": ("f", {"consumer": "g", "loop": "i"}),
    "compute_inline": ("f", {}),
    "compute_root": ("f", {}),
    "compute_with": ("g", {"other": "g.update(0)", "loop": "i", "shift": 0}),
    "fission": ("g", {"loop": "i", "after": "f"}),
    "fold_storage": ("f", {"axis": 0, "planes": 2}),
    "fuse": ("g", {"outer": "i", "inner": "j", "name": "k"}),
    "join": ("g", {}),
    "parallel": ("g", {"loop": "i"}),
    "partition": ("g", {"condition": BELOW_FOUR}),
    "peel": ("g", {"loop": "i", "first": 1, "last": 1}),
    "prefetch": ("g", {"tensor": "f", "loop": "i", "distance": 1}),
    "reassociate": ("g.update(0)", {}),
    "rename": ("g", {"loop": "i", "name": "k"}),
    "reorder": ("g", {"loops": ["j", "i"]}),
    "reorder_storage": ("f", {"axes": [1, 0]}),
    "reverse": ("g", {"loop": "i"}),
    "rfactor": ("g.update(0)", {"loop": "r"}),
    "shift": ("g", {"loop": "i", "by": 1}),
    "skew": ("g", {"outer": "i", "inner": "j", "factor": 1, "name": "k"}),
    "split": ("g", {"loop": "i", "factor": 4, "names": ["a", "b"], "tail": "guard"}),
    "stage": ("g", {"tensor": "f", "at": "i", "layout": ["i", "j"], "pad": False}),
    "store_at": ("f", {"consumer": "g", "loop": "i"}),
    "store_in": ("f", {"place": "heap"}),
    "store_root": ("f", {}),
    "stream": ("g", {}),
    "transform": ("g", {"loops": ["i"], "values": [{"var": "#0"}], "names": ["k"]}),
    "unroll": ("g", {"loop": "i"}),
    "vectorize": ("g", {"loop": "i"}),
}  # fmt: skip


def step(kind: str, /, **changed: Any) -> dict[str, Any]:
    """A step of JSON with some options changed."""
    stage, options = GIVEN[kind]
    said = {k: v for k, v in {**options, **changed}.items() if v is not MISSING}
    return {"directive": {"stage": stage, "name": kind, "options": said}, "trust": None}


def replay(s: ps.Schedule, said: Any) -> ps.Schedule:
    """The schedule with one more step, from JSON."""
    data = json.loads(s.to_json())
    data["steps"].append(said)
    return ps.Schedule.from_json(s.program.outputs, json.dumps(data))


def test_a_record_of_each_kind_is_given() -> None:
    assert GIVEN.keys() == KINDS.keys()
    for name, (_, options) in GIVEN.items():
        known = {f.metadata.get("called") or f.name for f in KINDS[name].declared()}
        assert options.keys() == known, name


def test_each_number_says_how_small_it_may_be() -> None:
    assert {(d, o) for d, o, _, _ in NUMBERS} == set(_given(int))


# malformed ----------------------------------------------------------------------------------------
HUGE = 2**40 + 1


def _given(kind: type) -> list[tuple[str, str]]:
    """The options of all directives whose values in JSON are of a type."""
    return [(d, o) for d, (_, said) in GIVEN.items() for o, x in said.items() if type(x) is kind]


NAMES = _given(str)
"""What stands for a loop, a stage or a tensor, and words."""
NUMBERS = [  # with the smallest that they may be, and what they are called
    ("align_bounds", "factor", 1, "factor"), ("align_storage", "axis", None, "axis"),
    ("align_storage", "multiple", 1, "multiple"), ("bound", "extent", 1, "extent"),
    ("compute_with", "shift", None, "shift"), ("fold_storage", "axis", None, "axis"),
    ("fold_storage", "planes", 1, "number of planes"),
    ("peel", "first", 0, "number of first iterations"),
    ("peel", "last", 0, "number of last iterations"), ("prefetch", "distance", 1, "distance"),
    ("shift", "by", None, "distance"), ("skew", "factor", None, "factor"),
    ("split", "factor", 1, "factor"),
]  # fmt: skip
SEQUENCES = _given(list)

MALFORMED: list[tuple[str, dict[str, Any], str]] = [
    *((d, {o: value}, o) for d, o in NAMES for value in (3, True, 1.5, ["i"])),
    *((d, {o: value}, what)
      for d, o, _, what in NUMBERS for value in ("4", True, 2.0, [1], HUGE, -HUGE, 2**70)),
    *((d, {o: least - 1}, what) for d, o, least, what in NUMBERS if least is not None),
    *((d, {o: value}, o if o != "axes" else "ax")
      for d, o in SEQUENCES for value in ("i", 3, True, [1.5], [None])),
    *((d, {o: []}, o) for d, o in SEQUENCES if o != "axes"),
    ("split", {"names": ["a"]}, "names"),
    ("split", {"names": ["a", "b", "c"]}, "names"),
    ("split", {"tail": "gaurd"}, "tail"),
    ("store_in", {"place": "shelf"}, "place"),
    ("stage", {"pad": 1}, "pad"),
    ("stage", {"pad": "yes"}, "pad"),
    ("partition", {"condition": {"symbol": "n"}}, "condition"),
    ("partition", {"condition": 1}, "condition"),
    ("assume", {"condition": "n > 0"}, "condition"),
    ("assume", {"condition": {"const": 1, "type": "int64"}}, "condition"),
    ("transform", {"values": [{"const": 1.5, "type": "float32"}]}, "values"),
    ("transform", {"values": [{"var": "j"}]}, "values"),
    ("transform", {"names": ["k", "l"]}, "names"),
]  # fmt: skip
FINE_IN_PYTHON = [("reorder", {"loops": "i"}), ("transform", {"loops": "i"})]
"""A handle takes these for a sequence of one."""


def _label(row: tuple[str, dict[str, Any], str]) -> str:
    return f"{row[0]}-{row[1]}"


@pytest.mark.parametrize("row", MALFORMED, ids=_label)
def test_refuses_malformed_json(row: tuple[str, dict[str, Any], str]) -> None:
    name, changed, field = row
    s = pipeline()
    before = s.to_json()
    with pytest.raises((ps.LanguageError, ps.ScheduleError)) as refused:
        replay(s, step(name, **changed))
    assert name in refused.value.what
    assert field in refused.value.what
    assert s.to_json() == before


def python(value: Any) -> Any:
    """What stands in Python for an expression of JSON."""
    match value:
        case {"symbol": "n"}:
            return n
        case {"var": name}:
            return {"#0": i, "j": j}[name]
        case {"const": number}:
            return number
        case {"of": [{"symbol": "n"}, {"const": number}]}:
            return n >= number
        case {"of": [{"var": "i"}, {"const": number}]}:
            return i < number
        case list():
            return [python(x) for x in value]
    return value


def said(s: ps.Schedule, name: str, options: dict[str, Any]) -> object:
    """The same by a handle."""
    stage, _ = GIVEN[name]
    options = {k: python(v) for k, v in options.items()}
    match name:
        case "assume":
            return s.assume(options["condition"])
        case "reorder" | "reorder_storage":
            (given,) = options.values()
            return getattr(s[stage], name)(*(given if isinstance(given, list) else [given]))
        case "transform":
            loops, values, names = options["loops"], options["values"], options["names"]
            several = isinstance(values, list)
            return s[stage].transform(
                loops, lambda x: [x if v is i else v for v in values] if several else values, names
            )
    return getattr(s[stage], name)(**options)


@pytest.mark.parametrize("row", [x for x in MALFORMED if x[:2] not in FINE_IN_PYTHON], ids=_label)
def test_refuses_malformed_calls(row: tuple[str, dict[str, Any], str]) -> None:
    name, changed, field = row
    if name == "transform":  # it takes one loop, too, and the values are those of its map
        field = {"loops": "loop", "values": "transform"}.get(field, field)
    s = pipeline()
    before = s.to_json()
    with pytest.raises((ps.LanguageError, ps.ScheduleError)) as refused:
        said(s, name, {**GIVEN[name][1], **changed})
    assert name in str(refused.value)
    assert field in str(refused.value)
    assert s.to_json() == before


OPTIONAL = {
    ("split", "names"), ("split", "tail"), ("fuse", "name"), ("skew", "name"), ("stage", "layout"),
    ("stage", "pad"), ("compute_with", "shift"), ("peel", "first"), ("peel", "last"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "option"), [(d, o) for d in GIVEN for o in GIVEN[d][1] if (d, o) not in OPTIONAL]
)
def test_refuses_records_that_lack_an_option(name: str, option: str) -> None:
    with pytest.raises(ps.ScheduleError, match=f"{name} lacks {option}"):
        replay(pipeline(), step(name, **{option: MISSING}))


@pytest.mark.parametrize(("name", "option"), sorted(OPTIONAL))
def test_some_options_need_not_be_given(name: str, option: str) -> None:
    record = from_json(step(name, **{option: MISSING})["directive"], {})
    assert from_json(record.to_json(), {}) == record


@pytest.mark.parametrize("name", GIVEN)
def test_refuses_unknown_options(name: str) -> None:
    with pytest.raises(ps.ScheduleError, match=f"{name} has no option 'factr'") as refused:
        replay(pipeline(), step(name, factr=4))
    assert ("did you mean factor?" in refused.value.what) == ("factor" in GIVEN[name][1])


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        ({"name": "spilt"}, "there is no directive spilt; did you mean split"),
        ({"name": 3}, "is no directive that to_json wrote"),
        ({"stage": 3}, "split is said of a stage, by its name, not of 3"),
        ({"options": []}, "is no directive that to_json wrote"),
        ({"options": MISSING}, "is no directive that to_json wrote"),
        ({"more": 1}, "is no directive that to_json wrote"),
    ],
)
def test_refuses_what_is_no_record(directive: dict[str, Any], message: str) -> None:
    said = step("split")
    changed = {**said["directive"], **directive}
    said["directive"] = {k: v for k, v in changed.items() if v is not MISSING}
    with pytest.raises((ps.LanguageError, ps.ScheduleError), match=message):
        replay(pipeline(), said)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"op": "add", "of": [{"var": "i"}, {"const": 1, "type": "int64"}], "type": "bool"},
         "condition of partition: add of index, int64 is no bool"),
        ({"op": "lt", "of": [{"var": "i"}, {"const": 1.5, "type": "float64"}], "type": "bool"},
         "condition of partition: lt of index, float64 is no bool"),
        ({"op": "lt", "of": [{"var": "i"}], "type": "bool"}, "no operator 'lt' of 1 operands"),
        ({"op": "system", "of": [], "type": "bool"}, "no operator 'system' of 0 operands"),
        ({"op": "lt", "of": [{"var": "i"}, 4], "type": "bool"}, "an operand of lt"),
        ({"op": "eq", "of": [{"op": "absd", "of": [{"var": "i"}, {"var": "j"}], "type": "int64"},
                             {"const": 1, "type": "int64"}], "type": "bool"},
         "absd of index, index is no int64"),
        ({"const": 2, "type": "bool"}, "2 is no bool"),
        ({"const": True, "type": "int64"}, "True is no int64"),
        ({"const": 300, "type": "uint8"}, "300 is no uint8"),
        ({"const": 1, "type": "int65"}, "there is no type 'int65'"),
        ({"symbol": "k"}, "the program has no size or Param k"),
        ({"read": "f"}, "is no expression that to_json wrote"),
    ],
)  # fmt: skip
def test_refuses_expressions_that_are_none(condition: dict[str, Any], message: str) -> None:
    with pytest.raises(ps.LanguageError) as refused:
        replay(pipeline(), step("partition", condition=condition))
    assert "condition of partition" in refused.value.what
    assert message in refused.value.what


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(
        ["i", "j", "r", "k", "f", "g", "g.update(0)", "auto", "mask", "stack", "", "#0", "i " * 40]
    ),
    lambda inside: st.lists(inside, max_size=3)
    | st.dictionaries(st.sampled_from(["op", "of", "type", "const", "var", "symbol"]), inside),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.slow
@given(st.sampled_from(sorted(GIVEN)), st.data())
def test_no_record_is_malformed(name: str, data: st.DataObject) -> None:
    """Whatever stands in JSON is refused in words, or becomes a record that is written so again,
    and a schedule that can be printed."""
    options = list(GIVEN[name][1])
    changed = data.draw(st.dictionaries(st.sampled_from([*options, "x"]), JUNK, max_size=2))
    s = pipeline()
    try:
        found = replay(s, step(name, **changed))
    except (ps.LanguageError, ps.ScheduleError):
        return
    assert str(found)
    assert ps.Schedule.from_json(s.program.outputs, found.to_json()) == found


# each directive is known everywhere --------------------------------------------------------------
# No table of these is a table of parametrized tests, of which `make quick` takes a few rows.
NOT_REFUSED = {"store_root", "unroll_and_jam"}
"""Directives whose pages show no refusal: whatever could be wrong with them is another one's."""
PAGES = sorted(p.stem for p in DOCS.glob("*.md"))
ROOT = DOCS.parents[1]


def test_each_directive_has_a_formula_a_handle_and_a_page() -> None:
    """The schedule itself is told what is about the program."""
    for name, kind in KINDS.items():
        assert "Legal: " in (kind.__doc__ or ""), name
        owner = ps.Schedule if kind.scope == "program" else StageHandle
        assert getattr(owner, name).__doc__, name
        assert name in PAGES


def test_each_page_is_complete_and_can_be_found() -> None:
    table = (DOCS.parent / "schedules.md").read_text()
    navigation = (ROOT / "mkdocs.yml").read_text()
    added = re.findall(r"\w+", (ROOT / "CHANGELOG.md").read_text())
    for name in PAGES:
        page, link = (DOCS / f"{name}.md").read_text(), f"directives/{name}.md"
        assert page.startswith(f"# {name}\n"), name
        assert all(f"**{part}**: " in page for part in ("Legal", "Cost")), name
        assert name in NOT_REFUSED or "Error: " in page, name
        assert f"| [{name}]({link}) | " in table, name
        assert f"      - {name}: {link}\n" in navigation, name
        assert name in added, f"{name} is not in CHANGELOG.md"


def test_each_directive_is_drawn() -> None:
    """By the random directives that both fuzzers use, in calls that mean something."""
    rewritten = {w for _, w in rewriting.WEIGHTS}
    weights = rewritten | {w for _, w in drawn.WEIGHTS}
    for name, kind in KINDS.items():
        assert name in weights or kind.scope == "program", name
        if name in weights - rewritten:
            assert any(text and text.startswith(f"{name}(") for text in _calls(name)), name


def _calls(name: str) -> list[str | None]:
    """What is drawn for a stage that can be told so."""
    s = pipeline()
    stage = s[GIVEN[name][0]]
    loops = [x.name for x in stage.loops]
    return [
        drawn.DirectiveCalls(Choices.from_seed(k), s, stage, loops).make(name) for k in range(9)
    ]


def test_a_test_and_a_planted_fault_are_about_each_directive() -> None:
    """The fault is that it does nothing, and the tests that find it stand in one file."""
    for name in KINDS:
        (fault,) = (f for f in FAULTS if f.name == f"{name} does nothing")
        (file,) = fault.tests
        assert (ROOT / file).exists(), f"{file} is missing"
        assert f"{name}(" in (ROOT / file).read_text(), f"{file} does not say {name}"


def test_a_record_says_what_it_is_about() -> None:
    with pytest.raises(TypeError, match='of="loops"'):

        class Untold(Directive, name="untold"):
            pass

    assert "untold" not in KINDS
