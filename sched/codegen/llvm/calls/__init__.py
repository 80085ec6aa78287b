"""The entry of calls from Python that run without the interpreter, as LLVM text."""
