"""Which order a program needs, and whether a tree keeps it."""
