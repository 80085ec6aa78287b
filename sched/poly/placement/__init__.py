"""What is computed at which loop, and where it is stored."""
