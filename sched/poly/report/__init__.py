"""What can be said of a schedule: data first, then text."""
