"""Tensors, and the definitions of those that are computed."""
