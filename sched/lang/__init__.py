"""The language: types, expressions, definitions, schedule records. Knows neither isl nor LLVM."""
