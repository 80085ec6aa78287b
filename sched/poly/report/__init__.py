"""Reports on a schedule: facts as data first, then their text."""
