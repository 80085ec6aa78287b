"""Each row of the table of operators is known everywhere that operators are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from codegen.llvm.test_instructions import binary_cases, unary_cases

import polysched as ps
from polysched.codegen.llvm import instructions
from polysched.interp import intervals as of_data
from polysched.lang.nodes.ops import FUNCTIONS, OPS
from polysched.lang.nodes.printer import _PUBLIC

TESTS = Path(__file__).resolve().parents[2]
ELSEWHERE = {"cast", "bitcast", "select", "fma"}
"""Operators whose code and tests stand apart."""
OF_FLOATS = {"div", "sqrt", "floor", "ceil", "round"}


@pytest.mark.parametrize("op", sorted(OPS.keys() - FUNCTIONS - ELSEWHERE))
def test_an_operator_has_code_and_a_test_of_it(op: str) -> None:
    tables = (instructions.COMPARISONS, instructions.BINARY, instructions.UNARY)
    assert sum(op in table for table in tables) == 1
    tested = unary_cases() if op in instructions.UNARY else binary_cases()
    assert op in {name for name, _ in tested}


@pytest.mark.parametrize("op", sorted(OPS.keys() - FUNCTIONS - ELSEWHERE - OF_FLOATS))
def test_an_operator_has_a_range_where_data_tell_indices(op: str) -> None:
    assert op in of_data._RULES or op == "not"


@pytest.mark.parametrize("op", sorted(OPS))
def test_an_operator_has_a_public_name_that_both_fuzzers_and_the_language_know(op: str) -> None:
    symbol = OPS[op].symbol
    name = _PUBLIC.get(op, op)
    assert symbol is not None or callable(getattr(ps, name))
    written = symbol or name
    programs = (TESTS / "fuzz" / "expressions.py").read_text()
    assert written in programs or f'"{op}"' in programs
    known = "".join(p.read_text() for p in sorted((TESTS / "fuzz" / "meaning").glob("*.py")))
    assert f'"{written}"' in known or f'"{op}"' in known or op in FUNCTIONS
    language = (TESTS.parent / "docs" / "language.md").read_text()
    assert written in language or OPS[op].rule == "compare"
