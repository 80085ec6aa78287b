"""What runs a kernel: arguments, memory, threads."""
