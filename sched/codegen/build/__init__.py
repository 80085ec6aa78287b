"""From the loop program to the loop IR."""
