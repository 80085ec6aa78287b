"""The semantics of operators and functions on scalars, to the bit."""
