"""What LLVM finds of the processor that this process runs on.

LLVM asks the processor itself, and calls it and its features by the names that it takes. llvmlite
is loaded when one of these is called: importing polysched stays quick.
"""

from __future__ import annotations


def triple() -> str:
    """The architecture and the system: `x86_64-unknown-linux-gnu`."""
    from llvmlite import binding

    return str(binding.get_process_triple())


def name() -> str:
    """LLVM's name of the processor: `znver4`."""
    from llvmlite import binding

    return str(binding.get_host_cpu_name())


def features() -> dict[str, bool]:
    """Which of LLVM's features of processors this one has."""
    from llvmlite import binding

    return {str(name): bool(x) for name, x in binding.get_host_cpu_features().items()}
