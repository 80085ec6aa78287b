"""Signatures of programs: the names of tensors and arguments, and their order in a call."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..errors.errors import LanguageError, LanguageTypeError, Span
from ..nodes.printer import expr_text
from ..nodes.tensor import Tensor
from ..tensors.inout import InOut
from ..tensors.tensors import Input

if TYPE_CHECKING:
    from .program import Program

T = TypeVar("T", bound=Tensor)


def tensor_names(program: Program) -> dict[Tensor, str]:
    """A unique name for each tensor; the initial and the final value of an InOut share the name of
    the array."""
    arrays = {f.initial: f for f in program.inouts}
    every: tuple[Tensor, ...] = (*program.inputs, *program.consts, *program.funcs)
    plain = [t for t in every if t not in arrays]
    names = unique_names(plain, (*program.params, *program.sizes))
    for initial, func in arrays.items():
        if initial in program.inputs:
            names[initial] = f"{names[func]}.initial"
    return names


def unique_names(tensors: Sequence[T], others: Collection[str] = ()) -> dict[T, str]:
    """Names for tensors: of several that have one name, the first keeps it.

    Args:
        others: names that the new ones differ from.
    """
    names: dict[T, str] = {}
    taken = {t.name for t in tensors} | {*others}
    used: set[str] = set()
    for tensor in tensors:
        name, k = tensor.name, 1
        while name in used or (k > 1 and name in taken):
            k += 1
            name = f"{tensor.name}_{k}"
        used.add(name)
        names[tensor] = name
    return names


def argument_names(program: Program) -> dict[Input, str]:
    """The name by which a call passes each Input, or the array of an InOut."""
    changed = {f.initial for f in program.inouts}
    return {i: i.name if i in changed else program.names[i] for i in program.inputs}


def check_call_names(program: Program) -> None:
    """Refuses two arguments of a call with one name, which Inputs alone never have."""
    taken: dict[str, str] = {}
    named = [
        *((n, f"{i.kind} {n} ({i.span})") for i, n in program.argument_names.items()),
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
    given = program.argument_names.values()
    parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in given]
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
        f"{name}: {i.dtypes[0]}[{shape_text(i)}]" + (" in place" if i in changed else "")
        for i, name in program.argument_names.items()
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
