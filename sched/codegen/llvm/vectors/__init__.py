"""Expressions, loads and stores of one statement, in all lanes of a vector at once."""
