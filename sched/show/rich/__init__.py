"""What notebooks show of the objects that users hold: equations, graphs, loops."""
