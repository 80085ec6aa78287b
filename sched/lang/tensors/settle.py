"""The checks at the end of a block: its reads are legal, and the Funcs that it only reads are
completed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors.errors import LanguageError, Span
from ..nodes import nodes
from ..nodes.nodes import Read

if TYPE_CHECKING:
    from ..nodes.tensor import Tensor
    from .blocks import Sequential
    from .define import History
    from .definitions import Recorded
    from .tensors import Func


def settle(root: Sequential) -> None:
    """Called at the end of an outermost block: completes the Funcs that are read but not updated
    inside.

    Raises:
        LanguageError: a read inside would see no value, or not the one that is meant.
    """
    written = list(root.definitions())
    updated = {f for f, r in written if f.history.home is None}
    read: dict[History, Span] = {}
    for func, recorded in written:
        for node in nodes.reachable(*recorded.roots):
            if isinstance(node, Read) and node.tensor is not func:
                history = node.tensor.read_history
                if history is not None and _is_final(func, recorded, node.tensor, updated):
                    read.setdefault(history, recorded.span)
    for history, span in read.items():
        history.read_by(span)


def _is_final(func: Func, recorded: Recorded, tensor: Tensor, updated: set[Func]) -> bool:
    """Whether a read inside of a block sees the final value of a tensor, and not a current one."""
    history: History | None = tensor.read_history
    assert history is not None
    if history.func in updated:
        if history.func is not tensor:
            raise LanguageError(
                f"{tensor.name} is read inside the sequential that updates {history.func.name}: "
                "it has no final value before the end",
                where=recorded.span,
                hint=f"read the current value, {history.func.element}, or write this after "
                "the sequential",
            )
    elif history.home is not None:
        _check_fresh(func, recorded, history)
    else:
        if func.history.is_piece(recorded):
            history.refuse_plain(tensor, recorded.span)
        return True
    return False


def _check_fresh(func: Func, recorded: Recorded, read: History) -> None:
    """Refuses a read of a Func that is defined inside of a block, before its definition there: it
    has a value only behind it, in the same iteration."""
    assert recorded.block is not None
    assert read.home is not None
    check_scope(read, recorded.block, recorded.span)
    if not read.recorded or read.recorded[read.pieces - 1].serial < recorded.serial:
        return
    same = func.history.home is read.home and recorded in func.history.equations
    if not (same and func in _needed_by_pieces(read.func)):
        raise LanguageError(
            f"{read.func.name} is read before it is defined in this iteration, at "
            f"{read.recorded[0].span}: a Func defined inside of a sequential is fresh each time",
            where=recorded.span,
            hint=f"move the definition up, or define {read.func.name} before the sequential "
            "to keep its values from one iteration to the next",
        )


def _needed_by_pieces(func: Func) -> set[Func]:
    """The Funcs that a pure definition needs, directly or through Funcs defined in the same
    block."""
    found: set[Func] = set()
    pending = [func]
    while pending:
        history = pending.pop().history
        for equation in history.equations:
            for node in nodes.reachable(*equation.roots):
                if isinstance(node, Read) and node.tensor not in found:
                    read = node.tensor.read_history
                    if read is not None and read.home is history.home:
                        found.add(read.func)
                        pending.append(read.func)
    return found


def check_scope(read: History, block: Sequential | None, span: Span) -> None:
    """Refuses a read of a Func outside of the block in which it is defined."""
    home = read.home
    if home is not None and (block is None or home not in block.chain):
        raise LanguageError(
            f"{read.func.name} is defined inside {home.text}, fresh in each iteration: "
            "elsewhere it has no value",
            where=span,
            hint=f"define {read.func.name} before the sequential, and update it inside",
        )
