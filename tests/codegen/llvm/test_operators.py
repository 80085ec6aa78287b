"""Each row of the table of operators is known everywhere that operators are known."""

from __future__ import annotations

from pathlib import Path

from codegen.llvm.test_instructions import binary_cases, ternary_cases, unary_cases

import polysched as ps
from polysched.codegen.llvm.operators import instructions
from polysched.interp import intervals as of_data
from polysched.lang.arithmetic.integer_ranges import RANGES
from polysched.lang.nodes.ops import FUNCTIONS, OF_EXPANSIONS, OPS
from polysched.lang.nodes.printer import _PUBLIC

TESTS = Path(__file__).resolve().parents[2]
ELSEWHERE = {"cast", "bitcast", "select", "fma"} | OF_EXPANSIONS
"""Operators whose code and tests stand apart."""
WRITTEN = {op for op, info in OPS.items() if info.rule in ("widening", "saturate")}
"""Operators that typed expressions do not have."""
OF_FLOATS = {"div", "sqrt", "floor", "ceil", "round", "trunc"}


def test_each_operator_has_code_and_a_test_of_it() -> None:
    operators = (instructions.BINARY, instructions.UNARY, instructions.TERNARY)
    tables = (instructions.COMPARISONS, *operators)
    tested = {name for name, _ in (*binary_cases(), *unary_cases(), *ternary_cases())}
    for op in OPS.keys() - FUNCTIONS - ELSEWHERE - WRITTEN:
        assert sum(op in table for table in tables) == 1, op
        assert op in tested, op


def test_each_operator_on_integers_has_a_range_where_data_tell_indices() -> None:
    for op in OPS.keys() - FUNCTIONS - ELSEWHERE - WRITTEN - OF_FLOATS:
        assert op in of_data._RULES or op in RANGES or op == "not", op


def test_each_operator_has_a_public_name_that_the_language_and_both_fuzzers_know() -> None:
    programs = (TESTS / "fuzz" / "expressions.py").read_text()
    known = "".join(p.read_text() for p in sorted((TESTS / "fuzz" / "meaning").glob("*.py")))
    language = (TESTS.parent / "docs" / "language.md").read_text()
    for op, info in OPS.items():
        if op in OF_EXPANSIONS:
            assert not hasattr(ps, op)
            continue
        name = _PUBLIC.get(op, op)
        assert info.symbol is not None or callable(getattr(ps, name, None)), op
        written = info.symbol or name
        assert written in language or info.rule == "compare", op
        assert written in programs or f'"{op}"' in programs, op
        assert f'"{written}"' in known or f'"{op}"' in known or op in FUNCTIONS, op


def test_each_rule_is_known_where_typed_operators_are_read_from_json() -> None:
    """All but casts, which take and give any type."""
    text = (TESTS.parent / "sched" / "lang" / "nodes" / "node_json.py").read_text()
    for rule in {info.rule for info in OPS.values()} - {"cast"}:
        assert f'"{rule}"' in text, rule
