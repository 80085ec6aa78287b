"""The report on a kernel: one page with its loops, its code and what it does."""
