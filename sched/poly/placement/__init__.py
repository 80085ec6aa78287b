"""At which loops Funcs are computed, and where their storage lives."""
