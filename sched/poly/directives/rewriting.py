"""The Func that a directive is about, in another rewritten program if need be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.errors.errors import LanguageError
from ...lang.tensors.tensors import Func
from ...later import later

if TYPE_CHECKING:
    from ..program import rewrites
    from ..state import rewritten as programs
    from ..state.editing import Editing
    from ..state.rewritten import Rewrite
else:
    rewrites = later("..program.rewrites", __package__)
    programs = later("..state.rewritten", __package__)


def func_of(e: Editing) -> Func:
    """The Func that the directive is about, also if it is inlined."""
    known = e.tree.by_name.get(e.stage)
    if known is not None:
        return known[1].statement.func
    names = e.rewritten.program.names
    found = [f for f in e.rewritten.program.funcs if names[f] == e.stage]
    if not found or found[0] in e.model.regions:
        raise e.no_stage(e.stage)
    return found[0]


def stored(e: Editing) -> Func:
    """The Func that the directive is about, which is stored from now on if it was inlined."""
    func = func_of(e)
    put = [
        x for x in e.rewritten.rewrites if isinstance(x, rewrites.InlinedClone) and x.func is func
    ]
    if put:
        e.become(programs.without_rewrite(e.rewritten, put[0]))
    elif func not in e.model.regions:
        chosen(e, func, False)
        _check_read(e)
    return func


def chosen(e: Editing, func: Func, is_inlined: bool) -> None:
    """Another rewritten program, in which a Func is inlined, or is not; and so are those of which
    the directives say the same that are known to come next."""
    if func in e.ahead and is_inlined and func not in e.model.regions:
        return  # with one before it
    others = dict.fromkeys(e.ahead, is_inlined) if func in e.ahead else {}
    try:
        e.become(programs.with_choices(e.rewritten, {**others, func: is_inlined}))
    except LanguageError as error:
        raise e.malformed(f"{e.directive.text()}: {error.args[0]}") from None


def add_rewrite(e: Editing, rewrite: Rewrite) -> tuple[str, ...]:
    """Another rewritten program, with one more rewrite."""
    try:
        e.become(programs.with_rewrite(e.rewritten, rewrite))
    except LanguageError as error:
        raise e.malformed(str(error.args[0])) from None
    return (e.rewritten.program.names[rewrite.func],)


def _check_read(e: Editing) -> None:
    """Whether all Funcs that directives have added are still read."""
    read = {a.tensor for s in e.model.statements for a in s.reads if a.tensor is not s.func}
    for rewrite in e.rewritten.rewrites:
        if rewrite.func in e.model.regions and rewrite.func not in read:
            raise e.malformed(
                f"nothing would read {e.rewritten.program.names[rewrite.func]} any more, which "
                f"was made of what {e.stage} reads where it is inlined",
                "say this first",
            )
