"""What operators and functions mean, to the bit."""
