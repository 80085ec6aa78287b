"""What directives cost in programs of more and more stages: the third of the tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import polysched as ps
from polysched.poly.sets.budget import counted


@dataclass(frozen=True)
class Family:
    """Programs of the same parts.

    Attributes:
        build: a program of so many of them.
        say: what is said of a part, by its number: gives how many directives these are.
        parts: how many, in each row of the table.
        seconds: that all directives of the largest program may take, one after the other.
    """

    name: str
    build: Callable[[int], ps.Func]
    say: Callable[[ps.Schedule, int], int]
    parts: tuple[int, ...]
    seconds: float


def convolutions(count: int) -> ps.Func:
    """3x3 convolutions of padded images, each with a ReLU behind it."""
    c, h, w = ps.sizes("c h w")
    o, y, x = ps.vars("o y x")
    image: ps.Func | ps.Input = ps.Input("image", ps.float32, (c, h, w))
    for k in range(count):
        weights = ps.Input(f"weights{k}", ps.float32, (c, c, 3, 3))
        i, dy, dx = ps.rdom("i dy dx", (0, c), (0, 3), (0, 3))
        padded = ps.boundary.constant(image, 0.0, axes=(1, 2))
        conv, relu = ps.Func(f"conv{k}", (c, h, w)), ps.Func(f"relu{k}", (c, h, w))
        conv[o, y, x] = 0.0
        conv[o, y, x] += padded[i, y + dy - 1, x + dx - 1] * weights[o, i, dy, dx]
        relu[o, y, x] = ps.maximum(conv[o, y, x], 0.0)
        image = relu
    assert isinstance(image, ps.Func)
    return image


def of_a_convolution(s: ps.Schedule, k: int) -> int:
    """Six directives: as an expert would begin."""
    update = s[f"conv{k}"].update(0)
    if any(f.name == f"relu{k}" for f in s.program.outputs):
        s[f"relu{k}"].unroll("x", 2)
    else:
        s[f"relu{k}"].compute_root()
    update.split("x", 16)
    update.unroll("dx")
    s[f"conv{k}"].vectorize("x", 16)
    s[f"relu{k}"].vectorize("x", 16)
    update.parallel("o")
    return 6


def encoder(layers: int) -> ps.Func:
    """Layers of a transformer's encoder: normalised, attention, normalised, two products."""
    t, d, h, k, f = ps.sizes("t d h k f")
    x: ps.Func | ps.Input = ps.Input("x", ps.float32, (t, d))
    for number in range(layers):
        x = _layer(x, str(number), t, d, h, k, f)
    assert isinstance(x, ps.Func)
    return x


def _layer(x: ps.Func | ps.Input, n: str, *sizes: ps.Size) -> ps.Func:
    t, d, h, k, f = sizes
    a, b, c = ps.vars("a b c")
    rd, rk, rt, rh, rf = (ps.RVar(f"r{s.name}", 0, s) for s in (d, k, t, h, f))

    def func(name: str, *shape: ps.Size) -> ps.Func:
        return ps.Func(f"{name}_{n}", shape)

    def weights(name: str, *shape: ps.Size) -> ps.Input:
        return ps.Input(f"{name}_{n}", ps.float32, shape)

    def normalised(x: ps.Func | ps.Input, name: str) -> ps.Func:
        mean, var, out = func(f"{name}_mean", t), func(f"{name}_var", t), func(name, t, d)
        mean[a] = ps.sum(x[a, rd], rd) / ps.cast(ps.float32, d)
        apart = x[a, rd] - mean[a]
        var[a] = ps.sum(apart * apart, rd) / ps.cast(ps.float32, d)
        out[a, b] = (x[a, b] - mean[a]) * ps.rsqrt(var[a] + 1e-5)
        return out

    def product(
        name: str, shape: tuple[ps.Size, ...], index: tuple[ps.Var, ...], e: ps.Expr
    ) -> ps.Func:
        out = func(name, *shape)
        out[index] = 0.0
        out[index] += e
        return out

    first = normalised(x, "first")
    q, key, v = (
        product(s, (t, h, k), (a, b, c), first[a, rd] * weights(f"w{s}", d, h, k)[rd, b, c])
        for s in ("q", "k", "v")
    )
    scores = product("scores", (h, t, t), (a, b, c), q[b, a, rk] * key[c, a, rk])
    most, e, total = func("most", h, t), func("e", h, t, t), func("total", h, t)
    most[a, b] = ps.max(scores[a, b, rt], rt, initial=-1e30)
    e[a, b, c] = ps.exp(scores[a, b, c] - most[a, b])
    total[a, b] = ps.sum(e[a, b, rt], rt)
    mixed = product("mixed", (t, h, k), (a, b, c), e[b, a, rt] * v[rt, b, c])
    heads, residual = func("heads", t, h, k), func("residual", t, d)
    heads[a, b, c] = mixed[a, b, c] / total[b, a]
    joined = product("joined", (t, d), (a, b), heads[a, rh, rk] * weights("wo", h, k, d)[rh, rk, b])
    residual[a, b] = joined[a, b] + x[a, b]
    second = normalised(residual, "second")
    wide = product("wide", (t, f), (a, b), second[a, rd] * weights("w1", d, f)[rd, b])
    gelu, out = func("gelu", t, f), func("layer", t, d)
    gelu[a, b] = wide[a, b] * 0.5 * (1.0 + ps.tanh(wide[a, b] * 0.797))
    narrow = product("narrow", (t, d), (a, b), gelu[a, rf] * weights("w2", f, d)[rf, b])
    out[a, b] = narrow[a, b] + residual[a, b]
    return out


PRODUCTS = ("q", "k", "v", "scores", "mixed", "joined", "wide", "narrow")
OTHERS = ("first", "most", "e", "total", "heads", "residual", "second", "gelu", "layer")


def of_a_layer(s: ps.Schedule, number: int) -> int:
    """Everything stored, products in tiles, the rest in lanes and on threads."""
    before = len(s.directives)
    for name in (*PRODUCTS, *OTHERS):
        if not any(f.name == f"{name}_{number}" for f in s.funcs):
            s[f"{name}_{number}"].compute_root()
    for name in PRODUCTS:
        stage = s[f"{name}_{number}"]
        update = stage.update(0)
        rows, columns = [x for x in update.loops if not x.is_reduction][-2:]
        _, _, inner, _ = update.tile(rows, columns, 6, 32)
        update.unroll(inner)
        stage.vectorize(stage.loops[-1], 16)
    for name in OTHERS:
        stage = s[f"{name}_{number}"]
        stage.vectorize(stage.loops[-1], 16)
        stage.parallel(stage.loops[0])
    return len(s.directives) - before


def chain(count: int) -> ps.Func:
    """Sums of three neighbours, one after the other."""
    n, i = ps.size("n"), ps.Var("i")
    last: ps.Func | ps.Input = ps.Input("x", ps.float32, (n,))
    for k in range(count):
        f = ps.Func(f"s{k}", (n,))
        f[i] = sum((last[ps.clip(i + d, 0, n - 1)] for d in (-1, 0, 1)), 0.0)
        last = f
    assert isinstance(last, ps.Func)
    return last


def of_a_sum(s: ps.Schedule, k: int) -> int:
    """Two directives."""
    s[f"s{k}"].split("i", 8)
    s[f"s{k}"].vectorize("ii")
    return 2


FAMILIES = (
    Family("convolutions", convolutions, of_a_convolution, (2, 4, 8, 16), 1.5),
    Family("encoder layers", encoder, of_a_layer, (1, 2, 3), 4.0),
    Family("sums in a chain", chain, of_a_sum, (25, 50, 100), 1.0),
)


@dataclass(frozen=True)
class Cost:
    """Of the directives of a program, one after the other.

    Attributes:
        stages, directives: how many.
        seconds: for all directives.
        operations: of isl, for those of the part in the middle.
    """

    stages: int
    directives: int
    seconds: float
    operations: int


def cost(family: Family, parts: int) -> Cost:
    """Schedules a program: timed, and once more to count."""
    said = 0
    s = ps.Schedule(family.build(parts))
    start = time.process_time()
    for k in range(parts):
        said += family.say(s, k)
    seconds = time.process_time() - start
    return Cost(len(s.model.statements), said, seconds, operations(family, parts))


def operations(family: Family, parts: int) -> int:
    """What isl does for the directives of the part in the middle, when all before it are done."""
    s = ps.Schedule(family.build(parts))
    for k in range(parts // 2):
        family.say(s, k)
    with counted() as tally:
        family.say(s, parts // 2)
    return tally.operations


def scheduling_table(families: Iterable[Family]) -> Iterator[bool]:
    """Prints a line a program; gives whether the largest one of each family is fast enough."""
    chosen = list(families)
    if not chosen:
        return
    print("Directives one by one; operations of isl for those of the part in the middle")
    print(f"{'':<18}{'parts':>6}{'stages':>8}{'directives':>12}{'seconds':>9}{'operations':>12}")
    for family in chosen:
        for parts in family.parts:
            c = cost(family, parts)
            slow = parts == family.parts[-1] and c.seconds > family.seconds
            columns = (
                f"{parts:>6}{c.stages:>8}{c.directives:>12}{c.seconds:>9.2f}{c.operations:>12}"
            )
            limit = f"  TOO SLOW: the limit is {family.seconds} s" if slow else ""
            print(f"{family.name:<18}{columns}{limit}", flush=True)
            yield not slow
    print()
