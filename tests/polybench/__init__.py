"""The thirty kernels of PolyBench 4.2, from their mathematics: see `registry.py`."""
