"""The state of a schedule as a value, and directives as records."""
