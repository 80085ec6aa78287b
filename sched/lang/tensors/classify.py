"""Classification of definitions: each is a piece of the pure definition or an update, or refused.

A *piece* of the pure definition has distinct Vars or constants on the left. The pieces with
constants come first (`f[0, j] = ...`); the one with Vars alone closes the definition and holds at
every point that no more specific piece claims. Everything after that is an *update*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors.errors import LanguageError
from ..nodes import nodes
from ..nodes.affine import never_affine, own_size
from ..nodes.nodes import Node, Op, Read, RVar, Var, postorder
from ..nodes.printer import expr_text, index_text
from .definitions import Recorded

if TYPE_CHECKING:
    from .define import History
    from .tensors import Func


def is_new_piece(history: History, new: Recorded) -> bool:
    """Whether `new` is a piece of the pure definition, and not an update; a definition that is
    neither is refused."""
    func = history.func
    plain = new.op == "=" and not _has_rvars(new)
    is_pattern = _is_pattern(new.lhs)
    all_vars = is_pattern and all(isinstance(x, Var) for x in new.lhs)
    reads_itself = _reads_itself(func, new)
    updated = len(history.recorded) > history.pieces
    if not history.closed and not updated and plain and is_pattern:
        _refuse_far(func, new)
        if not all_vars:
            _refuse_same_pattern(history, new)
        return True
    if not history.recorded and not history.closed:
        _refuse_first(func, new)
    second = new.block is history.home and func.kind != "InOut"
    if plain and all_vars and not reads_itself and second:
        raise LanguageError(
            f"{func.name} has a pure definition already, at {history.recorded[0].span}; "
            "a second one is refused",
            where=new.span,
            hint="an update changes values: +=, or ps.select(condition, new, "
            f"{func.name}[...]); a different value needs a Func of its own",
        )
    return False


def _has_rvars(new: Recorded) -> bool:
    """Whether a definition runs over RVars of its own; the loops of blocks around do not count."""
    own = {n for n in postorder(*new.roots) if isinstance(n, RVar)}
    around = {} if new.block is None else new.block.renaming(new.roots)
    return not own <= around.keys()


def _reads_itself(func: Func, new: Recorded) -> bool:
    return any(isinstance(n, Read) and n.tensor is func for n in postorder(*new.lhs, *new.values))


def _refuse_far(func: Func, new: Recorded) -> None:
    """Refuses a piece at a constant index that is not affine in sizes, which no proof could
    handle."""
    for x in new.lhs:
        if never_affine(x) is not None:
            raise LanguageError(
                f"{expr_text(x)} on the left of {func.name} is not affine in sizes",
                where=new.span,
                hint=own_size(x),
            )


def _refuse_same_pattern(history: History, new: Recorded) -> None:
    for old in history.recorded[: history.pieces]:
        if all(
            (isinstance(a, Var) and isinstance(b, Var)) or a is b
            for a, b in zip(old.lhs, new.lhs, strict=True)
        ):
            raise LanguageError(
                f"this piece of {history.func.name} was defined already, at {old.span}",
                where=new.span,
                hint="each point is defined once; write an update with += or its like",
            )


def _refuse_first(func: Func, new: Recorded) -> None:
    left = f"{func.name}[{index_text(new.lhs)}]"
    if new.op != "=" or any(isinstance(n, RVar) for n in postorder(*new.lhs)):
        zeros = ", ".join("ijklmnpq"[: len(new.lhs)]) or "()"
        raise LanguageError(
            f"{left} is an update, but {func.name} has no pure definition to update",
            where=new.span,
            hint=f"say what it starts from first, as {func.name}[{zeros}] = 0",
        )
    if _has_rvars(new):
        rvar = next(n for n in postorder(*new.values) if isinstance(n, RVar))
        raise LanguageError(
            f"the pure definition of {func.name} uses the RVar {rvar.name}: an equation "
            "has no order in which an RVar could run",
            where=new.span,
            hint=f"define {func.name} first, then update it: {left} += ...",
        )
    raise LanguageError(
        f"the left side of a pure definition has distinct Vars or constants: {left}",
        where=new.span,
        hint=f"compute the index on the right: {func.name}[i] = ... at every i",
    )


def _is_pattern(lhs: tuple[Node, ...]) -> bool:
    """Whether a left side consists of distinct Vars and of constants: integers and expressions over
    sizes."""
    vars = [x for x in lhs if isinstance(x, Var)]
    rest = [x for x in lhs if not isinstance(x, Var)]
    symbols = (nodes.Const, nodes.Size, Op)
    return len(set(vars)) == len(vars) and all(isinstance(n, symbols) for n in postorder(*rest))


def operator_of(
    func: Func, lhs: tuple[Node, ...], values: tuple[Node, ...], augmented: object
) -> str:
    """The operator by which an update combines the old value and a new one, or "="."""
    here = Read(func, lhs, 0, None)
    if isinstance(augmented, tuple) and augmented[1] is here:
        return str(augmented[0])
    match values:
        case (Op(op="min" | "max" as name, operands=operands),) if here in operands:
            return name
    return "="


def implicit_number(node: Node) -> int:
    """The number of an implicit Var, counted from the right; 0 for anything else."""
    plain = isinstance(node, Var) and node.name[0] == "_" and node.name[1:].isdigit()
    return int(node.name[1:]) if isinstance(node, Var) and plain else 0
