"""Calls without the interpreter: what a kernel remembers of calls, laid out for the native entry.

A call that was checked becomes a record, see `llvm/call_entry.py`. One that takes long has loops
that ask Python now and then whether they are to stop (`calls.py`), and so goes through Python. That
costs up to a tenth of a millisecond, since a call of milliseconds leaves nothing of Python in the
caches. Data are looked at by NumPy, so a call whose arrays are checked for values has no record
either.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from ...forks import reentrant
from ...lang.program.program import Program
from ...targets.host import default_target
from ..ir.ir import ALIGNMENT
from ..llvm import CompiledCode, kept_module
from ..llvm.calls.call_entry import ENTRY, MOST_ARGUMENTS, MOST_WORDS, emit_call_entry
from ..llvm.text.layout import STATE
from . import arena
from .call_cache import CachedCall, Key
from .call_record import Given, Memory, Record, RecordMaker, Signature, words_of
from .calls import poll_address
from .pool import keep_for_ever
from .python_api import PythonApi, is_native, python_api
from .threads import get_num_threads
from .variant import Variant

LONG = 1e8
"""Nanoseconds of estimated work of one thread from which calls go through Python, so that they can
be stopped. Estimates are of plain code, vectors and threads make of them a tenth or less; nobody
who presses Ctrl-C sees whether such a call has ended before."""

AFTER = 8
"""Calls before one gets a record: the entry takes some time to compile, once a process. Twice as
many each time that a kernel has had too many records: to make one takes as long as many calls."""

MOST = 16
"""Records of a kernel."""


class NativeCalls:
    """The records of one kernel, and the memory that they are in."""

    def __init__(self, program: Program, outputs: int) -> None:
        """
        Args:
            outputs: how many arrays `out=` takes.
        """
        named = (*program.argument_names.values(), *program.params, *program.sizes)
        params = {name: p.info for name, p in program.params.items()}
        self.signature = Signature({x: k for k, x in enumerate(named)}, params, outputs)
        self.positional = len(program.inputs)
        #: How often each call came, by all that its checks depend on; negative for one that shall
        #: have no record.
        self._seen: dict[object, int] = {}
        self._after = AFTER
        self._records: dict[object, tuple[int, Record]] = {}
        #: What the state of the kernel points to, and what it is about to point to.
        self._owners: list[tuple[int, object]] = []
        self._lock = reentrant()

    def keep(self, kernel: Any, key: Key, call: CachedCall, given: Given, left: int = -1) -> bool:
        """Makes a record of a call that comes again and again.

        Args:
            kernel: what was called.
            left: for how many calls it is; negative for any number.

        Returns:
            Whether calls will use one from now on that did not before.
        """
        # What the code counts, divisions by zero, is looked at by Python.
        counts = call.variant.interface.counters > 0
        if call.bounded or counts or not is_native(type(kernel)):
            return False
        threads = get_num_threads() if call.variant.is_threaded else 1
        which = key, threads
        seen = self._seen.get(which, 0)
        if seen < 0:
            return False
        if len(self._seen) >= 4 * MOST:
            self._seen.clear()
        self._seen[which] = seen + 1
        api = python_api(poll_address()) if seen + 1 >= self._after else None
        if api is None:
            return False
        known = self._known(which, call, api)
        if known is not None:
            is_spent = known.left == 0
            known.left = left if is_spent else known.left
            return is_spent
        made = RecordMaker(self.signature, call, given)
        if not self._may_have(made):
            self._seen[which] = -1
            return False
        record = made.record(threads, left)
        if record is None:
            return False
        if len(self._records) >= MOST:
            self._records.clear()
            self._seen.clear()
            self._after *= 2
        self._records[which] = api.epoch, record
        self._install(kernel, api)
        # Intermediate results have memory of their own from now on.
        kernel._pool.clear()
        return True

    def has(self, variant: Variant) -> bool:
        """Whether there are calls that enter some code without Python."""
        return any(record.variant is variant for _, record in list(self._records.values()))

    def take_back(self, variant: Variant) -> int:
        """How many calls the records of some code were still for; now they are for none."""
        found = 0
        for _, record in list(self._records.values()):
            if record.variant is variant and record.left > 0:
                found += record.left
                record.left = 0
        return found

    def _known(self, which: object, call: CachedCall, api: PythonApi) -> Record | None:
        """The record of a call, if there is one for what is to run."""
        epoch, record = self._records.get(which, (0, None))
        is_current = record is not None and epoch == api.epoch and record.variant is call.variant
        return record if is_current else None

    def _may_have(self, made: RecordMaker) -> bool:
        """Whether a call takes little time, and few enough arguments, each of a word."""
        words, arrays = len(made.call.prepared.words), self.signature.count + len(made.call.made)
        fits = arrays <= MOST_ARGUMENTS and words < MOST_WORDS
        return fits and made.has_small_integers and made.time < LONG

    def _install(self, kernel: Any, api: PythonApi) -> None:
        """Lays all records out anew: a call that runs meanwhile holds what it uses."""
        entry = _entry()
        # Another thread may have a record, too: the one that is second here lays out both.
        with self._lock:
            owner, address = self._laid_out(type(kernel).__call__, api)
            # A handler of a signal may do the same between any two of these steps.
            self._owners.append((address, owner))
            kernel._state = address
            kernel._entry = entry
            # What was there before goes now, unless a call holds it.
            self._owners = [x for x in self._owners if x[0] == kernel._state]

    def _laid_out(self, slow: object, api: PythonApi) -> tuple[object, int]:
        """The state of the kernel: what keeps it alive, and where it is."""
        current = [r for epoch, r in list(self._records.values()) if epoch == api.epoch]
        most = max((r.scratch for r in current), default=0)
        block = np.empty(most + ALIGNMENT, np.uint8) if most else None
        names = [sys.intern(name) for name in (*self.signature.names, "out")]
        memory = Memory()
        owner: list[object] = [memory, block, names, current, api, slow]
        state = words_of(STATE, {
            "api": api.address,
            "owner": id(owner),
            "slow": id(slow),
            "slots": self.signature.count,
            "parameters": len(names) - 1,
            "positional": self.positional,
            "names": memory.address([id(name) for name in names[:-1]]),
            "out": id(names[-1]),
            "block": 0 if block is None else arena.address(block),
            "size": most,
            "epoch": api.epoch,
            "asks": int(any(r.asks for r in current)),
            **memory.listed("records", "record", [ctypes.addressof(r.words) for r in current]),
        })  # fmt: skip
        owner.append(state)
        return owner, ctypes.addressof(state)


_code: CompiledCode | None = None


def _entry() -> int:
    """The address of the native entry, which is compiled when first needed. Several threads may do
    that at once, without harm."""
    global _code
    if _code is None:
        target = default_target()
        code = kept_module("call entry", (), lambda: emit_call_entry(target), target)
        keep_for_ever(code)
        _code = code
    return _code.address(ENTRY)
