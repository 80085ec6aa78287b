"""Checks of the arguments of a call: arrays, sizes and Params; and bounds of integer values."""
