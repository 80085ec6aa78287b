"""Exploring a schedule: what is legal next, what it does to the loops, what it costs."""
