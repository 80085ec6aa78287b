"""What users hold: a schedule, its stages and its loops."""
