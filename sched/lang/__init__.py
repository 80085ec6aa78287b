"""The language: types, expressions, definitions, programs, calls. Knows neither isl nor LLVM."""
