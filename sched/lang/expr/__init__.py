"""Expressions as users write them."""
