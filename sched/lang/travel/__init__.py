"""Programs as JSON, as pickles and as Python, and back."""
