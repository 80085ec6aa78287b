"""Directives by name, on the state of a schedule: one class a kind."""
