"""What LLVM's text is written with: values, names, instructions in blocks, layouts of memory."""
