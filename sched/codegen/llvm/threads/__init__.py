"""The native side of the thread pool, as LLVM text."""
