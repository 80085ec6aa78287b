"""What a schedule is at a time, and how a directive is recorded."""
