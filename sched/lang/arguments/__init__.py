"""Which arrays, sizes and numbers a call may bring."""
