"""Random reads: in bounds by construction, or under a guard that a lazy select gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lang.nodes.dtypes import promote
from polysched.testing.choices import Choices

from .indices import joined
from .vocabulary import Scope, Tensor, Value
from .world import World

if TYPE_CHECKING:
    from .expressions import Expressions


class Reads:
    """Writes reads of everything that may be read."""

    def __init__(self, choices: Choices, world: World, scope: Scope, owner: Expressions) -> None:
        self.choices = choices
        self.world = world
        self.scope = scope
        self.owner = owner

    def value(self, depth: int) -> Value:
        """A read, guarded or not."""
        form = self.choices.weighted((5, "plain"), (5, "guarded"), (2, "recurrent"), (1, "raw"))
        if form == "recurrent" and self.scope.recurrent is not None:
            return self.recurrent()
        if not self.world.tensors:
            return self.owner.literal("int")
        if form == "guarded":
            return self._guarded(depth)
        if form == "raw" and self.choices.chance(6):
            tensor = self._tensor()
            index = [self.owner.indices.free() for _ in range(tensor.rank)]
            return self._read(tensor, index)
        return self.plain()

    def plain(self) -> Value:
        """A read at an index that is in bounds, sizes permitting."""
        if self.scope.recurrent is not None and self.choices.chance(20):
            return self.recurrent()
        tensor = self._tensor()
        indices = self.owner.indices
        if tensor.extents is None:
            return self._read(tensor, [self._anywhere() for _ in range(tensor.rank)])
        return self._read(tensor, [indices.inside(e) for e in tensor.extents])

    def _tensor(self) -> Tensor:
        """Most often the newest: what nobody reads is not computed."""
        tensors = self.world.tensors
        if tensors[-1].is_func and self.choices.chance(35):
            return tensors[-1]
        return self.choices.pick(tensors)

    def _anywhere(self) -> str:
        """An index of a Func without a shape; data is clamped, or has a range."""
        indices = self.owner.indices
        if self.choices.chance(8):
            return indices.in_32_bits(self.choices.pick(("4", "3", *self.world.sizes)))
        if self.choices.chance(12):
            return indices.inside(self.choices.pick(("4", "3", *self.world.sizes)))
        return indices.free()

    def _read(self, tensor: Tensor, index: list[str]) -> Value:
        text = f"{tensor.name}[{', '.join(index) or '()'}]"
        component = self.choices.below(len(tensor.types)) if len(tensor.types) > 1 else 0
        if len(tensor.types) > 1:
            text += f"[{component}]"
        return Value(text, tensor.types[component])

    def recurrent(self) -> Value:
        """The Func that is being updated, where no other Vars write it."""
        assert self.scope.recurrent is not None
        tensor, left = self.scope.recurrent
        index = []
        for axis, fixed in enumerate(left):
            if fixed is not None:
                index.append(fixed)
            elif tensor.extents is None:
                index.append(self._anywhere())
            else:
                index.append(self.owner.indices.inside(tensor.extents[axis]))
        return self._read(tensor, index)

    # guarded ----------------------------------------------------------------------------------
    def _guarded(self, depth: int) -> Value:
        """A read that may be out of bounds, under a condition that it is not."""
        shaped = [t for t in self.world.tensors if t.extents]
        if not shaped:
            return self.plain()
        tensor = self.choices.pick(shaped)
        assert tensor.extents is not None
        index, guards = [], []
        for extent in tensor.extents:
            if guards and self.choices.chance(50):
                index.append(self.owner.indices.inside(extent))
                continue
            name = self.world.fresh("x")
            self.scope.lines.append(f"{name} = {self.owner.indices.expression()}")
            index.append(name)
            guards.append(self.owner.indices.guard(name, extent))
        name = self.world.fresh("t")
        read = self._read(tensor, index)
        self.scope.lines.append(f"{name} = {read.text}")
        return self._under(joined(guards), Value(name, read.type), depth)

    def _under(self, inside: str, read: Value, depth: int) -> Value:
        """A select that chooses `read` only where `inside` holds."""
        kept = len(self.scope.shared)
        self.scope.shared.append(read)
        used = read if self.choices.chance(50) else self.owner.value(depth - 1, read.kind)
        more = self.owner.value(depth - 1, read.kind) if self.choices.chance(30) else read
        choosy = f"{read.text} == {read.text}"
        del self.scope.shared[kept:]
        other = self.owner.value(depth - 1, read.kind)
        condition = self.owner.condition(depth - 1).text
        a, b, e = used.text, more.text, other.text
        t = promote(promote(used.type, more.type), other.type) or read.type
        text = self.choices.pick((
            f"ps.select({inside}, {a}, {e})",
            f"ps.select(~({inside}), {e}, {a})",
            f"ps.select({condition}, ps.select({inside}, {a}, {e}), {e})",
            f"ps.select({inside}, ps.select({condition}, {a}, {b}), {e})",
            f"ps.select(({inside}) & ({condition}), {a}, ps.select({inside}, {b}, {e}))",
            f"ps.select(({condition}) & ({inside}), {a}, {inside}, {b}, {e})",
            f"ps.select({condition}, {e}, {inside}, {a}, {e})",
            f"ps.select({inside}, ps.select({choosy}, {a}, {b}), {e})",
            f"ps.select(ps.select({inside}, {choosy}, False), {e}, {e})",
            f"ps.select({condition}, ps.select({inside}, {a}, {e}), "
            f"ps.select({inside}, {b}, {e}))",
        ))  # fmt: skip
        return Value(text, t)
