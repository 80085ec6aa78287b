"""Programs that ask isl hard questions: short, and with regions of dozens of pieces."""

from __future__ import annotations

from collections.abc import Callable

import polysched as ps


def peeled() -> ps.Schedule:
    """A region of what three updates touch and what is read here and there, in 28 pieces."""
    n, m = ps.sizes("n m")
    i, j, k = ps.vars("i j k")
    a = ps.Input("a", ps.int64, (4,), range=(0, 4))
    r0, r1 = ps.RVar("r0", m, m + 1), ps.RVar("r1", -1, 3)
    r3, r4 = ps.RVar("r3", m, 2 * m, where=lambda r3: r3 <= i), ps.RVar("r4", 1, m)
    r5, r6 = ps.RVar("r5", 0, 2), ps.RVar("r6", 0, m)
    f0, f1 = ps.Func("f0"), ps.Func("f1", ())
    f2, f3 = ps.Func("f2", (3 * n + 2,)), ps.Func("f3", (n, m))
    f0[j, i, 2] = 1
    f0[j, i, k] = 0
    f0[r0, r1 // 2, k] += k
    f0[r3, i, k] *= r4
    f0[j, i, 3 - r5] += a[r5]
    f1[()] = 0
    f1[()] += f0[r6 + r6, r6 - 2, r6]
    f2[j] = ps.select(2 * j > n, f0[0, j % 3 - 1, j], f1[()])
    f3[i, j] = f2[ps.clip(i, 0, n)] + f0[j, i + i, i - 1] + f0[a[j & 3], i + 3, j + i]
    return ps.Schedule(f3)


def peel(s: ps.Schedule) -> None:
    s["f0.piece(1)"].peel("k", last=3)


def between_updates() -> ps.Schedule:
    """Reads of pieces from which others take their points; sizes that meet five conditions."""
    n, m = ps.sizes("n m")
    i, j, k = ps.vars("i j k")
    a = ps.Input("a", ps.float32, (m, m))
    x = ps.Input("x", ps.uint8, (m,))
    f0, f1, f2 = ps.Func("f0", (m, n)), ps.Func("f1"), ps.Func("f2", dtype=ps.float32)
    r0, r1, r3 = ps.RVar("r0", 1, 3), ps.RVar("r1", 0, m), ps.RVar("r3", 0, m)
    f0[i, j] = j
    f0[i, ps.clip(7, 0, n - 1)] ^= ps.select(r0 > 2, r1, f0[i, n - 1])
    f1[i, n - 1, k] = f0[ps.clip(k // 2, 0, m - 1), ps.clip(-i, 0, n - 1)]
    f1[i, j, k] = f0[x[ps.clip(j - 1, 0, m - 1)], ps.clip(k // 2, 0, n - 1)] + k
    f2[2, j] = (
        f1[(j + j * 2) // 3, -j, 3 * j + j]
        + f1[j + j, j - 2, ps.select((j < 3) | (j > 3), j, j - 0)]
        + f1[(j - 1) % 4, 0, ps.select(j % 2 == 0, j, j - 2)]
        + x[0]
        + a[0, ps.clip(j, 0, m - 1)]
    )
    f2[i, j] = (
        f1[i + i, j - 1, i - j // 2]
        + f1[j // 2, (i + 2) // 2, ps.select((j + j) % 3 == 0, i, i - 3)]
        + f1[j // 2, n - 1 - i, 3 * j + i]
        + f0[ps.clip(j - 2, 0, m - 1), j % n]
    )
    f2[i, j] += ps.cast(ps.float32, r3)
    return ps.Schedule(f2)


def parallel(s: ps.Schedule) -> None:
    s["f0.update(0)"].peel("r0", last=3)
    s["f2.update(0)"].parallel("i", 8)


def needed_at_a_loop() -> ps.Schedule:
    """What one iteration needs of an update depends on where others of twelve pieces begin."""
    n, m = ps.sizes("n m")
    i, j, k = ps.vars("i j k")
    ps.require(n >= 2, "too small")
    f0, f1, f2 = ps.Func("f0"), ps.Func("f1", (2 * m, n)), ps.Func("f2", (m + 1, m, m + 1))
    r0, r1 = ps.RVar("r0", 1, 2 * m - 1), ps.RVar("r1", 1, 3)
    f0[i, 0] = 1
    f0[i, 1] = 2
    f0[i, 2] = 3
    f0[i, j] = i - j
    f0[i, r0] += r1
    f1[i, j] = ps.select((i // 2) % 2 == 0, i, f0[j - i // 2, j + j]) + f0[i % 3 - 1, 3 * i + j]
    f2[i, j, k] = ps.select(
        f1[ps.clip(j, 0, 2 * m - 1), 0] > 1,
        f0[ps.select(2 * k > m, i, k - 3), n // 2 - k],
        f0[m - 1 - k, m - 1 - k],
    )
    return ps.Schedule(f2)


def compute_at(s: ps.Schedule) -> None:
    s["f1"].compute_root()
    variant = s.specialize(ps.sizes("n") < 4)
    variant["f0.piece(0)"].compute_at(variant["f1"], "j")


def far_reads() -> ps.Schedule:
    """Two axes of whose planes none may share storage, as it is read with two strides."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    f0, f1 = ps.Func("f0"), ps.Func("f1", (n, m))
    f0[i, j] = i - j
    f1[i, j] = f0[i + 3, 2 * j + 1] + f0[2 * i + 2, j + 1] + f0[i, i - 2]
    return ps.Schedule(f1)


def fold(s: ps.Schedule) -> None:
    s["f0"].compute_at(s["f1"], "j").store_root()
    s["f0"].fold_storage(0, 3)


def nests() -> ps.Schedule:
    """A Func of many pieces, in a nest of nests."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    a = ps.Input("a", ps.float32, (n, m))
    f0, f1, f2 = ps.Func("f0"), ps.Func("f1"), ps.Func("f2", (n, m))
    f0[i, j] = a[ps.clip(i, 0, n - 1), ps.clip(j, 0, m - 1)]
    f1[i, j] = f0[i - 1, j] + f0[i + 1, j // 2] + f0[2 * i, j]
    f2[i, j] = f1[i, j - 1] + f1[i // 2, j + 1] + f1[i, 2 * j]
    return ps.Schedule(f2)


def peel_twice_and_split(s: ps.Schedule) -> None:
    s["f1"].compute_at(s["f2"], "i")
    s["f0"].compute_at(s["f1"], "i")
    s["f0"].peel("i", first=1)
    s["f0"].peel("j", last=2)
    s["f0"].split("j", 8)


def place_a_part(s: ps.Schedule) -> None:
    i, j = ps.vars("i j")
    first, _ = s["f0"].partition(2 * i < j)
    first.peel("i", first=2)
    first.compute_at(s["f1"], "i")


def read_at_several_strides() -> ps.Schedule:
    """A producer that is read at points which are multiples of two and of three."""
    n, m = ps.sizes("n m")
    i, j, k = ps.vars("i j k")
    a = ps.Input("a", ps.int32, (3, m))
    f, g = ps.Func("f", dtype=ps.int8), ps.Func("g")
    f[i, j, k] = ps.cast(ps.int8, a[ps.clip(ps.abs(j), 0, 2), ps.clip(i * i, 0, m - 1)])
    near = f[2 * i, ps.clip((k + i * 2) // 3, 0, n - 1), -k]
    far = ps.select(2 * i > m, f[3 * k + i, k, ps.abs(k - 2)], f[i - j // 2, 3 * j + k, j % 3 - 3])
    g[j, i, k] = ps.select(k < m, a[a[ps.clip(far, 0, 2), 0], 0], a[0, ps.clip(near, 0, 0)])
    return ps.Schedule(g)


def compute_at_strides(s: ps.Schedule) -> None:
    s["f"].compute_at("g", "i")


def updated_where_it_is_read() -> ps.Schedule:
    """An update of the points that are read at a digit, and at an even index of ten parts."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    x = ps.Input("x", ps.uint8, (m,))
    f, h, g = ps.Func("f"), ps.Func("h", (m + 1,)), ps.Func("g", dtype=ps.uint64)
    f[i, j] = j > 1
    f[i + 1, 3 - j] = n != 0
    h[i] = ps.cast(ps.float32, x[ps.clip(4 * i, 0, m - 1)])
    r = ps.RVar("r", 0, (m + 1) // 2)
    g[()] = ps.cast(ps.uint64, h[0])
    told = ps.clip(ps.cast(ps.uint32, r | ps.cast(ps.int64, f[r % 3 - 3, r + r])), 0, m)
    digit = ps.cast(ps.uint64, h[told] != 0)
    g[()] = ps.cast(ps.uint16, ps.select(2 * r % 3 == 2, 1, (r // 2) % 2 == 0, digit, r))
    return ps.Schedule(g)


def reorder_update(s: ps.Schedule) -> None:
    s["f.update(0)"].reorder("i", "j")


def one_in_two_planes() -> ps.Schedule:
    """Each read is of the last of three writes, over a region of four pieces."""
    n, m, l = ps.sizes("n m l")
    i = ps.vars("i")
    x = ps.Input("x", ps.int64, (4, m + 1))
    f, g = ps.Func("f"), ps.Func("g", ())
    r = ps.RVar("r", 0, n + 1)
    half = ps.RVar("half", n // 2, n, where=lambda half: (half + half) % 3 != 1)
    f[i] = i
    row, column = (i - 2) % 4, ps.select((i // 2) % 2 == 0, r, i - 1)
    f[i] += ps.select((column >= 0) & (column <= m) & ((i + 1) * 4 <= 3 * l), x[row, column], r)
    f[half // 2] = 3
    g[()] = f[2 * m - 3] + f[0]
    return ps.Schedule(g)


def fold_in_two(s: ps.Schedule) -> None:
    s["f"].compute_root()
    s["f.update(0)"].fold_storage(0, 2)


HARD: dict[str, tuple[Callable[[], ps.Schedule], Callable[[ps.Schedule], None]]] = {
    "a peel in a region of many pieces": (peeled, peel),
    "parallel between updates": (between_updates, parallel),
    "compute_at in a variant": (needed_at_a_loop, compute_at),
    "a fold": (far_reads, fold),
    "a fold of updates": (one_in_two_planes, fold_in_two),
    "two peels and a split": (nests, peel_twice_and_split),
    "a part placed": (nests, place_a_part),
    "compute_at of reads at several strides": (read_at_several_strides, compute_at_strides),
    "an update of ten parts": (updated_where_it_is_read, reorder_update),
}
