"""What limits the cases that do not reach their goals, as far as it is known: shown on the pages of
results. It can be read from the table or from the code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runs import Line

GOALS = {"products": 0.97}
"""The least ratio to the best peer, by group."""

MEAN = 1.2
"""The least geometric mean of the ratios of all cases."""

AHEAD = 24 / 31
"""The least share of cases that are ahead of the best peer."""

OTHERS = 0.9
"""That of all other groups."""

FAST = {"softmax, fast": 1.1, "GELU with bias, fast": 1.1, "attention, fast": 1.1}
"""That of cases with fast functions, by name."""

MiB, CLOSE = 1 << 20, 0.75
"""The share of a cache that surely stays in it; what the cache surely does not hold is its size
over that, or more."""

PANELS = (
    "The loop over k is multiply-adds at their peak, 12 beside 2 loads and 6 broadcasts without "
    "AVX-512. What is missing are the copies of panels of B, as a profile shows. Runs differ by "
    "about as much."
)
"""That of products which are copied into panels."""

LIMITS = {
    "sgemm 1x4096x4096": "It reads 64 MiB once, as fast as a loop that does nothing else: `of "
    "peak` is the share of what memory gives, and above 100% of what a cache still holds, which "
    "differs from run to run. Its bits cost nothing: sums in another order, with "
    "rows of its own for each thread, took longer.",
    "sgemm 256": PANELS,
    "sgemm 1024": PANELS,
    "sgemm 2048": PANELS,
    "sgemm 1023x1025x511": "Panels have 64 columns with AVX-512, and one is left: one of four "
    "vectors is computed of the 17th, whose few sums wait for each other, and one thread has "
    "all of it. Rows on threads instead took as long; 1024 x 1024 x 512 takes no longer than the "
    "best peer does.",
    "softmax, fast": "It reads and writes each element once, the next row ahead: `of peak` is the "
    "share of what memory gives.",
    "attention, fast": "Its two products do not change, and `of peak` counts nothing else: where "
    "they take nine tenths of the time that there is, a program without exponentials would be a "
    "tenth quicker. Without AVX-512 tiles are smaller, and read the weights of a block of queries "
    "and the values, which the first cache does not hold together, from the second one.",
    "product of f32": "It has the schedule and the sizes of `sgemm 1024`: what is between the two "
    "is between runs.",
    "harris": "Additions: three sums of nine products each, in the order that is written, 26 for a "
    "vector of pixels on the two ports that add, beside multiplications on two others. Peers may "
    "make multiply-adds of them, which round otherwise. "
    "Without AVX-512 three rows of sums are more than 16 registers hold.",
    "layer norm": "It reads and writes each element once: `of peak` is the share of what memory "
    "gives. Its sums are in any order already, so that its bits are not what limits it. Where the "
    "last cache holds hardly more than both arrays, the same code in another process, in other "
    "pages of memory, takes up to a third longer.",
    "GELU with bias": "Operators: of each vector some 25 on floats and a division, most of them "
    "for a sigmoid with an error below 1 ULP, each of which waits for the one before. Several "
    "vectors side by side hide that as far as registers go: with AVX-512 it takes two thirds of "
    "the time that it takes without, and no number of vectors was quicker than four. One thread "
    "has twice as much to do for the same memory, and so is further behind than two. What the bits "
    "cost is what the case with a fast function takes less in this table; Halide's `fast_exp` is "
    "less exact, too.",
    "GELU with bias, fast": "It reads and writes each element once, and with AVX-512 takes hardly "
    "longer than an addition of the bias alone, which moves as much. Without it, its operators.",
    "LSTM": "Half of the time of one thread are rows by matrices: each step loads 1 MiB of weights "
    "from the second cache for one multiply-add each. Two threads meet once a step besides.",
    "LU": "Columns of 8 pivots are divided and updated one after the other: a fifth of the time of "
    "one thread, as a profile shows, and a third of that of two, since others wait meanwhile. Half "
    "of the time are updates by tiles, which threads share. Arrays that begin beside a line of the "
    "cache take longer.",
    "conv 3x3 ReLU": "Beside the multiply-adds, the loop over channels begins anew for each place "
    "of the kernel, and the border is copied for each image.",
    "conv 1x1": "Multiply-adds, 12 beside 3 loads and 4 broadcasts without AVX-512, where panels "
    "have three vectors of filters: of 256 filters the last panel has two, and panels of two for "
    "all took longer. With it 16 beside 4 and 4, at their peak.",
    "histogram": "A load and a store of a counter for each pixel, one pixel a cycle, as in C. Bits "
    "cost nothing: it adds integers.",
    "product of bf16": "PyTorch has an instruction that adds two products, and rounds otherwise "
    "than operations one by one; ours widen both and multiply and add in float32.",
}
"""By the name of a case."""


def behind(lines: Iterable[Line], caches: Sequence[int] = ()) -> Iterator[str]:
    """What is said of each case below its goal.

    Args:
        caches: the bytes of each cache of the processor, the nearest first; none where these are
            not known, and nothing is said of them.
    """
    for line in lines:
        goal = FAST.get(line.name, GOALS.get(line.group, OTHERS))
        if line.ratio is not None and line.ratio < goal:
            limit = LIMITS.get(line.name, "What limits it is not known yet.")
            where = _where(line.nbytes, caches)
            yield f"{line.name}: {line.ratio:.2f}, where {goal} is the goal. {limit}{where}"


def _where(nbytes: float, caches: Sequence[int]) -> str:
    """Which memory all arguments and results are in from one call to the next."""
    if not caches:
        return ""
    size = f" Arguments and results take {nbytes / MiB:.3g} MiB"
    level = next((k for k, held in enumerate(caches, 1) if nbytes <= CLOSE * held), None)
    if level is not None:
        return f"{size}, and stay in cache {level} of {caches[level - 1] / MiB:.3g} MiB."
    last = f"the last cache of {caches[-1] / MiB:.3g} MiB"
    if nbytes <= caches[-1] / CLOSE:
        return f"{size}, about as much as {last} holds: some of it is read from memory."
    return f"{size}, more than {last} holds, and are read from memory."
