"""What a Func is made of: definitions as they were written, and their typed form.

A *piece* of the pure definition has distinct Vars or constants on the left. The pieces with
constants come first (`f[0, j] = ...`); the one with Vars alone closes the definition and holds at
every point that no more specific piece claims. Everything after that is an *update*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors.cells import Run, current_run
from ..errors.errors import LanguageError, LanguageTypeError, Span
from ..errors.words import axes_text
from ..expr.expr import Expr, as_node
from ..nodes import nodes
from ..nodes.affine import never_affine, own_size
from ..nodes.dtypes import DType, Type, concrete, int64, join
from ..nodes.nodes import Node, Op, Read, RVar, Var, postorder
from ..nodes.printer import expr_text, index_text
from .blocks import Sequential, check_loops, check_scope, current_block
from .definitions import Definition, Recorded
from .elaborate import elaborate, infer_types, lower_bounds
from .opaque import check_traces
from .reductions import extract

if TYPE_CHECKING:
    from ..nodes.tensor import Tensor
    from .tensors import Func


Bounds = tuple[frozenset[Type | None], ...]
"""For each value of a Func, types that its own must hold."""


class History:
    """The definitions of one Func, in the order written."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.recorded: list[Recorded] = []
        #: The Funcs of the inline reductions in them.
        self.reductions: list[Func] = []
        self.pieces = 0
        self.closed = False
        self.completed_by: Span | None = None
        self._typed: tuple[Definition, ...] | None = None
        self._types: tuple[Type | None, ...] = ()
        self._bounds: Bounds = ()
        self._seen: tuple[tuple[DType, ...], Span] | None = None
        #: The `sequential` inside of which the Func is defined, afresh in each iteration.
        self.home: Sequential | None = None

    def state(self) -> dict[str, Any]:
        """All of it, to come back to."""
        kept = {k: v.copy() if isinstance(v, list) else v for k, v in vars(self).items()}
        return {**kept, "dtypes": self.func.dtypes}

    def restore(self, state: dict[str, Any]) -> None:
        """As it was at `state`."""
        self.func.dtypes = state["dtypes"]
        vars(self).update({k: v for k, v in state.items() if k != "dtypes"})

    # what is known so far --------------------------------------------------------------------
    @property
    def rank(self) -> int | None:
        return len(self.recorded[0].lhs) if self.recorded else None

    @property
    def components(self) -> int | None:
        return len(self.recorded[0].values) if self.recorded else None

    def pure_vars(self) -> tuple[Var, ...]:
        """The Vars of the closing piece, or of the most general one."""
        pieces = self.recorded[: self.pieces]
        best: tuple[Var, ...] = ()
        for piece in pieces:
            found = tuple(x for x in piece.lhs if isinstance(x, Var))
            best = max(best, found, key=len)
        return best

    def dtypes(self) -> tuple[DType, ...]:
        """The element types: given, or the least that hold every definition so far."""
        if self._typed is not None:
            return self.func.dtypes
        if self.func.declared_dtypes is not None:
            return self.func.declared_dtypes
        if not self.recorded:
            raise LanguageError(
                f"the dtype of Func {self.func.name} is not known: it has no definition yet",
                hint=f"ps.Func({self.func.name!r}, dtype=ps.float32), or define it first",
            )
        return _concrete(self._types)

    def typed(self) -> tuple[Definition, ...]:
        """All definitions, typed; pure pieces first, then updates in order."""
        if self._typed is not None:
            return self._typed
        if not self.recorded and not self.closed:
            raise LanguageError(
                f"Func {self.func.name} is used but has no definition",
                hint=f"define it: {self.func.element} = ...",
            )
        dtypes = self.dtypes()
        typed = tuple(
            self._definition(r, None if k < self.pieces else k - self.pieces, dtypes)
            for k, r in enumerate(self.recorded)
        )
        return typed

    def text(self) -> str:
        func = self.func
        head = repr(func)
        if not self.recorded:
            return head
        return "\n".join([head, *(f"  {_indented(d)}" for d in self.typed())])

    def complete(self, by: Span) -> None:
        if self.completed_by is None:
            self._refuse_unfinished(by)
            typed, dtypes = self.typed(), self.dtypes()
            self._typed, self.func.dtypes, self.completed_by = typed, dtypes, by

    def _refuse_unfinished(self, by: Span) -> None:
        """A block that is still being written has no meaning yet."""
        block = next((r.block for r in self.recorded if r.block and r.block.root.is_open), None)
        if block is not None:
            raise LanguageError(
                f"{self.func.name} is used here, but {block.root.text}, which updates it, has not "
                "ended",
                where=by,
                hint="use it behind the with",
            )

    # recording --------------------------------------------------------------------------------
    def record(self, index: object, value: object, span: Span, over: tuple[RVar, ...] = ()) -> None:
        """A definition `func[index] = value`, written at `span`; a reduction runs `over` RVars."""
        func, block, run = self.func, current_block(), current_run()
        self._refuse_again(run, span)
        check_scope(self, block, span)
        given, augmented = self._values(value)
        implicit = max(map(_implicit, postorder(*given)), default=0)
        lhs = func._index(index, implicit)
        check_loops(block, (*lhs, *given, *over), span)
        check_traces(lhs, given)
        if block is None and not self.closed:
            self._refuse_plain_reads(given, span)
        values, reductions = extract(func, lhs, given, span, len(self.reductions), block)
        op = self._operator(lhs, values, augmented)
        if self.completed_by is not None:
            raise LanguageError(
                f"{func.name} is complete since it was used at {self.completed_by}: "
                "a later definition would change what was computed there",
                where=span,
                hint=self._later_hint(),
            )
        if self.rank is not None and len(lhs) != self.rank:
            raise LanguageError(
                f"{func.name} has {axes_text(self.rank)} (first defined at "
                f"{self.recorded[0].span}) but this definition has {len(lhs)}",
                where=span,
            )
        recorded = Recorded(lhs, values, op, span, nodes.next_serial(), block, over, run)
        is_piece = self._classify(recorded)
        if is_piece and self.recorded and self.home is not block:
            self._refuse_split(recorded)
        bounds: Bounds = ()
        types: tuple[Type | None, ...] = func.declared_dtypes or ()
        if not types:
            bounds, types = self._infer(recorded)
        number = None if is_piece else len(self.recorded) - self.pieces
        self._definition(recorded, number, _concrete(types))  # refuses at the user's line
        self._check_seen(recorded, _concrete(types))
        self._note_reads(recorded)
        if block is not None:
            block.remember(self)
            block.items.append((func, recorded))
        self._bounds, self._types = bounds, types
        self.recorded.append(recorded)
        self.reductions += reductions
        if is_piece:
            self.home = block
            self.pieces += 1
            self.closed = all(isinstance(x, Var) for x in lhs)

    def _refuse_again(self, run: Run | None, span: Span) -> None:
        """A cell that is run again would write what it has written once more."""
        if run is None:
            return
        written = (r for r in self.recorded if r.run is not None and run.is_again(r.run))
        old = next(written, None)
        if old is None:
            return
        name, made, used = self.func.name, self.func.span, ""
        if self.completed_by is not None:
            used = f", and was used at {self.completed_by}"
        raise LanguageError(
            f"this cell was run before, and what it wrote of {name} then, at {old.span}, is there "
            f"still{used}: run again, it would change {name} twice",
            where=span,
            hint=f"run the cell again that makes {name} ({made}), then this one; or make {name} "
            "in the cell that defines it",
        )

    @property
    def equations(self) -> list[Recorded]:
        """What gives its value to begin with: the pieces, and all of a reduction."""
        return self.recorded if self.func.is_reduction else self.recorded[: self.pieces]

    def _later_hint(self) -> str:
        if self.func.kind != "InOut":
            return "write all definitions before the first use, or make a new Func"
        name = self.func.name
        return (
            f"write all updates before the first use of {name} or {name}.final; {name}.initial may "
            "be read anywhere"
        )

    def is_piece(self, recorded: Recorded) -> bool:
        """Whether a definition is a piece of the pure definition."""
        return recorded in self.recorded[: self.pieces]

    def _note_reads(self, new: Recorded) -> None:
        """A Func is complete at its first use by a definition of another one; in a `sequential`,
        which may go on to update it, when that ends."""
        for node in nodes.reachable(*new.roots):
            read = node.tensor.read_history if isinstance(node, Read) else None
            if read is None or read is self:
                continue
            assert isinstance(node, Read)
            check_scope(read, new.block, new.span)
            if new.block is not None:
                new.block.remember(read)
                read.seen_by(new.span)
                continue
            read.read_by(new.span)

    def _refuse_plain_reads(self, values: tuple[Node, ...], span: Span) -> None:
        for node in nodes.reachable(*values):
            if isinstance(node, Read) and node.tensor.read_history is not None:
                node.tensor.read_history.refuse_plain(node.tensor, span)

    def refuse_plain(self, tensor: Tensor, by: Span) -> None:
        """A pure definition says which value of an InOut it means, if there are two."""
        if self.func.kind == "InOut" and tensor is self.func and self.recorded:
            name = self.func.name
            raise LanguageError(
                f"{name} is updated at {self.recorded[0].span}, and a pure definition has no "
                f"place in that order: it is not clear which value of {name} it reads",
                where=by,
                hint=f"{name}.initial[...] is the value before all updates, {name}.final[...] "
                "the one after them",
            )

    def _refuse_split(self, new: Recorded) -> None:
        raise LanguageError(
            f"the pieces of {self.func.name} stand in different blocks: the first one is at "
            f"{self.recorded[0].span}",
            where=new.span,
            hint="write all pieces of a pure definition in one place; an update changes values",
        )

    def _infer(self, new: Recorded) -> tuple[Bounds, tuple[Type | None, ...]]:
        """The types with one more definition, and what bounds them from below.

        The other definitions are visited again only if that changes something.
        """
        func = self.func
        known = self._bounds or (frozenset(),) * len(new.values)
        bounds = tuple(a | b for a, b in zip(known, lower_bounds(func, new), strict=True))
        start = tuple(map(join, bounds))
        try:
            if self.recorded and start == tuple(map(join, known)):
                types = infer_types(func, [new], self._types)
                if types == self._types:
                    return bounds, types
            return bounds, infer_types(func, [*self.recorded, new], start)
        except LanguageTypeError as error:
            if error.where == new.span:
                raise
            raise LanguageTypeError(
                f"this definition changes the dtype of {func.name}, and then the one at "
                f"{error.where} is wrong: {error.what}",
                where=new.span,
                hint=error.hint,
            ) from None

    def _check_seen(self, new: Recorded, dtypes: tuple[DType, ...]) -> None:
        """Refuses to change the dtype after another definition was typed with it."""
        if self._seen is None or self._seen[0] == dtypes:
            return
        old, now = (", ".join(t.name for t in types) for types in (self._seen[0], dtypes))
        raise LanguageError(
            f"{self.func.name} was read as {old} at {self._seen[1]}, and this definition makes it "
            f"{now}",
            where=new.span,
            hint=f"say so from the start: ps.Func({self.func.name!r}, dtype=...)",
        )

    def _refuse_unsettled(self, by: Span) -> None:
        """Literals say nothing about a dtype: what reads it now would be typed by accident."""
        if self.func.declared_dtypes is None and not all(isinstance(t, DType) for t in self._types):
            raise LanguageError(
                f"{self.func.name} is read before its definition is finished, and what there is "
                f"of it ({self.recorded[0].span}) does not say its dtype",
                where=by,
                hint=f"declare it: ps.Func({self.func.name!r}, ..., dtype=ps.float32)",
            )

    def read_by(self, by: Span) -> None:
        """Another Func reads this one at `by`: it is complete, unless pieces may still come."""
        if self.closed or len(self.recorded) > self.pieces:
            self.complete(by)
        else:
            self.seen_by(by)

    def seen_by(self, by: Span) -> None:
        """A definition that is typed now reads this one, which may get more definitions."""
        if self.func.is_reduction:
            return  # nobody adds to it
        if self.completed_by is None and self.recorded and self._seen is None:
            if not self.closed:
                self._refuse_unsettled(by)
            self._seen = self.dtypes(), by

    def _values(self, value: object) -> tuple[tuple[Node, ...], tuple[str, Node, Node] | None]:
        func = self.func
        values = tuple(as_node(v) for v in (value if isinstance(value, tuple) else (value,)))
        wanted = len(func.declared_dtypes or ()) or self.components or max(len(values), 1)
        if len(values) != wanted:
            raise LanguageTypeError(
                f"{func.name} holds {wanted} value{'s' if wanted > 1 else ''} at each point, "
                f"but {len(values)} {'is' if len(values) == 1 else 'are'} assigned",
                hint="assign a tuple with one value a component",
            )
        return values, value._augmented if isinstance(value, Expr) else None

    def _operator(self, lhs: tuple[Node, ...], values: tuple[Node, ...], augmented: object) -> str:
        """ "=" or the operator by which the old value and a new one are combined."""
        here = Read(self.func, lhs, 0, None)
        if isinstance(augmented, tuple) and augmented[1] is here:
            return str(augmented[0])
        match values:
            case (Op(op="min" | "max" as name, operands=operands),) if here in operands:
                return name
        return "="

    def _classify(self, new: Recorded) -> bool:
        """Whether `new` is a piece of the pure definition; refuses what is neither that nor an
        update."""
        func = self.func
        plain = new.op == "=" and not self._has_rvars(new)
        is_pattern = _is_pattern(new.lhs)
        all_vars = is_pattern and all(isinstance(x, Var) for x in new.lhs)
        reads_itself = self._reads_itself(new)
        updated = len(self.recorded) > self.pieces
        if not self.closed and not updated and plain and is_pattern:
            self._refuse_far(new)
            if not all_vars:
                self._refuse_same_pattern(new)
            return True
        if not self.recorded and not self.closed:
            self._refuse_first(new)
        second = new.block is self.home and func.kind != "InOut"
        if plain and all_vars and not reads_itself and second:
            raise LanguageError(
                f"{func.name} has a pure definition already, at {self.recorded[0].span}; "
                "a second one is refused",
                where=new.span,
                hint="an update changes values: +=, or ps.select(condition, new, "
                f"{func.name}[...]); a different value needs a Func of its own",
            )
        return False

    def _has_rvars(self, new: Recorded) -> bool:
        """Whether it runs over RVars; the loops of blocks around it are none of its own."""
        own = {n for n in postorder(*new.roots) if isinstance(n, RVar)}
        around = {} if new.block is None else new.block.renaming(new.roots)
        return not own <= around.keys()

    def _reads_itself(self, new: Recorded) -> bool:
        return any(
            isinstance(n, Read) and n.tensor is self.func for n in postorder(*new.lhs, *new.values)
        )

    def _refuse_far(self, new: Recorded) -> None:
        """A piece lies where its constants say, which proofs must be able to follow."""
        for x in new.lhs:
            if never_affine(x) is not None:
                raise LanguageError(
                    f"{expr_text(x)} on the left of {self.func.name} is not affine in sizes",
                    where=new.span,
                    hint=own_size(x),
                )

    def _refuse_same_pattern(self, new: Recorded) -> None:
        for old in self.recorded[: self.pieces]:
            if all(
                (isinstance(a, Var) and isinstance(b, Var)) or a is b
                for a, b in zip(old.lhs, new.lhs, strict=True)
            ):
                raise LanguageError(
                    f"this piece of {self.func.name} was defined already, at {old.span}",
                    where=new.span,
                    hint="each point is defined once; write an update with += or its like",
                )

    def _refuse_first(self, new: Recorded) -> None:
        func = self.func
        left = f"{func.name}[{index_text(new.lhs)}]"
        if new.op != "=" or any(isinstance(n, RVar) for n in postorder(*new.lhs)):
            zeros = ", ".join("ijklmnpq"[: len(new.lhs)]) or "()"
            raise LanguageError(
                f"{left} is an update, but {func.name} has no pure definition to update",
                where=new.span,
                hint=f"say what it starts from first, as {func.name}[{zeros}] = 0",
            )
        if self._has_rvars(new):
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

    # typing -----------------------------------------------------------------------------------
    def _definition(
        self, recorded: Recorded, number: int | None, dtypes: tuple[DType, ...]
    ) -> Definition:
        lhs, values, rvars, where = elaborate(self.func, recorded, dtypes)
        found = [n for n in postorder(*lhs) if isinstance(n, Var)]
        on_left = tuple(dict.fromkeys(found))
        for node in postorder(*values, *lhs, *where, *(b for r in rvars for b in (r.lo, r.hi))):
            if isinstance(node, Var) and node not in on_left:
                raise LanguageError(
                    f"the Var {node.name} is not on the left side of this definition of "
                    f"{self.func.name}, so nothing says where it runs",
                    where=recorded.span,
                    hint=f"make it an RVar, which has bounds: "
                    f"{node.name} = ps.RVar({node.name!r}, lo, hi)",
                )
        loops = () if recorded.block is None else recorded.block.loops
        names = {r.name for r in (*loops, *rvars)}
        if len(names) < len(loops) + len(rvars):
            twice = next(r.name for r in rvars if r.name in {x.name for x in loops})
            raise LanguageError(
                f"an RVar of this definition of {self.func.name} and the sequential around it are "
                f"both called {twice}",
                where=recorded.span,
                hint="give one of them another name",
            )
        both = next((v.name for v in on_left if v.name in names), None)
        if both is not None:
            raise LanguageError(
                f"a Var and an RVar are both called {both} in this definition of {self.func.name}",
                where=recorded.span,
                hint="give one of them another name",
            )
        return Definition(
            self.func, number, lhs, values, recorded.op, on_left, rvars, where,
            recorded.span, recorded.serial, recorded.block,
        )  # fmt: skip


def _indented(d: Definition) -> str:
    return d.listing(domain=True).replace("\n", "\n  ")


def _concrete(types: tuple[Type | None, ...]) -> tuple[DType, ...]:
    return tuple(int64 if t is None else concrete(t) for t in types)


def _is_pattern(lhs: tuple[Node, ...]) -> bool:
    """Distinct Vars, or constants (integers and expressions over sizes)."""
    vars = [x for x in lhs if isinstance(x, Var)]
    rest = [x for x in lhs if not isinstance(x, Var)]
    symbols = (nodes.Const, nodes.Size, Op)
    return len(set(vars)) == len(vars) and all(isinstance(n, symbols) for n in postorder(*rest))


def _implicit(node: Node) -> int:
    """The number of an implicit Var, counted from the right; 0 for anything else."""
    plain = isinstance(node, Var) and node.name[0] == "_" and node.name[1:].isdigit()
    return int(node.name[1:]) if isinstance(node, Var) and plain else 0
