"""A kernel as functions of LLVM text: statements, loops, what threads run, and the entry."""
