"""What a user holds of a schedule, and the directives that can be given to it."""
