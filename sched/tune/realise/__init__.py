"""The directives that a plan stands for, and the reasons that are said of them."""
