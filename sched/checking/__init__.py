"""Whether a lowered schedule does what its program means: run step by step, and compared."""
