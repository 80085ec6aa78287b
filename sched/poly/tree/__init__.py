"""The loops around statements, how they are edited, and the order in which they run instances."""
