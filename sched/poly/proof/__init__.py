"""Dependences of a program, and the proof that a tree keeps them."""
