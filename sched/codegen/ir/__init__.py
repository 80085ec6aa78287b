"""The loop IR, from which machine code is made, and analyses of it."""
