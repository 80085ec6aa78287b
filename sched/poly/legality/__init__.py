"""Whether a state is right, and what is said where it is not."""
