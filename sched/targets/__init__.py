"""The machines that schedules are made for: their vectors, registers and caches, as plain data."""
