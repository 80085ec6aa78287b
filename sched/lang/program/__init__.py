"""Definitions that are computed together: their order, what they need, their digest."""
