"""Recording of definitions: what is known of a Func so far, and which definitions it may still
get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors.cells import Run, current_run
from ..errors.errors import LanguageError, LanguageTypeError, Span
from ..errors.words import axes_text
from ..expr.expr import Expr, as_node
from ..nodes import nodes
from ..nodes.dtypes import DType, Type
from ..nodes.nodes import Node, Read, RVar, Var, postorder
from .blocks import Sequential, check_loops, current_block
from .classify import implicit_number, is_new_piece, operator_of
from .definitions import Definition, Recorded
from .elaborate import Bounds, infer_one_more, known_dtypes, typed_definition
from .reductions import extract, reads_in_reductions
from .settle import check_scope
from .trace import check_traces

if TYPE_CHECKING:
    from ..nodes.tensor import Tensor
    from .tensors import Func


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
        #: Definitions as they were typed when all that they read was complete, so for good; by
        #: their serials, numbers and types.
        self._settled: dict[tuple[int, int | None, tuple[DType, ...]], Definition] = {}
        self._types: tuple[Type | None, ...] = ()
        self._bounds: Bounds = ()
        self._seen: tuple[tuple[DType, ...], Span] | None = None
        #: The `sequential` inside of which the Func is defined, to be computed in each iteration.
        self.home: Sequential | None = None

    def state(self) -> dict[str, Any]:
        """A snapshot of the history, for `restore`."""
        kept = {k: v.copy() if isinstance(v, list) else v for k, v in vars(self).items()}
        return {**kept, "dtypes": self.func.dtypes}

    def restore(self, state: dict[str, Any]) -> None:
        """Restores a snapshot that `state` made."""
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
        """The Vars of the most general piece so far: the one that closes the definition, if any."""
        best: tuple[Var, ...] = ()
        for piece in self.recorded[: self.pieces]:
            best = max(best, tuple(x for x in piece.lhs if isinstance(x, Var)), key=len)
        return best

    def dtypes(self) -> tuple[DType, ...]:
        """The element types: the declared ones, or the least that hold every definition so far."""
        if self._typed is not None:
            return self.func.dtypes
        if self.func.declared_dtypes is not None:
            return self.func.declared_dtypes
        if self._seen is not None:
            return self._seen[0]
        if not self.recorded:
            raise LanguageError(
                f"the dtype of Func {self.func.name} is not known: it has no definition yet",
                hint=f"ps.Func({self.func.name!r}, dtype=ps.float32), or define it first",
            )
        return known_dtypes(self._types)

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
        return tuple(self._as_typed(k, dtypes) for k in range(len(self.recorded)))

    def _as_typed(self, k: int, dtypes: tuple[DType, ...]) -> Definition:
        r, number = self.recorded[k], None if k < self.pieces else k - self.pieces
        found = self._settled.get((r.serial, number, dtypes))
        return found or typed_definition(self.func, r, number, dtypes)

    def text(self) -> str:
        head = repr(self.func)
        if not self.recorded:
            return head
        lines = "\n".join([head, *(d.listing(domain=True) for d in self.typed())])
        return lines.replace("\n", "\n  ")

    def complete(self, by: Span) -> None:
        if self.completed_by is None:
            self._refuse_unfinished(by)
            typed, dtypes = self.typed(), self.dtypes()
            self._typed, self.func.dtypes, self.completed_by = typed, dtypes, by

    def _refuse_unfinished(self, by: Span) -> None:
        """Refuses a use of the Func while a block that updates it is still being written."""
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
        """Records `func[index] = value`, written at `span`; a reduction runs `over` RVars."""
        seen = self._seen
        try:
            self._record(index, value, span, over)
        except BaseException:
            self._seen = seen
            raise

    def _record(self, index: object, value: object, span: Span, over: tuple[RVar, ...]) -> None:
        block = current_block()
        recorded, reductions = self._as_written(index, value, span, block, over)
        is_piece = is_new_piece(self, recorded)
        if is_piece and self.recorded and self.home is not block:
            self._refuse_split(recorded)
        bounds: Bounds = ()
        types: tuple[Type | None, ...] = self.func.declared_dtypes or ()
        if not types:
            bounds, types = infer_one_more(
                self.func, self.recorded, recorded, self._bounds, self._types
            )
        dtypes = known_dtypes(types)
        number = None if is_piece else len(self.recorded) - self.pieces
        made = typed_definition(self.func, recorded, number, dtypes)  # refuses at the user's line
        self._check_seen(recorded, dtypes)
        if self._note_reads(recorded) and block is None:
            self._settled[recorded.serial, number, dtypes] = made
        if block is not None:
            block.remember(self)
            block.items.append((self.func, recorded))
        self._bounds, self._types = bounds, types
        self.recorded.append(recorded)
        self.reductions += reductions
        if is_piece:
            self.home = block
            self.pieces += 1
            self.closed = all(isinstance(x, Var) for x in recorded.lhs)

    def _as_written(
        self,
        index: object,
        value: object,
        span: Span,
        block: Sequential | None,
        over: tuple[RVar, ...],
    ) -> tuple[Recorded, list[Func]]:
        """The definition with its inline reductions replaced by reads of Funcs, and these Funcs."""
        func, run = self.func, current_run()
        self._refuse_again(run, span)
        check_scope(self, block, span)
        given, augmented = self._values(value)
        implicit = max(map(implicit_number, postorder(*given)), default=0)
        lhs = func._index(index, implicit)
        check_loops(block, (*lhs, *given, *over), span)
        check_traces(lhs, given)
        if block is None and not self.closed:
            self._refuse_plain_reads(given, span)
        if self._seen is None and reads_in_reductions(func, given):
            new = Recorded(lhs, given, "=", span, 0, block, over)
            _, types = infer_one_more(func, self.recorded, new, self._bounds, self._types)
            self._seen = known_dtypes(types), span
        values, reductions = extract(func, lhs, given, span, len(self.reductions), block)
        op = operator_of(func, lhs, values, augmented)
        self._refuse_late(lhs, span)
        return Recorded(lhs, values, op, span, nodes.next_serial(), block, over, run), reductions

    def _refuse_late(self, lhs: tuple[Node, ...], span: Span) -> None:
        """Refuses definitions of a Func that is complete, and those of another rank."""
        func = self.func
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

    def _refuse_again(self, run: Run | None, span: Span) -> None:
        """Refuses a definition by a cell that is run again: it would add the same one twice."""
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
        """The definitions that give its value before updates: the pieces, or for an inline
        reduction all definitions."""
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

    def _note_reads(self, new: Recorded) -> bool:
        """Completes the Funcs that a new definition reads. Inside of a `sequential`, which may
        still update them, they are completed when that ends. Returns whether all but this one are
        complete now, and none is an InOut: which value that means changes with its completion."""
        are_complete = self.func.kind != "InOut"
        for node in nodes.reachable(*new.roots):
            if not isinstance(node, Read):
                continue
            read = node.tensor.read_history
            if read is None or read is self:
                continue
            are_complete = are_complete and node.tensor.kind != "InOut"
            check_scope(read, new.block, new.span)
            if new.block is not None:
                new.block.remember(read)
                read.seen_by(new.span)
            else:
                read.read_by(new.span)
            are_complete = are_complete and read.completed_by is not None
        return are_complete

    def _refuse_plain_reads(self, values: tuple[Node, ...], span: Span) -> None:
        for node in nodes.reachable(*values):
            if isinstance(node, Read) and node.tensor.read_history is not None:
                node.tensor.read_history.refuse_plain(node.tensor, span)

    def refuse_plain(self, tensor: Tensor, by: Span) -> None:
        """Refuses a read of an updated InOut in a pure definition that does not say which value it
        means, the initial or the final one."""
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
        """Refuses a read of a Func whose dtype is not settled, since its definitions so far have
        only literals: the type of the reader would depend on later definitions."""
        if self.func.declared_dtypes is None and not all(isinstance(t, DType) for t in self._types):
            raise LanguageError(
                f"{self.func.name} is read before its definition is finished, and what there is "
                f"of it ({self.recorded[0].span}) does not say its dtype",
                where=by,
                hint=f"declare it: ps.Func({self.func.name!r}, ..., dtype=ps.float32)",
            )

    def read_by(self, by: Span) -> None:
        """Notes a read by another Func at `by`, which completes this one if it is closed."""
        if self.closed or len(self.recorded) > self.pieces:
            self.complete(by)
        else:
            self.seen_by(by)

    def seen_by(self, by: Span) -> None:
        """Notes a read by a definition that is typed now, though this Func may get more
        definitions: its dtype must not change any more."""
        if self.func.is_reduction:
            return  # it gets no more definitions
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
