"""From a tree to loops with bounds, and to what code is generated from."""
