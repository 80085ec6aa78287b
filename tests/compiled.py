"""LLVM compiles a text once, in whichever process and run of the tests."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import get_ident

import llvmlite
import llvmlite.binding as llvm

from polysched.codegen.llvm.machine import archive, binding, halves
from polysched.targets.target import Target

FOLDER = "POLYSCHED_TESTED_OBJECTS"
"""An environment variable: where processes that tests start find what was compiled before."""

MAKERS = (
    llvmlite.__version__,
    llvm.llvm_version_info,
    # They have LLVM's options, and what is compiled apart.
    *(sha256(Path(str(x.__file__)).read_bytes()).hexdigest() for x in (binding, halves, archive)),
)
"""The versions of what makes machine code of a text."""


class Compiled:
    """What LLVM has made of a text, in whichever process or run, it need not make again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.anew = False
        self._compile = binding.object_code

    def __call__(self, text: str, target: Target, threads: int = 1) -> bytes:
        if self.anew:
            return self._compile(text, target, threads)
        file = self.folder / sha256(f"{MAKERS}{target}{text}".encode()).hexdigest()
        with suppress(FileNotFoundError):
            made = file.read_bytes()
            file.touch()
            return made
        made = self._compile(text, target, threads)
        own = self.folder / f"{file.name}.{os.getpid()}.{get_ident()}"
        own.write_bytes(made)
        own.replace(file)
        return made
