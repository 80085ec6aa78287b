"""The statements of a program, the instances that run, and the elements that they touch."""
