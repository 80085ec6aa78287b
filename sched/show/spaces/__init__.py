"""Pictures of small sizes: iteration spaces with orders and dependences, and footprints."""
