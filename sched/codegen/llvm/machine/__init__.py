"""From LLVM's text to code that can be called: the only room of codegen that knows llvmlite."""
