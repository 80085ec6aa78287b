"""The definitions that are scheduled: the program's, after inlining and other rewrites."""
