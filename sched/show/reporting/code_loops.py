"""The innermost loops of a function of assembly, found by its branches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from ...lang.program.order import components
from ...records import dataclass
from .assembly import AsmFunction, AsmLine

_ENDS = frozenset({"ret", "retq", "jmp", "jmpq", "ud2", "b", "br", "brk"})
"""Instructions behind which the next one is reached by no other way than a label."""

_BRANCH = {
    "x86_64": re.compile(r"^j\w+$"),
    "aarch64": re.compile(r"^(b|b\..+|bc\..+|cbn?z|tbn?z)$"),
}


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that run one after the other: `first` to `last`, the numbers of lines of the function,
    `last` not among them; and the blocks that may follow."""

    first: int
    last: int
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CodeLoop:
    """An innermost loop of machine code.

    Attributes:
        function: the symbol of the function that it is in.
        label: that of its first block.
        lines: its instructions.
        line: the line of the loop IR that its branch back is of, or where that has none the one
            that most of its instructions are of; 0 where none is known.
    """

    function: str
    label: str
    lines: tuple[AsmLine, ...]
    line: int


def innermost_loops(function: AsmFunction, arch: str) -> tuple[CodeLoop, ...]:
    """The loops that have no other loop inside, in the order of the code."""
    blocks = blocks_of(function.lines, arch)
    bodies, around = _loops(blocks), _around_others(blocks)
    found = []
    for head, body in sorted(bodies.items()):
        if head in around:
            continue
        lines = [
            x
            for k in sorted(body)
            for x in function.lines[blocks[k].first : blocks[k].last]
            if x.opcode
        ]
        back = [k for k in sorted(body) if head in blocks[k].after]
        branch = function.lines[blocks[back[-1]].last - 1]
        label = function.lines[blocks[head].first].label
        line = branch.line or _usual_line(lines)
        found.append(CodeLoop(function.name, label, tuple(lines), line))
    return tuple(found)


def _usual_line(lines: Sequence[AsmLine]) -> int:
    """The line that most instructions are of; 0 where none has one."""
    found = Counter(x.line for x in lines if x.line)
    return found.most_common(1)[0][0] if found else 0


def blocks_of(lines: Sequence[AsmLine], arch: str) -> list[Block]:
    """The basic blocks, in order."""
    branch = _BRANCH[arch]
    starts = {0} if lines else set()
    for number, x in enumerate(lines):
        if x.label:
            starts.add(number)
        elif branch.match(x.opcode) or x.opcode in _ENDS:
            starts.add(number + 1)
    order = sorted(s for s in starts if s < len(lines))
    at = {lines[s].label: k for k, s in enumerate(order) if lines[s].label}
    blocks = []
    for k, first in enumerate(order):
        last = order[k + 1] if k + 1 < len(order) else len(lines)
        end = lines[last - 1]
        after = []
        if end.opcode and branch.match(end.opcode):
            to = end.operands.rpartition(",")[2].strip()
            after += [at[to]] if to in at else []
        if end.opcode not in _ENDS and k + 1 < len(order):
            after.append(k + 1)
        blocks.append(Block(first, last, tuple(dict.fromkeys(after))))
    return blocks


def _loops(blocks: Sequence[Block]) -> dict[int, frozenset[int]]:
    """The blocks of each natural loop, by its first block: of an edge to a block through which all
    ways to its source lead."""
    order = _reverse_postorder(blocks)
    before: dict[int, list[int]] = {k: [] for k in order}
    for k in order:
        for successor in blocks[k].after:
            before[successor].append(k)
    dominators = _dominators(order, before)
    found: dict[int, set[int]] = {}
    for k in order:
        for head in blocks[k].after:
            if _dominates(head, k, dominators):
                body = found.setdefault(head, {head})
                waiting = [k]
                while waiting:
                    block = waiting.pop()
                    if block not in body:
                        body.add(block)
                        waiting += before[block]
    return {head: frozenset(body) for head, body in found.items()}


def _around_others(blocks: Sequence[Block]) -> set[int]:
    """The first blocks of circles that have others inside, also where these are not part of the
    natural loop: a compiler that copies a loop's first condition to its end and before it lets the
    circle be entered at several blocks.

    Source: Steensgaard's nesting of loops: without the blocks at which a circle is entered, those
    inside are left.
    """
    before: dict[int, list[int]] = {}
    for k, block in enumerate(blocks):
        for successor in block.after:
            before.setdefault(successor, []).append(k)
    found: set[int] = set()
    waiting = [set(_reverse_postorder(blocks))]
    while waiting:
        part = waiting.pop()
        for circle in _circles(blocks, part):
            entries = {k for k in circle if k == 0 or not circle.issuperset(before[k])}
            inside = circle - entries
            if _circles(blocks, inside):
                found |= entries
                waiting.append(inside)
    return found


def _circles(blocks: Sequence[Block], part: set[int]) -> list[set[int]]:
    """Those in which each of some blocks leads back to itself by others of them."""

    def following(k: int) -> list[int]:
        return [successor for successor in blocks[k].after if successor in part]

    return [
        set(circle)
        for circle in components(sorted(part), following)
        if len(circle) > 1 or circle[0] in blocks[circle[0]].after
    ]


def _reverse_postorder(blocks: Sequence[Block]) -> list[int]:
    """The blocks that can be reached, each before those that only it leads to."""
    if not blocks:
        return []
    done: list[int] = []
    seen = {0}
    waiting = [(0, iter(blocks[0].after))]
    while waiting:
        block, successors = waiting[-1]
        following = next((s for s in successors if s not in seen), None)
        if following is None:
            done.append(block)
            waiting.pop()
        else:
            seen.add(following)
            waiting.append((following, iter(blocks[following].after)))
    return done[::-1]


def _dominators(order: Sequence[int], before: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The immediate dominator of each block (Cooper, Harvey and Kennedy, "A simple, fast dominance
    algorithm", 2001)."""
    place = {block: k for k, block in enumerate(order)}
    found = {order[0]: order[0]} if order else {}
    changed = bool(order)
    while changed:
        changed = False
        for block in order[1:]:
            best: int | None = None
            for p in before[block]:
                if p in found:
                    best = p if best is None else _common(best, p, found, place)
            if best is not None and found.get(block) != best:
                found[block], changed = best, True
    return found


def _common(a: int, b: int, found: Mapping[int, int], place: Mapping[int, int]) -> int:
    while a != b:
        while place[a] > place[b]:
            a = found[a]
        while place[b] > place[a]:
            b = found[b]
    return a


def _dominates(a: int, b: int, found: Mapping[int, int]) -> bool:
    while b != a:
        if found[b] == b:
            return False
        b = found[b]
    return True
