"""What is kept on disk for other processes: a store of entries, and the keys that they have."""
