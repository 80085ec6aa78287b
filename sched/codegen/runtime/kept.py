"""What kernels are made of, on disk: preconditions, and code with its interface.

A kernel is known by its schedule's digest. With this, and the target and the options of a
compilation, its code is; `cache.keys` adds the versions of everything that makes it. What is found
was proven and compiled by another process, or by this one: neither isl nor LLVM's passes run again.

Code that calls back is not kept, as what it calls is of the process that made it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...cache import keys, store
from ...lang.errors.errors import InternalError, LanguageError
from ...lang.nodes.node_json import decoded_table, encoded_table
from ...lang.program.program import Program
from ...lang.program.scalars import symbols_of
from ...lang.tensors.tensors import Input
from ...poly.report.requirements import IndexCheck, Requirements, SizesNeeded
from ...records import dataclass
from ...targets.target import Target
from ..llvm import load_object
from .interface import from_json as interface_from_json, to_json as interface_to_json
from .scheduled import Scheduled
from .variant import Variant

if TYPE_CHECKING:
    from ..lower import Lowered

TERMS, CODE = "terms", "code"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a call must meet; and as text, for whoever wants to read it."""

    requirements: Requirements
    conditions: tuple[str, ...]


def terms_of(schedule: Scheduled, digest: str | None) -> Terms:
    """The preconditions of a schedule: those on disk, or else its own, which are kept."""
    key = None if digest is None else keys.key_of(TERMS, digest)
    found = None if key is None else read_terms(key, schedule.base)
    if found is not None:
        return found
    made = Terms(schedule.requirements, schedule.conditions)
    schedule.keep()
    if key is not None and keys.is_current():
        written = _terms_to_json(made, schedule.base)
        if written is not None:
            with suppress(TypeError, ValueError):  # what JSON cannot hold
                store.write(TERMS, key, written)
    return made


def read_terms(key: str, program: Program) -> Terms | None:
    """The preconditions under a key, of a program."""
    entry = store.read(TERMS, key)
    if entry is None:
        return None
    try:
        return _terms_from_json(entry.header, program)
    except (LanguageError, TypeError):
        store.remove(TERMS, key)
        return None


def code_key(digest: str | None, target: Target, checks: bool, strided: bool) -> str | None:
    """The key of a kernel's code; None where it has none.

    Args:
        digest: of the schedule.
        checks, strided: as for `lower`.
    """
    if digest is None:
        return None
    return keys.key_of(CODE, digest, target.digest, checks, strided)


def read_variant(key: str | None, program: Program) -> Variant | None:
    """The code under a key, linked; None where there is none."""
    entry = None if key is None else store.read(CODE, key)
    if key is None or entry is None:
        return None
    try:
        interface = interface_from_json(entry.header, symbols_of(program))
        return Variant(load_object(entry.blob), interface)
    except (LanguageError, InternalError, TypeError):
        store.remove(CODE, key)
        return None


def keep_variant(key: str | None, variant: Variant, lowered: Lowered) -> None:
    """Keeps code that was just made, unless it calls back."""
    if key is None or variant.callbacks or not keys.is_current():
        return
    with suppress(TypeError, ValueError):  # what JSON cannot hold is made again each time
        store.write(CODE, key, interface_to_json(variant.interface), lowered.code.object_code)


# preconditions as JSON --------------------------------------------------------------------------
def _terms_to_json(terms: Terms, program: Program) -> dict[str, Any] | None:
    """As data for JSON; None where there are expressions or tensors that have no such form."""
    r, names = terms.requirements, program.names
    by_name = {name: tensor for tensor, name in names.items()}
    checked = [(x.source, x.tensor) for x in r.indices]
    if any(t not in names or by_name[names[t]] is not t for pair in checked for t in pair):
        return None
    nodes = [x.condition for x in r.sizes]
    nodes += [node for node, _ in (*r.assumed, *r.reaches)]
    try:
        table = encoded_table(nodes)
    except TypeError:
        return None
    return {
        "nodes": table,
        "sizes": [[x.problem, x.text] for x in r.sizes],
        "assumed": [reason for _, reason in r.assumed],
        "reaches": [name for _, name in r.reaches],
        "indices": [[names[x.source], names[x.tensor], x.axis] for x in r.indices],
        "bounding": list(r.bounding),
        "conditions": list(terms.conditions),
    }


def _terms_from_json(data: Any, program: Program) -> Terms:
    match data:
        case {
            "nodes": table,
            "sizes": list(sizes),
            "assumed": list(assumed),
            "reaches": list(reaches),
            "indices": list(indices),
            "bounding": list(bounding),
            "conditions": list(conditions),
        }:
            nodes = decoded_table(table, symbols_of(program))
            first, second = len(sizes), len(sizes) + len(assumed)
            if len(nodes) != second + len(reaches):
                raise LanguageError("conditions and reasons are not as many")
            by_name = {name: tensor for tensor, name in program.names.items()}
            texts = [*assumed, *reaches, *bounding, *conditions]
            if not all(isinstance(x, str) for x in texts):
                raise LanguageError("a reason is no text")
            needed = (SizesNeeded(n, *_texts(x)) for n, x in zip(nodes, sizes, strict=False))
            requirements = Requirements(
                tuple(needed),
                tuple(zip(nodes[first:second], assumed, strict=True)),
                tuple(_index_check(x, by_name) for x in indices),
                tuple(bounding),
                tuple(zip(nodes[second:], reaches, strict=True)),
            )
            return Terms(requirements, tuple(conditions))
    raise LanguageError("these are no preconditions")


def _texts(row: Any) -> tuple[str, str]:
    match row:
        case [str(problem), str(text)]:
            return problem, text
    raise LanguageError(f"{row!r} says nothing of a condition")


def _index_check(row: Any, by_name: dict[str, Any]) -> IndexCheck:
    match row:
        case [str(source), str(tensor), int(axis)] if source in by_name and tensor in by_name:
            if isinstance(by_name[source], Input):
                return IndexCheck(by_name[source], by_name[tensor], axis)
    raise LanguageError(f"{row!r} is no check of an index")
