"""Which plan the model finds best: a beam over Funcs, and what becomes of its best plans."""
