"""LLVM compiles a text once, in whichever process and run of the tests."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import get_ident

import llvmlite
import llvmlite.binding as llvm

from polysched.codegen.llvm import binding

FOLDER = "POLYSCHED_TESTED_OBJECTS"
"""An environment variable: where processes that tests start find what was compiled before."""

MAKERS = (
    llvmlite.__version__,
    llvm.llvm_version_info,
    sha256(Path(binding.__file__).read_bytes()).hexdigest(),  # has LLVM's options
)
"""The versions of what makes machine code of a text."""


class Compiled:
    """What LLVM has made of a text, in whichever process or run, it need not make again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.anew = False
        self._compile = binding.object_code

    def __call__(self, text: str, machine: binding.Machine) -> bytes:
        if self.anew:
            return self._compile(text, machine)
        file = self.folder / sha256(f"{MAKERS}{machine}{text}".encode()).hexdigest()
        with suppress(FileNotFoundError):
            made = file.read_bytes()
            file.touch()
            return made
        made = self._compile(text, machine)
        own = self.folder / f"{file.name}.{os.getpid()}.{get_ident()}"
        own.write_bytes(made)
        own.replace(file)
        return made
