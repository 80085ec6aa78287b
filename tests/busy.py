"""Keeps one core busy for as long as whoever started it lives: `make test-busy`."""

import os

if __name__ == "__main__":
    parent = os.getppid()
    while os.getppid() == parent:
        pass
