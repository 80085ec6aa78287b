"""Expressions as immutable nodes: types, operators, what is derived from them, their text."""
