"""Random programs of blocks, as Python text and as what `block_meaning` runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from polysched.testing.choices import Choices

from .block_meaning import Block, Expr, Item, Pure, RVar, Update, reads

ZERO, ONE = ("const", 0), ("const", 1)
N, M = ("symbol", "n"), ("symbol", "m")
DTYPES = ("int32", "int64", "int16", "uint8", "int8")


@dataclass(frozen=True)
class Tensor:
    """`extents` are None where the region follows from use."""

    name: str
    rank: int
    extents: tuple[Expr, ...] | None


@dataclass
class Program:
    """A program.

    Attributes:
        inputs, inouts, funcs: name and dtype, and the extents, of what is given and updated.
        starts: what Funcs that are updated hold at first, and pure Funcs read by blocks.
        body: the blocks, with updates between them.
        readers: pure Funcs of final values.
        outputs: names.
    """

    inputs: dict[str, tuple[str, tuple[Expr, ...]]] = field(default_factory=dict)
    inouts: dict[str, tuple[str, tuple[Expr, ...]]] = field(default_factory=dict)
    funcs: dict[str, tuple[str, tuple[Expr, ...]]] = field(default_factory=dict)
    starts: list[Pure] = field(default_factory=list)
    body: list[Item] = field(default_factory=list)
    readers: list[Pure] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    def text(self) -> str:
        """As Python, where `ps` is imported."""
        lines = ['n, m = ps.sizes("n m")', 'i, j = ps.vars("i j")']
        for kind, tensors in (("Input", self.inputs), ("InOut", self.inouts)):
            for name, (dtype, extents) in tensors.items():
                lines.append(f"{name} = ps.{kind}({name!r}, ps.{dtype}, {_tuple(extents)})")
        dtypes = {name: dtype for name, (dtype, _) in (*self.inouts.items(), *self.funcs.items())}
        for d in self.starts:
            lines += _pure_lines(d, dtypes.get(d.name, "int64"))
        for item in self.body:
            lines += _lines(item, dtypes)
        for d in self.readers:
            lines += _pure_lines(d, "int64")
        return "\n".join(lines)


# text -------------------------------------------------------------------------------------------
def _tuple(parts: tuple[Expr, ...]) -> str:
    return "(" + "".join(f"{text(p)}, " for p in parts) + ")"


def text(e: Expr) -> str:
    """An expression as Python."""
    match e:
        case ("const", c):
            return str(c)
        case ("symbol", name):
            return name
        case ("var", name, sign, offset):
            if offset == ZERO and sign > 0:
                return name
            return f"{text(offset)} {'+' if sign > 0 else '-'} {name}"
        case ("read", name, index):
            return f"ps.cast(ps.int64, {name}[{', '.join(map(text, index))}])"
        case ("select", condition, a, b):
            return f"ps.select({text(condition)}, {text(a)}, {text(b)})"
        case ("reduce", op, rvar, _, _, body):
            more = {"max": ", initial=-7", "min": ", initial=7"}.get(op, "")
            found = f"ps.{op}({text(body)}, {rvar}{more})"
            return f"ps.select({found}, 1, 0)" if op in ("any", "all") else found
        case ("minimum" | "maximum" as op, a, b):
            return f"ps.{op}({text(a)}, {text(b)})"
        case (op, a, b):
            return f"({text(a)} {op} {text(b)})"
    raise AssertionError(e)


def _rvar_lines(e: Any) -> list[str]:
    """The RVars of the reductions in an expression."""
    match e:
        case ("reduce", _, rvar, lo, hi, body):
            return [f"{rvar} = ps.RVar({rvar!r}, {text(lo)}, {text(hi)})", *_rvar_lines(body)]
        case tuple():
            return [line for part in e for line in _rvar_lines(part)]
    return []


def _pure_lines(d: Pure, dtype: str) -> list[str]:
    shape = "" if d.extents is None else f", {_tuple(d.extents)}"
    lines = [
        *_rvar_lines((d.first, d.value)),
        f"{d.name} = ps.Func({d.name!r}{shape}, dtype=ps.{dtype})",
    ]
    if d.first is not None:
        left = ", ".join(("0", *d.vars[1:]))
        lines.append(f"{d.name}[{left}] = ps.cast(ps.{dtype}, {text(d.first)})")
    lines.append(f"{d.name}[{', '.join(d.vars)}] = ps.cast(ps.{dtype}, {text(d.value)})")
    return lines


def _rvar_text(r: RVar) -> str:
    where = "" if r.where is None else f", where=lambda {r.name}: {text(r.where)}"
    return f"{r.name} = ps.RVar({r.name!r}, {text(r.lo)}, {text(r.hi)}{where})"


def _lines(item: Item, dtypes: dict[str, str]) -> list[str]:
    match item:
        case Pure():
            return _pure_lines(item, "int64")
        case Block(name=name, lo=lo, hi=hi, step=step, body=body):
            head = "with ps.sequential():"
            if name is not None:
                head = f"with ps.sequential({name!r}, {text(lo)}, {text(hi)}, {step}) as {name}:"
            inner = [line for b in body for line in _lines(b, dtypes)]
            return [head, *(f"    {line}" for line in inner)]
        case Update(target=target, left=left, rvars=rvars, value=new):
            lines = [_rvar_text(r) for r in rvars]
            lines += _rvar_lines(new)
            index = ", ".join(map(text, left))
            dtype = dtypes.get(target, "int64")
            return [*lines, f"{target}[{index}] = ps.cast(ps.{dtype}, {text(new)})"]


# programs ---------------------------------------------------------------------------------------
class Generator:
    """Makes a program out of choices."""

    def __init__(self, choices: Choices) -> None:
        self.c = choices
        self.p = Program()
        self.count = 0
        #: What may be read where we are, and what may be updated.
        self.readable: list[Tensor] = []
        self.updatable: list[Tensor] = []

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def program(self) -> Program:
        c, p = self.c, self.p
        given = {"X": (N,), "Y": (N, M)}
        for name, extents in given.items():
            p.inputs[name] = (c.pick(DTYPES), extents)
            self.readable.append(Tensor(name, len(extents), extents))
        for name, extents in (("A", (N,)), ("D", (N, M)), ("B", (M,))):
            if c.chance(60):
                p.inouts[name] = (c.pick(DTYPES), extents)
                self.readable.append(Tensor(f"{name}.initial", len(extents), extents))
        if c.chance(35):
            p.starts.append(self.pure(("i",) if c.chance(70) else ("i", "j"), c.chance(50), True))
            d = p.starts[-1]
            self.readable.append(Tensor(d.name, len(d.vars), d.extents))
        for name, extents in (("F", (N,)), ("G", (N, M))):
            if c.chance(50) or not (p.inouts or p.funcs or name == "F"):
                p.funcs[name] = (c.pick(DTYPES), extents)
                vars = ("i", "j")[: len(extents)]
                p.starts.append(
                    Pure(name, vars, self.value(_symbols(vars, extents), 1), None, extents)
                )
        owned = {**p.inouts, **p.funcs}
        mutable = [Tensor(n, len(e), e) for n, (_, e) in owned.items()]
        if c.chance(15) and mutable:
            self.updatable = [c.pick(mutable)]
            kept, self.readable = self.readable, [*self.readable, *self.updatable]
            p.body.append(self.update([]))
            self.readable = kept
        for _ in range(c.weighted((5, 1), (1, 2))):
            self.updatable = mutable
            kept, self.readable = self.readable, [*self.readable, *mutable]
            p.body.append(self.block([], 0))
            self.readable = kept
        written = _written(p.body)
        self.readable = [t for t in self.readable if c.chance(60)] or self.readable[:1]
        self.readable += [Tensor(_final(t.name, p), t.rank, t.extents)
                          for t in mutable if t.name in written]  # fmt: skip
        self.readable += [t for t in mutable if t.name in p.funcs and t.name not in written]
        for _ in range(c.weighted((3, 0), (4, 1), (2, 2))):
            p.readers.append(self.pure(("i",), True, False))
        p.outputs = [d.name for d in p.readers]
        p.outputs += [n for n in p.funcs if c.chance(60)]
        p.outputs += [n for n in p.inouts if n in written and c.chance(60)]
        p.outputs = p.outputs or [n for n in owned if n in written or n in p.funcs][:1]
        return p

    # items ------------------------------------------------------------------------------------
    def block(self, around: list[str], depth: int) -> Block:
        c = self.c
        name = None if c.chance(20) else self.fresh("t")
        lo, hi, step = self.range(around)
        if step < 0:
            lo, hi = ("-", hi, ONE), ("-", lo, ONE)
        inside = [*around, name] if name else around
        kept = self.readable[:], self.updatable[:]
        body: list[Item] = []
        for _ in range(c.weighted((3, 1), (4, 2), (3, 3), (1, 4))):
            if depth < 2 and c.chance(25):
                body.append(self.block(inside, depth + 1))
            elif c.chance(35):
                vars = ("i", "j") if c.chance(30) else ("i",)
                d = self.pure(vars, c.chance(40), True, inside)
                body.append(d)
                tensor = Tensor(d.name, len(d.vars), d.extents)
                self.readable.append(tensor)
                if c.chance(30):
                    body.append(self.update(inside, tensor))
                if d.extents is not None:
                    self.updatable.append(tensor)
            else:
                body.append(self.update(inside))
        if not _written(body) & {t.name for t in kept[1]}:
            body.append(self.update(inside, c.pick(kept[1])))
        self.readable, self.updatable = kept
        return Block(name, lo, hi, step, tuple(body))

    def range(self, around: list[str]) -> tuple[Expr, Expr, int]:
        c = self.c
        lo = c.weighted((6, ZERO), (1, ONE), (1, ("const", -2)), (1, ("-", N, ("const", 3))))
        hi = c.weighted((3, N), (2, M), (2, ("const", 3)), (1, ("const", 2)), (1, ZERO))
        if around and c.chance(50):
            t: Expr = ("symbol", c.pick(around))
            lo, hi = c.pick(
                ((ZERO, ("+", t, ONE)), (t, N), (ZERO, t), (("-", t, ONE), ("+", t, ONE)))
            )
        return lo, hi, c.weighted((8, 1), (3, -1), (2, 2), (1, -3), (1, 3), (1, -2))

    def pure(
        self, vars: tuple[str, ...], shaped: bool, pieces: bool, around: list[str] | None = None
    ) -> Pure:
        c = self.c
        extents = (N, M)[: len(vars)] if len(vars) > 1 else (c.pick((N, M)),)
        symbols = [*_symbols(vars, extents if shaped else ()), *_plain(around or [])]
        new = self.value(symbols, 2)
        first = (
            self.value([s for s in symbols if s[0] != vars[0]], 1)
            if pieces and c.chance(25)
            else None
        )
        return Pure(
            self.fresh("h" if pieces else "R"), vars, new, first, extents if shaped else None
        )

    def update(self, around: list[str], target: Tensor | None = None) -> Update:
        c = self.c
        target = target or c.pick(self.updatable)
        if target.extents is None:
            form = [c.pick(("var", "constant"))] * target.rank
        else:
            form = [c.weighted((5, "var"), (4, "rvar"), (2, "constant"), (1, "moved"), (1, "data"))
                    for _ in range(target.rank)]  # fmt: skip
        symbols = _plain(around)
        rvars: list[RVar] = []
        left: list[Expr] = []
        for axis, f in enumerate(form):
            extent = target.extents[axis] if target.extents else N
            left.append(self.coordinate(f, axis, extent, symbols, rvars, target))
        if len(rvars) < 2 and c.chance(15) and target.extents is not None:
            self.rvar(symbols, rvars, c.pick((N, M)))
        kept, self.readable = self.readable, [t for t in self.readable if t.name != target.name]
        self.own = (target, tuple(left), bool(rvars))
        new = self.value(symbols, c.weighted((2, 1), (4, 2), (2, 3)))
        if c.chance(60):
            new = (c.pick(("+", "-", "maximum", "*")), ("read", target.name, tuple(left)), new)
        self.readable, self.own = kept, None
        used = _symbols_of((tuple(left), new))
        return Update(target.name, tuple(left), tuple(r for r in rvars if r.name in used), new)

    own: tuple[Tensor, tuple[Expr, ...], bool] | None = None

    def coordinate(
        self,
        form: str,
        axis: int,
        extent: Expr,
        symbols: list[Any],
        rvars: list[RVar],
        target: Tensor,
    ) -> Expr:
        c, name = self.c, ("i", "j")[axis]
        match form:
            case "var":
                symbols.append((name, extent if target.extents else None))
                return ("var", name, 1, ZERO)
            case "moved":
                symbols.append((name, None))
                offset = self.affine([s for s in symbols if s[0][0] == "t"])
                return ("var", name, c.pick((1, -1)), offset)
            case "rvar":
                r = self.rvar(symbols, rvars, extent)
                return r if c.chance(75) else ("-", ("-", extent, ONE), r)
            case "data" if not any(s[0] in "ij" for s in symbols):
                return self.clipped(self.read(symbols, 1), extent)
            case _:
                free = [s for s in symbols if s[0] not in "ij"]
                if target.extents is None:
                    return self.affine(free)
                return self.clipped(self.affine(free), extent) if c.chance(80) else ZERO

    def rvar(self, symbols: list[Any], rvars: list[RVar], extent: Expr) -> Expr:
        c = self.c
        r = self.fresh("r")
        lo, hi = ZERO, extent
        loops = [s for s in symbols if s[0][0] == "t"]
        inside = extent
        if loops and c.chance(30):
            t: Expr = ("symbol", c.pick(loops)[0])
            lo, hi = c.pick(((("maximum", t, ZERO), extent), (ZERO, ("minimum", t, extent))))
        elif c.chance(15):
            lo = ONE
        symbols.append((r, inside))
        where = self.condition([(r, inside), *loops]) if c.chance(15) else None
        rvars.append(RVar(r, lo, hi, where))
        return ("symbol", r)

    # expressions ------------------------------------------------------------------------------
    def affine(self, symbols: list[Any]) -> Expr:
        """An integer expression, quasi-affine in the symbols."""
        c = self.c
        a: Expr = ("symbol", c.pick(symbols)[0]) if symbols else c.pick((N, M))
        k = ("const", c.below(4))
        b: Expr = ("symbol", c.pick(symbols)[0]) if symbols else N
        half, rest = ("//", a, ("const", 2)), ("%", a, ("const", 3))
        sums = ("+", a, k), ("-", a, k), ("+", a, b), ("-", a, b), ("-", N, a)
        return c.pick((a, a, *sums, half, rest, k))

    def clipped(self, e: Expr, extent: Expr) -> Expr:
        return ("maximum", ("minimum", e, ("-", extent, ONE)), ZERO)

    def index(self, extent: Expr, symbols: list[Any], depth: int) -> Expr:
        c = self.c
        fitting = [s for s in symbols if s[1] == extent]
        if fitting and c.chance(65):
            s: Expr = ("symbol", c.pick(fitting)[0])
            return c.pick((s, s, s, ("-", ("-", extent, ONE), s), ("//", s, ("const", 2))))
        if depth > 0 and c.chance(15):
            return self.clipped(self.read(symbols, 0), extent)
        if c.chance(6):
            return c.pick((ZERO, ("-", extent, ONE)))
        return self.clipped(self.affine(symbols), extent)

    def read(self, symbols: list[Any], depth: int) -> Expr:
        c = self.c
        if self.own is not None and c.chance(25):
            return self.own_read(symbols)
        t = c.pick(self.readable)
        if t.extents is None:
            return ("read", t.name, tuple(self.affine(symbols) for _ in range(t.rank)))
        if c.chance(15):
            free = self.affine(symbols)
            if free[0] != "const":
                guard = ("&", ("<", ("const", -1), free), ("<", free, t.extents[0]))
                rest = tuple(self.index(e, symbols, depth) for e in t.extents[1:])
                return ("select", guard, ("read", t.name, (free, *rest)), ("const", c.below(5)))
        return ("read", t.name, tuple(self.index(e, symbols, depth) for e in t.extents))

    def own_read(self, symbols: list[Any]) -> Expr:
        """Of what is updated: at the same place along Vars, mostly."""
        assert self.own is not None
        target, left, _ = self.own
        anywhere = self.c.chance(4)
        index = []
        for axis, x in enumerate(left):
            extent = target.extents[axis] if target.extents else None
            if x[0] == "var" and not anywhere:
                index.append(x)
            elif extent is None:
                index.append(self.affine(symbols))
            else:
                index.append(self.index(extent, symbols, 0))
        return ("read", target.name, tuple(index))

    def value(self, symbols: list[Any], depth: int) -> Expr:
        c = self.c
        if depth == 0:
            simple = ("symbol", c.pick(symbols)[0]) if symbols else ("const", c.below(9))
            return c.weighted((6, None), (1, simple), (1, ("const", c.below(9) - 4))) or self.read(
                symbols, 1
            )
        kind = c.weighted((5, "op"), (2, "read"), (2, "select"), (2, "reduce"))
        if kind == "op":
            op = c.weighted(
                (5, "+"), (3, "-"), (2, "*"), (1, "minimum"), (1, "maximum"), (1, "//"), (1, "%")
            )
            a, b = self.value(symbols, depth - 1), self.value(symbols, depth - 1)
            return ("+" if b == ZERO else op, a, b)
        if kind == "select":
            a, b = self.value(symbols, depth - 1), self.value(symbols, depth - 1)
            return ("select", self.condition(symbols), a, b)
        if kind == "reduce" and depth > 1:
            return self.reduce(symbols)
        return self.read(symbols, 1)

    def condition(self, symbols: list[Any]) -> Expr:
        c = self.c
        left = self.read(symbols, 0) if c.chance(30) else self.affine(symbols)
        left = ("+", N, left) if left[0] == "const" else left
        test: Expr = (c.pick(("<", "<", "==")), left, ("const", c.below(4)))
        if c.chance(20):
            test = ("&", test, ("<", ZERO, ("+", M, self.affine(symbols))))
        return test

    def reduce(self, symbols: list[Any]) -> Expr:
        c = self.c
        op = c.pick(("sum", "sum", "prod", "max", "min", "any", "all", "argmax", "argmin"))
        r = self.fresh("q")
        lo: Expr = ZERO
        hi, extent = c.pick(((N, N), (M, M), (("const", 3), None)))
        loops = [s for s in symbols if s[0][0] == "t"]
        if op in ("argmax", "argmin"):
            hi, extent = ("const", 3), None
        elif loops and c.chance(30):
            hi, extent = ("+", ("symbol", c.pick(loops)[0]), ONE), None
        inner = [*symbols, (r, extent)]
        own, self.own = (
            self.own,
            self.own if self.own and not self.own[2] and c.chance(20) else None,
        )
        body = self.read(inner, 0)
        self.own = own
        if op in ("any", "all"):
            body = ("<", body, ("const", c.below(9) - 2))
        return ("reduce", op, r, lo, hi, body)


def _symbols(vars: tuple[str, ...], extents: tuple[Expr, ...]) -> list[Any]:
    """Vars with the extents that they run over."""
    return [(v, extents[k] if extents else None) for k, v in enumerate(vars)]


def _symbols_of(e: Any) -> set[str]:
    """The names in expressions."""
    if not isinstance(e, tuple):
        return set()
    own = {e[1]} if e[:1] == ("symbol",) else set()
    return own.union(*map(_symbols_of, e))


def _plain(names: list[str]) -> list[Any]:
    return [(t, None) for t in names]


def _written(items: Any) -> set[str]:
    found: set[str] = set()
    for item in items:
        if isinstance(item, Block):
            found |= _written(item.body)
        elif isinstance(item, Update):
            found.add(item.target)
    return found


def _final(name: str, p: Program) -> str:
    return f"{name}.final" if name in p.inouts else name


__all__ = ["Generator", "Program", "reads"]
