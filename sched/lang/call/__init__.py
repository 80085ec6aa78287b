"""The arguments and outputs of one call."""
