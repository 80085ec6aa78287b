"""Programs: definitions that are computed together, their order, their arguments, their digest."""
