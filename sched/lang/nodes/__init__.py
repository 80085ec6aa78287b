"""Expressions as immutable nodes: their types, their operators, analyses of them, their text."""
