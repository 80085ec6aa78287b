"""Signatures of programs: the names of tensors and arguments, and their order in a call."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors.errors import LanguageError, LanguageTypeError, Span
from ..nodes.printer import expr_text
from ..nodes.tensor import Tensor
from ..tensors.inout import InOut
from ..tensors.tensors import Input

if TYPE_CHECKING:
    from .program import Program


def tensor_names(program: Program) -> dict[Tensor, str]:
    """A unique name for each tensor; the initial and the final value of an InOut share the name of
    the array."""
    arrays = {f.initial: f for f in program.inouts}
    plain = [t for t in (*program.inputs, *program.consts, *program.funcs) if t not in arrays]
    names = _unique(plain)
    for initial, func in arrays.items():
        if initial in program.inputs:
            names[initial] = f"{names[func]}.initial"
    return names


def _unique(tensors: Sequence[Tensor]) -> dict[Tensor, str]:
    names: dict[Tensor, str] = {}
    taken = {t.name for t in tensors}
    used: set[str] = set()
    for tensor in tensors:
        name, k = tensor.name, 1
        while name in used or (k > 1 and name in taken):
            k += 1
            name = f"{tensor.name}_{k}"
        used.add(name)
        names[tensor] = name
    return names


def check_call_names(program: Program) -> None:
    """Refuses two arguments of a call with one name."""
    taken: dict[str, str] = {}
    named = [
        *((i.name, f"{i.kind} {i.name} ({i.span})") for i in program.inputs),
        *((n, f"Param {n}") for n in program.params),
        *((n, f"size {n}") for n in program.sizes),
    ]
    for name, what in named:
        if name in taken:
            raise LanguageError(
                f"{what} and {taken[name]} have the same name, so a call could not tell them apart",
                hint="rename one of them",
            )
        taken[name] = what


def call_signature(program: Program) -> inspect.Signature:
    """The keywords of a call, for `inspect.signature` and tab completion."""
    kinds = inspect.Parameter
    parameters = [kinds(i.name, kinds.POSITIONAL_OR_KEYWORD) for i in program.inputs]
    for name, param in program.params.items():
        default = kinds.empty if param.info.default is None else param.info.default
        parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=default))
    names = [n for n in program.free_sizes() if n.isidentifier()]
    for name in (*names, "out", "shape", "region"):
        parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


def signature_text(program: Program) -> str:
    """The arguments and results of a call: `C(A: float32[n, l], ...) -> float32[n, m]`."""
    changed = {f.initial for f in program.inouts}
    args = [
        f"{i.name}: {i.dtypes[0]}[{shape_text(i)}]" + (" in place" if i in changed else "")
        for i in program.inputs
    ]
    for name, param in program.params.items():
        default = "" if param.info.default is None else f" = {param.info.default}"
        args.append(f"{name}: {param.info.dtype}{default}")
    for name in program.free_sizes():
        derived = program.sizes[name].default
        default = "" if derived is None else f" = {expr_text(derived)}"
        args.append(f"{name}: size{default}")
    results = [f"{t}[{shape_text(f)}]" for f in program.outputs for t in f.history.dtypes()]
    head = ", ".join(f.name for f in program.outputs)
    return f"{head}({', '.join(args)}) -> {', '.join(results)}"


def shape_text(tensor: Tensor) -> str:
    """The extents of a tensor as a user would write them."""
    if tensor.extents is None:
        return ", ".join("?" * tensor.ndim)
    return ", ".join(map(expr_text, tensor.extents))


def ordered_inputs(
    args: Sequence[Input | InOut] | None, found: list[Input], span: Span
) -> tuple[Input, ...]:
    """The Inputs in the order of a call's positions."""
    inputs = found
    if args is None:
        return tuple(inputs)
    if not isinstance(args, (list, tuple)):
        raise LanguageTypeError(
            f"args= lists Inputs and InOuts, and {args!r} is no list",
            where=span,
            hint="args=(A, B)",
        )
    for a in args:
        if not isinstance(a, (Input, InOut)):
            raise LanguageTypeError(f"args= lists Inputs and InOuts, not {a!r}", where=span)
    given = [a.initial if isinstance(a, InOut) else a for a in args]
    twice = [a.name for k, a in enumerate(given) if a in given[:k]]
    if twice:
        raise LanguageError(f"args= lists {', '.join(twice)} twice", where=span)
    missing = [i.name for i in inputs if i not in given]
    if missing:
        raise LanguageError(
            f"args= leaves out {', '.join(missing)}, which the program reads", where=span
        )
    return tuple(given)
