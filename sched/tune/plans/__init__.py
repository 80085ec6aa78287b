"""What is decided of a program, as plain data, and which decisions there are to choose from."""
