"""Integer sets and maps: the only importer of isl, and analyses of expressions over them."""
