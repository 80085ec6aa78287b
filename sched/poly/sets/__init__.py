"""Sets of integers behind one door to isl, and what is known of expressions over them."""
