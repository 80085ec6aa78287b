"""One listing a directive, kept word by word."""
