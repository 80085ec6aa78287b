"""From LLVM's text to code that can be called: the only room that knows llvmlite."""
