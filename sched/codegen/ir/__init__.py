"""What machine code is made from, and what can be said of it."""
