"""Random programs: Funcs with pieces, updates, tuples and boundaries, arrays in place and ordered
blocks, as Python text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from polysched.testing.choices import Choices

from .data import evaluate
from .functions import Functions
from .vocabulary import InputSpec, ParamSpec
from .world import World

Sizes = dict[str, int]
#: The values of sizes, smaller where there are many loops.
_RANGES = {2: (0, 1, 2, 3, 5, 8), 3: (0, 1, 2, 3, 5), 9: (0, 1, 2, 3)}
#: Those of one size in programs of few loops, where all others are small: vectors of several
#: registers are full then.
_WIDE = (13, 21)


@dataclass(frozen=True)
class Case:
    """A program and the calls of it.

    Attributes:
        source: the text, which runs where `ps` and `np` are.
        outputs: the names of what is computed.
        shapes: of the outputs that declare none, as expressions.
        sizes: one assignment a call.
        seed: of the data and the layouts.
        refused: what the language refused while the program was written.
        defaults: the values of sizes and Params where a call passes none, as expressions of sizes.
    """

    source: str
    outputs: tuple[str, ...]
    inputs: tuple[InputSpec, ...]
    params: tuple[ParamSpec, ...]
    shapes: dict[str, tuple[str, ...]]
    sizes: tuple[Sizes, ...]
    seed: int
    refused: tuple[str, ...] = ()
    defaults: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Case:
        """From what `to_dict` gave, by way of JSON too."""
        inputs = tuple(InputSpec(**{**i, "extents": tuple(i["extents"])}) for i in d["inputs"])
        return cls(
            d["source"], tuple(d["outputs"]), inputs, tuple(ParamSpec(**p) for p in d["params"]),
            {k: tuple(v) for k, v in d["shapes"].items()}, tuple(d["sizes"]), d["seed"],
            tuple(d["refused"]), d.get("defaults", {}),
        )  # fmt: skip


def make_case(choices: Choices) -> Case:
    """The program that the choices stand for."""
    seed = choices.below(1 << 16)
    world = World(choices)
    functions = Functions(choices, world)
    for _ in range(choices.weighted((5, 1), (3, 2), (1, 0), (1, 3))):
        world.input()
    if choices.chance(20):
        world.const()
    for _ in range(choices.weighted((6, 0), (3, 1), (1, 2))):
        world.param()
    for _ in range(1 + choices.weighted((5, 1), (3, 0), (4, 2), (3, 3), (2, 4), (1, 5))):
        functions.func()
        if choices.chance(10):
            world.inout()
        if choices.chance(20):
            functions.block()
        elif world.inouts and choices.chance(40):
            functions.updates(choices.pick(world.inouts))
    if choices.chance(40):
        finals = [t for t in world.inouts if t.name in functions.updated()]
        world.tensors += [replace(t, name=f"{t.name}.final", is_func=True) for t in finals]
        functions.func()
    outputs = _outputs(choices, functions)
    shapes = {
        f.name: tuple(world.extent() for _ in range(f.rank))
        for f in functions.made
        if f.name in outputs and f.extents is None
    }
    return Case(
        "\n".join(world.lines), outputs, tuple(world.inputs), tuple(world.params), shapes,
        _sizes(choices, world, functions.depth), seed, tuple(world.refused), world.defaults,
    )  # fmt: skip


def _outputs(choices: Choices, functions: Functions) -> tuple[str, ...]:
    """The last Func, and perhaps others before it."""
    names = [f.name for f in functions.made if f.name not in functions.boundaries]
    others = [name for name in names[:-1] if choices.chance(15)]
    updated = functions.updated() if choices.chance(50) else ()
    return (*others, *names[-1:], *updated)


def _sizes(choices: Choices, world: World, depth: int) -> tuple[Sizes, ...]:
    values = next(v for loops, v in _RANGES.items() if depth <= loops)
    found = [{s: choices.pick(values) for s in world.sizes} for _ in range(3)]
    wide = choices.pick(world.sizes) if depth <= 2 else ""
    found.append({s: choices.pick(_WIDE if s == wide else values[1:4]) for s in world.sizes})
    found.append(dict.fromkeys(world.sizes, values[-1]))
    found.append(dict.fromkeys(world.sizes, choices.pick((2, 1, 0))))
    last = world.sizes[-1]
    if last in world.defaults:  # which is left out where it is what it would be
        for given in found[:4]:
            given[last] = evaluate(world.defaults[last], given)
    return tuple(found)
