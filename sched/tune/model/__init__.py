"""What plans cost: the time that loops take, and that of proving and compiling."""
