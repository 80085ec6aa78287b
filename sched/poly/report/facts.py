"""Facts for tools that choose schedules: extents as numbers, and how accesses move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from ...lang.arguments.admission import SIZE_LIMIT
from ...lang.errors.errors import LanguageTypeError, ScheduleError
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Param, Size, postorder, replaced_all
from ...lang.nodes.printer import index_text
from ...lang.nodes.tensor import Tensor
from ...lang.program.intervals import Interval, interval
from ...records import dataclass
from ..nests import loop_program as lp
from ..sets.linear import coefficient, lengths


@dataclass(frozen=True)
class AccessFact:
    """An element that a stage reads or writes in an iteration.

    Attributes:
        tensor: by its name.
        component: which value of a tuple.
        index: as text, over the Vars of the stage.
        is_write: whether it is written.
        steps: by loop, how far the index moves along each axis from an iteration to the next; None
            where that is no constant.
    """

    tensor: str
    component: int
    index: str
    is_write: bool
    steps: Mapping[str, tuple[int | None, ...]] = field(hash=False)


# extents ----------------------------------------------------------------------------------------
def extents(program: lp.LoopProgram, sizes: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """By stage and loop, how many iterations the loop has at some sizes, at most, in each iteration
    of those around it.

    Raises:
        LanguageTypeError: a size that loops depend on is missing, or one is none of the program.
    """
    symbols = program.symbols
    known: dict[Node, Interval] = {}
    for name, value in sizes.items():
        if name not in symbols:
            have = ", ".join(symbols) or "none"
            raise LanguageTypeError(f"{name} is no size of this program", hint=f"they are {have}")
        known[symbols[name]] = (check_size(name, value),) * 2
    for name, constant in program.constants.items():
        number = ix.constant(constant)
        if number is not None:
            known[symbols[name]] = (number, number)
    found: dict[str, dict[str, int]] = {}
    for nest in program.nests:
        _count(nest, known, {}, found)
    return found


def check_size(name: str, value: object) -> int:
    """Checks a size that a user gives.

    Raises:
        ScheduleError: the value is no size.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ScheduleError(f"{name}={value!r}: a size is an integer >= 0")
    if value >= SIZE_LIMIT:
        raise ScheduleError(f"{name}={value}: a size is below 2**40")
    return value


def _count(
    nest: lp.Nest,
    known: Mapping[Node, Interval],
    around: Mapping[str, int],
    found: dict[str, dict[str, int]],
) -> None:
    match nest:
        case lp.Loop(name=name, var=var, lo=lo, hi=hi, step=step, body=body):
            most = max(0, min(_range(length, known)[1] for length in lengths(hi, lo)))
            (first, _), (_, last) = _range(lo, known), _range(hi, known)
            inside = {**known, var: (first, max(first, last - 1))}
            _count(body, inside, {**around, name: -(-most // step)}, found)
        case lp.Run(instance=instance):
            own = found.setdefault(instance.stage, {})
            for name, most in around.items():
                own[name] = max(most, own.get(name, 0))
        case _:
            for part in lp.children(nest):
                _count(part, known, around, found)


def _range(root: Node, known: Mapping[Node, Interval]) -> Interval:
    """The range of an expression over sizes and loops."""
    ranges: dict[Node, Interval] = {}
    for node in postorder(root):
        given = known.get(node)
        if given is None and isinstance(node, Size):
            raise LanguageTypeError(f"{node.name} is missing", hint=f"extents({node.name}=...)")
        if given is None and isinstance(node, Param):
            given = interval(node, ranges)[0]
        ranges[node] = interval(node, ranges)[0] if given is None else given
    return ranges[root]


# accesses ---------------------------------------------------------------------------------------
def accesses(program: lp.LoopProgram, stage: str) -> tuple[AccessFact, ...]:
    """What a stage reads, in the order written, and then what it writes; each element once."""
    for nest in program.nests:
        for run, loops in _runs(nest, ()):
            if run.instance.stage == stage:
                return tuple(dict.fromkeys(_accesses(program, run, loops)))
    return ()


def _runs(
    nest: lp.Nest, around: tuple[lp.Loop, ...]
) -> Iterator[tuple[lp.Run, tuple[lp.Loop, ...]]]:
    """What runs in a nest, each with the loops around it."""
    match nest:
        case lp.Run():
            yield nest, around
        case lp.Loop(body=body):
            yield from _runs(body, (*around, nest))
        case _:
            for part in lp.children(nest):
                yield from _runs(part, around)


def _accesses(
    program: lp.LoopProgram, run: lp.Run, loops: tuple[lp.Loop, ...]
) -> Iterator[AccessFact]:
    d, names = run.instance.definition, program.program.names

    def fact(tensor: Tensor, component: int, index: tuple[Node, ...], is_write: bool) -> AccessFact:
        moved = replaced_all(index, run.point)
        steps = {x.name: tuple(_step(i, x) for i in moved) for x in loops}
        text = index_text(index, names)
        return AccessFact(names[tensor], component, text, is_write, steps)

    for read, index in run.instance.reads:
        yield fact(read.tensor, read.component, index, False)
    if d.opaque is None:
        for component in range(len(d.func.dtypes)):
            yield fact(d.func, component, d.lhs, True)


def _step(index: Node, loop: lp.Loop) -> int | None:
    found = coefficient(index, loop.var)
    times = None if found is None else ix.constant(found)
    return None if times is None else times * loop.step
