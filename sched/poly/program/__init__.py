"""What is scheduled: definitions, as inlining and other rewrites leave them."""
