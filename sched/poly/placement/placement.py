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
from dataclasses import replace
from functools import reduce

from ...lang.nodes.nodes import Node
from ...lang.program.scalars import symbols_of
from ...lang.tensors.tensors import Func
from ..model.model import Model
from ..model.statements import Statement
from ..sets.affine import Relation
from ..sets.coordinates import coordinate_map
from ..sets.digits import digits
from ..sets.expressions import Translator
from ..sets.hulls import boxed
from ..sets.isl import Frame, Map, Set, coalesced, isl, plain, union_sets
from ..sets.projections import outer_part
from ..tree.around import are_fixed, as_dimensions, has_own_loops, renewed, with_times
from ..tree.edits import map_children, map_stages, with_body, with_nests
from ..tree.looptree import Accumulator, Alloc, Loop, Produce, Seq, Tree
from ..tree.stage import Stage, loop_map
from .demand import Demand
from .sliding import first_iterations
from .storage_placement import slides, with_storage_placed

_SET, _IN, _PARAM = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.param


def with_demands(model: Model, tree: Seq, before: Seq) -> Seq:
    """The tree with demands: statements that compute, where they stand, what is needed there.

    Args:
        before: a tree with demands of the same model, whose nests may be parts of this one; empty
            where there is none.
    """
    tree = with_storage_placed(model, tree)
    # All that a nest needs to know of what is around it is whether storage is inside of it.
    known, placer = set(map(id, before.nests)), _Placer(model)
    made: dict[int, Tree] = {}
    for path, nest in reversed(tree.roots):
        if id(nest) not in known:
            stored = {f: 0 for _, node in path if isinstance(node, Alloc) for f in node.funcs}
            made[id(nest)] = placer.node(nest, (), stored, [])
    return with_nests(tree, made) if made else tree


def at_root(model: Model, tree: Tree, funcs: Sequence[Func]) -> Tree:
    """The tree with statements of some Funcs that compute all that anything reads."""
    if isinstance(tree, Stage):
        base = tree.statement.base
        moved = base.func in funcs and base is not tree.statement
        return replace(tree, statement=base) if moved else tree
    if isinstance(tree, Loop) and tree.touched.isdisjoint(funcs):
        return tree
    return map_children(tree, lambda child: at_root(model, child, funcs))


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
            case Alloc(funcs=funcs, body=body):
                stored = {**stored, **dict.fromkeys(funcs, len(loops))}
                return self._body(node, body, loops, stored, after)
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
        if Demand(reads, node.times, fresh_depth, bases).is_same(node.demand):
            return node
        readers = [s for s in after if s.statement.reads_from(*node.funcs)]
        node, free = self._narrowed(node, loops, readers)
        demand = Demand(reads, node.times, fresh_depth, bases)
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

    def _statements(self, node: Produce, demand: Demand, free: list[int]) -> list[Statement]:
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
            at = _without_existentials(stage, free).apply_range(back)
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
        running = coalesced(reduce(Set.union, iterations))
        made = [self._lifted(s, node, running) for s in self.model.part(names, needed)]
        if demand.fresh_depth < len(demand.times):
            for func in node.funcs:
                own = [s for s in made if s.func is func]
                begun = [_written(s) for s in own if not s.definition.is_update]
                early = len(node.funcs) == 1
                where = first_iterations(union_sets(begun[1:], begun[0]), frame, demand, early)
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
            domain=of_set(coalesced(s.domain.intersect_params(running))),
            accesses=[], around=node.around,
        )  # fmt: skip
        for a in s.accesses:
            r = a.relation
            lifted = Relation(of_map(r.map), r.may, of_map(r.unbounded))
            within = coalesced(of_set(a.domain).intersect(made.domain))
            made.accesses.append(replace(a, statement=made, relation=lifted, domain=within))
        return made


def _without_existentials(stage: Stage, free: Sequence[int]) -> Map:
    """{ instance -> some of its coordinates }, of tiles in tiles without existentials if possible:
    what follows from the relation has them again for each step of a recurrence."""
    found = loop_map(stage, free)
    if max((int(p.dim(isl.dim_type.div)) for p in found.get_basic_maps()), default=0) > 1:
        return digits(stage.statement.frame, [stage.coordinates[k] for k in free]) or found
    return found


def _named(where: Set, names: Sequence[str]) -> Set:
    for k, name in enumerate(names):
        where = where.set_dim_name(_SET, k, name)
    return where


def _written(statement: Statement) -> Set:
    """{ (around, element) }"""
    return with_iteration(statement, statement.write.map).range()


def with_iteration(statement: Statement, written: Map) -> Map:
    """{ (around, instance) -> (around, element) }"""
    count = len(statement.around)
    return outer_part(statement.frame.space, count).flat_range_product(written)


def _restrict(statement: Statement, computed: Set) -> None:
    """Runs the instances that compute some elements, { (around, element) }, and no others."""
    base, around = statement.base, len(statement.around)
    write = base.write.map.insert_dims(_IN, 0, around)
    where = coalesced(with_iteration(statement, write).intersect_range(computed).domain())
    where = plain(where)
    statement.domain = where
    statement.accesses[:] = [
        replace(a, domain=coalesced(b.domain.insert_dims(_SET, 0, around).intersect(where)))
        for a, b in zip(statement.accesses, base.accesses, strict=True)
    ]
