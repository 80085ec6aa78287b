"""From loops with bounds to the loop IR."""
