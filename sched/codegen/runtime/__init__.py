"""The runtime of kernels: arguments, memory, threads."""
