"""Funcs that are computed at loops of their consumers: which instances, and in which iteration.

With tau the loops around a `Produce`, and the stages behind it in the innermost of them, what one
iteration needs is

    { (tau, element) : an instance of a stage at tau reads the element }

and the statements inside are those that compute it, with the loops around as their first
dimensions: an instance of the algorithm that runs in several iterations is several instances here.
Where the storage outlives the iteration, an instance runs in the first one only that needs it: the
window slides. That takes loops which run in order, and elements that are computed one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ...lang.nodes.nodes import Node, Var, postorder
from ...lang.program.scalars import symbols_of
from ...lang.tensors.tensors import Func
from ..model.model import Model
from ..model.statements import Access, Statement
from ..sets.affine import Relation
from ..sets.coordinates import coordinate_map
from ..sets.expressions import Translator
from ..sets.hulls import boxed
from ..sets.isl import BasicSet, Frame, Map, Set, dim_count, isl, plain, union_sets
from ..sets.projections import along, outer_part
from ..tree.around import are_fixed, as_dimensions, has_own_loops, renewed, with_times
from ..tree.edits import map_children, map_stages, with_body
from ..tree.extents import span_of
from ..tree.looptree import Accumulator, Alloc, Loop, Produce, Seq, Tree
from ..tree.stage import Stage, loop_map
from .storage_placement import slides, with_storage_placed

_SET, _IN, _OUT, _PARAM = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out, isl.dim_type.param


def with_demands(model: Model, tree: Seq) -> Seq:
    """The tree with demands: statements that compute, where they stand, what is needed there."""
    made = _Placer(model).node(with_storage_placed(model, tree), (), {}, [])
    assert isinstance(made, Seq)
    return made


def at_root(model: Model, tree: Tree, funcs: Sequence[Func]) -> Tree:
    """The tree with statements of some Funcs that compute all that anything reads."""
    if isinstance(tree, Stage):
        base = tree.statement.base
        moved = base.func in funcs and base is not tree.statement
        return replace(tree, statement=base) if moved else tree
    return map_children(tree, lambda child: at_root(model, child, funcs))


# demand -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Demand:
    """The inputs from which the statements of a `Produce` are derived: a key of that derivation."""

    reads: tuple[tuple[Access, Stage], ...]
    times: tuple[Node, ...]
    fresh_depth: int
    #: The statements of the algorithm that those inside execute, each over its region.
    bases: tuple[Statement, ...]

    def is_same(self, other: object) -> bool:
        if not isinstance(other, _Demand) or len(self.reads) != len(other.reads):
            return False
        count = len(self.times)
        same = all(
            a is b and (x is y or _is_same(x, y, count))
            for (a, x), (b, y) in zip(self.reads, other.reads, strict=True)
        )
        return same and (
            (self.times, self.fresh_depth, self.bases)
            == (other.times, other.fresh_depth, other.bases)
        )


def _is_same(a: Stage, b: Stage, count: int) -> bool:
    """Whether stages of one statement run the same instances in the outermost loops."""
    same = a.coordinates[:count] == b.coordinates[:count]
    return same and a.where is b.where and a.padding == b.padding


class _Placer:
    def __init__(self, model: Model) -> None:
        self.model = model

    def node(
        self, node: Tree, loops: tuple[Loop, ...], stored: Mapping[Func, int], after: list[Stage]
    ) -> Tree:
        """The node, up to date.

        Args:
            loops: around it.
            stored: by Func, around how many of them its storage lies.
            after: the stages that run behind it in the innermost loop; its own are added.
        """
        match node:
            case Stage():
                after.append(node)
                return node
            case Loop(body=body):
                inside: list[Stage] = []
                made = self._body(node, body, (*loops, node), stored, inside)
                after += inside
                return made
            case Alloc(func=func, body=body):
                return self._body(node, body, loops, {**stored, func: len(loops)}, after)
            case Produce():
                node = self._produce(node, loops, stored, after)
                return self._body(node, node.body, loops, stored, after)
            case Accumulator(body=body) | Seq(body=body):
                return self._body(node, body, loops, stored, after)

    def _body(
        self,
        node: Tree,
        body: tuple[Tree, ...],
        loops: tuple[Loop, ...],
        stored: Mapping[Func, int],
        after: list[Stage],
    ) -> Tree:
        made = [self.node(child, loops, stored, after) for child in reversed(body)]
        same = all(a is b for a, b in zip(reversed(made), body, strict=True))
        return node if same else with_body(node, tuple(reversed(made)))

    def _produce(
        self, node: Produce, loops: tuple[Loop, ...], stored: Mapping[Func, int],
        after: Sequence[Stage],
    ) -> Produce:  # fmt: skip
        count = len(loops)
        node = renewed(node, loops)
        depth = max(stored[f] for f in node.funcs)
        fresh_depth = depth if all(slides(self.model, f) for f in node.funcs) else count
        reads = tuple(
            (access, stage) for stage in after for access in stage.statement.reads_of(*node.funcs)
        )
        bases = tuple(s for s in self.model.statements if s.func in node.funcs)
        if _Demand(reads, node.times, fresh_depth, bases).is_same(node.demand):
            return node
        readers = [s for s in after if s.statement.reads_from(*node.funcs)]
        node, free = self._narrowed(node, loops, readers)
        demand = _Demand(reads, node.times, fresh_depth, bases)
        made = {s.base: s for s in self._statements(node, demand, free)}

        def change(stage: Stage) -> Stage:
            found = made.get(stage.statement.base)
            return stage if found is None else replace(stage, statement=found)

        body = tuple(map_stages(child, change) for child in node.body)
        return replace(node, body=body, fresh_depth=fresh_depth, demand=demand)

    def _narrowed(
        self, node: Produce, loops: tuple[Loop, ...], readers: Sequence[Stage]
    ) -> tuple[Produce, list[int]]:
        """A `Produce` with only those loops around as dimensions that are not determined by others,
        and the numbers of these loops. In deep nests most loops have one iteration, and are
        determined."""
        whole = as_dimensions(node, loops)
        known = [s.determined for s in readers]
        first = known[0] if known else {}
        shared = {k: f for k, f in first.items() if all(f == other.get(k) for other in known)}
        names = Translator(symbols_of(self.model.program), whole)
        times: list[Node] = []
        for k, x in enumerate(whole):
            function = shared.get(k)
            if function is not None and function.factor == 1 and function.others:
                times.append(names.sum(function.terms))
            else:
                times.append(x)
        free = [k for k, x in enumerate(whole) if times[k] is x]
        if tuple(times) == node.times:
            return node, free
        if has_own_loops(node):
            return with_times(node, tuple(whole[k] for k in free), tuple(times)), free
        described = coordinate_map(Frame(self.model.params, node.names), node.times)
        runs = (loop_map(s, range(len(loops))).intersect_domain(s.padded).range() for s in readers)
        if not all(where.is_subset(described.range()) for where in runs):
            raise are_fixed(node)
        return node, list(range(len(loops)))

    def _statements(self, node: Produce, demand: _Demand, free: list[int]) -> list[Statement]:
        """The statements that compute what is needed, by the loops around.

        Args:
            free: those of them that determine the others.
        """
        names = node.names
        frame = Frame(self.model.params, names)
        back = coordinate_map(frame, [demand.times[k] for k in free]).reverse()
        wanted: dict[Func, list[Set]] = {f: [] for f in node.funcs}
        for access, stage in demand.reads:
            touched = access.map
            if stage.padding:
                touched = access.reach.intersect_domain(stage.padded)
            elif stage.where is not None:
                touched = touched.intersect_domain(stage.where)
            at = loop_map(stage, free).apply_range(back)
            assert isinstance(access.tensor, Func)
            wanted[access.tensor].append(at.flat_range_product(touched).range())
        needed = {}
        iterations: list[Set] = []
        for func, read in wanted.items():
            elements = self.model.element_frame(func).dims
            whole = union_sets(read, Frame(self.model.params, (*names, *elements)).empty)
            region = _named(whole, names)
            region = region.move_dims(_PARAM, len(self.model.params), _SET, 0, len(names))
            iterations.append(region.params())
            # A window of boxes slides in simpler loops than one of a region without its corners.
            slides = demand.fresh_depth < len(
                demand.times
            ) and not self.model.program.is_recurrence(func)
            needed[func] = boxed(region) if slides else region
        # What is nearly convex may have been filled up, but by no iteration that there is not.
        running = reduce(Set.union, iterations).coalesce()
        made = [self._lifted(s, node, running) for s in self.model.part(names, needed)]
        if demand.fresh_depth < len(demand.times):
            for func in node.funcs:
                own = [s for s in made if s.func is func]
                begun = [_written(s) for s in own if not s.definition.is_update]
                early = len(node.funcs) == 1
                where = _first(union_sets(begun[1:], begun[0]), frame, demand, early)
                for statement in own:
                    _restrict(statement, where)
        return made

    def _lifted(self, s: Statement, node: Produce, running: Set) -> Statement:
        """A statement whose parameters for the loops around become its first dimensions; of the
        iterations that run."""
        names = node.names
        whole = Frame((*self.model.params, *names), ()).space
        first, count = len(self.model.params), len(names)

        def of_set(x: Set) -> Set:
            return x.align_params(whole).move_dims(_SET, 0, _PARAM, first, count)

        def of_map(x: Map) -> Map:
            return x.align_params(whole).move_dims(_IN, 0, _PARAM, first, count)

        dims = s.frame.dims
        made = replace(
            s, frame=Frame(self.model.params, (*names, *dims)),
            domain=of_set(s.domain.intersect_params(running).coalesce()),
            accesses=[], around=node.around,
        )  # fmt: skip
        for a in s.accesses:
            r = a.relation
            lifted = Relation(of_map(r.map), r.may, of_map(r.unbounded))
            within = of_set(a.domain).intersect(made.domain).coalesce()
            made.accesses.append(replace(a, statement=made, relation=lifted, domain=within))
        return made


def _named(where: Set, names: Sequence[str]) -> Set:
    for k, name in enumerate(names):
        where = where.set_dim_name(_SET, k, name)
    return where


def _written(statement: Statement) -> Set:
    """{ (around, element) }"""
    return _with_iteration(statement, statement.write.map).range()


def _with_iteration(statement: Statement, written: Map) -> Map:
    """{ (around, instance) -> (around, element) }"""
    count = len(statement.around)
    return outer_part(statement.frame.space, count).flat_range_product(written)


def _first(elements: Set, frame: Frame, demand: _Demand, early: bool) -> Set:
    """{ (around, element) } in the first of the iterations that differ only in loops inside of
    the depth of fresh values.

    Args:
        early: or in one before it, if that is simpler.
    """
    loops = _ordering(demand)  # splits make more of those around
    count = len(loops)
    own = dim_count(elements) - len(frame.dims)
    inside = Frame(frame.params, tuple(f"#{k}" for k in range(own))).universe
    # { (around, instance) -> (loops, instance) }
    same = Map.identity(inside.get_space().map_from_set())
    times = coordinate_map(frame, loops).product(same).flatten()
    running = elements.apply(times)
    which = Map.from_range(running)
    which = which.move_dims(_IN, 0, _OUT, count, own).move_dims(_IN, 0, _OUT, 0, demand.fresh_depth)
    first = _early(which) if early else which.lexmin()
    first = first.move_dims(_OUT, 0, _IN, 0, demand.fresh_depth)
    chosen = first.move_dims(_OUT, count, _IN, 0, own).range()
    return chosen.apply(times.reverse()).coalesce()


def _ordering(demand: _Demand) -> list[Node]:
    """The coordinates of the loops around, without those inside of the depth of fresh
    values that others determine: these order nothing."""
    known: set[Node] = set()
    found = []
    for k, x in enumerate(demand.times):
        if k < demand.fresh_depth or not {v for v in postorder(x) if isinstance(v, Var)} <= known:
            found.append(x)
        known.add(x)
    return found


def _early(needed: Map) -> Map:
    """{ instance -> the first iteration that needs it }; or one before that, if that is simpler.

    A window that slides by a row needs one more row in each iteration, and several in the first
    one. It is as good to begin with some iterations before the first, in which nothing else is
    done: so the formula that holds for most is taken for all, where it is never too late.
    """
    exact = needed.lexmin().coalesce()
    if exact.n_basic_map() < 2:
        return exact
    whole = needed.domain()
    most = max(exact.get_basic_maps(), key=lambda piece: _extent(piece.domain()))
    formula = Map.from_basic_map(most.affine_hull()).intersect_domain(whole)
    is_function = whole.is_subset(formula.domain()) and formula.is_single_valued()
    return formula if is_function and _is_shortly_before(formula, exact) else exact


def _extent(where: BasicSet) -> tuple[int, int]:
    """A measure of a set to compare sizes by: along how many axes it is unbounded, and its size
    along the others."""
    alone = Set.from_basic_set(where)
    count, endless, size = dim_count(alone), 0, 1
    for k in range(count):
        line = along(alone, k)
        span = span_of(line, 0)
        endless, size = endless + (span is None), size * (span or 1)
    return endless, size


def _is_shortly_before(a: Map, b: Map) -> bool:
    """Whether the first of two functions is nowhere later than the second, and earlier by a
    constant at most. One that is earlier by a size is a formula that holds at other sizes."""
    later = a.apply_range(Map.lex_gt(a.get_space().range()))
    if not later.intersect(b).is_empty():
        return False
    ahead = a.reverse().apply_range(b).deltas()
    return all(_is_bounded(ahead, k) for k in range(dim_count(ahead)))


def _is_bounded(where: Set, dim: int) -> bool:
    """Whether a dimension has constant bounds, at all sizes."""
    if where.plain_get_val_if_fixed(_SET, dim).is_int():
        return True
    return bool(where.dim_min_val(dim).is_int() and where.dim_max_val(dim).is_int())


def _restrict(statement: Statement, computed: Set) -> None:
    """Runs the instances that compute some elements, { (around, element) }, and no others."""
    base, around = statement.base, len(statement.around)
    write = base.write.map.insert_dims(_IN, 0, around)
    where = _with_iteration(statement, write).intersect_range(computed).domain().coalesce()
    where = plain(where)
    statement.domain = where
    statement.accesses[:] = [
        replace(a, domain=b.domain.insert_dims(_SET, 0, around).intersect(where).coalesce())
        for a, b in zip(statement.accesses, base.accesses, strict=True)
    ]
