"""Automatic schedules: facts of programs, plans, what they cost, and what machines measure."""
