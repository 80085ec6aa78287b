"""What a report is asked about: sizes, or the arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ...codegen.runtime.arguments import is_contiguous
from ...codegen.runtime.kernel import Kernel
from ...lang.call.binding import Binding
from ...lang.errors.errors import CallTypeError, CallValueError, LanguageTypeError
from ...lang.nodes import index as ix
from ...lang.nodes.printer import expr_text
from ...poly.report.facts import check_size
from ...records import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """What a report is about.

    Attributes:
        kernel: as it was compiled.
        chosen: what runs at the sizes.
        values: sizes and Params by name; empty where none are given.
        args, kwargs: those of a call, where there are any.
        bound: the same, bound; None without arguments.
        strided: whether some of the arrays are not contiguous: other code runs then.
    """

    kernel: Kernel
    chosen: Kernel
    values: Mapping[str, Any] = field(default_factory=dict)
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    bound: Binding | None = None
    strided: bool = False


def asked(kernel: Kernel, args: Any, side_effects: bool, sizes: Mapping[str, int]) -> Asked:
    """Checks what is asked, before anything is done.

    Raises:
        CallError: the arguments do not fit.
        LanguageTypeError: a name is no size of the program, or one is missing.
        ScheduleError: a size is no integer >= 0.
    """
    if args is not None:
        return _of_call(kernel, args, side_effects, sizes)
    fixed = _fixed(kernel)
    if sizes or set(fixed) >= set(_sizes(kernel)):
        return _of_sizes(kernel, {**fixed, **sizes})
    return Asked(kernel, kernel)


def _of_call(kernel: Kernel, args: Any, side_effects: bool, sizes: Mapping[str, int]) -> Asked:
    if sizes:
        raise CallTypeError(
            f"report takes args= or sizes, not both: {', '.join(sizes)}",
            hint="the arguments of a call say the sizes; its Params and free sizes go into a "
            'dict: args={"A": A, "n": 512}',
        )
    match args:
        case Mapping():
            positions, names = (), dict(args)
        case tuple() | list():
            positions, names = tuple(args), {}
        case _:
            raise CallTypeError(
                f"args= takes a tuple or a dict of the arguments of a call, and not {_kind(args)}",
                hint="args=(A, B), or args={'A': A, 'B': B}",
            )
    hint = "; without args= nothing is run"
    return of_call(kernel, positions, names, side_effects, asker="report(args=...)", hint=hint)


def of_call(
    kernel: Kernel,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    side_effects: bool,
    *,
    asker: str,
    hint: str = "",
) -> Asked:
    """Checks a call that is to be repeated, before anything runs.

    Args:
        asker: what is asked for, as messages name it.
        hint: what they say behind the hint about functions of the user's.
    """
    if "region" in kwargs:
        raise CallTypeError(
            f"{asker} takes no region=",
            hint="give a whole call, or a program whose output has the shape of the region",
        )
    given = dict(kwargs)
    shape, out = given.pop("shape", None), given.pop("out", None)
    bound = kernel._binder.bind(args, given, shape=shape, out=out)
    chosen = kernel._chosen(bound)
    values = chosen._preconditions.check(bound)
    strided = not all(map(is_contiguous, bound.arrays.values()))
    if chosen._variant(strided).callbacks and not side_effects:
        raise CallValueError(
            f"{asker} calls the kernel many times, and this one calls functions of yours "
            "(extern stages or traces)",
            hint=f"side_effects=True allows it{hint}",
        )
    return Asked(kernel, chosen, values, args, kwargs, bound, strided)


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"


def _sizes(kernel: Kernel) -> list[str]:
    """The sizes that decide what a call does, those of shapes of outputs among them."""
    outputs = [name for _, name, _ in kernel._preconditions.extents]
    return list(dict.fromkeys([*kernel._program.sizes, *outputs]))


def _fixed(kernel: Kernel) -> dict[str, int]:
    """The sizes that the kernel was compiled for."""
    constants = kernel._schedule.loop_program.constants
    found = {name: ix.constant(node) for name, node in constants.items()}
    return {name: value for name, value in found.items() if value is not None}


def _of_sizes(kernel: Kernel, sizes: Mapping[str, int]) -> Asked:
    known = _sizes(kernel)
    params = kernel._program.params
    for name, value in sizes.items():
        if name not in known and name not in params:
            have = ", ".join([*known, *params]) or "none"
            raise LanguageTypeError(f"{name} is no size of this program", hint=f"they are {have}")
        if name in known:
            check_size(name, value)
    missing = [name for name in known if name not in sizes]
    if missing:
        given = ", ".join(f"{name}=..." for name in known if name.isidentifier())
        rest = [name for name in missing if not name.isidentifier()]
        how = f"report(path, {given})" if given else "report(path, ...)"
        more = f"; **{{{rest[0]!r}: ...}} for the shape of an output" if rest else ""
        raise LanguageTypeError(f"{', '.join(missing)} missing", hint=how + more)
    values = dict(sizes)
    _check(kernel, values)
    return Asked(kernel, _variant_for(kernel, values), values)


def _check(kernel: Kernel, values: Mapping[str, Any]) -> None:
    """That a call accepts these sizes, as far as no Param decides that."""
    try:
        holds = kernel._preconditions.test(values)
    except KeyError:
        return
    for is_so, needed in zip(holds, kernel._preconditions.needed, strict=False):
        if not is_so:
            sizes = ", ".join(f"{k}={v}" for k, v in values.items())
            raise CallValueError(
                f"no call has {sizes}: {needed.problem}: {needed.text}",
                hint=f"the sizes must satisfy {expr_text(needed.condition)}",
            )
    assumed = zip(
        holds[len(kernel._preconditions.needed) :], kernel._preconditions.assumed, strict=True
    )
    for is_so, (_, reason) in assumed:
        if not is_so:
            raise CallValueError(
                f"the schedule assumes that {reason}, which these sizes do not meet",
                hint="give sizes that meet it, or leave the directive out",
            )


def _variant_for(kernel: Kernel, values: Mapping[str, Any]) -> Kernel:
    """What runs at sizes. What depends on a Param that is not given does not run."""
    for test, special in kernel._special:
        try:
            holds = all(test(values))
        except KeyError:
            continue
        if holds:
            return _variant_for(special, values)
    return kernel
