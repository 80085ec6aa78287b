"""The things that a program is made of, and what each of them needs.

A *thing* is what is equal by identity: a tensor, a Param, the domain of RVars, a `sequential`, a
precondition. Expressions are made of things, and are no things themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors.errors import LanguageError
from ..nodes.nodes import Node, Param, RDomain, Read, RVar, Size, postorder, transform
from ..nodes.tensor import Tensor
from ..program.requirements import Requirement
from ..tensors.blocks import Sequential
from ..tensors.definitions import Recorded
from ..tensors.inout import Final, Initial
from ..tensors.reductions import Reduce
from ..tensors.tensors import Func, Input

Thing = Tensor | Param | RDomain | Sequential | Requirement


def as_written(root: Node) -> Node:
    """An expression with inline reductions as the user wrote them, in place of reads of the Funcs
    that were made of them."""

    def rule(node: Node) -> Node:
        if isinstance(node, Read) and node.tensor.made_of is not None:
            reduction, index = node.tensor.made_of
            if node.index != index:
                raise LanguageError(
                    f"{node.tensor.name} is the reduction {node.tensor.written}, and is read "
                    "outside of the definition in which that stands",
                    hint="give it a Func of its own, and read that",
                )
            return transform(reduction, rule)
        return node

    return transform(root, rule)


def reductions_of(recorded: Recorded) -> list[Func]:
    """The Funcs of the inline reductions in a definition, in the order in which they were made."""
    found: dict[Func, None] = {}
    pending = list(recorded.values)
    for root in pending:
        for node in postorder(root):
            func = node.tensor if isinstance(node, Read) else None
            if isinstance(func, Func) and func.made_of is not None and func not in found:
                found[func] = None
                pending.append(func.made_of[0])
    return sorted(found, key=lambda f: f.serial)


def serials_of(recorded: Recorded) -> list[int]:
    """The serials of all that recording a definition has made, in order."""
    inner = [[f.serial, *(r.serial for r in f.history.recorded)] for f in reductions_of(recorded)]
    return [*(n for each in inner for n in each), recorded.serial]


def owner(tensor: Tensor) -> Tensor:
    """The thing as a part of which a tensor travels: of the values of an InOut the array."""
    if isinstance(tensor, Initial | Final):
        return tensor.array
    if tensor.is_reduction and tensor.made_for is not None:
        return owner(tensor.made_for)
    return tensor


def needed_by(thing: Thing) -> list[Thing]:
    """The other things that one needs, each once."""
    found = dict.fromkeys(_needed_by(thing))
    found.pop(thing, None)
    return list(found)


def _needed_by(thing: Thing) -> Iterator[Thing]:
    match thing:
        case Func():
            yield from _needed_in(*(thing.extents or ()))
            yield from thing.requirements
            for recorded in thing.history.recorded:
                yield from _needed_in(*map(as_written, recorded.roots))
                if recorded.block is not None:
                    yield from recorded.block.chain
        case Input():
            yield from _needed_in(*(thing.extents or ()), *(thing.range or ()))
        case RDomain():
            where = () if thing.where is None else (thing.where,)
            yield from _needed_in(*where, *(b for r in thing.members for b in (r.lo, r.hi)))
        case Sequential():
            if thing.rvar is not None:
                yield from _needed_in(*thing._bounds)
            yield from (owner(f) for f, _ in thing.root.definitions())
        case Requirement():
            yield from _needed_in(thing.condition)


def _needed_in(*roots: Node) -> Iterator[Thing]:
    """The things that expressions are made of."""
    for node in postorder(*roots):
        match node:
            case Read(tensor=tensor):
                yield owner(tensor)
            case Param():
                yield node
            case Size(default=default) if default is not None:
                yield from _needed_in(default)
            case RVar(domain=domain):
                yield home_of(domain)
            case Reduce(rvars=rvars):
                yield from (home_of(r.domain) for r in rvars)


def needed_in(root: Node) -> list[Thing]:
    """The things that an expression is made of, each once."""
    return list(dict.fromkeys(_needed_in(as_written(root))))


def home_of(domain: RDomain) -> RDomain | Sequential:
    """The thing to which RVars belong: their domain, or the block whose loop the RVar is."""
    return domain.owner if isinstance(domain.owner, Sequential) else domain


def things_in(root: Thing | Node) -> list[Thing]:
    """A thing of a value that a user holds, and all that it needs; of an expression what it is
    made of."""
    found: dict[Thing, None] = {}
    pending = [root] if not isinstance(root, Node) or isinstance(root, Param) else needed_in(root)
    while pending:
        thing = pending.pop()
        if thing not in found:
            found[thing] = None
            pending += needed_by(thing)
    return list(found)


def check_open(func: Func) -> None:
    """Refuses a Func in a block that is still being written, and one that a schedule has made."""
    for recorded in func.history.recorded:
        block = recorded.block
        if block is not None and block.root.is_open:
            raise LanguageError(
                f"{func.name} is updated in {block.root.text}, which has not ended",
                hint="pickle or write it behind the with",
            )
    made = func.history._typed or ()
    if not func.name.isidentifier() or any(d.is_added for d in made):
        raise LanguageError(
            f"{func.name} is made by a schedule, and is no part of the program as it was written",
            hint="pickle the schedule, or what the schedule computes",
        )
