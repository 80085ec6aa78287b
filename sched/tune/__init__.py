"""What is found by measuring: today the facts of a machine."""
