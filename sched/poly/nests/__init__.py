"""From a tree to loop nests with bounds and guards, and to the loop program for code generation."""
