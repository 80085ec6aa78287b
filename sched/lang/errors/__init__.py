"""What is said of mistakes, and where in a user's code they stand."""
