"""What tools that choose schedules need: facts of programs, and what machines measure."""
