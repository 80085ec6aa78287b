"""Error classes, their messages, and the places in a user's code to which they point."""
